"""``memory.sync``: one memory on several machines, over a store that others run."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import apsw
import msgspec
from msgspec.structs import replace

from memtui.engine.core import Core
from memtui.engine.errors import InputError, MemtuiError
from memtui.engine.records import Record
from memtui.engine.records.sync import DeviceState, Invitation, SyncProblem, SyncReport, SyncStatus
from memtui.engine.store import metadata, stamps
from memtui.engine.store.sql import json_text, scalar
from memtui.engine.sync.stores import urls

if TYPE_CHECKING:
    from memtui.engine.sync.batch import Sealer
    from memtui.engine.sync.group import Groups
    from memtui.engine.sync.keyring import Membership
    from memtui.engine.sync.replica import Replica
    from memtui.engine.sync.stores.base import SyncStore

_LOOK_SECONDS = 1.0
_ACTIVE_SECONDS, _IDLE_SECONDS = 5.0, 60.0
_LIST_ALL_SECONDS = 3_600
_LATEST = "latest"
_WAITS = "SELECT EXISTS (SELECT 1 FROM changes WHERE seq > ?)"
_SENT, _LAST = "sync_sent", "sync_last"


class _LastSync(Record):
    """What the last sync found, kept for who looks without a network: times in Unix seconds."""

    at: int = 0
    devices: tuple[DeviceState, ...] = ()
    problems: tuple[SyncProblem, ...] = ()
    error: str = ""
    seen: str = ""
    """What ``_LATEST`` held before everything was read."""


class Sync:
    """What came from one device is one operation, signed by that device; undo takes it back here and everywhere.

    A memory is in a group of devices once ``run`` began one or ``join`` came into it. The keys of the group, and the address
    of its store, are kept beside the settings, never in the memory.
    """

    def __init__(self, core: Core) -> None:
        self._core = core

    def run(
        self, url: str | None = None, *, plain: bool = False, facts_only: bool | None = None
    ) -> SyncReport:
        """Send what changed here, read and merge what others sent.

        ``url``: a folder, ``s3://`` or ``postgresql://``; it is remembered, so later calls need none. The first call makes the
        group in an empty store. ``plain``: without encryption, in a folder of one's own. ``facts_only``: turns stay where they
        are; remembered too. Raises DegradedError where the store cannot be reached or shows a group that cannot be,
        InputError for an address or a memory that does not fit.
        """
        try:
            return self._run_sync(url, plain, facts_only)
        except MemtuiError as error:
            if self.is_set_up:
                told = f"{error.message} {error.hint}".strip()
                self._update_last(lambda last: replace(last, error=told))
            raise

    def join(self, url: str, code: str, *, facts_only: bool = False) -> SyncReport:
        """Come into the group of a store by a code that ``invite`` gave on another device; then ``run``."""
        from memtui.engine.sync.stores import open_store

        with closing(open_store(url)) as store:
            self._come_in(lambda groups: groups.join(store, _absolute_url(url), code, facts_only=facts_only))
        return self._run_sync(None, False, None)

    def invite(self, file: Path | None = None) -> Invitation:
        """A code by which one more device can join, now or later. It is a secret.

        ``file``: where to write it too, mode 600; raises InputError if there is something already.
        """
        from memtui.atomic_file import require_free, write_atomically

        if file is not None:
            require_free(file, force=False)
        with self._open_joined_store() as (groups, store):
            code = groups.invite(store)
            membership = groups.membership
            assert membership is not None
            if urls.is_url(membership.url):
                self._put_write_marker(store)
        if file is not None:
            with write_atomically(file, force=False) as written:
                written.write(f"{code}\n".encode())
        return Invitation(code=code, url=membership.shown)

    def remove(self, device: str) -> str:
        """Take a device out of the group, by its name or id, or an unused invitation; returns its id.

        What it sent until now is applied first. It can read nothing that is written from now on; what it has, it keeps.
        """
        report = self._run_sync(None, False, None)
        numbers = {one.device: one.number for one in report.devices}
        with self._open_joined_store() as (groups, store):
            removed = groups.remove(store, device, numbers).device
            membership = groups.membership
            if membership is not None and urls.is_url(membership.url):
                self._put_write_marker(store)
            return removed

    def rename_device(self, name: str) -> None:
        """Call this device something else, on every device: in what they list, not in what History says of before.

        Raises InputError for a name that it cannot have, or that another device has.
        """
        with self._open_joined_store() as (groups, store):
            groups.rename(store, name)
            if groups.membership is not None and urls.is_url(groups.membership.url):
                self._put_write_marker(store)

    def stop(self) -> None:
        """Sync no longer: the keys and the address are deleted here. The other devices know this one until it is removed."""
        from memtui.engine.sync.keyring import Keyring

        Keyring().forget(self._require_path())

    def status(self) -> SyncStatus | None:
        """What is known without asking the store; None if the memory is not synced. Raises InputError for one without a file."""
        membership = self._current_membership()
        if membership is None:
            return None
        with self._core.connections.read() as connection:
            last = _read_last(connection)
            own = stamps.device(connection)
            pending = scalar(
                connection, "SELECT count(*) FROM changes WHERE seq > ?", (_sent_through(connection),)
            )
        known = {one.device: one for one in last.devices}
        devices = {
            member.device: replace(
                known.get(member.device) or DeviceState(device=member.device, name=member.called, number=0),
                name=member.called,
                invited=member.invited,
                own=member.device == own,
            )
            for member in membership.group.members
        }
        return SyncStatus(
            url=membership.shown, devices=tuple(devices[name] for name in sorted(devices)), pending=pending,
            last_at=last.at or None, problems=last.problems, plain=membership.group.plain,
            facts_only=membership.facts_only, error=last.error,
        )  # fmt: skip

    def follow(
        self, stopped: threading.Event, came: Callable[[SyncReport], object], failed: Callable[[MemtuiError], object],
        *, at_keyboard: Callable[[], bool] = lambda: False,
    ) -> None:  # fmt: skip
        """Sync until ``stopped``: every 5 seconds while somebody is ``at_keyboard`` or something changed in the last
        minute, here or there, every 60 else. ``failed`` is called once for each reason."""
        busy_until, next_at, last_error = 0.0, 0.0, ""
        while not stopped.wait(_LOOK_SECONDS):
            now = time.monotonic()
            quick = now < busy_until or at_keyboard() or self._has_unsent_changes()
            if now < (next_at - (_IDLE_SECONDS - _ACTIVE_SECONDS) if quick and not last_error else next_at):
                continue
            next_at = now + _IDLE_SECONDS
            try:
                report = self.run_if_changed()
            except MemtuiError as error:
                if str(error) != last_error:
                    last_error = str(error)
                    failed(error)
                continue
            last_error = ""
            if report is None:
                continue
            if report.sent or report.received:
                busy_until = now + _IDLE_SECONDS
            came(report)

    def run_if_changed(self) -> SyncReport | None:
        """``run``, unless nothing waits here and the store says that nothing was written; None then.

        On a server one small object changes with each write, so that a look costs one request. A store that holds it back
        delays what is new by an hour at most: then everything is listed. Raises as ``run`` does: InputError, DegradedError.
        """
        membership = self._current_membership()
        if membership is not None and urls.is_url(membership.url) and not self._has_unsent_changes():
            with self._core.connections.read() as connection:
                last = _read_last(connection)
            if last.seen and 0 <= self._core.clock() - last.at < _LIST_ALL_SECONDS:
                with self._open_joined_store() as (_, store):
                    if (store.get(_LATEST) or b"").decode("ascii", "replace") == last.seen:
                        return None
        return self.run()

    def _has_unsent_changes(self) -> bool:
        """Whether something was changed here that the others do not have."""
        with self._core.connections.read() as connection:
            return bool(scalar(connection, _WAITS, (_sent_through(connection),)))

    @property
    def is_set_up(self) -> bool:
        """Whether this memory is in a group."""
        return self._core.connections.path is not None and self._current_membership() is not None

    def run_with(
        self, store: SyncStore, sealer: Sealer, *, removed: Mapping[str, int] = MappingProxyType({}),
        facts_only: bool = False,
    ) -> SyncReport:  # fmt: skip
        """Send what changed here, read and merge what others sent. ``removed``: the last number that counts of each device
        that was removed from the group. ``facts_only``: turns stay where they are."""
        self._core.must_write("sync it")
        came: list[int] = []
        try:
            return self._make_replica(store, sealer, removed, facts_only, came.append).run()
        finally:  # also where the store took nothing after it had given something
            if came:
                self._core.indexer.relearn_names()
                self._core.after_large_change()

    # Inside

    def _make_replica(
        self, store: SyncStore, sealer: Sealer, removed: Mapping[str, int], facts_only: bool,
        came: Callable[[int], None],
    ) -> Replica:  # fmt: skip
        """``came`` is called with each operation that brought something."""
        from memtui.engine.sync.replica import Replica

        def announce(op_id: int) -> None:
            came(op_id)
            self._core.announce_by_id(op_id)

        return Replica(
            self._core.connections, self._core.clock, store, sealer, removed=removed, facts_only=facts_only,
            on_operation=announce, on_erased=self._forget_erased,
        )  # fmt: skip

    def _run_sync(self, url: str | None, plain: bool, facts_only: bool | None) -> SyncReport:
        from memtui.engine.sync.group import NotMemberError
        from memtui.engine.sync.stores import open_store

        membership, groups = self._current_membership(), self._open_groups()
        if membership is None:
            if url is None:
                raise InputError(
                    "This memory is not synced yet.",
                    "memtui sync FOLDER begins; memtui sync join URL CODE comes into a group.",
                )
            with closing(open_store(url, create=True)) as store:
                self._come_in(
                    lambda groups: groups.begin(
                        store, _absolute_url(url), plain=plain, facts_only=bool(facts_only)
                    )
                )
        else:
            self._must_be_of(membership)
            wanted = membership.facts_only if facts_only is None else facts_only
            if (url is not None and _absolute_url(url) != membership.url) or wanted != membership.facts_only:
                groups.keep(
                    replace(membership, url=_absolute_url(url) if url else membership.url, facts_only=wanted)
                )
            if plain and not membership.group.plain:
                raise NotMemberError("This group is encrypted, and stays so.", "Leave --plain out.")
        with self._open_joined_store() as (groups, store):
            seen = self._read_write_marker(membership, store)
            before, membership = membership, groups.read_membership_changes(store)
            group = membership.group
            report = self.run_with(
                store, group.sealer, removed=group.removed, facts_only=membership.facts_only
            )
            if before is not None and before.device != membership.device:
                note = (
                    f"This file was restored or copied, so it is a device of its own: {membership.device}. If no other copy goes"
                    f" on as {before.device}, take that one out: memtui sync remove {before.device}"
                )
                report = replace(report, notes=(note, *report.notes))
            if seen is not None and (report.batches_sent or before is None or membership != before):
                # Who wrote in between is not missed: their mark is not the one that was seen.
                self._put_write_marker(store)
        now = int(self._core.clock())
        told = "" if report.problems else seen or ""
        self._update_last(
            lambda last: _LastSync(at=now, devices=report.devices, problems=report.problems, seen=told)
        )
        return report

    def _come_in(self, enter: Callable[[Groups], object]) -> None:
        """Come into a group; under another name where this device was removed from it."""
        from memtui.engine.sync.group import RemovedDeviceError

        try:
            enter(self._open_groups())
        except RemovedDeviceError:
            with self._core.connections.write() as connection:
                stamps.renew_device(connection)
            enter(self._open_groups())

    def _read_write_marker(self, membership: Membership | None, store: SyncStore) -> str | None:
        """What changes with each write into a server; None in a folder, where clients would make copies of it."""
        if membership is None or not urls.is_url(membership.url):
            return None
        return (store.get(_LATEST) or b"").decode("ascii", "replace")

    def _put_write_marker(self, store: SyncStore) -> None:
        store.replace(_LATEST, secrets.token_hex(8).encode())

    def _current_membership(self) -> Membership | None:
        return self._open_groups().membership

    def _open_groups(self) -> Groups:
        from memtui.engine.sync.group import Groups
        from memtui.engine.sync.keyring import Keyring

        with self._core.connections.read() as connection:
            device = stamps.device(connection)
        return Groups(Keyring(), self._require_path(), device, self._core.clock)

    @contextmanager
    def _open_joined_store(self) -> Iterator[tuple[Groups, SyncStore]]:
        """The store that this memory is synced to."""
        from memtui.engine.sync.stores import open_store

        groups = self._open_groups()
        membership = groups.membership
        if membership is None:
            raise InputError("This memory is not synced yet.", "memtui sync FOLDER")
        with closing(open_store(membership.url)) as store:
            yield groups, store

    def _require_path(self) -> Path:
        path = self._core.connections.path
        if path is None:
            raise InputError("This memory lives in this process only.", "Open a file to sync it.")
        return path

    def _must_be_of(self, membership: Membership) -> None:
        """Raise InputError if another file stands where the one was that is in the group: two memories would become one."""
        with self._core.connections.read() as connection:
            same = metadata.get(connection, metadata.SYNC_GROUP) == membership.group.id
            if not same and stamps.device(connection) != membership.device:
                raise InputError(
                    f"Another memory was synced from {self._core.connections.path}: this one is not of the group of "
                    f"{membership.shown}.",
                    "If it is to come into it: memtui sync invite on another device, memtui sync join here. "
                    "Else: memtui sync stop",
                )

    def _update_last(self, change: Callable[[_LastSync], _LastSync]) -> None:
        with self._core.connections.write() as connection:
            metadata.set_value(connection, _LAST, json_text(change(_read_last(connection))))

    def _forget_erased(self) -> None:
        """Nothing that this process holds in memory may keep it."""
        self._core.indexer.relearn_names()
        self._core.vector_cache.forget()


def _read_last(connection: apsw.Connection) -> _LastSync:
    found = metadata.get(connection, _LAST)
    return msgspec.json.decode(found, type=_LastSync) if found else _LastSync()


def _sent_through(connection: apsw.Connection) -> int:
    """The number of the last change in history that was sent."""
    return int(metadata.get(connection, _SENT) or 0)


def _absolute_url(url: str) -> str:
    """The address as it is remembered: a folder whole, so that it does not matter where a later command is called."""
    return url if urls.is_url(url) else str(Path(url).expanduser().absolute())
