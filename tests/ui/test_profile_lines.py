"""A profile as lines: what stands where, what can be gone to, and how names are marked in texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memtui.engine.records import Caution, Companion, Entity, Kind, MemoryRecord, Replacement
from memtui.present.glyphs import ASCII, UNICODE
from memtui.present.text import max_cells
from memtui.ui.panes.entities.profile import EntityProfileText, NameMarks, ProfileStop
from memtui.ui.presenters.entity import EntityPortrait, MonthCount
from memtui.ui.widgets.stop_view import GUTTER, LinePart, StopLayout
from ui_story import DAY, NOW

ADA = Entity(
    eid=1, id="ent_1", canonical_name="Ada", type="person", mention_count=3, aliases=("Addie", "A. Ferreira"),
    summary="A sister who restores stained glass.", first_seen=NOW - 400 * DAY, last_seen=NOW - DAY, decided=True,
)  # fmt: skip
GHENT = Entity(eid=2, id="ent_2", canonical_name="Ghent", type="location", mention_count=2)


def memory(rid: int, text: str, kind: Kind = "fact", session: str | None = None) -> MemoryRecord:
    return MemoryRecord(
        rid=rid, id=f"{kind}_{rid}", kind=kind, content=text, session_id=session, event_time=NOW - rid * DAY,
        created_at=NOW, confidence=1.0, effective=1.0, decay_rate=0.0, trust="user",
    )  # fmt: skip


def portrait(**changes: object) -> EntityPortrait:
    given = {
        "entity": ADA,
        "memories": (memory(1, "Ada is vegetarian"), memory(2, "I saw Addie in Ghent", "episode", "trip")),
        "total": 2,
        "seen_with": (Companion(entity=GHENT, together=2),),
        "titles": {"trip": "Trip to Ghent"},
    }
    return EntityPortrait(**{**given, **changes})  # type: ignore[arg-type]


def laid(one: EntityPortrait, width: int = 60, *, ascii: bool = False) -> StopLayout[ProfileStop]:
    return EntityProfileText(width, NOW, ASCII if ascii else UNICODE, {"summary": "s"}).lay_out(one)


def text(part: LinePart) -> str:
    return "".join(piece.text for piece in part.pieces)


def lines(one: StopLayout[ProfileStop]) -> list[str]:
    return ["|".join(text(part) for part in line) for line in one.lines]


def test_who_it_is_comes_first_then_facts_companions_and_what_else_says_it() -> None:
    shown = "\n".join(lines(laid(portrait())))
    wanted = [
        "A sister who", "type        person  ✓ as you said", "also        Addie · A. Ferreira",
        "in 3 memories, 18 Oct 2024 to 21 Nov", "facts 1", "Ada is vegetarian", "seen together", "Ghent",
        "also mentioned in 1", "I saw Addie in Ghent",
    ]  # fmt: skip
    places = [shown.index(one) for one in wanted]
    assert places == sorted(places)


def test_every_stop_knows_its_line_and_what_it_leads_to() -> None:
    one = laid(portrait())
    assert [stop.key for stop in one.stops] == [("memory", 1), ("entity", 2), ("memory", 2)]
    for number, row in enumerate(one.rows):
        assert number in [part.stop for part in one.lines[row]]


def test_where_there_is_room_companions_stand_beside_the_memories() -> None:
    one = laid(portrait(), 120)
    row = next(line for line in lines(one) if "Ada is vegetarian" in line)
    assert "Ghent" in row
    assert [stop.key for stop in one.stops] == [("memory", 1), ("memory", 2), ("entity", 2)]
    assert list(one.columns) == [0, 0, 1]
    for line in one.lines:
        assert sum(part.width + GUTTER for part in line) == 120 + GUTTER


def test_memories_that_are_not_listed_are_one_stop() -> None:
    one = laid(portrait(total=1_204))
    assert one.stops[-1].key == ("rest", 0)
    assert "all 1,204 in Memories" in "\n".join(lines(one))
    assert "facts 1" not in "\n".join(lines(one))


def test_months_are_drawn_once_there_are_some() -> None:
    months = tuple(MonthCount(2025, number, number % 4) for number in range(1, 11))
    shown = next(line for line in lines(laid(portrait(months=months))) if line.startswith("by month"))
    assert "Jan 2025 to Oct 2025" in shown
    assert "▃▅▇ ▃▅▇ ▃▅" in shown
    assert not any("by month" in line for line in lines(laid(portrait(months=months[:2]))))


def test_more_months_than_cells_are_drawn_together() -> None:
    months = tuple(MonthCount(1950 + number // 12, number % 12 + 1, 1) for number in range(900))
    assert all(max_cells(line) <= 40 for line in lines(laid(portrait(months=months), 40)))


def test_without_a_summary_the_key_for_one_is_shown_unless_nothing_can_be_changed() -> None:
    nameless = portrait(entity=Entity(eid=1, id="e", canonical_name="Ada", type="person", mention_count=1))
    assert "s  say in a line" in lines(laid(nameless))[0]
    assert "say in a line" not in "\n".join(lines(EntityProfileText(60, NOW, UNICODE, {}).lay_out(nameless)))


def test_what_was_taken_out_and_what_waits_is_said() -> None:
    shown = "\n".join(lines(laid(portrait(unlinked=2, waiting=214))))
    assert "2 memories that you took out" in shown
    assert "214 texts wait to be read for names" in shown


def test_what_a_fact_took_the_place_of_stands_below_it() -> None:
    now_says, turn = memory(1, "Ada is vegan"), memory(2, "I saw Addie in Ghent", "episode", "trip")
    change = Replacement(old=memory(9, "Ada is vegetarian"), new=now_says, how="corrected", at=NOW - DAY)
    one = laid(portrait(memories=(now_says, turn), replaced={now_says.id: (change,)}))
    shown = lines(one)
    below = shown[next(number for number, line in enumerate(shown) if "Ada is vegan" in line) + 1]
    assert below.startswith("    was: Ada is vegetarian (corrected on 21 Nov)")
    # It is no stop: the cursor goes from fact to fact.
    assert [stop.key for stop in one.stops] == [("memory", 1), ("entity", 2), ("memory", 2)]
    narrow = lines(laid(portrait(replaced={now_says.id: (change,)}), 30))
    assert max_cells(next(line for line in narrow if "was:" in line)) <= 30
    for width in range(36, 50):  # where what comes behind the text is cut, it is not joined to it
        cut = lines(laid(portrait(memories=(now_says, turn), replaced={now_says.id: (change,)}), width))
        assert "vegetarian (" in next(line for line in cut if "was:" in line)


def test_what_review_only_asks_about_is_said_as_a_question() -> None:
    now_says, before = memory(1, "Ada is vegan"), memory(9, "Ada is vegetarian")
    change = Replacement(old=before, new=now_says, how="asked", at=NOW - DAY)
    one = laid(
        portrait(memories=(now_says, before), replaced={it.id: (change,) for it in (now_says, before)}), 90
    )
    found = [line[0].pieces for line in one.lines if any("? " in piece.text for piece in line[0].pieces)]
    assert [pieces[1] for pieces in found] == [("was? ", "warning"), ("now? ", "warning")]


def test_what_only_enrichment_found_is_marked() -> None:
    shown = lines(laid(portrait(added=frozenset({2}))))
    assert any("enriched" in line and "1 memory" in line for line in shown)
    assert next(line for line in shown if "I saw Addie" in line).split()[-2] == "+"
    assert "+" not in next(line for line in shown if "is vegetarian" in line)


HOSTILE = [
    "\x1b]52;c;aGk=\x07", "\u202egnp.txt", "[bold]x[/]", "w" * 5_000, "محمد الفارسي", "李雷" * 40, "\n\n", "e" + "\u0301" * 40,
]  # fmt: skip


@pytest.mark.hostile
@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("width", [20, 46, 120])
def test_hostile_names_stay_within_their_lines(name: str, width: int) -> None:
    entity = Entity(
        eid=1, id="e", canonical_name=name, type=name, mention_count=1, aliases=(name, name), summary=name * 3
    )
    texts = (memory(1, f"so {name} said {name}"), memory(2, name * 9, "episode", name))
    companions = (Companion(entity=entity, together=10**9),)
    one = laid(
        portrait(entity=entity, memories=texts, seen_with=companions, titles={name: name}), width, ascii=True
    )
    for line in one.lines:
        for part in line:
            shown = text(part)
            assert max_cells(shown) <= part.width
            assert "\x1b" not in shown and "\u202e" not in shown and "\n" not in shown


def marks(name: str, line: str) -> list[str]:
    return [line[start:end] for start, end in NameMarks((name,)).ranges(line)]


@pytest.mark.parametrize(
    ("name", "line", "found"),
    [
        ("Ann", "Anna and Ann saw Joanna", ["Ann"]),
        ("ann", "ANN", ["ANN"]),
        ("a", "a banana", ["a"]),
        ("%", "100% of _x_", ["%"]),
        ("Алиса", "Алиса и Алисатор", ["Алиса"]),
        ("李雷", "我和李雷去了", ["李雷"]),
        (".*", "a.*b", [".*"]),
    ],
)
def test_names_are_found_as_whole_words(name: str, line: str, found: list[str]) -> None:
    assert marks(name, line) == found


def test_a_line_shows_the_part_of_a_long_text_that_says_the_name() -> None:
    long = "word " * 200 + "and then Ada came " + "word " * 200
    shown = "".join(piece.text for piece in NameMarks(("Ada",)).line(long, 40))
    assert "Ada" in shown and shown.startswith("…") and max_cells(shown) <= 40
    at_the_end = "".join(piece.text for piece in NameMarks(("Ada",)).line("word " * 200 + "Ada", 40))
    assert at_the_end.endswith("Ada") and max_cells(at_the_end) > 30


@given(st.text(max_size=30), st.text(max_size=300), st.integers(2, 80))
def test_a_line_is_never_wider_than_asked(name: str, long: str, width: int) -> None:
    pieces = NameMarks((name, long[:5])).line(long, width)
    assert sum(max_cells(piece.text) for piece in pieces) <= width


def test_what_no_longer_holds_is_marked() -> None:
    old = memory(1, "Ada is vegetarian")
    one = portrait(cautions={old.id: (Caution(how="corrected", at=NOW, old=old),)})
    (line,) = [line for line in lines(laid(one)) if "vegetarian" in line]
    assert "corrected  Ada is vegetarian" in line
