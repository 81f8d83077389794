"""Bars, points and marks: what people see of a score adds up to the score."""

from __future__ import annotations

import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memtui.engine.records import Hit, MemoryRecord, Profile, RetrieverHit, SearchResult
from memtui.present.glyphs import UNICODE
from memtui.present.hit import RETRIEVERS, matched_text, raw_score, score_text
from memtui.present.text import max_cells
from memtui.ui.panes.search.ranking import KINDS, RANKING_CONTROLS, Tuning
from memtui.ui.presenters.hit import (
    HitText,
    hit_rows,
    match_ranges,
    rest_columns,
    search_columns,
    stacked_bar_cells,
)
from memtui.ui.presenters.memory_text import MemoryText
from memtui.ui.widgets.row_paint import RowPainter
from rich.style import Style
from ui_story import Story

TERMS = st.dictionaries(st.sampled_from(RETRIEVERS), st.floats(0.0, 2.0), max_size=4)


@given(TERMS, st.floats(0.001, 4.0), st.integers(1, 40))
def test_the_parts_of_a_bar_are_as_long_as_their_sum_says(
    terms: dict[str, float], most: float, cells: int
) -> None:
    parts = stacked_bar_cells(terms, most, cells)  # type: ignore[arg-type]
    total = sum(terms.values())
    wanted = min(round(total / most * cells), cells)
    assert sum(length for _, length in parts) == (max(wanted, 1) if total else 0)
    assert [retriever for retriever, _ in parts] == [
        retriever for retriever in RETRIEVERS if retriever in dict(parts)
    ]


def test_a_part_twice_as_large_is_twice_as_long() -> None:
    assert stacked_bar_cells({"keyword": 0.4, "vector": 0.2}, 0.6, 12) == [("keyword", 8), ("vector", 4)]


def test_points_keep_the_digits_that_tell_hits_apart() -> None:
    assert score_text(0.412) == ".412"
    assert score_text(1.1268) == "1.127"
    assert score_text(1 / 61, most=0.05) == ".0164"
    assert score_text(-0.176, sign=True) == "−.176"
    assert score_text(0.19, sign=True) == "+.190"


def _hit(*matched: str, score: float = 1.0) -> RetrieverHit:
    return RetrieverHit(rank=1, score=score, term=0.5, matched=matched)


def test_matched_words_are_marked_as_the_index_saw_them() -> None:
    text = "Mr. Hadžić EATS plums; he eats, uneaten"
    found = [text[start:end] for start, end, _ in match_ranges(text, {"keyword": _hit("hadzic", "eats")})]
    assert found == ["Hadžić", "EATS", "eats"]


def test_names_are_marked_where_no_word_is() -> None:
    text = "Ada and Anna and Ada Lovelace"
    retrievers = {"keyword": _hit("anna"), "entity": _hit("Ada", "Anna")}
    assert [(text[start:end], retriever) for start, end, retriever in match_ranges(text, retrievers)] == [  # type: ignore[arg-type]
        ("Ada", "entity"), ("Anna", "keyword"), ("Ada", "entity"),
    ]  # fmt: skip


def test_pairs_of_chinese_characters_are_marked_inside_a_run() -> None:
    text = "我喜欢北京烤鸭"
    assert [text[start:end] for start, end, _ in match_ranges(text, {"keyword": _hit("北京")})] == ["北京"]


def test_raw_scores_say_what_they_are() -> None:
    assert raw_score("keyword", _hit(score=6.414)) == "BM25 6.41"
    assert raw_score("vector", _hit(score=0.712)) == "cosine .71"
    assert raw_score("vector", _hit(score=-0.1)) == "cosine −.10"
    assert raw_score("entity", _hit("Ada")) == "1 name"
    assert matched_text("context", _hit("1 before: eat", "2 after: ada", "its session")) == (
        "the turn before: eat · 2 turns after: ada · its session"
    )


def test_every_ranking_control_turns_both_ways_and_stays_in_its_bounds() -> None:
    profiles = [Profile(), Profile(name="rrf", fusion="rrf")]
    for control in RANKING_CONTROLS:
        tuning = Tuning(profiles[0], profiles[0])
        for by in (1, -1):
            for _ in range(60):
                tuning = control.turn(tuning, by, profiles)
                level = control.level(tuning)
                assert level is None or 0.0 <= level <= 1.0
                assert control.shown(tuning)
        assert 0 <= tuning.kinds < len(KINDS)


