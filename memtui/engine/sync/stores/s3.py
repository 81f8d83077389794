"""An S3-compatible object store through obstore: Amazon S3, Cloudflare R2, MinIO, Ceph and others.

``s3://BUCKET/PREFIX?endpoint=https://...&region=...``. Credentials stand before the bucket (``KEY:SECRET@``) or in the
environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT). An object is put with ``If-None-Match: *``,
which a store must know.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from memtui.engine.errors import UsageError
from memtui.engine.installation import command_for_extra

from . import base
from .base import MOST_BYTES, SyncStoreError, checked_name, checked_prefix
from .urls import StoreUrl

_NO_BUCKET = "NoSuchBucket"
_TIMEOUT_SECONDS = 30
_RETRIES = 3
_RETRY_SECONDS = 20


class S3Store:
    """Objects in a bucket, under a prefix. Raises UsageError where obstore is not installed."""

    def __init__(self, url: StoreUrl) -> None:
        try:
            import obstore
            from obstore.store import S3Store as Bucket
        except ImportError:
            raise UsageError("Sync over S3 needs obstore.", command_for_extra("sync-servers")) from None
        self.url = url.shown
        self._obstore: Any = obstore
        config: dict[str, Any] = {}
        if url.user and url.password:
            config |= {"access_key_id": url.user, "secret_access_key": url.password}
        if region := url.parameters.get("region"):
            config["region"] = region
        endpoint = url.parameters.get("endpoint", "")
        if endpoint:
            config |= {"endpoint": endpoint, "virtual_hosted_style_request": False}
            config.setdefault("region", "us-east-1")
        options: Any = {"timeout": f"{_TIMEOUT_SECONDS}s", "allow_http": endpoint.startswith("http://")}
        with self._translate_errors("opened"):
            self._bucket: Any = Bucket(
                url.host,
                prefix=url.path or None,
                client_options=options,
                retry_config={"max_retries": _RETRIES, "retry_timeout": timedelta(seconds=_RETRY_SECONDS)},
                **config,
            )

    def put_if_absent(self, name: str, data: bytes) -> bool:
        with self._translate_errors("written"):
            try:
                self._obstore.put(self._bucket, checked_name(name), data, mode="create", use_multipart=False)
            except self._obstore.exceptions.AlreadyExistsError:
                return False
        return True

    def get(self, name: str) -> bytes | None:
        with self._translate_errors("read"):
            try:
                found = self._obstore.get(self._bucket, checked_name(name))
            except FileNotFoundError as error:
                if _NO_BUCKET in str(error):
                    raise
                return None
            if found.meta["size"] > MOST_BYTES:
                raise base.large_object_error(name, found.meta["size"])
            return bytes(found.bytes())

    def list_since(self, prefix: str, after: str = "") -> list[str]:
        checked_prefix(prefix)
        with self._translate_errors("listed"):
            chunks = self._obstore.list(self._bucket, prefix or None, offset=after or None, chunk_size=1_000)
            names = [str(one["path"]) for chunk in chunks for one in chunk]
        return sorted(
            name for name in names if name.startswith(prefix) and name > after and base.is_name(name)
        )

    def replace(self, name: str, data: bytes) -> None:
        with self._translate_errors("written"):
            self._obstore.put(self._bucket, checked_name(name), data, mode="overwrite", use_multipart=False)

    def delete(self, name: str) -> None:
        with self._translate_errors("deleted"):
            try:
                self._obstore.delete(self._bucket, checked_name(name))
            except FileNotFoundError:
                pass

    def close(self) -> None:
        """Connections end with the object."""

    @contextmanager
    def _translate_errors(self, what: str) -> Iterator[None]:
        """Give errors of the store without their text: it may repeat the address with its parameters."""
        errors = self._obstore.exceptions
        try:
            yield
        except (errors.PermissionDeniedError, errors.UnauthenticatedError):
            raise SyncStoreError(
                f"{self.url} refused these credentials.", "Check the key, and what it may do in the bucket."
            ) from None
        except (errors.BaseError, FileNotFoundError) as error:
            text = str(error)
            if _NO_BUCKET in text:
                reason, hint = "there is no such bucket", "Make the bucket first."
            elif "NotImplemented" in text:
                reason, hint = "it does not know If-None-Match", "Use another store, or a folder."
            else:
                reason = "it did not answer" if "error sending request" in text else type(error).__name__
                hint = "Check the endpoint, the region, and that it is running."
            raise SyncStoreError(f"{self.url} cannot be {what}: {reason}.", hint) from None
