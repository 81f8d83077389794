"""The protocol of a store: names with bytes, nothing else."""

from __future__ import annotations

from typing import Protocol


class SyncStore(Protocol):
    """A store. Names are ASCII parts joined by ``/``: ``batches/laptop-1a2b3c4d/0000000001``.

    Every method raises StoreError if the store cannot be reached or refuses; the message never has a password.
    """

    url: str
    """As people write it, without a password."""

    def put_if_absent(self, name: str, data: bytes) -> bool:
        """Write an object whole, or not at all; False if there is one of this name, which stays as it is."""

    def get(self, name: str) -> bytes | None:
        """The bytes of an object; None if there is none."""

    def list_since(self, prefix: str, after: str = "") -> list[str]:
        """The whole names that begin with ``prefix`` and come after ``after``, in order (both in code points)."""

    def replace(self, name: str, data: bytes) -> None:
        """Write an object in the place of what is there: only its owner does that."""

    def delete(self, name: str) -> None:
        """Delete an object; nothing happens if there is none."""

    def close(self) -> None:
        """Release connections."""
