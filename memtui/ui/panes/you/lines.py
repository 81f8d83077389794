"""The portrait as lines: a head of what goes on, then the sections in columns. ``pane`` shows them.

A section is a topic with its strongest facts, or what is new, fades or was told. Where there is room for three
columns, the last one has what goes on. Each section shows as many facts as fit into the window together.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from memtui.present import replacement
from memtui.present.format import format_count, local_date, plural, relative_time
from memtui.present.memory import without_secrets
from memtui.present.portrait import (
    THIS_WEEK,
    TITLES,
    About,
    Notice,
    Since,
    day,
    in_order,
    is_new,
    notices,
    sign,
)
from memtui.present.text import VisibleText, max_cells, one_line, visible_text
from memtui.ui.widgets.columns import StyledText
from memtui.ui.widgets.stop_view import GUTTER, HEAD, Line, LinePart, StopLayout

if TYPE_CHECKING:
    from memtui.engine.records import (
        Entity,
        MemoryRecord,
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
_PERSONS, _AROUND = 3, 4
_BAR = 8
_NARROW = 44


class Stop(NamedTuple):
    """What Enter opens: a fact, a person, all facts of a topic, what an agent was told, or what goes on.

    ``section``: the section that it is in, because a fact may be in two.
    """

    section: str
    memory: MemoryRecord | None = None
    entity: Entity | None = None
    topic: TopicFacts | None = None
    agent: str | None = None
    about: About | None = None

    @property
    def key(self) -> Hashable:
        if self.memory is not None:
            return self.section, self.memory.rid
        return self.section, self.entity.eid if self.entity is not None else self.agent


class Row(NamedTuple):
    """A line of a section before it has its column. ``draw`` gives its pieces for a width."""

    draw: Callable[[int], list[StyledText]]
    stop: Stop | None = None


Section = Sequence[Row]


class PortraitLines:
    """Lays out a portrait in ``width`` x ``height`` cells, as of ``now``.

    ``review``: the cards that wait; None: they are not counted yet. ``since``: from when on a fact is new.
    """

    def __init__(
        self,
        width: int,
        height: int,
        now: float,
        glyphs: Glyphs,
        review: int | None,
        since: Since = THIS_WEEK,
    ) -> None:
        self.width = max(width, 20)
        self.height = height
        self.now = now
        self.glyphs = glyphs
        self.review = review
        self.since = since

    def lay_out(self, portrait: Portrait) -> StopLayout[Stop]:
        head = self._head(notices(portrait, self.review, self.since))
        topics = in_order(portrait.topics)
        room = self.height - len(head) - bool(head)
        most = dict.fromkeys((one.topic for one in topics), _FEW)

        def fits(around: bool) -> bool:
            columns = self._columns(portrait, topics, most, around=around)
            return max(map(len, columns), default=0) <= room

        # Enough facts of each topic come before what goes on, which the head has as well.
        around = fits(around=True)
        if not around and not fits(around=False):
            most = dict.fromkeys(most, _FEW - 1)
            around = fits(around=True)
            if not around and not fits(around=False):
                most, around = dict.fromkeys(most, _FEW), True
                room = 0
        for _ in range(min(most.values(), default=_MOST) + 1, _MOST + 1):
            for topic in most:
                most[topic] += 1
                if not fits(around):
                    most[topic] -= 1
        return self._beside(head, self._columns(portrait, topics, most, around=around))

    # -- the head

    def _head(self, found: Sequence[Notice]) -> list[list[tuple[Row, int]]]:
        """The notices in one line where they fit, else each in its own."""
        # What agents learned stands below as well.
        without = [one for one in found if one.about != "agents"]
        for those, short in ((found, False), (found, True), (without, True)):
            texts = [one.short if short else one.text for one in those]
            drawn = [
                (self._notice(one, text), max_cells(text)) for one, text in zip(those, texts, strict=True)
            ]
            if sum(width + GUTTER + 1 for _, width in drawn) <= self.width:
                return [[(row, width + 1) for row, width in drawn]] if drawn else []
        return [[(self._notice(one, one.text), self.width)] for one in found]

    def _notice(self, notice: Notice, text: str) -> Row:
        number, _, rest = text.partition(" ")

        def draw(width: int) -> list[StyledText]:
            return [
                StyledText(visible_text(number), "accent" if notice.calls else "strong"),
                _blanks(1),
                StyledText(one_line(rest, width), "text" if notice.calls else "dim"),
            ]

        return Row(draw, Stop("head " + notice.about, about=notice.about))

    # -- the columns

    def _columns(
        self,
        portrait: Portrait,
        topics: Sequence[TopicFacts],
        most: Mapping[Topic | None, int],
        *,
        around: bool,
    ) -> list[Section]:
        """The sections in as many columns as there is room for. ``most``: how many facts of each topic are shown.

        ``around``: with sections of what goes on.
        """
        largest = max((one.total for one in topics), default=1)
        known = [self._topic(one, portrait, most[one.topic], largest) for one in topics]
        if portrait.people and "people" not in most:
            known.insert(0, self._people(portrait))
        beside = list(self._around(portrait)) if around else []
        if self.width >= THREE:
            return [*_parted(known, 2), *([_joined(beside)] if beside else [])]
        return _parted([*known, *beside], 2 if self.width >= TWO else 1)

    def _topic(self, one: TopicFacts, portrait: Portrait, most: int, largest: int) -> Section:
        title = TITLES[one.topic]
        persons = portrait.people[:_PERSONS] if one.topic == "people" else ()
        shown = one.facts[: max(most - len(persons), 1)]
        rows = [self._heading(title, one.total, Stop(title, topic=one), new=one.new, largest=largest)]
        rows += [self._person(person, title) for person in persons]
        days = (
            max((max_cells(day(fact, self.now)) for fact in shown), default=0) if one.topic == "plan" else 0
        )
        rows += [self._fact(fact, portrait, title, days) for fact in shown]
        return rows

    def _people(self, portrait: Portrait) -> Section:
        title = TITLES["people"]
        rows = [self._heading(title, len(portrait.people), Stop(title))]
        return [*rows, *(self._person(person, title) for person in portrait.people[:_PERSONS])]

    def _around(self, portrait: Portrait) -> Iterable[Section]:
        """What is new, what fades, what agents were told."""
        if portrait.changes:
            title = f"Changed {self.since.text}"
            head = self._heading(title, portrait.changed, Stop(title, about="changed"))
            shown = replacement.once_each(portrait.changes)[:_AROUND]
            yield [head, *(row for one in shown for row in self._change(one, portrait, title))]
        if portrait.newest:
            title = f"New {self.since.text}"
            head = self._heading(title, portrait.new, Stop(title, about="new"))
            yield [head, *(self._fact(one, portrait, title, added=True) for one in portrait.newest[:_AROUND])]
        if portrait.from_agents:
            title = f"Learned by agents {self.since.text}"
            head = self._heading(title, portrait.by_agents, Stop(title, about="agents"))
            yield [
                head,
                *(self._fact(one, portrait, title, added=True) for one in portrait.from_agents[:_AROUND]),
            ]
        if portrait.fading:
            title = "Fading this week"
            head = self._heading(title, portrait.fades, Stop(title, about="fading"))
            rows = [
                self._fact(one.memory, portrait, title, ends=one.fades_at)
                for one in portrait.fading[:_AROUND]
            ]
            yield [head, *rows]
        if portrait.status.served:
            title = "Told to agents today"
            head = self._heading(title, portrait.status.memories, Stop(title, about="served"))
            yield [head, *(self._agent(one, title) for one in portrait.status.served[:_AROUND])]

    # -- lines

    def _heading(self, title: str, total: int, stop: Stop, *, new: int = 0, largest: int = 0) -> Row:
        def draw(width: int) -> list[StyledText]:
            right = [StyledText(visible_text(format_count(total).rjust(4)), "text")]
            if largest and width >= _NARROW:
                filled = max(round(total / largest * _BAR), 1)
                bar = [
                    StyledText(visible_text(self.glyphs.bar * filled), "accent"),
                    StyledText(visible_text(self.glyphs.empty * (_BAR - filled)), "faint"),
                ]
                right = [*bar, *right]
            if new and width >= _NARROW:
                right = [StyledText(visible_text(f"{format_count(new)} new  "), "success"), *right]
            room = width - _cells(right)
            name = one_line(title, room)
            return [StyledText(name, "strong"), _blanks(room - max_cells(name)), *right]

        return Row(draw, stop)

    def _person(self, person: Entity, section: str) -> Row:
        name, memories = person.canonical_name, person.mention_count
        return self._counted(name, memories, "entity", Stop(section, entity=person))

    def _agent(self, one: ServedToday, section: str) -> Row:
        return self._counted(one.agent, one.memories, "text", Stop(section, agent=one.agent))

    def _counted(self, name: str, memories: int, role: Role, stop: Stop) -> Row:
        """A name, and behind it the number of its memories."""

        def draw(width: int) -> list[StyledText]:
            right = one_line(plural(memories, "memory"), width // 3)
            room = width - 3 - max_cells(right) - 1
            shown = one_line(name, room)
            return [
                _blanks(3),
                StyledText(shown, role),
                _blanks(room - max_cells(shown) + 1),
                StyledText(right, "dim"),
            ]

        return Row(draw, stop)

    def _fact(
        self,
        fact: MemoryRecord,
        portrait: Portrait,
        section: str,
        days: int = 0,
        *,
        ends: float | None = None,
        added: bool = False,
        changed: Replacement | None = None,
    ) -> Row:
        """``days``: the width of the day before the text, 0 for the day or age behind it. ``ends``: when it fades.

        ``added``: behind it stands when it was written down. ``changed``: what it took the place of stands there.
        """

        def draw(width: int) -> list[StyledText]:
            cautions = portrait.cautions.get(fact.id, ())
            mark, role = sign(fact, cautions, self.glyphs)
            pieces = [
                StyledText(visible_text(mark), role),
                StyledText(visible_text(self.glyphs.pinned if fact.pinned else " "), "accent"),
                _blanks(1),
            ]
            if days:
                when = one_line(day(fact, self.now), days)
                pieces += [StyledText(when, "accent"), _blanks(days - max_cells(when) + 2)]
            right = self._right(fact, portrait, days, ends, added) if changed is None else self._was(changed)
            room = max(width - _cells(pieces) - max_cells(right.text) - 1, 1)
            text = one_line(without_secrets(fact), room)
            return [*pieces, StyledText(text), _blanks(room - max_cells(text) + 1), right]

        return Row(draw, Stop(section, memory=fact))

    def _change(self, one: Replacement, portrait: Portrait, section: str) -> Iterable[Row]:
        """What a fact says now, and below it what it said before, unless a day behind it tells that."""
        yield self._fact(one.new, portrait, section, changed=one)
        if replacement.dates(one, self.now) is None:
            yield Row(partial(self._before, one))

    def _before(self, one: Replacement, width: int) -> list[StyledText]:
        label = f"   {replacement.label_before(one)}"
        return [
            StyledText(visible_text(label), replacement.role(one)),
            StyledText(one_line(without_secrets(one.old), max(width - len(label), 1)), "dim"),
        ]

    def _was(self, one: Replacement) -> StyledText:
        """The day that the old text named, or when it was changed."""
        days = replacement.dates(one, self.now)
        text = replacement.short(one, self.now) if days else local_date(one.at, self.now)
        return StyledText(visible_text(text), replacement.role(one))

    def _right(
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
            return StyledText(visible_text(day(fact, self.now)), "accent")
        change = replacement.latest_of(portrait.replaced.get(fact.id, ()), fact)
        if change is not None and change.at >= portrait.since:
            return StyledText(visible_text(replacement.short(change, self.now)), replacement.role(change))
        if is_new(fact, portrait):
            return StyledText(VisibleText("new"), "success")
        return StyledText(VisibleText("") if days else relative_time(fact.event_time, self.now), "dim")

    # -- all of it

    def _beside(self, head: list[list[tuple[Row, int]]], columns: Sequence[Section]) -> StopLayout[Stop]:
        stops: list[Stop] = []
        rows: list[int] = []
        at: list[int] = []
        lines: list[list[LinePart]] = []

        def part(row: Row, width: int, line: int, column: int) -> LinePart:
            if row.stop is None:
                return LinePart(row.draw(width), width)
            stops.append(row.stop)
            rows.append(line)
            at.append(column)
            return LinePart(row.draw(width), width, len(stops) - 1)

        one_line_head = len(head) == 1 and len(columns) > 0
        for tiles in head:
            column = HEAD if one_line_head else 0
            lines.append([part(row, width, len(lines), column) for row, width in tiles])
        if head:
            lines.append([])
        top = len(lines)
        shares = _shares(self.width, len(columns))
        drawn = [
            [part(row, width, top + line, number) for line, row in enumerate(column)]
            for number, (column, width) in enumerate(zip(columns, shares, strict=True))
        ]
        for beside in zip_longest(*drawn):
            line: list[LinePart] = []
            for number, (one, width) in enumerate(zip(beside, shares, strict=True)):
                gap = _GAP if number < len(shares) - 1 else 0
                shown = one or LinePart((), width)
                line.append(shown._replace(width=width + gap))
            lines.append(line)
        return StopLayout([tuple(line) for line in lines], tuple(stops), rows, at)


def text_lines(texts: Sequence[Sequence[StyledText]], width: int) -> StopLayout[Stop]:
    """Lines that open nothing."""
    lines: list[Line] = [(LinePart(pieces, width),) for pieces in texts]
    return StopLayout(lines)


def _shares(width: int, columns: int) -> list[int]:
    """The widths of so many columns."""
    if not columns:
        return []
    room = width - (columns - 1) * (GUTTER + _GAP)
    return [room // columns + (number < room % columns) for number in range(columns)]


def _joined(sections: Sequence[Section]) -> Section:
    """Sections below one another, with a blank line between them."""
    rows: list[Row] = []
    for section in sections:
        if rows:
            rows.append(Row(lambda width: []))
        rows += section
    return rows


def _parted(sections: Sequence[Section], columns: int) -> list[Section]:
    """The sections in order, in so many columns, the longest of which is as short as can be."""
    if columns < 2 or len(sections) < 2:
        return [_joined(sections)] if sections else []

    def longest(at: int) -> int:
        return max(len(_joined(sections[:at])), len(_joined(sections[at:])))

    at = min(range(1, len(sections)), key=longest)
    return [_joined(sections[:at]), _joined(sections[at:])]


def _cells(pieces: Iterable[StyledText]) -> int:
    return sum(max_cells(piece.text) for piece in pieces)


def _blanks(number: int) -> StyledText:
    return StyledText(visible_text(" " * max(number, 0)))
