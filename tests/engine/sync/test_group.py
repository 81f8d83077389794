"""Devices come into a group and leave it; what a store shows of it is verified. Over a real folder."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from memtui.engine.errors import InputError, NotFoundError, UsageError
from memtui.engine.sync import group as groups
from memtui.engine.sync.batch import Batch, BatchError, BatchHeader, Removed, lines_hash
from memtui.engine.sync.envelope import encrypt, from_bytes, to_bytes
from memtui.engine.sync.framing import frame
from memtui.engine.sync.group import GroupError, Groups, NotMemberError, RemovedDeviceError, read_code
from memtui.engine.sync.keyring import Keyring
from memtui.engine.sync.stores import open_store

LINES = (b'{"line":"memory","content":"Ada is allergic to walnuts"}', b'{"line":"memory","content":"x"}')


class Device:
    """A machine with a keyring of its own, over one folder."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = f"{name}-00000001"
        self.url = str(folder / "store")
        self.keyring = Keyring(folder / name / "sync.json")
        self.memory = folder / name / "memory.db"
        self.store = open_store(self.url, create=True)
        self.rename(self.name)

    def rename(self, name: str) -> None:
        self.name = name
        self.groups = Groups(self.keyring, self.memory, name, time.time)

    def begin(self, **how: bool) -> None:
        self.groups.begin(self.store, self.url, **how)

    def join(self, code: str) -> None:
        self.groups.join(self.store, self.url, code)

    def refresh(self) -> list[str]:
        return [
            one.device.rpartition("-")[0]
            for one in self.groups.read_membership_changes(self.store).group.members
        ]

    def write(self, number: int) -> None:
        self.store.put_if_absent(self.place(number), self.seal(number))

    def seal(self, number: int, device: str = "") -> bytes:
        group = self.known()
        return group.sealer.seal(batch(group.id, device or self.name, number))

    def read(self, other: Device, number: int) -> Batch:
        data = self.store.get(other.place(number))
        assert data is not None
        return self.known().sealer.open(data)

    def place(self, number: int) -> str:
        return f"batches/{self.name}/{number:010}"

    def known(self) -> groups.Group:
        membership = self.groups.membership
        assert membership is not None
        return membership.group


def batch(group: str, device: str, number: int) -> Batch:
    header = BatchHeader(
        kind="batch", group=group, device=device, number=number, previous="", heads={}, count=len(LINES),
        lines=lines_hash(LINES), made_at=1,
    )  # fmt: skip
    return Batch(header, LINES)


@pytest.fixture
def device(tmp_path: Path) -> Callable[[str], Device]:
    return lambda name: Device(tmp_path, name)


@pytest.fixture
def three(device: Callable[[str], Device]) -> tuple[Device, Device, Device]:
    """Three devices of one group: the second and third came by an invitation."""
    one, two, three = device("laptop"), device("desktop"), device("server")
    one.begin()
    two.join(one.groups.invite(one.store))
    three.join(two.groups.invite(two.store))
    one.refresh()
    two.refresh()
    return one, two, three


def test_three_devices_read_each_other(three: tuple[Device, Device, Device]) -> None:
    for number, writer in enumerate(three, start=1):
        writer.write(number)
        for reader in three:
            assert reader.read(writer, number).lines == LINES
    assert {tuple(sorted(one.refresh())) for one in three} == {("desktop", "laptop", "server")}
    assert len({one.known().sealer.keyed_hash("walnuts") for one in three}) == 1


def test_who_joins_reads_what_was_written_before(device: Callable[[str], Device]) -> None:
    one, two = device("laptop"), device("desktop")
    one.begin()
    one.write(1)
    two.join(one.groups.invite(one.store))
    assert two.read(one, 1).lines == LINES


def test_the_store_has_nothing_that_can_be_read(three: tuple[Device, Device, Device], tmp_path: Path) -> None:
    one = three[0]
    one.write(1)
    stored = b"".join(path.read_bytes() for path in (tmp_path / "store").rglob("*") if path.is_file())
    assert b"walnuts" not in stored
    for device in three:
        assert one.known().text_key.encode() not in stored
        membership = device.groups.membership
        assert membership is not None
        for secret in (membership.identity, *(epoch.identity for epoch in membership.group.epochs)):
            assert secret.startswith("AGE-SECRET-KEY-1")
            assert secret.encode() not in stored
    if os.name != "nt":
        assert one.keyring.path.stat().st_mode & 0o777 == 0o600


