"""A memory, an operation and a change in words: the same for the app and the command line."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from memtui.engine.records import Caution, Enrichment, Entity, MemoryRecord, Operation, Recall
from memtui.engine.records.history import RESTORE_BACKUP
from memtui.present import memory as words
from memtui.present.caution import caution_line as caution_line
from memtui.present.changes import attribute_values, column_changes, row_name, table_label
from memtui.present.operation import (
    actor_name,
    author_suffix,
    change_count,
    operation_facts,
    recall_facts,
    undo_notes,
)

NOW = 1_700_000_000
DAY = 86_400


def fact(**fields: object) -> MemoryRecord:
    known: dict[str, object] = {
        "rid": 1, "id": "fact_1", "kind": "fact", "content": "Ada lives in Porto", "event_time": NOW - DAY,
        "created_at": NOW - DAY, "confidence": 0.9, "effective": 0.9, "decay_rate": 0.1, "trust": "agent",
    }  # fmt: skip
    return MemoryRecord(**(known | fields))  # type: ignore[arg-type]


def operation(**fields: object) -> Operation:
    known: dict[str, object] = {
        "op_id": 7, "at": NOW - DAY, "actor": "agent:helper", "kind": "correct", "label": "Corrected a fact",
        "state": "done", "rows": 2,
    }  # fmt: skip
    return Operation(**(known | fields))  # type: ignore[arg-type]


def lines(memory: MemoryRecord, fades: float | None = None) -> dict[str, str]:
    return {label: "".join(text for text, _ in line) for label, line in words.state_lines(memory, fades, NOW)}


def test_a_memory_says_how_sure_it_is_and_until_when() -> None:
    assert lines(fact())["confidence"] == ".90"
    faded = lines(fact(effective=0.41), fades=NOW + 3 * DAY)
    assert faded["confidence"] == ".41, down from .90"
    assert faded["fading"] == "until 17 Nov"
    assert lines(fact(), fades=NOW - DAY)["fading"] == "faded since 13 Nov"


def test_what_was_confirmed_never_fades_and_what_ended_says_why() -> None:
    assert lines(fact(confirmed_at=NOW - DAY))["kept"] == "confirmed 13 Nov: never fades"
    ended = lines(fact(valid_until=NOW - DAY, ended_by="superseded"), fades=NOW + DAY)
    assert ended["trash"] == "replaced 13 Nov"
    assert "fading" not in ended


def test_what_is_not_as_it_was_is_told_by_label() -> None:
    then, now = fact(tags=("home",)), fact(ended_by="superseded", valid_until=NOW, confirmed_at=NOW)
    assert [(one.label, one.was, one.now) for one in words.version_differences(then, now)] == [
        ("trash", "no", "replaced"), ("confirmed", "no", "yes"), ("tags", "home", "none"),
    ]  # fmt: skip
    assert words.version_differences(then, then) == []


def test_a_memory_is_called_by_what_it_is_and_whose_word_it_is() -> None:
    lesson = fact(kind="observation", category="lesson", trust="tool")
    assert (words.kind_label(lesson), words.speaker_note(lesson)) == ("lesson", "from a tool")


def test_actors_are_told_as_a_person_reads_them() -> None:
    assert [actor_name(one) for one in ("person", "external", "agent:helper", "scheduler")] == [
        "you", "a program", "helper", "scheduler",
    ]  # fmt: skip
    assert author_suffix(operation(actor="person")) == ""
    assert author_suffix(operation(state="undone")) == " by helper (undone)"


def test_an_operation_says_what_became_of_it() -> None:
    undo = operation(op_id=8, actor="person", kind="undo", at=NOW)
    undone = list(undo_notes(operation(state="undone"), undo, None, NOW))
    assert undone[0].label == "undone"
    assert undone[0].line[0][0].endswith("by you")
    stopped = operation(kind="undo", state="running", undoes=3, label="Undo of it (interrupted)")
    assert (
        next(iter(undo_notes(stopped, None, None, NOW))).line[0][0].startswith("interrupted: undo finishes")
    )
    assert change_count(operation()) == "2 rows"
    assert change_count(operation(kind="restore-backup")) == "the file"


def test_a_change_names_columns_and_values_for_people() -> None:
    before = {"tags": "[]", "valid_until": None, "content_hash": "a", "attributes": "{}", "confidence": 0.5}
    after = {
        "tags": '["home","work"]', "valid_until": NOW, "content_hash": "b",
        "attributes": '{"supersedes":"fact_2"}', "confidence": 0.75,
    }  # fmt: skip
    changes = {one.label: (one.was, one.now) for one in column_changes(before, after, NOW)}
    assert changes["tags"] == ("none", "home, work")
    assert changes["in Trash since"][1].startswith("14 Nov ")
    assert changes["replaces"] == ("none", "fact_2")
    assert changes["confidence"] == ("0.5", "0.75")
    assert len(changes) == 4
    assert [one.text for one in column_changes({"content": "a"}, {"content": "b"}, NOW)] == [True]


def test_attributes_are_told_one_by_one() -> None:
    before = {"attributes": '{"extractor":"keyword"}'}
    after = {
        "attributes": f'{{"extractor":"keyword","pinned_at":{NOW},"merged":["fact_1","fact_2"],"my_key":true}}'
    }
    changes = [(one.label, one.was, one.now) for one in column_changes(before, after, NOW)]
    assert changes == [
        ("pinned", "no", "since 14 Nov"), ("merged with", "none", "fact_1, fact_2"), ("my key", "none", "yes"),
    ]  # fmt: skip
    assert next((one.label, one.was, one.now) for one in column_changes(after, before, NOW)) == (
        "pinned", "since 14 Nov", "no",
    )  # fmt: skip
    assert [one.now for one in column_changes({"attributes": "{}"}, {"attributes": "no JSON"}, NOW)] == [
        "no JSON"
    ]


def test_a_row_of_another_table_is_called_by_its_name() -> None:
    assert table_label("entity_aliases") == "alias"
    assert table_label("proposals") == "card of Review"
    assert row_name({"alias": "Ada", "entity_id": 9}) == "Ada"
    assert row_name({"entity_id": 9}) == ""


def test_an_operation_says_when_who_and_how_much() -> None:
    lines = [(label, "".join(text for text, _ in line)) for label, line in operation_facts(operation(), NOW)]
    assert lines == [
        ("when", "13 Nov 22:13, 1d ago"),
        ("who", "helper  agent:helper"),
        ("changed", "2 rows of the file"),
    ]
    own = dict(operation_facts(operation(actor="person", kind=RESTORE_BACKUP), NOW))
    assert own["who"][0] == ("you", "text") and own["who"][1][0] == ""
    assert "changed" not in own


def test_a_recall_says_who_was_told_how_much() -> None:
    recall = Recall(
        at=NOW - DAY, agent="agent:helper", query="where does Ada live?", memory_ids=("fact_1", "fact_2"),
        session_id="s1",
    )  # fmt: skip
    lines = [
        (label, "".join(text for text, _ in line))
        for label, line in recall_facts(recall, "Moving house", NOW)
    ]
    assert lines == [
        ("when", "13 Nov 22:13, 1d ago"), ("agent", "helper"), ("session", "Moving house"), ("told", "2 memories"),
    ]  # fmt: skip
    assert "session" not in dict(recall_facts(recall, None, NOW))


def test_a_model_that_read_again_names_what_it_found() -> None:
    names = [
        Entity(eid=number, id=f"ent_{number}", canonical_name=name, type="person", mention_count=1)
        for number, name in enumerate(("Ada", "Bo", "Cy"))
    ]
    read = Enrichment(at=NOW - DAY, added=tuple(names))
    assert words.enrichment_text(read, NOW, most=2) == (("13 Nov, found ", "dim"), ("Ada, Bo", "entity"))
    assert words.enrichment_text(Enrichment(at=NOW - DAY, added=()), NOW, most=2) == (
        ("13 Nov, no more names found", "dim"),
    )


@pytest.mark.parametrize(
    ("day", "hour", "lines"),
    [
        (27, 0, "27 Nov, in 4d"), (27, 23, "27 Nov, in 4d"), (24, 23, "24 Nov, in 1d"), (23, 1, "23 Nov, today"),
        (23, 23, "23 Nov, today"), (22, 1, "22 Nov, past"),
    ],
)  # fmt: skip
def test_a_date_is_told_in_days_of_the_calendar(day: int, hour: int, lines: str) -> None:
    now = datetime(2026, 11, 23, hour, 30, tzinfo=UTC).timestamp()
    noon = int(datetime(2026, 11, day, 12, tzinfo=UTC).timestamp())
    memory = fact(topic="plan", happens_at=noon)
    assert words.date_note(memory, now) == lines
    assert words.is_past_plan(memory, now) == ("past" in lines)
    assert words.date_note(fact(), now) == ""


def test_what_does_not_fade_is_said_but_not_of_what_is_confirmed() -> None:
    assert lines(fact(decay_rate=0.0))["fading"] == "does not fade"
    assert "fading" not in lines(fact(decay_rate=0.0, confirmed_at=NOW))
    assert "fading" not in lines(fact(decay_rate=0.0, kind="episode"))


def test_a_caution_blacks_secrets_out() -> None:
    key = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    secret = fact(content=f"The deploy key is {key}", attributes={"secrets": ["github"]})
    for caution in (
        Caution(how="forgotten", at=NOW, old=secret),
        Caution(how="corrected", at=NOW, old=fact(), successor=secret),
    ):
        said = "".join(text for text, _ in caution_line(caution, NOW))
        assert "The deploy key is" in said
        assert key not in said


@pytest.mark.parametrize("value", [1e300, 10**18, -1e18, 10**40, float("nan"), 5, 1.5, "soon"])
def test_an_attribute_is_told_whatever_it_holds(value: object) -> None:
    ((label, said),) = attribute_values({"x_at": value}, NOW)
    assert label == "x at"
    assert ("since" in said) == (value in (5, 1.5))
    (change,) = column_changes({"x_at": None}, {"x_at": value}, NOW)
    assert change.now
    (change,) = column_changes({"happens_at": None}, {"happens_at": value}, NOW)
    assert change.now
    said = words.pinned_since(fact(attributes={"pinned_at": value}), NOW)
    assert ("since" in said, said.endswith("for every prompt")) == (value == 5, True)
