"""Search: hits with the parts of their score, live re-ranking, why not, the context block, pinned questions."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import ui_story
from memtui import config
from memtui.engine.memory import Memory
from memtui.engine.models import endpoint_embedder
from memtui.engine.records import EmbeddingOptions, Options, SearchResult
from memtui.engine.search.relevance_cutoff import count_likely
from memtui.ui.app import MemtuiApp
from memtui.ui.dialogs.context import ContextDialog
from memtui.ui.dialogs.line_input import NameDialog
from memtui.ui.dialogs.why_not import WhyNotDialog
from memtui.ui.panes.search.pane import SearchPane
from memtui.ui.state import UiState
from memtui.ui.widgets.bars import StatusLine
from textual.widgets import Input, Static, TextArea
from ui_story import Story, running, screen_text, settle, there, until

from endpoint import Endpoint, Exchange, embed

HOSTILE = "\x1b]52;c;aGk=\x07[@click=app.quit]x[/] \u202eevil [/"


def search(app: MemtuiApp) -> SearchPane:
    pane = app.main.pane
    assert isinstance(pane, SearchPane)
    return pane


def at_search(story: Story, **given: bool) -> MemtuiApp:
    state = UiState(None)
    state.pane = "search"
    return story.app(state=state, **given)


async def ask(app: MemtuiApp, question: str, *, filter: str = "") -> SearchResult:
    """Put a question (and a filter) in as typing would, and wait for its answer."""
    pane = search(app)
    await until(lambda: pane.tuning is not None)
    pane.hit_filter.set_filter(filter)
    pane.filter_bar.set_filter(question)
    await until(
        lambda: pane.result is not None and (pane.result.query, pane.result.filter) == (question, filter)
    )
    await settle(app)
    pane.table.focus()
    assert pane.result is not None
    return pane.result


def texts(app: MemtuiApp) -> list[str]:
    result = search(app).result
    return [hit.memory.content for hit in result.hits] if result is not None else []


def preview(app: MemtuiApp) -> str:
    """The text of the preview, whatever of it is on screen."""
    return str(search(app).preview.query_one(".text-body", Static).content)


def index(story: Story) -> None:
    with story.open() as memory:
        memory.models.index_pending()


async def test_a_low_window_shows_all_of_how_to_begin(story: Story) -> None:
    app = story.app()
    async with running(app, (80, 24)) as pilot:
        await pilot.press("3")
        await until(lambda: "the share of each" in " ".join(screen_text(app).split()))
        text = " ".join(screen_text(app).split())
        assert "type a question" in text and "who is allergic" in text


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_less_likely_hits_are_counted_and_keep_their_text(story: Story, size: tuple[int, int]) -> None:
    with story.open() as memory:
        for number in range(3):
            memory.remember(f"Some lines of the ferry {number} end at night near the old harbour of the town")
        memory.remember("The ferry to Skagen leaves at nine with the car and both bicycles")
    app = at_search(story)
    async with running(app, size) as pilot:
        result = await ask(app, "when does the ferry to Skagen leave with both bicycles")
        below = len(result.hits) - count_likely(result.hits)
        assert below > 0
        assert f"{below} less likely" in screen_text(app).splitlines()[-2]
        assert "less likely" not in "".join(screen_text(app).splitlines()[:-2])
        await pilot.press(*["j"] * count_likely(result.hits))
        await until(lambda: "less likely" in str(search(app).preview.border_title))


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 40)])
async def test_long_hits_have_two_lines_and_short_ones_have_one(story: Story, size: tuple[int, int]) -> None:
    with story.open() as memory:
        memory.remember("The oboe is ready")
        for number in range(3):
            memory.remember(
                f"The heron {number} stood on the far bank of the canal all morning, and was silent"
            )
    app = at_search(story)
    async with running(app, size):
        await ask(app, "oboe")
        assert search(app).table.lines == 1
        await ask(app, "heron canal")
        table = search(app).table
        assert table.lines == 2
        first, rest = (table.render_line(table.header_height + line).text for line in range(2))
        words = rest.removeprefix(table.painter.glyphs.cursor).strip(" …").split()
        assert "heron" in first and len(words) > 3 and " ".join(words[:-1]) in texts(app)[0]
        await ask(app, "oboe")
        assert search(app).table.lines == 1


async def test_a_question_in_any_words_finds_and_the_parts_add_up(story: Story) -> None:
    index(story)
    app = at_search(story)
    async with running(app) as pilot:
        await pilot.press("slash", *"trains for six hours", "enter")
        await until(lambda: len(texts(app)) > 1)
        await settle(app)
        result = search(app).result
        assert result is not None and "train" in result.hits[0].memory.content
        for hit in result.hits:
            assert hit.score == pytest.approx(sum(retriever.term for retriever in hit.retrievers.values()))
        text = screen_text(app)
        assert "why #1" in text and "total" in text and "BM25" in text and "above #2 by" in text
        assert search(app).table.has_focus


async def test_each_hit_has_a_bar_of_its_arms_and_row_one_fills_it(story: Story) -> None:
    app = at_search(story)
    async with running(app):
        await ask(app, "allergic to walnuts")
        first = next(line for line in screen_text(app).splitlines() if " 1 ◆ Ada is" in line)
        assert sum(first[:70].count(sign) for sign in app.glyphs.retrievers.values()) == 10


async def test_missing_vectors_are_said_and_are_not_fatal(story: Story) -> None:
    app = at_search(story)
    async with running(app):
        await ask(app, "walnuts")
        text = screen_text(app)
        assert "! Searched without vectors: no memory has a vector yet." in text
        assert "vector unavailable: no memory has a vector yet" in " ".join(preview(app).split())


async def test_a_filter_narrows_the_hits_and_escape_takes_it_away(story: Story) -> None:
    app = at_search(story)
    async with running(app) as pilot:
        await ask(app, "standup trains walnuts")
        everything = len(texts(app))
        await pilot.press("f", *"tag:work", "enter")
        await until(lambda: texts(app) == ["Standup moved to 10:30 on Tuesdays"])
        await pilot.press("escape")
        await until(lambda: len(texts(app)) == everything)


async def test_a_mistake_in_the_filter_is_pointed_at_and_the_hits_stay(story: Story) -> None:
    app = at_search(story)
    async with running(app) as pilot:
        await ask(app, "walnuts")
        await pilot.press("f", *"conf<x")
        await until(lambda: "is no confidence" in screen_text(app))
        assert app.screen is app.main
        search(app).hit_filter.set_filter("")
        await until(lambda: len(texts(app)) > 0)
        search(app).hit_filter.set_filter("conf<x")
        await until(lambda: "is no confidence" in screen_text(app))
        hits = len(texts(app))
        await pilot.press("enter", "x")  # what is forgotten or erased goes all the same
        await until(lambda: len(texts(app)) == hits - 1)
        assert "is no confidence" in screen_text(app)


async def test_turning_a_ranking_control_ranks_anew(story: Story) -> None:
    index(story)
    app = at_search(story)
    async with running(app) as pilot:
        await ask(app, "what does Ada eat on trains?")
        before = texts(app)
        pane = search(app)
        await pilot.press("T")
        assert pane.ranking_controls.has_focus
        await pilot.press("j", "right")
        await until(lambda: pane.result is not None and pane.result.profile.fusion == "rrf")
        await settle(app)
        assert "default, changed" in screen_text(app)
        for _ in range(25):
            await pilot.press("j") if pane.ranking_controls.cursor < 3 else await pilot.press("left")
        await until(lambda: pane.result is not None and pane.result.profile.keyword == 0.0)
        await until(lambda: texts(app) != before)


async def test_k_says_that_it_is_for_rrf_only(story: Story) -> None:
    app = at_search(story)
    async with running(app) as pilot:
        await ask(app, "walnuts")
        assert "only with rrf fusion" in screen_text(app)
        await pilot.press("T", "j", "right")
        await until(lambda: "only with rrf fusion" not in screen_text(app))
        assert "only with score fusion" in screen_text(app)


async def test_a_way_to_rank_is_saved_and_can_be_chosen_again(story: Story) -> None:
    app = at_search(story)
    async with running(app) as pilot:
        await ask(app, "walnuts")
        await pilot.press("S")
        await until(lambda: "as it was saved" in screen_text(app))
        await pilot.press("T", "j", "j", "j", "right", "S")
        await until(lambda: there(app, NameDialog))
        await pilot.press(*"default", "enter")
        assert isinstance(app.screen, NameDialog) and "built in" in screen_text(app)
        app.screen.query_one(Input).value = "words first"
        await pilot.press("enter")
        await until(lambda: "Saved the profile “words first”" in screen_text(app))
        with story.open(readonly=True) as memory:
            assert memory.questions.profiles()[-1].keyword == pytest.approx(1.05)
        await until(lambda: "profile     words first" in screen_text(app))


async def test_why_not_finds_any_memory_and_says_what_keeps_it_out(story: Story) -> None:
    app = at_search(story)
    async with running(app) as pilot:
        await ask(app, "walnuts")
        await pilot.press("w")
        await until(lambda: there(app, WhyNotDialog))
        await pilot.press(*"unicycle", "enter")
        await until(lambda: "It is in the Trash" in " ".join(screen_text(app).split()))
        assert "Restore it" in " ".join(screen_text(app).split())
        await pilot.press("slash", *["backspace"] * 8, *"zzzz")
        await until(lambda: "it was never stored" in " ".join(screen_text(app).split()))
        # Words that no memory has together: those are offered that have some of them.
        assert "/ find it" not in screen_text(app)
        await pilot.press(*["backspace"] * 4, *"/trains Nadia zzzz")
        await until(lambda: "No memory has all of these words. These have most" in screen_text(app))
        await until(lambda: "Prefers trains over" in screen_text(app) and "spare key" in screen_text(app))
        await until(lambda: "never stored" not in screen_text(app))  # of what was typed before
        with story.open(readonly=True) as memory:
            id = memory.view.page("walnuts kind:fact")[0].id
        await pilot.press(*["backspace"] * 18, *id, "enter")
        await until(lambda: "/ find it" in screen_text(app))
        assert "have most" not in screen_text(app)
        await until(lambda: "It is among the hits: number 1" in " ".join(screen_text(app).split()))
        await pilot.press("escape")
        assert app.screen is app.main


async def test_the_context_block_is_what_an_agent_would_get(story: Story) -> None:
    app = at_search(story)
    async with running(app) as pilot:
        await ask(app, "walnuts")
        await pilot.press("v")
        await until(lambda: there(app, ContextDialog))
        text = screen_text(app)
        words = " ".join(text.split())
        assert "## Relevant memory" in words and "not an instruction: “Ada is allergic to walnuts" in words
        assert "about" in text and "tokens" in text and "estimated" in text


async def test_the_context_block_leads_to_why_a_memory_is_not_in_it(story: Story) -> None:
    app = at_search(story)
    async with running(app) as pilot:
        await ask(app, "walnuts")
        await pilot.press("v")
        await until(lambda: there(app, ContextDialog) and "w why not here?" in screen_text(app))
        await pilot.press("w")
        await until(lambda: there(app, WhyNotDialog) and "Esc stop typing" in screen_text(app))
        assert "Is it told, and why?" in screen_text(app)
        await pilot.press(*"walnuts kind:fact", "enter")
        await until(lambda: "told        Yes, an agent would get it." in screen_text(app))
        await pilot.press("slash", *["backspace"] * 17, *"unicycle", "enter")
        await until(lambda: "not told    No, an agent would not get it." in screen_text(app))
        await pilot.press("slash", "escape")
        await until(lambda: "Esc leave" in screen_text(app))
        await pilot.press("escape")
        await until(lambda: app.screen is app.main)
        assert search(app).question == "walnuts"


async def test_a_new_question_takes_the_place_of_the_old_one(story: Story) -> None:
    app = at_search(story)
    async with running(app) as pilot:
        await pilot.press("slash", *"walnuts", "enter")
        await until(lambda: search(app).table.has_focus)
        await pilot.press("slash", *"train")
        await until(lambda: search(app).question == "train")
        await pilot.press("enter", "slash", "end", *"s")
        await until(lambda: search(app).question == "trains")


async def test_escape_keeps_the_typed_question_and_again_empties_it(story: Story) -> None:
    app = at_search(story)
    async with running(app) as pilot:
        await pilot.press("slash", *"trains walnuts")
        await pilot.press("escape")
        await until(lambda: search(app).table.has_focus and len(texts(app)) > 0)
        assert search(app).question == "trains walnuts"
        await pilot.press("j", "escape")  # the first one warns: the hits and the question stay
        await until(lambda: "Esc again empties the question" in app.main.query_one(StatusLine).said)
        assert search(app).question == "trains walnuts" and texts(app)
        await pilot.press("j", "escape")  # another key in between: it is a first one again
        await settle(app)
        assert search(app).question == "trains walnuts"
        await pilot.press("escape")
        await until(lambda: not search(app).question)


async def test_a_hit_is_pinned_and_the_context_block_says_so(story: Story) -> None:
    app = at_search(story)
    async with running(app) as pilot:
        await ask(app, "walnuts", filter="kind:fact")
        await pilot.press("!")
        await until(lambda: "Pinned: agents are told it at every prompt." in screen_text(app))
        await until(lambda: "★ since 22 Nov" in screen_text(app))
        await ask(app, "xyzzy")
        await pilot.press("v")
        await until(lambda: there(app, ContextDialog))
        words = " ".join(screen_text(app).split())
        assert "why told pinned since 22 Nov: for every prompt" in words
        assert words.count("Ada is allergic to walnuts") >= 2


async def test_pinned_questions_are_listed_asked_again_and_unpinned(story: Story) -> None:
    app = at_search(story)
    async with running(app) as pilot:
        await ask(app, "walnuts", filter="kind:fact")
        await pilot.press("p")
        await until(lambda: "Pinned the question “walnuts”" in screen_text(app))
        search(app).filter_bar.set_filter("")
        await until(lambda: "? walnuts" in screen_text(app))
        await settle(app)
        search(app).table.focus()
        await pilot.press("x")
        await until(lambda: "This is a pinned question" in screen_text(app))
        await pilot.press("enter")
        await until(lambda: texts(app) == ["Ada is allergic to walnuts"])
        assert search(app).hit_filter.value == "kind:fact"
        await pilot.press("p")
        await until(lambda: "Unpinned" in screen_text(app))
        await pilot.press("u")
        await until(lambda: "Undid: Unpinned" in screen_text(app))


async def test_the_verbs_of_memories_work_on_hits_and_the_hits_follow(story: Story) -> None:
    app = at_search(story)
    async with running(app) as pilot:
        await ask(app, "allergic to walnuts", filter="kind:fact")
        await pilot.press("e")
        await until(lambda: bool(app.screen.query(TextArea)))
        app.screen.query_one(TextArea).text = "Ada is allergic to walnuts and sesame"
        await pilot.press("ctrl+s")
        await until(lambda: "Ada is allergic to walnuts and sesame" in texts(app))
        await settle(app)
        await pilot.press("t")
        await until(lambda: bool(app.screen.query(Input)) and app.screen is not app.main)
        await pilot.press(*"diet", "enter")
        await until(lambda: "Tagged" in app.main.query_one(StatusLine).said)
        await settle(app)
        await pilot.press("x")
        await until(lambda: texts(app) == [])
        await until(lambda: "No memory answers this" in screen_text(app))
        await pilot.press("u")
        await until(lambda: "Ada is allergic to walnuts and sesame" in texts(app))


async def test_nothing_found_says_what_each_arm_saw(story: Story) -> None:
    app = at_search(story)
    async with running(app):
        await ask(app, "xyzzyx plughplugh", filter="kind:fact")
        await until(lambda: "No memory answers this" in screen_text(app))
        text = " ".join(screen_text(app).split())
        assert "no memory has xyzzyx, plughplugh" in text
        assert "unavailable: no memory has a vector yet" in text
        assert "Searched only in kind:fact" in text


async def test_before_a_question_it_says_how_to_ask(story: Story) -> None:
    app = at_search(story)
    async with running(app):
        await until(lambda: "Ask in your own words" in screen_text(app))


async def test_an_empty_memory_says_how_to_fill_it(empty_story: Story) -> None:
    app = at_search(empty_story)
    async with running(app):
        await until(lambda: "Nothing is remembered yet" in screen_text(app))
        await ask(app, "walnuts")
        text = screen_text(app)
        assert "Nothing is remembered yet" in text and "without vectors" not in text


async def test_in_an_empty_memory_the_keys_that_it_names_work_at_once(empty_story: Story) -> None:
    app = empty_story.app()
    async with running(app) as pilot:
        await until(lambda: app.stats is not None)
        await pilot.press("3")
        await until(lambda: "write down a first memory there" in screen_text(app))
        await pilot.press("2")
        await until(lambda: app.main.active == "memories")


async def test_a_slow_search_does_not_hold_up_typing(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    held = threading.Event()
    asked: list[str] = []
    plain = Memory.search

    def slow(self: Memory, query: str, **given: object) -> SearchResult:
        asked.append(query)
        if query == "wal":
            held.wait(120)
        return plain(self, query, **given)  # type: ignore[arg-type]

    monkeypatch.setattr(Memory, "search", slow)
    app = at_search(story)
    async with running(app) as pilot:
        await pilot.press("slash", *"wal")
        await until(lambda: asked[-1:] == ["wal"])
        await until(lambda: "searching" in screen_text(app))
        await pilot.press(*"nuts")
        await until(lambda: any("walnuts" in text for text in texts(app)))
        held.set()
        await settle(app)
        result = search(app).result
        assert result is not None and result.query == "walnuts"


async def test_words_come_first_while_an_endpoint_makes_the_vector(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = asyncio.Event()

    async def slow(exchange: Exchange) -> None:
        if any("asked" in text for text in exchange.texts):
            while not answered.is_set():
                await asyncio.sleep(0.01)
        await embed(exchange)

    with Endpoint(slow).in_thread() as endpoint:
        options = EmbeddingOptions(
            base_url=endpoint.url, model="tiny", key_env="MEMTUI_TEST_NO_KEY", dimensions=32
        )
        monkeypatch.setattr(
            ui_story, "OPTIONS", Options(background=False, embedder="endpoint", endpoint=options)
        )
        monkeypatch.setattr(endpoint_embedder, "QUERY_SECONDS", 120.0)
        with story.open() as memory:
            memory.models.reembedding.run()
        app = at_search(story)
        async with running(app):
            pane = search(app)
            await ask(app, "asked of walnuts")
            assert any("walnuts" in text for text in texts(app))
            assert screen_text(app).count("waiting for the question's vector") == 2
            pane.table.move_to(1)
            chosen = pane.table.selected
            answered.set()
            await until(lambda: pane.result is not None and pane.result.retrievers[1].state == "answered")
            await settle(app)
            assert "waiting for the question's vector" not in screen_text(app)
            now = pane.table.selected
            assert now is not None and chosen is not None and now.hit is not None and chosen.hit is not None
            assert now.hit.memory.rid == chosen.hit.memory.rid


async def test_a_hit_leads_to_its_conversation_and_to_its_people(story: Story) -> None:
    app = at_search(story)
    async with running(app) as pilot:
        await ask(app, "I'd rather take the train", filter="kind:episode")
        await pilot.press("O")
        await until(lambda: app.main.active == "sessions" and "you · 23 Oct" in screen_text(app))
        await pilot.press("3")
        await ask(app, "allergic to walnuts", filter="kind:fact")
        await pilot.press("at")
        await until(lambda: app.main.active == "entities" and "Ada · person" in screen_text(app))
        await pilot.press("escape")
        await until(lambda: app.main.active == "search")


@pytest.mark.hostile
@pytest.mark.parametrize(
    "size",
    [
        (40, 12),
        pytest.param((80, 24), marks=pytest.mark.long),
        (120, 40),
        pytest.param((200, 60), marks=pytest.mark.long),
    ],
)
async def test_hostile_texts_and_questions_do_nothing(story: Story, size: tuple[int, int]) -> None:
    with story.open() as memory:
        memory.remember(f"walnuts {HOSTILE}", tags=["x[/]"])
        memory.record_turn(HOSTILE, HOSTILE[:40], f"walnuts again {HOSTILE * 9}")
        memory.questions.pin(HOSTILE, filter="-kind:fact")
    app = at_search(story)
    async with running(app, size) as pilot:
        assert not any(sign in screen_text(app) for sign in "\x1b\x07\u202e")
        await ask(app, f"walnuts {HOSTILE}")
        for key in ("j", "j", "enter", "escape", "T", "escape", "v", "escape", "w"):
            await pilot.press(key)
            await settle(app)
            assert not any(sign in screen_text(app) for sign in "\x1b\x07\u202e")
        assert app.is_running


async def test_a_hit_is_expected_and_its_question_tells_how_it_fares(story: Story) -> None:
    app = at_search(story)
    async with running(app) as pilot:
        await ask(app, "what does Ada eat?")
        pane = search(app)
        row = pane.table.selected
        assert row is not None and row.hit is not None and not row.expected
        expected = row.hit.memory
        await pilot.press("n")
        await until(lambda: "Expect an answer to" in screen_text(app))
        await until(lambda: pane.table.selected is not None and pane.table.selected.expected)
        await app.operations.ask(lambda memory: memory.questions.run())
        pane.filter_bar.set_filter("")
        await until(lambda: pane.questions.chosen is not None)
        pane.reload()
        await until(lambda: "among the first 10" in preview(app) and "#1" in preview(app))
        assert expected.content in preview(app)

        await pane.change(lambda memory: memory.forget(expected.id), "forgetting")
        await app.operations.ask(lambda memory: memory.questions.run())
        pane.reload()
        await until(lambda: "Trash" in preview(app))

        await pane.change(lambda memory: memory.undo(), "undoing")
        await ask(app, "what does Ada eat?")
        await until(lambda: pane.table.selected is not None and pane.table.selected.expected)
        await pilot.press("n")
        await until(lambda: "Expect it no more" in screen_text(app))


async def test_the_missing_one_is_expected_from_where_it_was_looked_for(story: Story) -> None:
    app = at_search(story)
    async with running(app) as pilot:
        await ask(app, "walnuts")
        await pilot.press("w")
        await until(lambda: there(app, WhyNotDialog))
        await pilot.press(*"unicycle", "enter")
        await until(lambda: "It is in the Trash" in " ".join(screen_text(app).split()))
        await pilot.press("n")
        await until(lambda: "Expected among the first 10" in screen_text(app))
        with story.open(readonly=True) as memory:
            [saved] = [one for one in memory.questions.pinned() if one.query == "walnuts"]
            assert [memory.get(one).content for one in saved.expected] == [
                one.content for one in memory.view.page("is:trash unicycle")
            ]
        await pilot.press("n")
        await until(lambda: "expected already" in screen_text(app))


async def test_in_a_memory_that_is_only_read_nothing_is_expected(story: Story) -> None:
    app = at_search(story, readonly=True)
    async with running(app) as pilot:
        await ask(app, "walnuts")
        await pilot.press("w")
        await until(lambda: there(app, WhyNotDialog))
        await pilot.press(*"walnuts", "enter")
        await until(lambda: "It is among the hits" in " ".join(screen_text(app).split()))
        await pilot.press("n")
        await until(lambda: "open for reading only" in " ".join(screen_text(app).split()))


async def test_agents_are_given_the_profile_that_is_looked_at(story: Story, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("# mine\n", "utf-8")
    state = UiState(None)
    state.pane = "search"
    app = story.app(state=state, configuration=config.load(file, {}))
    async with running(app) as pilot:
        await ask(app, "walnuts")
        await until(lambda: "agents use it" in screen_text(app))
        await pilot.press("A")
        await until(lambda: "Agents use default already" in screen_text(app))
        await pilot.press("T", "right")
        await until(lambda: (tuning := search(app).tuning) is not None and tuning.name == "rrf")
        await pilot.press("A")
        await until(lambda: "Agents use the profile rrf" in screen_text(app))
        assert config.load(file, {}).settings.search.profile == "rrf"
        assert file.read_text("utf-8").startswith("# mine\n")


async def test_a_way_to_rank_without_a_name_or_under_the_environment_is_not_given_to_agents(
    story: Story, tmp_path: Path
) -> None:
    file = tmp_path / "config.toml"
    file.write_text("# mine\n", "utf-8")
    state = UiState(None)
    state.pane = "search"
    app = story.app(state=state, configuration=config.load(file, {"MEMTUI_SEARCH_PROFILE": "default"}))
    async with running(app) as pilot:
        await ask(app, "walnuts")
        await pilot.press("T", "right", "A")
        await until(lambda: "MEMTUI_SEARCH_PROFILE in the environment" in " ".join(screen_text(app).split()))
        await pilot.press("j", "j", "j", "right", "A")
        await until(lambda: "has no name yet" in " ".join(screen_text(app).split()))
        assert file.read_text("utf-8") == "# mine\n"


async def test_a_question_can_be_typed_at_once_where_nothing_is_asked(story: Story) -> None:
    app = story.app()
    async with running(app) as pilot:
        await pilot.press("3", *"can Ada eat 2 nuts")
        await until(lambda: search(app).question == "can Ada eat 2 nuts")
        assert app.screen is app.main
        await pilot.press("enter", "2", "3")
        await until(lambda: app.main.active == "search" and search(app).table.has_focus)


async def test_a_slash_before_the_question_is_the_key_and_not_part_of_it(story: Story) -> None:
    app = story.app()
    async with running(app) as pilot:
        await pilot.press("3", "slash", *"and/or")
        await until(lambda: search(app).question == "and/or")


async def test_escape_leaves_the_empty_question_and_keys_are_commands_again(story: Story) -> None:
    app = at_search(story)
    async with running(app) as pilot:
        assert isinstance(app.focused, Input)
        await pilot.press("escape")
        await until(lambda: search(app).table.has_focus)
        await pilot.press("4")
        await until(lambda: app.main.active == "entities")