def test_an_invitation_works_once_and_opens_nothing_later(device: Callable[[str], Device]) -> None:
    one, two, three = device("laptop"), device("desktop"), device("server")
    one.begin()
    code = one.groups.invite(one.store)
    assert len(code) > 100  # 32 bytes of key, and 16 of what it trusts
    assert code == code.upper()  # the short form of a QR code
    two.join(f"memtui sync join /x {code.lower()}\n")
    with pytest.raises(InputError, match="used or withdrawn"):
        three.join(code)
    two.write(1)
    data = two.store.get(two.place(1))
    assert data is not None
    stolen = one.store.get(f"group/{read_code(code).number:010}")
    assert stolen is not None
    old = groups._open_change(stolen, None, read_code(code).identity, read_code(code).number)
    with pytest.raises(BatchError, match="does not have"):
        old.sealer.open(data)


def test_an_invitation_can_be_withdrawn(device: Callable[[str], Device]) -> None:
    one, two = device("laptop"), device("desktop")
    one.begin()
    code = one.groups.invite(one.store)
    open_one = next(member for member in one.known().members if member.invited)
    one.groups.remove(one.store, open_one.device, {one.name: 0})
    with pytest.raises(InputError, match="used or withdrawn"):
        two.join(code)


@pytest.mark.parametrize(
    "change", [lambda c: c[:-1], lambda c: c.replace("-1-", "-2-", 1), lambda c: "", lambda c: _typo(c)]
)
def test_a_wrong_code_is_refused(device: Callable[[str], Device], change: Callable[[str], str]) -> None:
    one, two = device("laptop"), device("desktop")
    one.begin()
    with pytest.raises(InputError):
        two.join(change(one.groups.invite(one.store)))
    assert two.groups.membership is None


def _typo(code: str) -> str:
    return code[:20] + ("Q" if code[20] != "Q" else "P") + code[21:]


def test_a_code_of_another_store_is_refused(device: Callable[[str], Device], tmp_path: Path) -> None:
    one, two = device("laptop"), device("desktop")
    one.begin()
    code = one.groups.invite(one.store)
    other = Device(
        tmp_path / "elsewhere" if (tmp_path / "elsewhere").mkdir() is None else tmp_path, "desktop"
    )
    other.begin()
    with pytest.raises(InputError, match="does not have"):
        two.groups.join(other.store, other.url, code)


def test_a_removed_device_reads_nothing_new_and_writes_nothing_that_counts(
    three: tuple[Device, Device, Device],
) -> None:
    one, two, three_ = three
    three_.write(1)
    sealer = three_.known().sealer
    one.write(1)
    one.groups.remove(one.store, "server", {one.name: 1, two.name: 0, three_.name: 1})
    one.write(2)
    data = one.store.get(one.place(2))
    assert data is not None
    with pytest.raises(BatchError, match="does not have"):
        sealer.open(data)
    with pytest.raises(NotMemberError, match="removed"):
        three_.refresh()
    two.refresh()
    assert two.read(three_, 1).lines == LINES  # what it wrote before counts
    three_.write(2)
    for reader in (one, two):
        with pytest.raises(BatchError, match="removed") as raised:
            reader.read(three_, 2)
        assert raised.value.kind == "forged"
    # In the name of another device, under the key that it still has.
    forged = three_.seal(7, device=one.name)
    with pytest.raises(BatchError, match="removed device"):
        two.known().sealer.open(forged)


def test_what_was_written_while_another_device_was_removed_is_sealed_anew(
    three: tuple[Device, Device, Device],
) -> None:
    one, two, three_ = three
    two.write(1)
    one.groups.remove(one.store, "server", {one.name: 0, two.name: 0, three_.name: 0})
    with pytest.raises(BatchError):
        one.read(two, 1)
    two.refresh()
    assert one.read(two, 1).lines == LINES


def test_a_removed_device_may_come_back_under_another_name(three: tuple[Device, Device, Device]) -> None:
    one, _, three_ = three
    one.groups.remove(one.store, "server", {one.name: 0})
    code = one.groups.invite(one.store)
    with pytest.raises(RemovedDeviceError):
        three_.join(code)
    three_.rename("server-00000002")
    three_.join(code)
    three_.write(1)
    one.refresh()
    assert one.read(three_, 1).lines == LINES


def test_changes_at_once_are_both_made(
    three: tuple[Device, Device, Device], device: Callable[[str], Device]
) -> None:
    one, two, _ = three
    codes = [one.groups.invite(one.store), two.groups.invite(two.store)]
    for name, code in zip(("phone", "tablet"), codes, strict=True):
        device(name).join(code)
    assert sorted(one.refresh()) == ["desktop", "laptop", "phone", "server", "tablet"]


