"""The portrait as lines: a head of what goes on, then the sections in columns. ``pane`` shows them.

A section is a topic with its strongest facts, or what is new, fades or was told. Where there is room for three
columns, the last one has what goes on. Each section shows as many facts as fit into the window together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from memtui.present import replacement
from memtui.present.format import (
    format_count,
    local_date,
    local_month,
    plural,
    relative_time,
    whole_month,
)
from memtui.present.memory import without_secrets
from memtui.present.portrait import (
    OTHER_PLANS,
    PLANS_AHEAD,
    THIS_WEEK,
    TITLES,
    WHEN,
    WHO,
    Since,
    fact_day,
    fact_sign,
    is_new,
    month_of_most_changes,
    persons_of,
    portrait_notices,
    what_did_not_happen,
)
from memtui.present.text import VisibleText, max_cells, one_line, visible_text
from memtui.ui.widgets.columns import StyledText
from memtui.ui.widgets.stop_view import GUTTER, HEAD, Line, LinePart, StopLayout

from .head import BY_MONTH, Head, lay_head_out
from .rows import PortraitRow, Section, Stop, blank_cells, cells_of

if TYPE_CHECKING:
    from memtui.engine.records import (
        Entity,
        MemoryRecord,
        Month,
        PersonInMonth,
        Portrait,
        Replacement,
        ServedToday,
        Topic,
        TopicFacts,
    )
    from memtui.present.glyphs import Glyphs
    from memtui.present.text import Role

# From so many cells on there are two and three columns.
TWO, THREE = 92, 150
# Between two columns, beside the gutter of the second.
_GAP = 2
# So many facts of a section at most; and as many as there should be, also where it all has to be scrolled.
_MOST, _FEW = 8, 3
_PERSONS, _MAX_ROWS = 3, 4
# So many months, and of each so many persons and changes: fewer in sight with the topics than after everything else.
_MONTHS, _FEWER_MONTHS, _PERSONS_IN_MONTH = 12, (12, 8, 5, 3), 2
_IN_SIGHT, _AFTER = 2, 6
_BAR = 8
# So many months ahead.
_MONTHS_DUE = 3
_NARROW = 44


class _Extent(NamedTuple):
    """How much is laid out: so many facts of each topic, what goes on, and so many months in sight.

    Without a month in sight the months come after everything else.
    """

    facts: int
    around: bool
    months: int


# What is tried in turn: facts of each topic come before what goes on, which the head has as well.
_EXTENTS = (
    *(_Extent(_FEW, True, months) for months in _FEWER_MONTHS),
    _Extent(_FEW, True, 0),
    _Extent(_FEW, False, 0),
    *(_Extent(_FEW - 1, True, months) for months in _FEWER_MONTHS[1:]),
    _Extent(_FEW - 1, True, 0),
    _Extent(_FEW - 1, False, 0),
    _Extent(1, False, 0),
)


class PortraitLines:
    """Lays out a portrait in ``width`` x ``height`` cells, as of ``now``.

    ``review``: the cards that wait; None: they are not counted yet. ``since``: from when on a fact is new.
    ``nothing_since``: the later time since which nothing came, in words.
    """

    def __init__(
        self,
        width: int,
        height: int,
        now: float,
        glyphs: Glyphs,
        review: int | None,
        since: Since = THIS_WEEK,
        nothing_since: str = "",
    ) -> None:
        self.width = max(width, 20)
        self.height = height
        self.now = now
        self.glyphs = glyphs
        self.review = review
        self.since = since
        self.nothing_since = nothing_since

    def lay_out(self, portrait: Portrait) -> StopLayout[Stop]:
        notices = portrait_notices(portrait, self.review, self.since)
        if portrait.months and self.width < THREE:  # they may be far below
            notices.append(BY_MONTH)
        head = lay_head_out(notices, self.since, self.width)
        room = self.height - len(head.lines) - bool(head.lines)

        def columns(most: Mapping[Topic | None, int], extent: _Extent) -> list[Section]:
            return self._sections_in_columns(portrait, most, extent)

        def fits(most: Mapping[Topic | None, int], extent: _Extent) -> bool:
            # Months after everything else are scrolled to.
            shown = self._sections_in_columns(portrait, most, extent, after=False)
            return max(map(len, shown), default=0) <= room

        def grow(most: dict[Topic | None, int], extent: _Extent, limits: Mapping[Topic | None, int]) -> None:
            """Show more of each topic in turn, as long as it fits."""
            for _ in range(max(limits.values(), default=0)):
                for topic, limit in limits.items():
                    if most[topic] < limit and fits({**most, topic: most[topic] + 1}, extent):
                        most[topic] += 1

        dangers = {one.topic: one.dangers for one in portrait.topics if one.dangers}

        def with_dangers(facts: int) -> dict[Topic | None, int]:
            return {topic: max(facts, dangers.get(topic, 0)) for topic in TITLES}

        tried = [(with_dangers(extent.facts), extent) for extent in _EXTENTS]
        if dangers:  # else as many of them as there is room for
            tried.append((dict.fromkeys(TITLES, _EXTENTS[-1].facts), _EXTENTS[-1]))
        fitting = next((one for one in tried if fits(*one)), None)
        if fitting is None:
            return self._lay_columns_out(head, columns(with_dangers(_FEW), _Extent(_FEW, True, 0)))
        most, extent = fitting
        grow(most, extent, dangers)
        # Where the months come after it, what is left of the window is theirs.
        still = extent.months or not portrait.months
        grow(most, extent, dict.fromkeys(most, _MOST if still else _FEW - 1))
        return self._lay_columns_out(head, columns(most, extent))

    # -- the columns

    def _sections_in_columns(
        self,
        portrait: Portrait,
        most: Mapping[Topic | None, int],
        extent: _Extent,
        *,
        after: bool = True,
    ) -> list[Section]:
        """The sections in as many columns as there is room for. ``most``: how many facts of each topic are shown.

        ``after``: with the months that come after everything else.
        """
        by_topic = {one.topic: one for one in portrait.topics}
        plans = portrait.plans
        totals = (one.total for topic, one in by_topic.items() if topic != "plan")
        largest = max((plans.ahead, plans.others, *totals))
        known: list[Section] = []
        for topic in TITLES:
            if topic == "plan":
                known += self._plan_sections(portrait, most[topic], largest)
            elif one := by_topic.get(topic):
                known.append(self._topic_section(one, portrait, most[topic], largest))
        if portrait.people and "people" not in by_topic:
            known.insert(0, self._people_section(portrait))
        months = list(self._month_sections(portrait, extent.months, _IN_SIGHT))
        around = (
            list(self._sections_after_topics(portrait, changes=not months or not portrait.changed))
            if extent.around
            else []
        )
        last = list(self._month_sections(portrait, _MONTHS, _AFTER)) if after and not extent.months else []
        if self.width >= THREE:
            third = [*months, *around, *last]
            return [*_split_into_columns(known, 2), *([_join_sections(third)] if third else [])]
        if self.width < TWO:
            return _split_into_columns([*known, *around, *months, *last], 1)
        found = _split_into_columns([*known, *around, *months], 2)
        # So that nothing above them has another place because of them.
        return (
            [_join_sections([one, *last[number::2]]) for number, one in enumerate(found)] if last else found
        )

    def _topic_section(self, one: TopicFacts, portrait: Portrait, most: int, largest: int) -> Section:
        title = TITLES[one.topic]
        persons = portrait.people[:_PERSONS] if one.topic == "people" else ()
        shown = one.facts[: max(most - len(persons), 1)]
        rows = [self._heading_row(title, one.total, Stop(title, topic=one), new=one.new, largest=largest)]
        rows += [self._person_row(person, title) for person in persons]
        rows += [self._fact_row(fact, portrait, title) for fact in shown]
        return rows

    def _plan_sections(self, portrait: Portrait, most: int, largest: int) -> Iterable[Section]:
        """What lies ahead by its day; and the plans without a day, with the number of those that are over."""
        plans = portrait.plans
        if plans.ahead:
            shown = plans.next[:most]
            days = max((max_cells(fact_day(fact, self.now)) for fact in shown), default=0)
            yield [
                self._heading_row(
                    PLANS_AHEAD,
                    plans.ahead,
                    Stop(PLANS_AHEAD, about="ahead"),
                    new=plans.ahead_new,
                    largest=largest,
                ),
                *self._due_in_month_rows(portrait, len(shown), PLANS_AHEAD),
                *(self._fact_row(fact, portrait, PLANS_AHEAD, days) for fact in shown),
            ]
        if plans.others:
            over = f"{format_count(plans.over)} over" if plans.over else ""
            yield [
                self._heading_row(
                    OTHER_PLANS, plans.others, Stop(OTHER_PLANS, about="other plans"),
                    new=plans.others_new, note=over, largest=largest,
                ),
                *(self._fact_row(fact, portrait, OTHER_PLANS) for fact in plans.undated[:most]),
            ]  # fmt: skip

    def _due_in_month_rows(self, portrait: Portrait, shown: int, section: str) -> Iterable[PortraitRow]:
        """The next months with the number of facts that name a day in them, unless all are ``shown``."""
        if sum(one.facts for one in portrait.due) <= shown:
            return
        for one in portrait.due[:_MONTHS_DUE]:
            name = f"in {whole_month(one.start, self.now)}"
            yield self._counted_row(name, plural(one.facts, "date"), "accent", Stop(section, due=one))

    def _people_section(self, portrait: Portrait) -> Section:
        title = TITLES["people"]
        rows = [self._title_row(title, Stop(title))]
        return [*rows, *(self._person_row(person, title) for person in portrait.people[:_PERSONS])]

    def _month_sections(self, portrait: Portrait, number: int, each: int) -> Iterable[Section]:
        """Who was talked about in each of the latest months, and what changed in each: ``each`` changes of a month."""
        if not number:
            return
        named = [one for one in portrait.months if one.persons][:number]
        if named:
            label = max(max_cells(local_month(one.start, self.now)) for one in named)
            yield [
                self._title_row(WHO, Stop(WHO, about="who")),
                *(
                    self._person_of_month_row(
                        one, person, others, "" if index else local_month(one.start, self.now), label
                    )
                    for one in named
                    for index, (person, others) in enumerate(persons_of(one, _PERSONS_IN_MONTH))
                ),
            ]
        changed = [one for one in portrait.months if one.changed][:number]
        if changed:
            shown = [(one, replacement.latest_of_each(one.changes)[:each]) for one in changed]
            days = max(max_cells(local_date(change.at, self.now)) for _, those in shown for change in those)
            most = month_of_most_changes(portrait.months)
            note = f"most in {local_month(most.start, self.now)}" if most is not None else ""
            rows = [self._title_row(WHEN, Stop(WHEN, about="when"), note)]
            largest = max(one.changed for one in portrait.months)
            for one, those in shown:
                rows.append(self._changes_of_month_row(one, largest))
                rows += [self._change_of_month_row(one, change, days) for change in those]
                if (more := one.changed - len(those)) > 0:
                    rows.append(
                        PortraitRow(partial(self._sentence_pieces, f"   and {format_count(more)} more"))
                    )
            yield rows

    def _sections_after_topics(self, portrait: Portrait, *, changes: bool) -> Iterable[Section]:
        """What is new, what fades, what agents were told, and what did not happen. ``changes``: what changed as well."""
        if portrait.changes and changes:
            title = f"Changed {self.since.text}"
            head = self._heading_row(title, portrait.changed, Stop(title, about="changed"))
            shown = replacement.latest_of_each(portrait.changes)[:_MAX_ROWS]
            yield [head, *(row for one in shown for row in self._change_rows(one, portrait, title))]
        if portrait.newest:
            title = f"New {self.since.text}"
            head = self._heading_row(title, portrait.new, Stop(title, about="new"))
            yield [
                head,
                *(self._fact_row(one, portrait, title, added=True) for one in portrait.newest[:_MAX_ROWS]),
            ]
        if portrait.from_agents:
            title = f"Learned by agents {self.since.text}"
            head = self._heading_row(title, portrait.by_agents, Stop(title, about="agents"))
            yield [
                head,
                *(
                    self._fact_row(one, portrait, title, added=True)
                    for one in portrait.from_agents[:_MAX_ROWS]
                ),
            ]
        if portrait.fading:
            title = "Fading this week"
            head = self._heading_row(title, portrait.fades, Stop(title, about="fading"))
            rows = [
                self._fact_row(one.memory, portrait, title, ends=one.fades_at)
                for one in portrait.fading[:_MAX_ROWS]
            ]
            yield [head, *rows]
        if portrait.status.served:
            title = "Told to agents today"
            head = self._heading_row(title, portrait.status.memories, Stop(title, about="served"))
            week = self._counted_row(
                "in the last 7 days", plural(portrait.told, "memory"), "accent", Stop(title, about="told")
            )
            yield [head, *(self._agent_row(one, title) for one in portrait.status.served[:_MAX_ROWS]), week]
        if said := what_did_not_happen(portrait, self.since, self.nothing_since):
            yield [PortraitRow(partial(self._sentence_pieces, one)) for one in said]

    # -- lines

    def _sentence_pieces(self, text: str, width: int) -> list[StyledText]:
        return [StyledText(one_line(text, width), "dim")]

    def _title_row(self, title: str, stop: Stop, note: str = "") -> PortraitRow:
        """A title; ``note`` stands at the right, where there is room."""

        def draw(width: int) -> list[StyledText]:
            name = one_line(title, width)
            room = width - max_cells(name) - max_cells(note)
            right = [blank_cells(room), StyledText(visible_text(note), "dim")] if note and room > 1 else []
            return [StyledText(name, "strong"), *right]

        return PortraitRow(draw, stop)

    def _person_of_month_row(
        self, month: Month, one: PersonInMonth, others: str, label: str, room: int
    ) -> PortraitRow:
        """A person in a month, and with which others. ``label``: the month, in ``room`` cells."""

        def draw(width: int) -> list[StyledText]:
            right = one_line(plural(one.memories, "mention"), width // 3)
            width_left = width - 3 - room - 2 - max_cells(right) - 1
            name = one_line(one.person.canonical_name, width_left)
            beside = one_line(others, width_left - max_cells(name) - 2)
            pieces = [
                blank_cells(3),
                StyledText(visible_text(label.ljust(room)), "accent"),
                blank_cells(2),
                StyledText(name, "entity"),
                blank_cells(2 if beside else 0),
                StyledText(beside, "dim"),
            ]
            return [
                *pieces,
                blank_cells(width - cells_of(pieces) - max_cells(right)),
                StyledText(right, "dim"),
            ]

        return PortraitRow(draw, Stop(WHO, entity=one.person, month=month))

    def _change_of_month_row(self, month: Month, one: Replacement, days: int) -> PortraitRow:
        """The day of a change, what it says since, and what it said before, in one line. ``days``: the width of the day."""

        def draw(width: int) -> list[StyledText]:
            when = local_date(one.at, self.now)
            pieces = [
                blank_cells(3),
                StyledText(visible_text(when.ljust(days)), replacement.role(one)),
                blank_cells(2),
            ]
            width_left = width - cells_of(pieces) - 2
            if replacement.moved_days(one, self.now):
                note = StyledText(visible_text(replacement.short_note(one, self.now)), replacement.role(one))
                text = one_line(without_secrets(one.new), max(width_left - max_cells(note.text), 1))
                return [*pieces, StyledText(text), blank_cells(2), note]
            label = visible_text(replacement.label_before(one))
            text, old = replacement.shown_sides(one, max(width_left - len(label), 2))
            before = [StyledText(label, replacement.role(one)), StyledText(old, "dim")]
            return [*pieces, StyledText(text), blank_cells(2), *before]

        return PortraitRow(draw, Stop(WHEN, memory=one.new, month=month))

    def _changes_of_month_row(self, month: Month, largest: int) -> PortraitRow:
        """A month with the number of its changes. ``largest``: the most that a month has."""

        def draw(width: int) -> list[StyledText]:
            right = self._count_pieces(month.changed, largest, width)
            name = one_line(whole_month(month.start, self.now), width - 3 - cells_of(right))
            room = width - 3 - max_cells(name) - cells_of(right)
            return [blank_cells(3), StyledText(name, "accent"), blank_cells(room), *right]

        return PortraitRow(draw, Stop(WHEN, about="changed", month=month))

    def _heading_row(
        self, title: str, total: int, stop: Stop, *, new: int = 0, note: str = "", largest: int = 0
    ) -> PortraitRow:
        """``note``: what some of the ``total`` are, in words."""

        def draw(width: int) -> list[StyledText]:
            right = self._count_pieces(total, largest, width)
            if note and width >= _NARROW:
                right = [StyledText(visible_text(f"{note}  "), "dim"), *right]
            if new and width >= _NARROW:
                right = [StyledText(visible_text(f"{format_count(new)} new  "), "success"), *right]
            room = width - cells_of(right)
            name = one_line(title, room)
            return [StyledText(name, "strong"), blank_cells(room - max_cells(name)), *right]

        return PortraitRow(draw, stop)

    def _count_pieces(self, number: int, largest: int, width: int) -> list[StyledText]:
        """A number, and where there is room a bar before it. ``largest``: the number that fills the bar; 0: without one."""
        pieces = [StyledText(visible_text(f" {format_count(number)}".rjust(4)), "text")]
        if not largest or width < _NARROW:
            return pieces
        filled = max(round(number / largest * _BAR), 1)
        return [
            StyledText(visible_text(self.glyphs.bar * filled), "accent"),
            StyledText(visible_text(self.glyphs.empty * (_BAR - filled)), "faint"),
            *pieces,
        ]

    def _person_row(self, person: Entity, section: str) -> PortraitRow:
        memories = plural(person.mention_count, "mention")
        return self._counted_row(person.canonical_name, memories, "entity", Stop(section, entity=person))

    def _agent_row(self, one: ServedToday, section: str) -> PortraitRow:
        memories = plural(one.memories, "memory")
        return self._counted_row(one.agent, memories, "text", Stop(section, agent=one.agent))

    def _counted_row(self, name: str, counted: str, role: Role, stop: Stop) -> PortraitRow:
        """A name, and behind it how many memories or plans it has."""

        def draw(width: int) -> list[StyledText]:
            right = one_line(counted, width // 3)
            room = width - 3 - max_cells(right) - 1
            shown = one_line(name, room)
            return [
                blank_cells(3),
                StyledText(shown, role),
                blank_cells(room - max_cells(shown) + 1),
                StyledText(right, "dim"),
            ]

        return PortraitRow(draw, stop)

    def _fact_row(
        self,
        fact: MemoryRecord,
        portrait: Portrait,
        section: str,
        days: int = 0,
        *,
        ends: float | None = None,
        added: bool = False,
        changed: Replacement | None = None,
    ) -> PortraitRow:
        """``days``: the width of the day before the text, 0 for the day or age behind it. ``ends``: when it fades.

        ``added``: behind it stands when it was written down. ``changed``: what it took the place of stands there.
        """

        def draw(width: int) -> list[StyledText]:
            cautions = portrait.cautions.get(fact.id, ())
            mark, role = fact_sign(fact, cautions, self.glyphs)
            pieces = [
                StyledText(visible_text(mark), role),
                StyledText(visible_text(self.glyphs.pinned if fact.pinned else " "), "accent"),
                blank_cells(1),
            ]
            if days:
                when = one_line(fact_day(fact, self.now), days)
                pieces += [StyledText(when, "accent"), blank_cells(days - max_cells(when) + 2)]
            right = (
                self._text_at_right(fact, portrait, days, ends, added)
                if changed is None
                else self._earlier_day(changed)
            )
            room = max(width - cells_of(pieces) - max_cells(right.text) - 1, 1)
            text = (
                one_line(without_secrets(fact), room)
                if changed is None or replacement.moved_days(changed, self.now)
                else replacement.shown_new(changed, room)
            )
            return [*pieces, StyledText(text), blank_cells(room - max_cells(text) + 1), right]

        return PortraitRow(draw, Stop(section, memory=fact))

    def _change_rows(self, one: Replacement, portrait: Portrait, section: str) -> Iterable[PortraitRow]:
        """What a fact says now, and below it what it said before, unless a day behind it tells that."""
        yield self._fact_row(one.new, portrait, section, changed=one)
        if replacement.moved_days(one, self.now) is None:
            yield PortraitRow(partial(self._earlier_text, one))

    def _earlier_text(self, one: Replacement, width: int) -> list[StyledText]:
        label = f"   {replacement.label_before(one)}"
        return [
            StyledText(visible_text(label), replacement.role(one)),
            StyledText(replacement.shown_old(one, max(width - len(label), 1)), "dim"),
        ]

    def _earlier_day(self, one: Replacement) -> StyledText:
        """The day that the old text named, or when it was changed."""
        days = replacement.moved_days(one, self.now)
        text = replacement.short_note(one, self.now) if days else local_date(one.at, self.now)
        return StyledText(visible_text(text), replacement.role(one))

    def _text_at_right(
        self, fact: MemoryRecord, portrait: Portrait, days: int, ends: float | None, added: bool
    ) -> StyledText:
        """What stands behind the text of a fact."""
        if added:
            return StyledText(relative_time(fact.created_at, self.now), "dim")
        if ends is not None:
            return StyledText(
                local_date(ends, self.now) if ends > self.now else VisibleText("due"), "warning"
            )
        if fact.happens_at is not None and not days:
            return StyledText(visible_text(fact_day(fact, self.now)), "accent")
        if days and fact.topic != "plan":  # it stands under its own topic, too
            return StyledText(visible_text(TITLES[fact.topic]), "dim")
        change = replacement.latest_of(portrait.replaced.get(fact.id, ()), fact)
        if change is not None and (change.how == "asked" or change.at >= portrait.since):
            return StyledText(
                visible_text(replacement.short_note(change, self.now, fact)), replacement.role(change)
            )
        if is_new(fact, portrait):
            return StyledText(VisibleText("new"), "success")
        return StyledText(VisibleText("") if days else relative_time(fact.event_time, self.now), "dim")

    # -- all of it

    def _lay_columns_out(self, head: Head, columns: Sequence[Section]) -> StopLayout[Stop]:
        stops: list[Stop] = []
        rows: list[int] = []
        at: list[int] = []
        lines: list[list[LinePart]] = []

        def make_part(row: PortraitRow, width: int, line: int, column: int) -> LinePart:
            if row.stop is None:
                return LinePart(row.draw(width), width)
            stops.append(row.stop)
            rows.append(line)
            at.append(column)
            return LinePart(row.draw(width), width, len(stops) - 1)

        column = HEAD if head.beside and columns else 0
        for tiles in head.lines:
            lines.append([make_part(row, width, len(lines), column) for row, width in tiles])
        if head.lines:
            lines.append([])
        top = len(lines)
        shares = _column_widths(self.width, len(columns))
        laid_out = [
            [make_part(row, width, top + line, number) for line, row in enumerate(column)]
            for number, (column, width) in enumerate(zip(columns, shares, strict=True))
        ]
        for abreast in zip_longest(*laid_out):
            line: list[LinePart] = []
            for number, (one, width) in enumerate(zip(abreast, shares, strict=True)):
                gap = _GAP if number < len(shares) - 1 else 0
                shown = one or LinePart((), width)
                line.append(shown._replace(width=width + gap))
            lines.append(line)
        return StopLayout([tuple(line) for line in lines], tuple(stops), rows, at)


def text_lines(texts: Sequence[Sequence[StyledText]], width: int) -> StopLayout[Stop]:
    """Lines that open nothing."""
    lines: list[Line] = [(LinePart(pieces, width),) for pieces in texts]
    return StopLayout(lines)


def _column_widths(width: int, columns: int) -> list[int]:
    """The widths of so many columns."""
    if not columns:
        return []
    room = width - (columns - 1) * (GUTTER + _GAP)
    return [room // columns + (number < room % columns) for number in range(columns)]


def _join_sections(sections: Sequence[Section]) -> Section:
    """Sections below one another, with a blank line between them."""
    rows: list[PortraitRow] = []
    for section in sections:
        if rows:
            rows.append(PortraitRow(lambda width: []))
        rows += section
    return rows


def _split_into_columns(sections: Sequence[Section], columns: int) -> list[Section]:
    """The sections in order, in so many columns, the longest of which is as short as can be."""
    if columns < 2 or len(sections) < 2:
        return [_join_sections(sections)] if sections else []

    def longest_column(at: int) -> int:
        return max(len(_join_sections(sections[:at])), len(_join_sections(sections[at:])))

    at = min(range(1, len(sections)), key=longest_column)
    return [_join_sections(sections[:at]), _join_sections(sections[at:])]
