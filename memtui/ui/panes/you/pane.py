"""You: what is known about the person on one screen. Everything on it opens what it is about."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from memtui.engine.records import KINDS
from memtui.engine.records.portrait import FROM_AGENTS
from memtui.present import memory as words
from memtui.present import replacement
from memtui.present.format import local_date, plural
from memtui.present.memory import without_secrets
from memtui.present.portrait import (
    AHEAD_FILTER,
    OTHER_PLANS_FILTER,
    THIS_WEEK,
    TITLES,
    WHEN,
    WHO,
    Since,
    due_in_month_filter,
    fact_sign_legend,
    month_of_most_changes,
    portrait_headline,
    since_last,
    topic_filter,
)
from memtui.present.text import visible_text
from memtui.ui.action_dispatch import start_worker
from memtui.ui.actions import Action, ActionContext
from memtui.ui.keymap import bindings_at
from memtui.ui.navigation import TimelineTarget
from memtui.ui.panes.memory_actions import MemoryActions
from memtui.ui.panes.pane import Pane
from memtui.ui.safe import assemble, content
from memtui.ui.widgets.columns import StyledText
from memtui.ui.widgets.stop_view import StopView

from .rows import Stop

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import MemoryRecord, Portrait

_TODAY, _WEEK = "on:today", "on:7d"
_BY_DAY = ("day", False)
_NO_FACT = "There is no fact under the cursor."
# The text under the cursor is shown in so many cells at most.
_SHOWN = 600


class PortraitView(StopView[Stop]):
    """The portrait, with a cursor."""

    BINDINGS = [*bindings_at("portrait")]
    part: ClassVar[ActionContext] = "portrait"

    def move_to_first(self, sections: Sequence[str]) -> None:
        """Put the cursor on the first stop of any of these sections, at the top of the window where that is possible."""
        number = next((at for at, stop in enumerate(self._laid.stops) if stop.section in sections), None)
        if number is not None:
            self.scroll_to(y=self._laid.rows[number], animate=False)
            self.put_cursor(number)

    def unavailable_reason(self, action: Action) -> str:
        if action.id in ("next_section", "previous_section") and self.stop_at_cursor is None:
            return "There are no sections yet."
        return super().unavailable_reason(action)

    def do_next_section(self) -> None:
        self._step_to_section(1)

    def do_previous_section(self) -> None:
        self._step_to_section(-1)

    def _step_to_section(self, by: int) -> None:
        """Go to the title of the next section, and show as much of the section as there is room for."""
        assert self.stop_at_cursor is not None  # unavailable_reason
        titles: dict[str, int] = {}
        lines: dict[str, int] = {}
        for number, (stop, row) in enumerate(zip(self._laid.stops, self._laid.rows, strict=True)):
            titles.setdefault(stop.section_on_screen, number)
            lines[stop.section_on_screen] = row
        sections = list(titles)
        here = sections.index(self.stop_at_cursor.section_on_screen)
        section = sections[(here + by) % len(sections)]
        self.put_cursor(titles[section])
        first, top = self._laid.rows[titles[section]], self.scroll_offset.y
        if lines[section] >= top + self.size.height or first < top:
            self.scroll_to(y=first, animate=False)

    def do_column_left(self) -> None:
        self.move_across(-1)

    def do_column_right(self) -> None:
        self.move_across(1)


class YouPane(Pane):
    """The portrait; below it the text under the cursor in full, where there is room."""

    pane_id: ClassVar = "you"
    BINDINGS = [*bindings_at("you")]
    tables = frozenset(
        {
            "memories",
            "entities",
            "entity_aliases",
            "memory_entities",
            "proposals",
            "sessions_consolidations",
            "*",
        }
    )
    _portrait: Portrait | None = None
    _since = THIS_WEEK
    # The time since which nothing came, in words, where what is new is of the whole week therefore.
    _nothing_since = ""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.delegates = (
            MemoryActions(self, lambda: self.current, table=None, go_to=self._select_fact, nothing=_NO_FACT),
        )

    def compose(self) -> ComposeResult:
        with Vertical(classes="list-side"):
            yield PortraitView(self.shell.glyphs, id="you-portrait")
            yield Static(classes="you-detail")

    @property
    def view(self) -> PortraitView:
        return self.query_one(PortraitView)

    def begin(self) -> None:
        self.view.do_top()

    def focus_parts(self) -> list[Widget]:
        return [self.view]

    # The keys for a fact are in the footer while the cursor is on one.
    footer_if_able = frozenset(
        {"next_section", "then", "correct", "confirm", "forget", "tag", "topic", "erase", "about"}
    )

    @property
    def memory_filter(self) -> str:
        return "kind:fact"

    def legend(self) -> Sequence[tuple[str, str]]:
        return fact_sign_legend(self.shell.glyphs)

    @property
    def stop(self) -> Stop | None:
        """What the cursor is on."""
        return self.view.stop_at_cursor

    @property
    def current(self) -> MemoryRecord | None:
        """The fact under the cursor."""
        return None if self.stop is None else self.stop.memory

    def preferred_actions(self) -> Sequence[str]:
        stop = self.stop
        of_month = stop is not None and (
            stop.month is not None or (stop.due is None and self._plan_day is not None)
        )
        then = ("then",) if of_month else ()
        return ("go", *then, *(("correct", "confirm", "forget") if self.current is not None else ()))

    def unavailable_reason(self, action: Action) -> str:
        if action.id == "then" and not self._has_time:
            return "This is of no month: put the cursor on a month, a change, or a plan with a day."
        return super().unavailable_reason(action)

    @property
    def _has_time(self) -> bool:
        if self.stop is None:
            return False
        return self.stop.month is not None or self.stop.about in ("who", "when") or self._plan_day is not None

    @property
    def _plan_day(self) -> float | None:
        """A day of the month of the plan, or of the plans, under the cursor; None if it is on something else."""
        stop = self.stop
        if stop is None:
            return None
        if stop.due is not None:
            return stop.due.start
        plan = stop.memory
        ahead = stop.month is None and plan is not None and words.plan_day(plan, self.shell.clock())
        return plan.happens_at if plan is not None and ahead else None

    # -- what is shown

    def load(self) -> None:
        start_worker(self, self._read_portrait, "portrait")

    def reload(self) -> None:
        self.load()

    def stats_read(self) -> None:
        """The number of cards in Review, or of conversations, may be another one now."""
        self._show_portrait()

    async def _read_portrait(self) -> None:
        path, now = self.shell.operations.require_memory().path, self.shell.clock()
        since = since_last(self.shell.state.last_open(path), now)

        def read_since(memory: Memory) -> tuple[Portrait, Since]:
            """Since the app was open last, if anything came since; else of the last week."""
            news = (f"kind:fact learned:{since.filter_value}", f"kind:fact changed:{since.filter_value}")
            known = since if any(memory.view.count(one) for one in news) else THIS_WEEK
            return memory.view.portrait(since=known.date), known

        self._portrait, self._since = await self.ask(read_since)
        self._nothing_since = "" if self._since == since else since.text
        self._show_portrait()

    @on(PortraitView.Rewidened)
    def _show_portrait(self) -> None:
        portrait = self._portrait
        if portrait is None:
            return
        from .lines import PortraitLines, text_lines  # the first paint has nothing to lay out

        view = self.view
        if not portrait.topics:
            self.show_status("no facts yet")
            view.show_layout(text_lines(self._empty_lines(portrait), view.text_width), subject="nothing")
        else:
            self.show_status(portrait_headline(portrait))
            review = self.shell.tab_count("review")
            lines = PortraitLines(
                view.text_width, view.size.height, self.shell.clock(), self.shell.glyphs,
                review, self._since, self._nothing_since,
            )  # fmt: skip
            view.show_layout(lines.lay_out(portrait), subject="portrait")
        self._show_detail()
        self.shell.refresh_keys()

    def _empty_lines(self, portrait: Portrait) -> list[list[StyledText]]:
        """Why nothing is shown, and the ways out."""
        key = self.shell.keymap_shown
        waiting = portrait.pending_sessions
        first = ("import", "bring in conversations you had")
        if waiting:
            first = ("pane_sessions", f"turn {plural(waiting, 'conversation')} into facts")
        ways = [first, ("pane_memories", "write down a first fact")]
        title = "No facts yet, only conversations." if waiting else "Nothing is known about you yet."
        return [
            [],
            [StyledText(visible_text(f"  {title}"), "strong")],
            [],
            *(
                [
                    StyledText(visible_text(f"  {key(action)}"), "accent"),
                    StyledText(visible_text(f"  {text}")),
                ]
                for action, text in ways
            ),
        ]

    # -- the text under the cursor

    @on(PortraitView.Moved)
    def _stop_changed(self) -> None:
        self._show_detail()
        self.shell.refresh_keys()

    def _show_detail(self) -> None:
        self.query_one(".you-detail", Static).update(self._detail_text(self.stop))

    def _detail_text(self, stop: Stop | None) -> Content:
        """The text of a fact in full and where it comes from; for others what Enter opens."""
        if stop is None:
            return assemble("")
        if stop.memory is not None:
            about = f" {self.shell.glyphs.dot} ".join(self._origin_notes(stop.memory))
            text = content(without_secrets(stop.memory), "$text", limit=_SHOWN)
            return assemble(text, "\n", (about, "$text-muted"))
        return assemble((self._opening_sentence(stop), "$text-muted"))

    def _origin_notes(self, fact: MemoryRecord) -> list[str]:
        now = self.shell.clock()
        note = f"{words.speaker_note(fact)}, {local_date(fact.event_time, now)}"
        found = [note, f"confidence {words.confidence_left(fact)}", words.date_note(fact, now)]
        changes = () if self._portrait is None else self._portrait.replaced.get(fact.id, ())
        if (change := replacement.latest_of(changes, fact)) is not None:
            found.insert(0, "".join(part for part, _ in replacement.line(change, now, fact)))
        if fact.confirmed_at is not None:
            found.append(f"confirmed {local_date(fact.confirmed_at, now)}")
        if pinned := words.pinned_since(fact, now):
            found.append(f"pinned {pinned}")
        return [one for one in found if one]

    def _opening_sentence(self, stop: Stop) -> str:
        from memtui.present.timeline import period_name  # not needed by the first paint

        key, then = self.shell.keymap_shown("go"), self.shell.keymap_shown("then")
        if stop.entity is not None and stop.month is not None:
            when = period_name("month", stop.month.start)
            name = stop.entity.canonical_name
            return f"{key} shows everything about {name}, {then} {when} in the timeline of persons."
        if stop.entity is not None:
            return f"{key} shows everything about {stop.entity.canonical_name}."
        if stop.due is not None:
            when = period_name("month", stop.due.start)
            return f"{key} lists {_all_text(stop.due.facts, 'fact', ' with a day')} in {when}, by day: plans and others."
        if stop.topic is not None:
            return f"{key} lists {_all_text(stop.topic.total, 'fact')} under “{TITLES[stop.topic.topic]}”."
        if stop.agent is not None:
            return f"{key} lists what {stop.agent} was told today."
        match stop.about:
            case "ahead" if self._portrait is not None:
                ahead = _all_text(self._portrait.plans.ahead, "fact", " with a day from today on")
                return f"{key} lists {ahead}, by day: plans and others."
            case "other plans" if self._portrait is not None:
                plans = self._portrait.plans
                undated, over = plans.others - plans.over, plans.over
                those = [
                    f"{undated:,} without a day" if undated else "",
                    f"{over:,} whose day is over" if over else "",
                ]
                return f"{key} lists the other plans: {' and '.join(one for one in those if one)}."
            case "review":
                return f"{key} goes to the cards of today in Review, where each takes one key."
            case "sessions":
                return f"{key} goes to the conversations from which no facts were drawn yet: Sessions can draw them."
            case "new":
                return f"{key} lists what was written down {self._since.in_words}."
            case "changed" if stop.month is not None:
                return f"{key} lists what took the place of another fact in {period_name('month', stop.month.start)}."
            case "months":
                return f"{key} goes to who was talked about and what changed, month by month."
            case "who":
                return f"{key} shows the timeline of persons."
            case "when":
                return f"{key} shows the timeline of what changed."
            case "changed":
                return f"{key} lists what took the place of another fact {self._since.in_words}."
            case "agents":
                return f"{key} lists what agents wrote down {self._since.in_words}: facts, and findings, insights and lessons."
            case "fading":
                return f"{key} lists what fades within a week if nobody recalls or confirms it."
            case "served":
                return f"{key} lists what agents asked and were told today."
            case "told":
                return f"{key} lists what agents asked and were told in the last seven days, today's first."
            case _:
                return f"{key} lists the people that memories mention."

    # -- going on from it

    @on(PortraitView.Opened)
    def _stop_opened(self) -> None:
        if (stop := self.stop) is not None:
            start_worker(self, partial(self._open_stop, stop), "go")

    async def _open_stop(self, stop: Stop) -> None:
        go = self.shell.navigation
        if stop.memory is not None:
            await go.open_memory(stop.memory.rid)
        elif stop.entity is not None:
            await go.open_entity(stop.entity.eid)
        elif stop.due is not None:
            await self._list_due(stop.due.start)
        elif stop.topic is not None:
            await go.list_memories(topic_filter(stop.topic.topic))
        elif stop.agent is not None:
            await go.list_recalls(f"{stop.agent} {_TODAY}")
            self._count_told(stop.agent, self._told_today(stop.agent), "today")
        else:
            match stop.about:
                case "ahead":
                    await go.list_memories(AHEAD_FILTER, _BY_DAY)
                case "other plans":
                    await go.list_memories(OTHER_PLANS_FILTER)
                case "review":
                    await go.visit_pane("review")
                case "sessions":
                    await go.list_rows("sessions", "is:pending")
                case "new":
                    await go.list_memories(f"kind:fact learned:{self._since.filter_value}")
                case "months":
                    self.view.move_to_first((WHO, WHEN))
                case "who" | "when":
                    await self._open_timeline(stop)
                case "changed" if stop.month is not None:
                    await go.list_memories(f"kind:fact changed:{stop.month.term}")
                case "changed":
                    await go.list_memories(f"kind:fact changed:{self._since.filter_value}")
                case "agents":
                    await go.list_memories(f"{FROM_AGENTS} on:{self._since.date}..")
                case "fading":
                    await go.list_memories("is:fading", ("fades", False))
                case "served":
                    await go.list_recalls(_TODAY)
                    self._count_told("agents", self._told_today(), "today")
                case "told":
                    await go.list_recalls(_WEEK)
                    told = self._portrait.told if self._portrait is not None else 0
                    self._count_told("agents", told, "in the last seven days")
                case None:
                    await go.list_rows("entities", "type:person")

    def _told_today(self, agent: str = "") -> int:
        """How many memories an agent, or any of them, was told today, as You counted them."""
        if self._portrait is None:
            return 0
        status = self._portrait.status
        return sum(one.memories for one in status.served if one.agent == agent) if agent else status.memories

    def _count_told(self, agent: str, told: int, when: str) -> None:
        """Say in words the number that was opened: the list counts recalls, and the same memory is in several."""
        self.shell.show_message(f"{plural(told, 'memory')} told to {agent} {when}.")

    async def _list_due(self, day: float) -> None:
        """List the facts that name a day ahead in the month of a day."""
        await self.shell.navigation.list_memories(due_in_month_filter(day, self.shell.clock()), _BY_DAY)

    async def _open_timeline(self, stop: Stop) -> None:
        """The timeline by months: of persons, at the person of the stop; or of what changed, from the title where most did."""
        of_changes = stop.about in ("when", "changed") or stop.memory is not None
        month = stop.month
        if stop.about == "when" and self._portrait is not None:
            month = month_of_most_changes(self._portrait.months)
        await self.shell.navigation.show_timeline(
            TimelineTarget(
                by="topic" if of_changes else "person",
                layer="changed" if of_changes else "learned",
                at=month.start if month is not None else None,
                name=stop.entity.canonical_name if stop.entity is not None else "",
                filter=f"kind:{','.join(KINDS)}" if not of_changes else "",
            )
        )

    # -- actions

    async def do_then(self) -> None:
        assert self.stop is not None  # unavailable_reason
        if (day := self._plan_day) is not None:
            await self._list_due(day)
        else:
            await self._open_timeline(self.stop)

    async def do_timeline(self) -> None:
        await self.shell.navigation.show_timeline(TimelineTarget(by="topic", layer="learned"))

    async def do_query(self) -> None:
        await self.shell.navigation.ask_question()

    def _select_fact(self, rid: int) -> None:
        """Put the cursor on a fact of this section, as soon as it is shown there."""
        if self.stop is not None:
            self.view.move_to_key((self.stop.section, rid))


def _all_text(total: int, noun: str, which: str = "") -> str:
    return f"the one {noun}{which}" if total == 1 else f"all {plural(total, noun)}{which}"