def test_changes_at_once_in_a_folder_that_meets_later_are_named_and_the_way_back_brings_all(
    three: tuple[Device, Device, Device], tmp_path: Path
) -> None:
    one, two, three_ = three
    own_copy = tmp_path / "own copy"
    shutil.copytree(tmp_path / "store", own_copy)
    one.groups.remove(one.store, three_.name, {})
    elsewhere = open_store(str(own_copy), create=False)
    two.groups.remove(elsewhere, three_.name, {})
    two.write(1)  # under a key that nobody else has; the change of the other one has arrived meanwhile
    for _ in range(2):
        with pytest.raises(GroupError, match="two devices changed it at once") as raised:
            two.groups.read_membership_changes(two.store)
        assert "memtui sync join" in raised.value.hint
    with pytest.raises(BatchError):
        one.read(two, 1)
    two.join(one.groups.invite(one.store))
    one.refresh()
    assert one.read(two, 1).lines == LINES
    two.write(2)
    assert one.read(two, 2).lines == LINES
    assert sorted(two.refresh()) == ["desktop", "laptop"]


def test_names_of_devices(three: tuple[Device, Device, Device]) -> None:
    one = three[0]
    with pytest.raises(NotFoundError, match="phone"):
        one.groups.remove(one.store, "phone", {})
    with pytest.raises(InputError, match="itself"):
        one.groups.remove(one.store, "laptop", {})


def test_a_restored_or_copied_file_is_a_device_of_its_own_beside_the_other(
    three: tuple[Device, Device, Device], tmp_path: Path
) -> None:
    one, two, _ = three
    two.write(1)
    copied = Keyring(tmp_path / "copy" / "sync.json")
    membership = two.groups.membership
    assert membership is not None
    copied.set(two.memory, membership)
    copy = Groups(copied, two.memory, "desktop-00000002", time.time)
    assert copy.read_membership_changes(two.store).identity != membership.identity
    assert sorted(member.device for member in one.groups.read_membership_changes(one.store).group.members) == [
        "desktop-00000001", "desktop-00000002", "laptop-00000001", "server-00000001",
    ]  # fmt: skip
    assert one.read(two, 1).lines == LINES
    one.groups.remove(one.store, "desktop-00000002", {})
    with pytest.raises(NotMemberError, match="was removed"):
        copy.read_membership_changes(two.store)
    assert "desktop" in two.refresh()
    two.write(2)
    one.refresh()
    assert one.read(two, 2).lines == LINES


def test_who_was_not_invited_is_told_so(device: Callable[[str], Device]) -> None:
    one, two = device("laptop"), device("desktop")
    one.begin()
    with pytest.raises(NotMemberError) as raised:
        two.begin()
    assert "invite" in raised.value.hint
    with pytest.raises(UsageError, match="encrypted already"):
        two.begin(plain=True)


def test_a_plain_folder_needs_no_invitation(device: Callable[[str], Device]) -> None:
    one, two = device("laptop"), device("desktop")
    one.begin(plain=True)
    with pytest.raises(UsageError, match="plain"):
        two.begin()
    two.begin(plain=True)
    one.write(1)
    assert two.read(one, 1).lines == LINES
    assert sorted(one.refresh()) == ["desktop", "laptop"]
    with pytest.raises(UsageError, match="no invitation"):
        one.groups.invite(one.store)
    one.groups.remove(one.store, "desktop", {})
    assert one.refresh() == ["laptop"]


def test_a_server_cannot_be_plain(device: Callable[[str], Device]) -> None:
    one = device("laptop")
    with pytest.raises(UsageError, match="always encrypted"):
        one.groups.begin(one.store, "s3://bucket", plain=True)


# A store that lies


def test_an_older_or_empty_store_is_noticed(three: tuple[Device, Device, Device], tmp_path: Path) -> None:
    one = three[0]
    known = one.keyring.path.read_bytes()
    latest = max((tmp_path / "store" / "group").iterdir())
    data = latest.read_bytes()
    latest.unlink()
    with pytest.raises(GroupError, match="older"):
        one.refresh()
    latest.write_bytes(data)
    one.refresh()
    for path in (tmp_path / "store" / "group").iterdir():
        path.unlink()
    with pytest.raises(GroupError, match="empty"):
        one.refresh()
    assert one.keyring.path.read_bytes() == known


def test_a_forged_change_of_the_group_is_noticed(three: tuple[Device, Device, Device]) -> None:
    """The store knows the recipients of the devices, let us say, and can encrypt for them; a key it does not have."""
    one = three[0]
    membership = one.groups.membership
    assert membership is not None
    group = membership.group
    forged = groups.replace(
        group, number=group.number + 1, previous=membership.hash,
        epochs=(*group.epochs, groups.Epoch(number=99, identity=groups.new_identity())),
    )  # fmt: skip
    wrong_key = groups.replace(group, epochs=(groups.Epoch(number=1, identity=groups.new_identity()),))
    one.store.put_if_absent(groups._change_name(forged.number), groups._seal_change(forged, wrong_key))
    with pytest.raises(GroupError, match="forged"):
        one.refresh()
    known = one.known()
    assert known.number == group.number


