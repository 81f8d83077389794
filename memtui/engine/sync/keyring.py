"""What this machine knows of the groups that its memories are in: a file beside the settings, mode 600.

It holds the keys, so it is never in a memory: a copy, an export or a backup of the memory carries no access. It holds the
address of the store as well, which may have a password in it.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from memtui import operating_system, paths
from memtui.engine.errors import InputError
from memtui.engine.records import DeviceId, Record, device_name

from .envelope import AgeSealer, Epoch, PlainSealer
from .stores import urls

FILE_NAME = "sync.json"
DeviceLabel = Annotated[str, Meta(pattern=r"^(\w[\w .-]{0,39})?\Z")]
"""What a device may be called: 40 letters, digits, spaces, points, hyphens and underscores, the first a letter or digit."""
_FORMAT = 1
_MOST_BYTES = 64 << 20
_LOCK_SECONDS = 10.0
_WRITABLE_BY_OTHERS = 0o022


class Member(Record):
    """A device of a group. ``recipient``: its age recipient, empty in a plain group. ``invited``: nobody has joined by it yet.

    ``name``: what the person calls it; "" where they said nothing.
    """

    device: DeviceId
    recipient: str
    added_at: int
    added_by: DeviceId
    invited: bool = False
    name: DeviceLabel = ""

    @property
    def called(self) -> str:
        return self.name or device_name(self.device)


class Group(Record):
    """The group as one change left it: who is in it, and all its keys. ``number``: of the change, from 1.

    ``previous``: SHA-256 of the object before. ``removed``: the last number that counts of each device that was removed.
    ``text_key``: 64 hex digits, the same in every epoch.
    """

    id: str
    number: int
    previous: str
    made_by: DeviceId
    made_at: int
    text_key: str
    members: tuple[Member, ...]
    epochs: tuple[Epoch, ...] = ()
    removed: dict[DeviceId, int] = {}
    format: int = _FORMAT

    @property
    def plain(self) -> bool:
        return not self.epochs

    @property
    def sealer(self) -> AgeSealer | PlainSealer:
        key = bytes.fromhex(self.text_key)
        return PlainSealer(self.id, key) if self.plain else AgeSealer(self.id, self.epochs, key, self.removed)


class Membership(Record):
    """How one memory on this machine is in a group. ``hash``: SHA-256 of the object that ``group`` was read from.

    ``url``: of the store, with what is secret in it. ``identity``: this device's own age identity.
    """

    url: str
    device: DeviceId
    identity: str
    group: Group
    hash: str
    facts_only: bool = False

    @property
    def shown(self) -> str:
        """The address for screens and logs."""
        return urls.without_credentials(self.url)


class _KeyringFile(Record):
    format: int = _FORMAT
    memories: dict[str, Membership] = {}


class Keyring:
    """``path``: where the file is; beside the settings where none is given."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or paths.config_folder() / FILE_NAME

    def get(self, memory: Path) -> Membership | None:
        """Raises InputError for a file that cannot be used."""
        return self._read_file().memories.get(_place_of(memory))

    def set(self, memory: Path, membership: Membership) -> None:
        with self._edit_memberships() as memories:
            memories[_place_of(memory)] = membership

    def forget(self, memory: Path) -> None:
        """Keep nothing of the group of a memory: it is in none from now on."""
        with self._edit_memberships() as memories:
            memories.pop(_place_of(memory), None)

    @contextmanager
    def _edit_memberships(self) -> Iterator[dict[str, Membership]]:
        from filelock import FileLock, Timeout

        paths.make_private_folder(self.path.parent)
        try:
            with FileLock(f"{self.path}.lock", timeout=_LOCK_SECONDS, mode=0o600):
                memories = dict(self._read_file().memories)
                yield memories
                self._write_file(msgspec.json.encode(_KeyringFile(memories=memories)))
        except Timeout:
            raise InputError(
                "Another program is changing the keys of sync.", "Try again in a moment."
            ) from None

    def _write_file(self, content: bytes) -> None:
        partial = self.path.with_name(f".memtui-{secrets.token_hex(6)}.partial")
        try:
            with os.fdopen(operating_system.create_private(partial), "wb") as file:
                file.write(msgspec.json.format(content, indent=1) + b"\n")
                file.flush()
                operating_system.flush_descriptor(file.fileno())
            operating_system.replace(partial, self.path)
        except OSError as error:
            raise paths.disk_full_error(error, self.path) or self._unusable_keyring_error(
                error.strerror or str(error)
            ) from None
        finally:
            with suppress(OSError):
                partial.unlink(missing_ok=True)

    def _read_file(self) -> _KeyringFile:
        loose = operating_system.loose_mode(self.path)
        if loose is not None and loose & _WRITABLE_BY_OTHERS:
            raise self._unusable_keyring_error(f"others may write it (mode {loose:o})")
        try:
            content = self.path.read_bytes()
            stored = msgspec.json.decode(content, type=_KeyringFile)
        except FileNotFoundError:
            return _KeyringFile()
        except OSError as error:
            raise self._unusable_keyring_error(error.strerror or str(error)) from None
        except (msgspec.MsgspecError, UnicodeDecodeError):
            raise self._unusable_keyring_error("it is not a file of keys") from None
        if stored.format != _FORMAT:
            raise self._unusable_keyring_error("a newer memtui wrote it")
        return stored

    def _unusable_keyring_error(self, why: str) -> InputError:
        return InputError(
            f"The keys of sync in {self.path} cannot be used: {why}.",
            "Mend it, or move it away and join again by an invitation.",
        )


def _place_of(memory: Path) -> str:
    """How a memory is named in the file: its path with links resolved."""
    return str(memory.expanduser().resolve())
