"""``check`` and ``health`` on the command line: what is wrong, with which rows, and what to do."""

from __future__ import annotations

from pathlib import Path

import apsw
from cli_kit import Cli
from memtui import Memory
from memtui.engine.records import Options


def damage(home: Path, *statements: str) -> None:
    connection = apsw.Connection(str(home / "memory.db"))
    for statement in statements:
        connection.execute(statement)
    connection.close()


def test_check_says_what_was_mended_what_was_not_and_what_to_do(cli: Cli, home: Path) -> None:
    cli("remember", "Grace keeps the lighthouse of Bergen")
    damage(home, "DROP INDEX recalls_by_time", "UPDATE memories SET event_time = event_time * 1000")
    result = cli("check")
    assert result.code == 1
    assert "index recalls_by_time is missing" in result.out and "--repair mends it" in result.out
    assert "no calendar" in result.out and "fact_" in result.out and "restore a backup" in result.out

    mended = cli("check", "--repair")
    assert mended.code == 1, "what somebody wrote is left alone"
    assert "repaired" in mended.out and "recalls_by_time" in mended.out and "-repair.db" in mended.out
    assert "--repair mends it" not in mended.out

    report = cli("check", "--json").json
    [finding] = [one for one in report["findings"] if one["check"] == "rows"]
    assert (finding["about"], finding["total"], len(finding["ids"])) == ("memories", 1, 1)


def test_health_names_the_worst_rows_and_the_way(cli: Cli, home: Path) -> None:
    cli("remember", "Grace keeps the lighthouse of Bergen")
    assert "all is well" in cli("health").out
    damage(
        home,
        "INSERT INTO memories(id, kind, content, content_hash, trust, event_time, created_at) SELECT 'fact_copy', kind, "
        "'Grace \x1b[31m', content_hash, trust, event_time, created_at FROM memories",
    )
    result = cli("health")
    assert result.code == 0
    assert "2 notes have the same text as another" in result.out and "fact_copy" in result.out
    assert "\x1b[31m" not in result.out and "merge it" in result.out
    findings = {one["kind"]: one for one in cli("health", "--json").json["findings"]}
    assert findings["duplicates"]["total"] == 2
    assert cli("search", "Grace", "--filter", findings["duplicates"]["filter"]).code == 0


def test_health_shows_no_secret(cli: Cli, home: Path) -> None:
    key = "ghp_" + "a1B2c3D4e5F6" * 3
    with Memory.open(home / "memory.db", options=Options(background=False, embedder="off")) as memory:
        memory.record_turn("s", "user", f"My token is {key}")
    result = cli("health")
    assert "secret" in result.out
    assert key[:12] not in result.out


def test_health_tells_how_many_more_there_are(cli: Cli, home: Path) -> None:
    cli("remember", "Grace keeps the lighthouse of Bergen")
    for place in range(5):
        damage(
            home,
            "INSERT INTO memories(id, kind, content, content_hash, trust, event_time, created_at) SELECT "
            f"'fact_copy{place}', kind, content, content_hash, trust, event_time, created_at FROM memories LIMIT 1",
        )
    result = cli("health").out
    assert "6 notes have the same text as another" in result and "and 3 more (--json names 6)" in result