def test_a_change_that_does_not_follow_is_noticed(three: tuple[Device, Device, Device]) -> None:
    one = three[0]
    group = one.known()
    swapped = groups.replace(group, number=group.number + 1, previous="0" * 64)
    one.store.put_if_absent(groups._change_name(swapped.number), groups._seal_change(swapped, group))
    with pytest.raises(GroupError):
        one.refresh()


def test_a_missing_change_waits(three: tuple[Device, Device, Device]) -> None:
    one = three[0]
    number = one.known().number
    one.store.put_if_absent(groups._change_name(number + 2), frame("group", number + 2, b"x"))
    with pytest.raises(GroupError, match="has not arrived"):
        one.refresh()


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 0.99])
def test_a_change_that_is_half_copied_waits_and_nobody_is_told_to_be_removed(
    three: tuple[Device, Device, Device], tmp_path: Path, share: float
) -> None:
    """A sync client that writes in place: the others see the beginning of the file first."""
    one, two, _ = three
    known = two.keyring.path.read_bytes()
    one.groups.invite(one.store)
    place = tmp_path / "store" / "group" / f"{one.known().number:010}"
    whole = place.read_bytes()
    place.write_bytes(whole[: int(len(whole) * share)])
    for device in (one, two):  # who knows that change already, and who is to follow it
        with pytest.raises(GroupError, match="still being copied") as raised:
            device.refresh()
        assert "Try again" in raised.value.hint
    assert two.keyring.path.read_bytes() == known
    place.write_bytes(whole)
    assert one.refresh() == two.refresh()


# Batches


def test_a_batch_is_what_was_sealed_or_a_named_problem(three: tuple[Device, Device, Device]) -> None:
    one, two, _ = three
    sealed, sealer = one.seal(1), two.known().sealer
    assert sealer.open(sealed).header.device == one.name
    for size in (0, 1, 10, 40, len(sealed) // 2, len(sealed) - 1):
        with pytest.raises(BatchError) as raised:
            sealer.open(sealed[:size])
        assert raised.value.kind == "partial"
    with pytest.raises(BatchError) as raised:
        sealer.open(sealed + b"x")
    assert raised.value.kind == "damaged"
    for place in range(20, len(sealed), 7):
        changed = bytearray(sealed)
        changed[place] ^= 1
        with pytest.raises(BatchError):
            sealer.open(bytes(changed))
    with pytest.raises(BatchError) as raised:
        sealer.open(b"memtui-age 2 1 3\nxxx")
    assert raised.value.kind == "newer"
    with pytest.raises(BatchError, match="not encrypted"):
        sealer.open(frame("plain", 0, to_bytes(batch(one.known().id, one.name, 1))))


def test_who_can_encrypt_for_the_group_cannot_write_for_it(three: tuple[Device, Device, Device]) -> None:
    one, two, _ = three
    epoch = one.known().epochs[-1]
    content = bytes(32) + to_bytes(batch(one.known().id, one.name, 1))
    forged = frame("age", epoch.number, encrypt(content, [groups.recipient_of(epoch.identity)]))
    with pytest.raises(BatchError, match="authentication") as raised:
        two.known().sealer.open(forged)
    assert raised.value.kind == "forged"


def test_a_batch_of_another_group_is_forged(device: Callable[[str], Device]) -> None:
    one = device("laptop")
    one.begin(plain=True)
    with pytest.raises(BatchError, match="another group"):
        one.known().sealer.open(frame("plain", 0, to_bytes(batch("other", one.name, 1))))


def test_a_removed_line_leaves_its_hash() -> None:
    whole = batch("g", "a-1", 1)
    less = Batch(whole.header, (whole.lines[0], Removed(hashlib.sha256(LINES[1]).digest())))
    read = from_bytes(to_bytes(less), "g")
    assert read == less
    assert read.hash == whole.hash
    other = Batch(whole.header, (whole.lines[0], Removed(bytes(32))))
    with pytest.raises(BatchError, match="not those"):
        from_bytes(to_bytes(other), "g")


def test_a_packed_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memtui.engine.sync.envelope._MOST_BYTES", 1_000)
    large = batch("g", "a-1", 1)
    with pytest.raises(BatchError, match="larger"):
        from_bytes(to_bytes(Batch(large.header, (b"x" * 100_000,))), "g")


# The keyring


def test_keys_that_others_may_write_are_not_used(three: tuple[Device, Device, Device]) -> None:
    one = three[0]
    if os.name != "nt":
        one.keyring.path.chmod(0o666)
        with pytest.raises(InputError, match="others may write"):
            one.refresh()
        one.keyring.path.chmod(0o600)
    one.keyring.path.write_text(json.dumps({"format": 9, "memories": {}}))
    with pytest.raises(InputError, match="newer"):
        one.refresh()
    one.keyring.path.write_text("{")
    with pytest.raises(InputError, match="not a file of keys"):
        one.refresh()
