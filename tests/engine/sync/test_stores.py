"""One suite for every store: a real folder, moto's S3 server on loopback, a PostgreSQL that a package brings."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from memtui.engine.errors import InputError, MemtuiError
from memtui.engine.sync.stores import SyncStore, SyncStoreError, base, open_store, urls

import store_servers as servers

Opener = Callable[[], SyncStore]


@pytest.fixture(params=["folder", "s3", "postgres"])
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    """Opens the same empty store as often as it is called: each call is another device."""
    place = {
        "folder": lambda: str(tmp_path / "store"),
        "s3": servers.s3_url,
        "postgres": servers.postgres_url,
    }[request.param]()
    opened: list[SyncStore] = []

    def open_it() -> SyncStore:
        opened.append(open_store(place, create=True))
        return opened[-1]

    request.addfinalizer(lambda: [one.close() for one in opened])
    return open_it


def test_an_object_is_what_was_put(opener: Opener) -> None:
    one, other = opener(), opener()
    data = bytes(range(256)) * 5_000
    assert one.get("batches/a-1/0000000001") is None
    assert one.put_if_absent("batches/a-1/0000000001", data)
    assert one.put_if_absent("memtui-sync.json", b"")
    assert other.get("batches/a-1/0000000001") == data
    assert other.get("memtui-sync.json") == b""


def test_a_name_is_given_once(opener: Opener) -> None:
    one, other = opener(), opener()
    assert one.put_if_absent("group/0001", b"first")
    assert not other.put_if_absent("group/0001", b"second")
    assert not other.put_if_absent("group/0001", b"first")
    assert one.get("group/0001") == b"first"


def test_of_many_that_put_at_once_one_wins(opener: Opener) -> None:
    stores = [opener() for _ in range(6)]
    won: list[int] = []
    together = threading.Barrier(len(stores))

    def put(number: int) -> None:
        together.wait()
        if stores[number].put_if_absent("group/0002", b"by %d" % number):
            won.append(number)

    threads = [threading.Thread(target=put, args=(number,)) for number in range(len(stores))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert stores[0].get("group/0002") == b"by %d" % won[0]


def test_a_list_has_what_comes_after_in_order(opener: Opener) -> None:
    store = opener()
    assert store.list_since("batches/") == []
    for name in (
        "b/0000000010",
        "b/0000000009",
        "b/0000000011",
        "B/0000000001",
        "b-2/0000000001",
        "b_1/0000000001",
    ):
        store.put_if_absent(f"batches/{name}", b"x")
    store.put_if_absent("batches0", b"x")
    store.put_if_absent("snapshots/b/0000000011", b"x")
    assert store.list_since("batches/b/") == [f"batches/b/00000000{n}" for n in ("09", "10", "11")]
    assert store.list_since("batches/b/", "batches/b/0000000009") == [
        "batches/b/0000000010",
        "batches/b/0000000011",
    ]
    assert store.list_since("batches/b/", "batches/b/0000000011") == []
    everything = [
        "batches/B/0000000001", "batches/b-2/0000000001", "batches/b/0000000009", "batches/b/0000000010",
        "batches/b/0000000011", "batches/b_1/0000000001",
    ]  # fmt: skip
    assert store.list_since("batches/") == everything
    assert store.list_since("batches/", "batches/b-2/0000000001") == everything[2:]
    assert store.list_since("") == [*everything, "batches0", "snapshots/b/0000000011"]


def test_the_owner_replaces_and_deletes(opener: Opener) -> None:
    one, other = opener(), opener()
    one.replace("batches/a/0000000001", b"new")
    one.replace("batches/a/0000000001", b"newer")
    assert other.get("batches/a/0000000001") == b"newer"
    one.delete("batches/a/0000000001")
    one.delete("batches/a/0000000001")
    one.delete("nothing/here")
    assert other.get("batches/a/0000000001") is None
    assert other.list_since("batches/") == []


def test_bad_names_are_refused(opener: Opener) -> None:
    store = opener()
    for name in ("", "/a", "a/", "a//b", "../a", "a/../b", "a/.b", "a b", "a\0b", "ä", "x" * 300):
        for call in (
            lambda n: store.put_if_absent(n, b""),
            store.get,
            store.delete,
            lambda n: store.replace(n, b""),
        ):
            with pytest.raises(InputError):
                call(name)
    for folder in ("a", "../", "/", "a b/"):
        with pytest.raises(InputError):
            store.list_since(folder)


def test_what_is_too_large_is_not_read(opener: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    store = opener()
    store.put_if_absent("batches/a/0000000001", b"x" * 2_000)
    for module in ("folder", "s3", "postgres"):
        monkeypatch.setattr(f"memtui.engine.sync.stores.{module}.MOST_BYTES", 1_000)
    with pytest.raises(base.LargeObjectError):
        store.get("batches/a/0000000001")


# What each has of its own


def test_conflict_copies_and_partial_files_are_not_listed(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    store.put_if_absent("batches/a/0000000001", b"x")
    folder = tmp_path / "batches" / "a"
    strangers = (
        "0000000001 (laptop's conflicted copy 2026-11-27)", "0000000001.sync-conflict-20261127-101010-ABC",
        ".memtui-1.partial", "~0000000002.tmp", ".syncthing.0000000002.tmp",
    )  # fmt: skip
    for name in strangers:
        (folder / name).write_bytes(b"y")
    assert store.list_since("batches/a/") == ["batches/a/0000000001"]
    assert store.list_since("") == ["batches/a/0000000001"]


def test_a_file_that_cannot_be_linked_is_renamed_but_never_over_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on FAT, which most sticks have."""

    def no_links(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    store = open_store(str(tmp_path))
    assert store.put_if_absent("group/0001", b"one")
    assert not store.put_if_absent("group/0001", b"two")
    assert store.get("group/0001") == b"one"
    assert [one.name for one in (tmp_path / "group").iterdir()] == ["0001"]


@pytest.mark.parametrize("call", ["put", "list"])
def test_what_a_killed_program_left_is_removed_an_hour_later(tmp_path: Path, call: str) -> None:
    store = open_store(str(tmp_path))
    store.put_if_absent("batches/a/0000000001", b"x")
    old, new = (tmp_path / "batches" / "a" / f".memtui-{name}.partial" for name in ("old", "new"))
    for left in (old, new):
        left.write_bytes(b"half")
    os.utime(old, (time.time() - 4_000,) * 2)
    if call == "put":
        store.put_if_absent("batches/a/0000000002", b"x")
    else:  # as each device does that reads what this one wrote
        assert store.list_since("batches/a/", "batches/a/0000000001") == []
    assert (old.exists(), new.exists()) == (False, True)


@pytest.mark.skipif(os.name == "nt", reason="no pipes and modes")
def test_a_pipe_or_link_in_the_folder_is_no_object(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    store = open_store(str(folder), create=True)
    assert folder.stat().st_mode & 0o777 == 0o700
    store.put_if_absent("batches/a/0000000001", b"x")
    assert (folder / "batches" / "a" / "0000000001").stat().st_mode & 0o777 == 0o600
    os.mkfifo(folder / "batches" / "a" / "0000000002")
    (tmp_path / "secret").write_text("secret")
    (folder / "batches" / "a" / "0000000003").symlink_to(tmp_path / "secret")
    for number in (2, 3):
        with pytest.raises(SyncStoreError):
            store.get(f"batches/a/{number:010}")


def test_a_folder_that_is_not_there_is_an_error_and_no_empty_store(tmp_path: Path) -> None:
    with pytest.raises(SyncStoreError, match="There is no folder"):
        open_store(str(tmp_path / "stick"))
    with pytest.raises(SyncStoreError):
        open_store(str(tmp_path / "no" / "stick"), create=True)
    store = open_store(str(tmp_path / "stick"), create=True)
    (tmp_path / "stick").rmdir()
    for call in (lambda: store.list_since("batches/"), lambda: store.put_if_absent("a", b"")):
        with pytest.raises(SyncStoreError):
            call()
    assert not (tmp_path / "stick").exists()


def test_a_long_list_is_whole() -> None:
    """S3 gives a thousand names at a time."""
    store = open_store(servers.s3_url())
    names = [f"batches/many/{number:010}" for number in range(1, 1_004)]
    for name in names:
        store.put_if_absent(name, b"x")
    assert store.list_since("batches/many/") == names
    assert store.list_since("batches/many/", names[1]) == names[2:]


def test_a_lost_connection_is_made_again() -> None:
    import psycopg

    url = servers.postgres_url()
    store = open_store(url)
    store.put_if_absent("group/0001", b"x")
    with psycopg.connect(servers.postgres_uri(), autocommit=True) as admin:
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'memtui'"
        )
    assert store.get("group/0001") == b"x"
    store.close()


def test_one_database_has_many_memories() -> None:
    one, other = open_store(servers.postgres_url("ada")), open_store(servers.postgres_url("ben"))
    one.put_if_absent("group/0001", b"ada's")
    assert other.get("group/0001") is None
    assert other.list_since("") == []
    assert other.put_if_absent("group/0001", b"ben's")
    assert one.get("group/0001") == b"ada's"
    one.close()
    other.close()


# Addresses and what is secret in them


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ("/home/ada/Sync/memory", "/home/ada/Sync/memory"),
        ("env:STORE", "env:STORE"),
        ("s3://KEY:S3CRET%2F@bucket/a/b?endpoint=https://tok:S3CRET@s3.example&region=x", "s3://bucket/a/b"),
        ("postgresql://ada:S3CRET@db.example:5433/main/ada?sslmode=require&password=S3CRET", "postgresql://db.example:5433/main/ada"),
        ("postgres://ada:S3CRET@db/main", "postgresql://db/main"),
        ("postgresql://ada:S3CRET/x@db/main", "postgresql://***"),
        ("postgresql://ada:S3CRET@db:port/main", "postgresql://***"),
        ("s3://KEY:S3#CRET@bucket/x", "s3://***"),
        ("ftp://ada:S3CRET@host", "ftp://***"),
    ],
)  # fmt: skip
def test_an_address_is_shown_without_its_secrets(place: str, shown: str) -> None:
    assert urls.without_credentials(place) == shown
    if urls.is_url(place) and shown.endswith("***"):
        with pytest.raises(InputError) as raised:
            open_store(place)
        assert "CRET" not in str(raised.value) + raised.value.hint


