"""Where batches lie: a folder, an S3-compatible object store, a PostgreSQL database."""

from __future__ import annotations

from pathlib import Path

from memtui.engine.errors import InputError

from . import urls
from .base import LargeObjectError, SyncStore, SyncStoreError

__all__ = ["LargeObjectError", "SyncStore", "SyncStoreError", "open_store"]


def open_store(place: str, *, create: bool = False) -> SyncStore:
    """The store at a place: a folder, ``s3://``, ``postgresql://``, or ``env:NAME`` for one that a variable holds.

    ``create``: make a folder that is not there yet. Raises InputError for an address that cannot be read, UsageError where
    its package is missing, SyncStoreError where it cannot be reached.
    """
    place = urls.resolve_url(place)
    if not urls.is_url(place):
        if not place.strip():
            raise InputError("No store was named.", "memtui sync FOLDER")
        from .folder import FolderStore

        return FolderStore(Path(place).expanduser().absolute(), create=create)
    url = urls.parse(place)
    if url.scheme == "s3":
        from .s3 import S3Store

        return S3Store(url)
    from .postgres import PostgresStore

    return PostgresStore(url)