def test_a_turned_profile_is_told_from_the_saved_one_and_turned_back_it_is_not() -> None:
    control = next(one for one in RANKING_CONTROLS if one.label == "vector")
    tuning = Tuning(Profile(), Profile())
    turned = control.turn(tuning, 1, [])
    assert turned.is_changed and turned.name == "default, changed"
    assert not control.turn(turned, -1, []).is_changed


def test_rows_say_how_far_they_moved_against_the_saved_profile() -> None:
    memory = MemoryRecord(
        rid=1, id="fact_1", kind="fact", content="x", event_time=0, created_at=0, confidence=1.0, effective=1.0,
        decay_rate=0.0, trust="user",
    )  # fmt: skip
    hits = tuple(
        Hit(
            rank=rank,
            memory=msgspec.structs.replace(memory, rid=rid),
            score=1.0 / rank,
            retrievers={"keyword": _hit()},
        )
        for rank, rid in enumerate([30, 10, 40, 20], 1)
    )
    result = SearchResult(query="x", filter="", profile=Profile(), hits=hits, retrievers=())
    before = {10: 1, 20: 2, 30: 3}
    assert [row.rank_change for row in hit_rows(result, before)] == [2, -1, None, -2]
    assert [row.rank_change for row in hit_rows(result, None)] == [0, 0, 0, 0]
    columns = {column.id: column for column in search_columns(UNICODE, lambda: 0.0)}
    shown = [
        "".join(piece.text for piece in columns["text"].cell(row, 20)) for row in hit_rows(result, before)
    ]
    assert [text[-2:] for text in shown] == ["▲2", "▼1", "ew", "▼2"]


def test_a_hit_whose_day_is_over_says_so_where_there_is_room() -> None:
    plan = MemoryRecord(
        rid=1, id="fact_1", kind="fact", content="The dentist is on Monday", event_time=0, created_at=0,
        confidence=1.0, effective=1.0, decay_rate=0.0, trust="user", topic="plan", happens_at=100_000,
    )  # fmt: skip
    hit = Hit(rank=1, memory=plan, score=1.0, retrievers={"keyword": _hit()})
    result = SearchResult(query="x", filter="", profile=Profile(), hits=(hit,), retrievers=())
    (row,) = hit_rows(result, None)

    def shown(now: float, width: int) -> str:
        text = next(column for column in search_columns(UNICODE, lambda: now) if column.id == "text")
        return "".join(piece.text for piece in text.cell(row, width))

    assert shown(300_000.0, 50).split()[1:3] == ["past", "The"]
    assert "past" not in shown(90_000.0, 50) and "past" not in shown(300_000.0, 20)


@pytest.mark.parametrize("rank_change", [0, 2])
def test_the_second_line_of_a_hit_goes_on_where_the_first_one_ends(rank_change: int) -> None:
    text = "Ada is allergic to walnuts, and to hazelnuts since spring;  she carries two pens 看看 everywhere she goes"
    memory = MemoryRecord(
        rid=1, id="fact_1", kind="fact", content=text, event_time=0, created_at=0, confidence=1.0, effective=1.0,
        decay_rate=0.0, trust="user",
    )  # fmt: skip
    hit = Hit(rank=1, memory=memory, score=1.0, retrievers={"keyword": _hit()})
    result = SearchResult(query="x", filter="", profile=Profile(), hits=(hit,), retrievers=())
    row = hit_rows(result, {1: 1 + rank_change})[0]
    columns = search_columns(UNICODE, lambda: 0.0, two_lines=True)
    first = RowPainter(columns, UNICODE, lambda state, role: Style())
    rest = RowPainter(rest_columns(columns, lambda: 0.0), UNICODE, lambda state, role: Style())
    for width in (40, 60, 80, 110, 160):
        lines = [painter.paint_row(row, width, "plain", False).text for painter in (first, rest)]
        assert all(max_cells(line) == width for line in lines)
        said = " ".join(re.split("  |▲", line[8:].strip())[0] for line in lines).split()
        words = text.split()
        assert said == words[: len(said)] or (said[-1].endswith("…") and said[:-1] == words[: len(said) - 1])
        assert len(lines[1].split()) > 1 or width == 160, lines