def test_a_store_out_of_reach_is_named_without_its_secrets(capfd: pytest.CaptureFixture[str]) -> None:
    servers.s3_endpoint()
    wrong = [
        "postgresql://ada:S3CRET@127.0.0.1:1/main",
        f"{servers.postgres_uri().partition('?')[0]}x/m?password=S3CRET&{servers.postgres_uri().partition('?')[2]}",
        "postgresql://ada:S3CRET@127.0.0.1:1/main?no_such_parameter=S3CRET",
        servers.s3_url("bucket-there").replace("bucket-there", "bucket-not-there"),
        "s3://KEY:S3CRET@bucket/x?endpoint=http://127.0.0.1:1&region=x",
    ]
    told = []
    for place in wrong:
        with pytest.raises(MemtuiError) as raised:
            store = open_store(place)
            store.put_if_absent("a", b"S3CRET")
        assert isinstance(raised.value, SyncStoreError), place
        assert raised.value.__cause__ is None
        told.append(str(raised.value) + raised.value.hint)
    said = "\n".join([*told, *capfd.readouterr()])
    assert "CRET" not in said
    assert "s3cr3t" not in said
    assert "no such database" in told[1]
    assert "no such bucket" in told[3]


def test_an_address_may_stand_in_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORE", str(tmp_path))
    assert open_store("env:STORE").put_if_absent("a", b"")
    monkeypatch.delenv("STORE")
    with pytest.raises(InputError, match="STORE"):
        open_store("env:STORE")
