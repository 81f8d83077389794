"""memtui sync: three machines (a home each) over a folder, S3 and PostgreSQL; what is secret in an address stays in one file."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from cli_kit import Cli, Outcome
from memtui import Memory, log
from memtui.cli.sync import sync_command
from memtui.engine.records import Options
from memtui.engine.sync.keyring import Keyring

import store_servers

CODE = re.compile(r"MEMTUI-1-[0-9A-Z-]+")
OPTIONS = Options(background=False, embedder="off", allow_unsafe_fs=True)
Machines = Callable[..., Outcome]


@pytest.fixture
def on(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machines:
    """``on("laptop", "sync")``: a command on a machine with a home of its own."""

    def call(machine: str, *arguments: str | Path, input: bytes = b"") -> Outcome:
        home = tmp_path / machine
        home.mkdir(exist_ok=True)
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setenv("MEMTUI_DB", str(home / "memory.db"))
        monkeypatch.setenv("MEMTUI_EMBEDDER_KIND", "off")
        return cli(*arguments, input=input)

    return call


@pytest.fixture(params=["folder", "s3", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    places = {
        "folder": lambda: str(tmp_path / "store"), "s3": store_servers.s3_url, "postgres": store_servers.postgres_url
    }  # fmt: skip
    return places[request.param]()


def test_three_machines_become_one_memory(on: Machines, url: str, tmp_path: Path) -> None:
    """Invite, join by a line, a file and standard input; correct here, see it there; remove."""
    assert on("laptop", "remember", "Ada lives in Bergen").code == 0
    begun = on("laptop", "sync", url)
    assert (begun.code, "encrypted" in begun.out, "sent 1 line" in begun.out) == (0, True, True)
    invited = on("laptop", "sync", "invite")
    [code] = CODE.findall(invited.out)
    assert "secret" in invited.err
    joined = on("desktop", "sync", "join", url, code)
    assert (joined.code, "received 1 line" in joined.out) == (0, True)
    assert on("desktop", "sync", "invite", "--file", tmp_path / "code").code == 0
    if os.name != "nt":
        assert (tmp_path / "code").stat().st_mode & 0o777 == 0o600
    again = on("server", "sync", "join", url, input=(tmp_path / "code").read_bytes())
    assert again.code == 0
    late = on("phone", "sync", "join", url, tmp_path / "code")
    assert (late.code, "used or withdrawn" in late.err) == (3, True)

    fact = re.search(r"fact_\w+", on("desktop", "list", "Bergen").out)
    assert fact is not None
    assert on("desktop", "correct", fact[0], "Ada lives in Oslo").code == 0
    assert "to send" in on("desktop", "sync", "status").out
    assert on("desktop", "sync").code == 0
    for machine in ("laptop", "server"):
        assert "1 correction" in on(machine, "sync").out
        assert [one["content"] for one in on(machine, "list", "--json").json["memories"]] == [
            "Ada lives in Oslo"
        ]
    assert "Synced from" in on("laptop", "history").out
    status = on("laptop", "sync", "status", "--json").json["sync"]
    own, others = (
        [one["device"] for one in status["devices"] if one["own"] is own] for own in (True, False)
    )  # fmt: skip
    assert (len(own), len(others)) == (1, 2)
    with Memory.open(tmp_path / "server" / "memory.db", options=OPTIONS) as memory:
        server = memory.files.device()
    assert on("laptop", "sync", "remove", server).out.startswith("removed")
    assert on("laptop", "remember", "The key is under the mat").code == 0
    assert on("laptop", "sync").code == 0
    assert "received 1 line" in on("desktop", "sync").out
    out = on("server", "sync")
    assert (out.code, "was removed" in out.err) == (3, True)
    assert "mat" not in on("server", "list").out
    assert on("server", "sync", "stop").code == 0
    assert on("server", "sync", "status").code == 1


def test_a_device_is_renamed_on_all_of_them(on: Machines, url: str) -> None:
    on("laptop", "remember", "Ada lives in Bergen")
    on("laptop", "sync", url)
    [code] = CODE.findall(on("laptop", "sync", "invite").out)
    on("desktop", "sync", "join", url, code)
    assert on("desktop", "sync", "rename", "the office\u202e desktop").code == 3
    assert on("desktop", "sync", "rename", "office desktop").out.startswith("renamed")
    assert on("laptop", "sync").code == 0
    for machine, own in (("laptop", False), ("desktop", True)):
        devices = on(machine, "sync", "status", "--json").json["sync"]["devices"]
        assert [one["own"] for one in devices if one["name"] == "office desktop"] == [own]
        assert "office desktop" in on(machine, "sync", "status").out
    taken = on("laptop", "sync", "rename", "office desktop")
    assert (taken.code, "Another device is called" in taken.err) == (3, True)
    assert on("laptop", "sync", "remove", "office desktop").code == 0
    assert on("desktop", "sync", "rename").code == 2


def test_the_actions_of_sync_are_completed() -> None:
    parameter = next(one for one in sync_command.params if one.name == "words")
    context = click.Context(sync_command)
    assert [one.value for one in parameter.shell_complete(context, "re")] == ["remove", "rename"]
    context.params["words"] = ("rename",)
    assert parameter.shell_complete(context, "re") == []


def test_an_undo_of_what_came_says_that_it_goes_everywhere_and_a_redo_brings_it_back(
    on: Machines, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    assert on("laptop", "remember", "Ada lives in Bergen").code == 0
    assert on("laptop", "sync", store, "--plain").code == 0
    assert on("desktop", "sync", store, "--plain").code == 0
    [came] = [
        one["op_id"] for one in on("desktop", "history", "--json").json["operations"] if one["kind"] == "sync"
    ]
    taken_back = on("desktop", "undo", str(came))
    assert (taken_back.code, "every device" in taken_back.err) == (0, True)
    assert on("desktop", "sync").code == 0 and on("laptop", "sync").code == 0
    assert on("laptop", "list", "--json").json["memories"] == []
    assert on("desktop", "redo").code == 0
    assert on("desktop", "sync").code == 0 and on("laptop", "sync").code == 0
    assert [one["content"] for one in on("laptop", "list", "--json").json["memories"]] == [
        "Ada lives in Bergen"
    ]


def test_no_log_history_screen_or_memory_has_what_is_secret_in_an_address(
    on: Machines, tmp_path: Path
) -> None:
    outcomes = []
    for url, secrets in (
        (store_servers.s3_url(), (store_servers.KEY, "s3cr3t", "127.0.0.1")),
        (store_servers.postgres_url("ada"), ("pa%40ss", "pa@ss", "memtui-pg")),
    ):
        log.start()
        machine = f"machine{len(secrets[0])}"
        outcomes = [
            on(machine, "remember", "Ada lives in Bergen"),
            on(machine, "sync", url),
            on(machine, "sync", "invite", "--json"),
            on(machine, "sync", "status", "--json"),
            on(machine, "sync", "status"),
            on(machine, "history", "--json"),
            on(machine, "doctor"),
            on(machine, "sync", url.replace("s3cr3t", "s3cr3tX").replace("ada?", "ada?connect_timeout=x&")),
            on(machine, "maintain", "--once"),
            on(machine, "sync", "status", "--json"),
        ]
        said = "\n".join(one.out + one.err for one in outcomes)
        holding = [
            path
            for path in (tmp_path / machine).rglob("*")
            if path.is_file() and any(secret.encode() in path.read_bytes() for secret in secrets)
        ]
        with_keys = Keyring().path
        assert holding == [with_keys]
        for secret in secrets:
            assert secret not in said, secret
        if os.name != "nt":
            assert with_keys.stat().st_mode & 0o777 == 0o600


def test_a_place_that_cannot_be_reached_is_said_and_loses_nothing(on: Machines, tmp_path: Path) -> None:
    store = tmp_path / "store"
    on("laptop", "remember", "Ada lives in Bergen")
    on("laptop", "sync", store)
    store.rename(tmp_path / "unplugged")
    on("laptop", "remember", "Ada lives in Oslo")
    failed = on("laptop", "sync")
    assert (failed.code, "Plug in" in failed.err) == (5, True)
    assert not store.exists()
    status = on("laptop", "sync", "status")
    assert (status.code, "The last sync failed" in status.out, "to send" in status.out) == (1, True, True)
    store.mkdir()
    emptied = on("laptop", "sync")
    assert (emptied.code, "empty or older" in emptied.err) == (5, True)
    store.rmdir()
    (tmp_path / "unplugged").rename(store)
    assert "sent 1 line" in on("laptop", "sync").out
    assert on("laptop", "sync", "status").code == 0


def test_the_doctor_says_how_sync_is(on: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def found(machine: str) -> tuple[int, list[str]]:
        said = on(machine, "doctor")
        return said.code, [line for line in said.out.splitlines() if " sync " in f" {line} "]

    store = tmp_path / "store"
    on("laptop", "remember", "Ada lives in Bergen")
    assert found("laptop")[1] == []
    on("laptop", "sync", store)
    [code] = CODE.findall(on("laptop", "sync", "invite").out)
    on("desktop", "sync", "join", store, code)
    on("desktop", "remember", "Ada lives in Oslo")
    on("desktop", "sync")
    on("laptop", "sync")
    _, [well] = found("laptop")
    assert "1 other device" in well
    on("laptop", "remember", "Ada has a cat")
    store.rename(tmp_path / "unplugged")
    on("laptop", "sync")
    later = time.time() + 40 * 86_400
    monkeypatch.setattr(time, "time", lambda: later)
    code, [failed, waits, silent] = found("laptop")
    assert code == 5 and "Plug in" in failed
    assert "1 change to send" in waits
    assert "nothing came from" in silent and "memtui sync remove" in silent


def test_plain_is_for_a_folder_and_said(on: Machines, tmp_path: Path) -> None:
    store = tmp_path / "store"
    on("laptop", "remember", "Ada lives in Bergen")
    assert "plain: whoever reads the folder" in on("laptop", "sync", store, "--plain").out
    refused = on("desktop", "sync", store)
    assert (refused.code, "--plain" in refused.err) == (2, True)
    assert "received 1 line" in on("desktop", "sync", store, "--plain").out
    assert on("server", "sync", "s3://bucket/x", "--plain").code == 2


def test_turns_stay_where_they_are(on: Machines, tmp_path: Path) -> None:
    store = tmp_path / "store"
    on("laptop", "remember", "Ada lives in Bergen")
    with Memory.open(tmp_path / "laptop" / "memory.db", options=OPTIONS) as memory:
        memory.record_turn("s1", "user", "I am moving to Tromsø in May")
    assert on("laptop", "sync", store, "--facts-only").code == 0
    assert "without turns" in on("laptop", "sync", "status").out
    [code] = CODE.findall(on("laptop", "sync", "invite").out)
    on("desktop", "sync", "join", store, code)
    with Memory.open(tmp_path / "desktop" / "memory.db", options=OPTIONS) as memory:
        assert [
            one.kind for one in memory.view.rows([rid for page in memory.view.rids() for rid in page])
        ] == ["fact"]


def test_arguments_that_do_not_fit(on: Machines, tmp_path: Path) -> None:
    on("laptop", "remember", "Ada lives in Bergen")
    for wrong in (
        ("join",),
        ("remove",),
        ("a", "b"),
        ("invite", "x"),
        ("status", "--watch"),
        ("x", "--file", "y"),
    ):
        assert on("laptop", "sync", *wrong).code == 2, wrong
    assert on("laptop", "sync").code == 3
    assert on("laptop", "sync", "--demo").code == 2
    assert on("laptop", "sync", tmp_path / "store", "--readonly").code == 4
    assert on("laptop", "sync", "join", tmp_path, "MEMTUI-1-X").code == 3


def test_another_file_in_the_same_place_does_not_join(on: Machines, tmp_path: Path) -> None:
    """Two memories would become one."""
    store = tmp_path / "store"
    on("laptop", "remember", "Ada lives in Bergen")
    on("laptop", "sync", store)
    for left in (tmp_path / "laptop").glob("memory.db*"):
        left.unlink()
    on("laptop", "remember", "Ben lives in Rome")
    refused = on("laptop", "sync")
    assert (refused.code, "Another memory was synced" in refused.err) == (3, True)


def test_follow_sends_at_once_and_hears_within_two_looks(
    on: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, seconds in (("_LOOK_SECONDS", 0.02), ("_ACTIVE_SECONDS", 0.1), ("_IDLE_SECONDS", 0.3)):
        monkeypatch.setattr(f"memtui.engine.namespaces.sync.{name}", seconds)
    store, stopped = tmp_path / "store", threading.Event()
    on("laptop", "remember", "Ada lives in Bergen")
    on("laptop", "sync", store)
    [code] = CODE.findall(on("laptop", "sync", "invite").out)
    on("desktop", "sync", "join", store, code)
    reports, errors = [], []
    with Memory.open(tmp_path / "desktop" / "memory.db", options=OPTIONS) as memory:
        thread = threading.Thread(target=memory.sync.follow, args=(stopped, reports.append, errors.append))
        thread.start()
        try:
            memory.remember("The boat is called Argo")
            _until(lambda: sum(one.sent for one in reports) == 1)
            away = tmp_path / "away"
            store.rename(away)
            _until(lambda: bool(errors))
            time.sleep(0.7)
            assert len(errors) == 1  # once for each reason
            away.rename(store)
            memory.remember("The boat is in Oslo")
            _until(lambda: sum(one.sent for one in reports) == 2)
        finally:
            stopped.set()
            thread.join()
    assert "received 2 lines" in on("laptop", "sync").out


def _until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)
