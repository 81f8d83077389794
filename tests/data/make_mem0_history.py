"""Write tests/data/mem0_history.db with the mem0 package itself: additions, a correction, a deletion, messages.

    python -m pip install mem0ai    # in an environment of its own
    python tests/data/make_mem0_history.py

Its model, vector store and embedder are stand-ins: what is wanted is what its own code writes into its history.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

TARGET = Path(__file__).with_name("mem0_history.db")
OWNER = {"user_id": "ada"}


class Vectors:
    """Just enough of a vector store."""

    def __init__(self) -> None:
        self.payloads: dict[str, dict[str, Any]] = {}

    def insert(self, vectors: Any, ids: list[str], payloads: list[dict[str, Any]]) -> None:
        self.payloads.update(zip(ids, payloads, strict=True))

    def get(self, vector_id: str) -> Any:
        return SimpleNamespace(id=vector_id, payload=self.payloads[vector_id])

    def update(self, vector_id: str, vector: Any, payload: dict[str, Any]) -> None:
        self.payloads[vector_id] = payload

    def delete(self, vector_id: str) -> None:
        del self.payloads[vector_id]


def main() -> None:
    from mem0.memory.main import Memory  # type: ignore[import-not-found]
    from mem0.memory.storage import SQLiteManager  # type: ignore[import-not-found]

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "history.db")
        memory = Memory.__new__(Memory)
        memory.db = SQLiteManager(str(path))
        memory.vector_store = Vectors()
        memory.embedding_model = SimpleNamespace(embed=lambda *_, **__: [0.0])
        memory._entity_store = None
        trains = memory._create_memory("Prefers trains to planes", {}, dict(OWNER))
        lyon = memory._create_memory("Lives in Lyon", {}, dict(OWNER))
        memory._update_memory(lyon, "Lives in Porto", {}, dict(OWNER))
        boat = memory._create_memory("Owns a boat", {}, dict(OWNER))
        memory._delete_memory(boat)
        said = [
            {"role": "user", "content": "I moved from Lyon to Porto."},
            {"role": "assistant", "content": "Noted, Porto it is."},
        ]
        memory.db.save_messages(said, "user_id=ada")
        memory.db.connection.execute("VACUUM")
        memory.db.close()
        TARGET.write_bytes(path.read_bytes())
    print(f"{TARGET}: {trains}, {lyon}, {boat}", file=sys.stderr)


if __name__ == "__main__":
    main()