def test_the_ranks_that_an_agent_is_not_told_are_dim() -> None:
    memory = MemoryRecord(
        rid=1, id="fact_1", kind="fact", content="x", event_time=0, created_at=0, confidence=1.0, effective=1.0,
        decay_rate=0.0, trust="user",
    )  # fmt: skip
    hits = tuple(
        Hit(
            rank=rank,
            memory=msgspec.structs.replace(memory, rid=rank),
            score=1.0,
            retrievers={"keyword": _hit()},
        )
        for rank in range(1, 13)
    )
    result = SearchResult(query="x", filter="", profile=Profile(), hits=hits, retrievers=())
    rank = next(column for column in search_columns(UNICODE, lambda: 0.0) if column.id == "rank")
    roles = [[piece.role for piece in rank.cell(row, 3)] for row in hit_rows(result, None)]
    assert roles == [["text"]] * 10 + [["dim"]] * 2


def test_above_the_breakdown_of_a_long_text_stands_the_part_that_matched(story: Story) -> None:
    text = "nothing of it here. " * 200 + "Then the oboe was heard. " + "and nothing after it. " * 200
    with story.open() as memory:
        id = memory.remember(text).id
        result = memory.search("oboe")
        hit = next(one for one in result.hits if one.memory.id == id)
        output = HitText(60, story.now, UNICODE)
        brief = output.explain_hit(hit, result).plain
        assert brief.startswith("…") and "oboe was heard" in brief and len(brief) < 1_500 and "total" in brief
        # The whole text is there too, below.
        whole = output.explain_hit(hit, result, memory.view.detail(id)).plain
        assert whole.index("total") < whole.index(text[:500])
        assert text.strip() in whole
        short = next(one for one in memory.search("walnuts").hits if "walnuts" in one.memory.content)
        assert output.explain_hit(short, memory.search("walnuts")).plain.startswith(
            "Ada is allergic to walnuts\n"
        )


def test_a_hit_that_is_only_far_down_is_told_as_one_of_the_list_that_no_agent_is_told(story: Story) -> None:
    with story.open() as memory:
        for number in range(4):
            memory.remember(f"walnuts {'and cake ' * number}{number}")
        result = memory.search("walnuts")
        last = result.hits[-1]
        output = memory.explain("walnuts", last.memory.id, limit=1)
        text = HitText(60, story.now, UNICODE)
        listed = text.explain_memory(output, result.hits[0].score, 100).plain
        assert (
            f"It is in the list: number {last.rank}." in listed
            and "An agent that searches gets the first 1" in listed
        )
        assert "not here" not in listed and "remedy" not in listed
        assert (
            f"It is number {last.rank}, and the list ends with 2."
            in text.explain_memory(output, 1.0, 2).plain
        )


def test_the_previews_name_the_keys_in_force(story: Story) -> None:
    with story.open() as memory:
        (gone,) = memory.view.page('is:superseded "Standup is at 10:00"')
        text = MemoryText(60, story.now, UNICODE, lambda action: f"<{action}>")
        output = text.full_text(memory.view.detail(gone.id)).plain
        assert "<restore> restores" in output and "<successor> goes there" in output


def test_a_long_name_of_an_operation_is_cut_in_the_history(story: Story) -> None:
    with story.open() as memory:
        detail = memory.view.detail(memory.view.page("walnuts")[0].id)
    operation, change = detail.history[0]
    long = msgspec.structs.replace(operation, actor="person", label="Imported " + "a great many turns " * 40)
    detail = msgspec.structs.replace(detail, history=((long, change),), recalls=(), derived=(), around=())
    output = MemoryText(40, story.now, UNICODE).full_text(detail).plain.splitlines()
    first = next(number for number, line in enumerate(output) if line.startswith("history"))
    following = [line for line in output[first + 1 :] if line.startswith(" " * 12)]
    # Two lines' worth, which breaks between words may make three.
    assert len(following) <= 2 and following[-1].endswith("…")


def test_below_the_breakdown_stand_the_arms_that_did_not_find_it(story: Story) -> None:
    with story.open() as memory:
        result = memory.search("walnuts")
        (hit,) = [one for one in result.hits if "allergic" in one.memory.content]
    found = [report.retriever for report in result.retrievers if report.retriever in hit.retrievers]
    asked = [report.retriever for report in result.retrievers if report.retriever not in hit.retrievers]
    assert "keyword" in found and asked
    output = HitText(60, story.now, UNICODE).explain_hit(hit, result).plain
    breakdown = output.split("total", 1)
    assert all(
        f"\n{retriever}" in breakdown[0] and f"\n{retriever}" not in breakdown[1] for retriever in found
    )
    assert all(f"\n{retriever}" in breakdown[1] for retriever in asked)
