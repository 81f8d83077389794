"""What an agent is told over time: how much was learned when, what changed, and nothing that it may not see."""

from __future__ import annotations

from typing import Any

from door_kit import NOW, Door, beside
from memtui.engine.store import proposals

from clock import Clock

DAY = 86_400


def changes(output: Any) -> list[tuple[str, str]]:
    return [(one["was"]["content"], one["now"]["content"]) for one in output["changes"]]


def test_what_changed_comes_with_both_texts_and_both_days(door: Door, clock: Clock) -> None:
    clock.now = NOW - 40 * DAY
    ferry = door.person.remember("The ferry is on 12 June 2026", topic="plan")
    old = door.person.remember("The dentist is on 1 May 2026", topic="plan")
    clock.now = NOW - 3 * DAY
    door.person.correct(ferry.id, "The ferry is on 19 June 2026")
    clock.now = NOW - 2 * DAY
    new = door.person.remember("The dentist moved to 8 May 2026", topic="plan")
    with door.person._core.connections.write() as connection:
        payload = {"new": new.id, "old": old.id, "reason": "a different day"}
        proposals.ask(connection, "prop_1", proposals.CONFLICT, payload, NOW)
    clock.now = NOW
    output = door.ask("over_time")
    dentist, moved = output["changes"]
    assert (dentist["was_day"], dentist["now_day"], dentist["perhaps"]) == ("2026-05-01", "2026-05-08", True)
    assert (moved["was_day"], moved["now_day"]) == ("2026-06-12", "2026-06-19") and "perhaps" not in moved
    assert moved["was"]["ended"][0]["now"] == "The ferry is on 19 June 2026"
    assert sum(sum(one["facts"].values()) for one in output["learned"]) == 3
    assert all(set(one["facts"]) == {"plan"} for one in output["learned"])
    assert changes(door.ask("over_time", limit=1)) == [(old.content, new.content)]
    assert (
        changes(door.ask("over_time", until="2020")) == []
        and door.ask("over_time", topic="work")["learned"] == []
    )
    assert len(changes(door.ask("over_time", since="7d"))) == 2
    assert door.refused("over_time", since="whenever")["code"] == "refused"


def test_a_change_is_told_only_with_both_sides_in_sight(door: Door) -> None:
    home = door.person.remember("Lives in Porto", topic="home", tags=["private"])
    door.person.correct(home.id, "Lives in Lisbon")
    work = door.person.remember("Works at Initech", topic="work")
    corrected = door.person.correct(work.id, "Works at Globex")
    assert len(changes(door.ask("over_time"))) == 2
    confined = Door(door.person, beside(door.person, filter="-topic:home"))
    assert changes(confined.ask("over_time")) == [("Works at Initech", "Works at Globex")]
    assert "Porto" not in confined.call("over_time").text
    door.person.restore(work.id)  # both are true
    door.person.forget(work.id)
    assert changes(confined.ask("over_time")) == [] and corrected.active
    [recall, *_] = door.person.view.recent_recalls()
    assert recall.query == "what changed over time"
