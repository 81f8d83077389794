"""The devices of one memory: who may read it, and under which keys.

The store holds ``memtui-sync.json``, which names the group, and ``group/0000000001`` and on: each change of the group is an
object that has all of it (``keyring.Group``), encrypted with age for the devices that are in it then, authenticated under the
key of the change before, and chained by hash. Whoever puts the next number first has made the change.

An invitation is an age identity that is a member already: nobody needs to be online when it is used. Who joins gets an identity
of its own, and a new epoch begins, so that the invitation opens nothing that is written later. A removal begins one as well.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from memtui.engine.errors import DegradedError, InputError, NotFoundError, UsageError
from memtui.engine.records import Record

from . import framing
from .batch import BatchError
from .envelope import (
    AgeSealer,
    Epoch,
    add_mac,
    decrypt,
    encrypt,
    new_identity,
    recipient_of,
    verify_mac,
)
from .keyring import DeviceLabel, Group, Keyring, Member, Membership
from .stores import SyncStore, urls

MARKER = "memtui-sync.json"
_FOLDER = "group/"
_SEALED, _PLAIN = "group", "group-plain"
_FORMAT = 1
_TRIES = 8
_CODE = re.compile(r"MEMTUI-1-([02-9AC-HJ-NP-Z]{58})-(\d{1,10})-([0-9A-F]{32})")
_IDENTITY = "AGE-SECRET-KEY-1"
_group = msgspec.json.Decoder(Group).decode
_encode = msgspec.json.Encoder(order="deterministic").encode


class GroupError(DegradedError):
    """The store shows a group that cannot be: older than it was, forged, of others. Nothing of it is used."""


class NotMemberError(InputError):
    """The store belongs to a group that this memory is not in."""


class RemovedDeviceError(InputError):
    """The device was removed from the group: what it wrote later never counts, so it comes back under another name."""


class _Marker(Record):
    group: str
    sealed: Literal["age", "plain"]
    format: int = _FORMAT


class Code(NamedTuple):
    """An invitation, read. ``number`` and ``hash`` (32 hex digits) are those of the change that invited."""

    identity: str
    number: int
    hash: str


class Groups:
    """The group of one memory: kept in ``keyring``, changed in the store.

    ``memory``: the path of the file. ``device``: what its stamps call it. ``clock``: Unix seconds.
    """

    def __init__(self, keyring: Keyring, memory: Path, device: str, clock: Callable[[], float]) -> None:
        self._keyring = keyring
        self._memory = memory
        self._device = device
        self._clock = clock

    @property
    def membership(self) -> Membership | None:
        """As this machine knows it. Raises InputError for keys that cannot be read."""
        return self._keyring.get(self._memory)

    def begin(
        self, store: SyncStore, url: str, *, plain: bool = False, facts_only: bool = False
    ) -> Membership:
        """Make the group of an empty store, or come into a plain one.

        Raises NotMemberError where the store has an encrypted group already, UsageError for a plain group that is not in a
        folder or where the store's is not of the kind that was asked for, RemovedDeviceError as ``join`` does.
        """
        if plain and urls.is_url(url):
            raise UsageError(
                "Only a folder of your own can be plain: what is on a server is always encrypted.",
                "Leave --plain out.",
            )
        identity = "" if plain else new_identity()
        made = _Marker(group=secrets.token_hex(16), sealed="plain" if plain else "age")
        store.put_if_absent(MARKER, _encode(made))
        marker = _read_marker(store)
        if marker.sealed == "plain" and not plain:
            raise UsageError(
                f"What is in {store.url} is plain: whoever reads it reads the memory.",
                "To use it all the same: memtui sync FOLDER --plain. Else choose an empty folder.",
            )
        if marker.sealed == "age" and plain:
            raise UsageError(f"What is in {store.url} is encrypted already.", "Leave --plain out.")
        own = self._own_member(identity)
        names = store.list_since(_FOLDER)
        if not names:
            group = Group(
                id=marker.group, number=1, previous="", made_by=self._device, made_at=int(self._clock()),
                text_key=secrets.token_hex(32) if not plain else _plain_text_key(marker.group), members=(own,),
                epochs=() if plain else (Epoch(number=1, identity=new_identity()),),
            )  # fmt: skip
            data = _seal_change(group, None)
            if store.put_if_absent(_change_name(1), data):
                return self.keep(Membership(
                    url=url, device=self._device, identity=identity, group=group, hash=_hash_change(data), facts_only=facts_only,
                ))  # fmt: skip
        if not plain:
            raise NotMemberError(
                f"The memory in {store.url} has devices already, and this one is not among them.",
                "On one of them: memtui sync invite. Then here: memtui sync join URL CODE",
            )
        data = _must_have(store, _change_name(1))
        first = Membership(
            url=url, device=self._device, identity="", group=_open_change(data, None, "", 1), hash=_hash_change(data),
            facts_only=facts_only,
        )  # fmt: skip
        first = self._follow_changes(store, first)
        self._must_not_be_removed(first.group)
        return self._append_change(store, first, lambda group: _with_member(group, own))

    def join(self, store: SyncStore, url: str, code: str, *, facts_only: bool = False) -> Membership:
        """Become the device that a code invites. Raises InputError for a code that is wrong, used, or of another store,
        RemovedDeviceError for a device that was removed: it comes back under another name."""
        invitation = read_code(code)
        data = store.get(_change_name(invitation.number))
        if data is None or not _hash_change(data).startswith(invitation.hash):
            raise InputError(
                f"{store.url} does not have what this invitation was made in.",
                "Check that it is the store of the other device; a folder may need a moment until all has arrived.",
            )
        group = _open_change(data, None, invitation.identity, invitation.number)
        recipient = recipient_of(invitation.identity)
        guest = Membership(
            url=url, device=self._device, identity=invitation.identity, group=group, hash=_hash_change(data),
            facts_only=facts_only,
        )  # fmt: skip
        used = InputError("This invitation was used or withdrawn.", "On another device: memtui sync invite")
        try:
            guest = self._follow_changes(store, guest)
        except _NotForUsError:
            raise used from None
        identity = new_identity()
        own = self._own_member(identity)
        left_behind = self.membership

        self._must_not_be_removed(guest.group)

        def joined(group: Group) -> Group:
            if recipient not in {one.recipient for one in group.members if one.invited}:
                raise used
            left = tuple(one for one in group.members if one.recipient != recipient)
            return replace(_with_member(replace(group, members=left), own), epochs=_next_epoch(group, None))

        found = self._append_change(store, guest, joined, identity)
        if left_behind is not None and left_behind.group.id == found.group.id:
            self._seal_own_batches(store, left_behind, found, first=0)
        return found

    def read_membership_changes(self, store: SyncStore) -> Membership:
        """The membership after what others changed since. Raises GroupError, NotMemberError where this device was removed."""
        known = self._must_be_member()
        try:
            found = self._follow_changes(store, known)
        except _NotForUsError:
            raise NotMemberError(
                "This device was removed from the group: it can read nothing that is written from now on.",
                "What is in this memory stays. To come back: memtui sync invite on another device, memtui sync join here.",
            ) from None
        if known.device in found.group.removed:  # of a plain group, which anybody can read
            raise NotMemberError(
                "This device was removed from the group.",
                "What is in this memory stays. To come back: memtui sync stop, then memtui sync FOLDER --plain",
            )
        if found.device != self._device:
            # The file was restored or copied, so another one may go on under the old name, with the old identity.
            identity = "" if found.group.plain else new_identity()
            own = self._own_member(identity)
            found = self._append_change(store, found, lambda group: _with_member(group, own), identity)
        elif found != known:
            self.keep(found)
        self._seal_again(store, known, found)
        return found

    def invite(self, store: SyncStore) -> str:
        """A code by which one device can join. It is a secret, and kept nowhere."""
        membership = self.read_membership_changes(store)
        if membership.group.plain:
            raise UsageError(
                "A plain folder needs no invitation.", "On the other device: memtui sync FOLDER --plain"
            )
        identity = new_identity()
        guest = Member(
            device=f"invitation-{secrets.token_hex(4)}", recipient=recipient_of(identity), added_at=int(self._clock()),
            added_by=self._device, invited=True,
        )  # fmt: skip
        changed = self._append_change(store, membership, lambda group: _with_member(group, guest))
        secret = identity.removeprefix(_IDENTITY)
        return f"MEMTUI-1-{secret}-{changed.group.number}-{changed.hash[:32].upper()}"

    def remove(self, store: SyncStore, device: str, numbers: Mapping[str, int]) -> Member:
        """Take a device (its name, or its whole id) out of the group, or an invitation that nobody used.

        ``numbers``: the last number of each device that was applied here, this device's own among them: from now on no later
        one counts under an earlier key. Raises NotFoundError, InputError for a name that several have or this device.
        """
        membership = self.read_membership_changes(store)
        gone = _find_member(membership.group, device)
        if gone.device == self._device:
            raise InputError("This is the device itself.", "Remove it from another one.")

        def without(group: Group) -> Group:
            left = tuple(one for one in group.members if one.device != gone.device)
            removed = {**group.removed, gone.device: numbers.get(gone.device, 0)}
            epochs = group.epochs if group.plain else _next_epoch(group, dict(numbers))
            return replace(group, members=left, removed=removed, epochs=epochs)

        changed = self._append_change(store, membership, without)
        self._seal_again(store, membership, changed)
        return gone

    def rename(self, store: SyncStore, name: str) -> None:
        """Call this device something else, on every device. Raises InputError for a name that it cannot have."""
        membership = self.read_membership_changes(store)
        name = " ".join(name.split())
        try:
            msgspec.convert(name, DeviceLabel)
        except msgspec.ValidationError:
            name = ""
        if not name:
            raise InputError(
                "A device cannot be called that.",
                "Up to 40 letters, digits, spaces, points and hyphens, beginning with a letter or digit.",
            )
        for other in membership.group.members:
            if other.device != self._device and name in (other.called, other.device):
                raise InputError(f"Another device is called {name}.", "Choose another name.")

        def renamed(group: Group) -> Group:
            return replace(
                group,
                members=tuple(
                    replace(one, name=name) if one.device == self._device else one for one in group.members
                ),
            )

        self._append_change(store, membership, renamed)

    def _must_not_be_removed(self, group: Group) -> None:
        if self._device in group.removed:
            raise RemovedDeviceError(
                "This device was removed from the group.", "It comes back under another name."
            )

    def _must_be_member(self) -> Membership:
        found = self.membership
        if found is None:
            raise UsageError(
                "This memory is not synced.",
                "memtui sync FOLDER begins; memtui sync join URL CODE uses an invitation.",
            )
        return found

    def _own_member(self, identity: str) -> Member:
        return Member(
            device=self._device, recipient=recipient_of(identity) if identity else "", added_at=int(self._clock()),
            added_by=self._device,
        )  # fmt: skip

    def keep(self, membership: Membership) -> Membership:
        """Keep it on this machine."""
        self._keyring.set(self._memory, membership)
        return membership

    def _follow_changes(self, store: SyncStore, known: Membership) -> Membership:
        """The membership after every later change that the store has, each verified by the one before."""
        before = _change_name(known.group.number - 1) if known.group.number > 1 else ""
        names = store.list_since(_FOLDER, before)
        if _change_name(known.group.number) not in names:
            raise GroupError(
                f"{store.url} is empty or older than it was: change {known.group.number} of its group is missing.",
                "Nothing was sent or applied. Check that it is the same store, and that it is mounted and up to date.",
            )
        latest = _must_have(store, _change_name(known.group.number))
        if _hash_change(latest) != known.hash:
            try:
                framing.unframe(latest)
            except framing.PartialError as error:
                raise _partial(known.group.number, error) from None
            # Never followed unasked: a removed device could make such a change, to stay in the group.
            raise GroupError(
                f"Change {known.group.number} of the group is another one than here: two devices changed it at once,"
                " or it was forged.",
                "Nothing was sent or applied. Look at memtui sync status on the other devices. If it is right there, make an"
                " invitation there and use it here (memtui sync join URL CODE), then repeat what is missing.",
            )
        found = known
        for name in names:
            if name <= _change_name(known.group.number):
                continue
            if name != _change_name(found.group.number + 1):
                raise GroupError(
                    f"{store.url}: change {found.group.number + 1} of the group has not arrived, a later one has.",
                    "Nothing was sent or applied. A folder may need a moment until all has arrived.",
                )
            data = _must_have(store, name)
            group = _open_change(data, found, found.identity, found.group.number + 1)
            found = replace(found, group=group, hash=_hash_change(data))
        return found

    def _append_change(
        self, store: SyncStore, known: Membership, make: Callable[[Group], Group], identity: str | None = None
    ) -> Membership:
        """Put the next change, and keep it. ``identity``: of this device from then on."""
        for _ in range(_TRIES):
            group = replace(
                make(known.group), number=known.group.number + 1, previous=known.hash, made_by=self._device,
                made_at=int(self._clock()),
            )  # fmt: skip
            data = _seal_change(group, known.group)
            if store.put_if_absent(_change_name(group.number), data):
                return self.keep(
                    replace(
                        known, group=group, hash=_hash_change(data), device=self._device,
                        identity=known.identity if identity is None else identity,
                    )
                )  # fmt: skip
            known = self._follow_changes(store, known)
        raise GroupError("Other devices keep changing the group.", "Try again in a moment.")

    def _seal_again(self, store: SyncStore, before: Membership, now: Membership) -> None:
        """Seal own batches anew that were written under an earlier key while another device ended it: theirs would not count."""
        ended = now.group.epochs[len(before.group.epochs) :]
        boundaries = [one.boundary.get(self._device, 0) for one in ended if one.boundary is not None]
        if boundaries:
            self._seal_own_batches(store, before, now, first=min(boundaries))

    def _seal_own_batches(self, store: SyncStore, before: Membership, now: Membership, *, first: int) -> None:
        """Seal own batches after number ``first`` anew, under the newest key."""
        sealer, old = now.group.sealer, before.group.sealer
        if not isinstance(sealer, AgeSealer) or not isinstance(old, AgeSealer):
            return
        for folder in ("batches", "snapshots"):
            own = f"{folder}/{self._device}/"
            for name in store.list_since(own, f"{own}{first:010}~"):
                data = store.get(name)
                try:
                    content = None if data is None else old.open_bytes(data)
                except BatchError:
                    continue  # sealed by the new key already, or not by this device: whoever reads it says so
                if content is not None:
                    store.replace(name, sealer.seal_bytes(content[1]))


class _NotForUsError(Exception):
    """A change that this device cannot decrypt: it is in the group no longer."""


def read_code(text: str) -> Code:
    """An invitation as it was pasted, in a line of its own or within one. Raises InputError."""
    found = _CODE.search("".join(text.upper().split()))
    if found is None:
        raise InputError(
            "This is no invitation.", "It begins with MEMTUI-1- and has three more parts. Copy it whole."
        )
    identity = _IDENTITY + found[1]
    try:
        recipient_of(identity)
    except ValueError:
        raise InputError("A sign of this invitation is wrong.", "Copy it whole.") from None
    return Code(identity, int(found[2]), found[3].lower())


def _find_member(group: Group, device: str) -> Member:
    found = [one for one in group.members if device in (one.device, one.called)]
    exact = [one for one in found if one.device == device]
    if exact or len(found) == 1:
        return (exact or found)[0]
    known = ", ".join(one.device for one in (found or group.members))
    if found:
        raise InputError(f"Several devices are called {device}.", f"Name one of them: {known}")
    raise NotFoundError(f"There is no device {device!r} in the group.", f"There are: {known}")


def _with_member(group: Group, member: Member) -> Group:
    others = tuple(one for one in group.members if one.device != member.device)
    return replace(group, members=(*others, member))


def _next_epoch(group: Group, boundary: dict[str, int] | None) -> tuple[Epoch, ...]:
    return (
        *group.epochs,
        Epoch(number=group.epochs[-1].number + 1, identity=new_identity(), boundary=boundary),
    )


def _change_name(number: int) -> str:
    return f"{_FOLDER}{number:010}"


def _hash_change(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _plain_text_key(group: str) -> str:
    return hashlib.sha256(b"memtui sync: plain " + group.encode()).hexdigest()


def _seal_change(group: Group, before: Group | None) -> bytes:
    """The object of a change: for the members of it, authenticated under the last key of the group before it."""
    content = _encode(group)
    if group.plain:
        return framing.frame(_PLAIN, group.number, content)
    key = (before or group).epochs[-1].key
    content = add_mac(key, f"group {group.id} {group.number}", content)
    return framing.frame(_SEALED, group.number, encrypt(content, [one.recipient for one in group.members]))


def _open_change(data: bytes, before: Membership | None, identity: str, number: int) -> Group:
    """The group that an object has. ``before``: what it must follow; None where its hash was verified.

    Raises GroupError, _NotForUsError.
    """
    wrong = GroupError(
        f"Change {number} of the group is forged or damaged.",
        "Nothing was sent or applied. If the store is a folder, look for a copy of the file group/ that it kept.",
    )
    try:
        found = framing.unframe(data)
    except framing.PartialError as error:
        raise _partial(number, error) from None
    if found is None or found.kind not in (_SEALED, _PLAIN) or found.format > framing.FORMAT:
        raise wrong
    plain = found.kind == _PLAIN
    if before is not None and before.group.plain != plain:
        raise wrong
    content: bytes | None
    if plain:
        content = found.content
    else:
        content = decrypt(found.content, identity)
        if content is None:
            raise _NotForUsError
    try:
        group = _group(content if plain else content[32:])
        if not plain:
            key = (before.group if before else group).epochs[-1].key
            if verify_mac(key, f"group {group.id} {number}", content) is None and before is not None:
                raise wrong
    except (msgspec.MsgspecError, IndexError):
        raise wrong from None
    if group.number != number or group.format > _FORMAT:
        raise wrong
    if before is not None:
        known = before.group
        follows = group.id == known.id and group.previous == before.hash and group.text_key == known.text_key
        if not follows or group.epochs[: len(known.epochs)] != known.epochs:
            raise wrong
    return group


def _partial(number: int, error: framing.PartialError) -> GroupError:
    return GroupError(
        f"Change {number} of the group is still being copied: {error}.",
        "Nothing was sent or applied. Try again in a moment; a sync client may not have finished.",
    )


def _must_have(store: SyncStore, name: str) -> bytes:
    data = store.get(name)
    if data is None:
        raise GroupError(f"{store.url} has no {name}, which it lists.", "Try again in a moment.")
    return data


def _read_marker(store: SyncStore) -> _Marker:
    try:
        marker = msgspec.json.decode(store.get(MARKER) or b"", type=_Marker)
    except msgspec.MsgspecError:
        raise GroupError(
            f"{MARKER} in {store.url} cannot be read: it is damaged, or still being copied.",
            "Try again in a moment; if it stays so, choose another place.",
        ) from None
    if marker.format > _FORMAT:
        raise GroupError(f"A newer memtui made {store.url}.", "Update memtui.")
    return marker
