"""A review card as text, beside the list of cards: the decision and the words that it came from.

Two facts that contradict or repeat each other are shown side by side if there is room, otherwise one below
the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from memtui.present import replacement
from memtui.present.format import local_date, local_time, plural
from memtui.present.memory import confidence_text, speaker_note, without_secrets
from memtui.present.review import quarantine_note
from memtui.present.text import max_cells, one_line
from memtui.ui.presenters.diff import ADDED, GAP, REMOVED, diff_ranges, side_by_side
from memtui.ui.presenters.source_words import excerpt_around, shared_words
from memtui.ui.safe import assemble, content, content_with_marks, line

from .rows import EVIDENCED, Card, Evidence

if TYPE_CHECKING:
    from memtui.engine.records import Entity, MemoryRecord
    from memtui.present.glyphs import Glyphs
from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.widgets import Static

from memtui.ui.actions import Action, ActionContext
from memtui.ui.keymap import bindings_at
from memtui.ui.widgets.row_table import RowTable
from memtui.ui.widgets.text_view import TextView

# From this width on two sides are shown side by side.
BESIDE = 56
_INDENT = 2
_NAME = 60
_QUOTE = 280
_QUOTE_OF_MANY = 150
_LONGEST = 4_000
_MOSTLY = 0.7
# How many facts of a card have a line above their sources.
_LISTED = 12
# How many lines of each fact of a choice are shown above its sources.
_LINES_OF_CHOICE = 2
# Cells between two verdicts on one line.
_APART = 3


class VerdictKey(NamedTuple):
    """A key, and what it would do to the picked side. ``brief``: in one or two words."""

    key: str
    text: str
    brief: str


class CardLayout(NamedTuple):
    """A card laid out. ``picked``: the first line of the picked side."""

    text: Content
    picked: int


class CardText:
    """Lays out cards for a view ``width`` cells wide, as of ``now``."""

    def __init__(self, width: int, now: float, glyphs: Glyphs) -> None:
        self.width = max(width, 16)
        self.now = now
        self.glyphs = glyphs

    def title(self, card: Card, left: str) -> Content:
        """The title of the frame: the kind of card, and how many are left."""
        role = {"error": "$error", "warning": "$warning", "accent": "$accent"}.get(card.role, "$text-muted")
        return assemble(
            (f" {card.sign(self.glyphs)} {card.words}", f"bold {role}"),
            (f" {self.glyphs.dot} {left} ", "$text-muted"),
        )

    def card_layout(self, card: Card, evidence: Evidence, pick: int | None) -> CardLayout:
        """The card: why it is here, its texts and their sources."""
        lines = [*self._wrap_text(assemble((card.item.reason, "$warning")))]
        if card.title and not card.is_pair:
            lines += self._wrap_text(assemble(("in ", "$text-muted"), line(card.title, 200)))
        if card.item.left_over:
            more = content(card.item.left_over[:_LONGEST], "$text")
            lines += self._wrap_text(assemble(("the old one also says: ", "$warning"), "“", more, "”"))
        if many := (len(card.parts) if card.item.several and len(card.parts) > 1 else 0):
            lines += self._fact_lines(card, many)
        lines.append(content(""))
        picked = len(lines)
        if card.is_pair:
            old, new = card.sides
            if card.item.kind == "conflict" and (days := replacement.moved_day(old, new, self.now)):
                lines[-1] = assemble((f"was {days[0]}, now {days[1]}?", "bold $accent"))
            sides, picked_at = self._pair_lines(card, evidence, pick)
            picked += picked_at
            lines += sides
        elif card.is_choice:
            listed, picked_at = self._choice_lines(card, evidence, pick)
            picked += picked_at
            lines += listed
        elif card.item.kind == "dependents":
            listed, picked_at = self._dependents_lines(card, evidence, pick)
            picked += picked_at
            lines += listed
        elif card.item.text and not card.item.change_request:
            lines += self._quarantined_lines(card, evidence)
        else:
            listed, picked_at = self._several_lines(card, evidence, pick)
            picked += picked_at
            lines += listed
            lines += self._change_request_lines(card)
        return CardLayout(Content("\n").join(lines), picked)

    def _fact_lines(self, card: Card, many: int) -> Iterable[Content]:
        """A line for each fact, so that the person sees all of them. Their sources are below."""
        yield content("")
        for memory in card.sides[:_LISTED]:
            glyph = f"  {self.glyphs.kinds[memory.kind]} "
            yield assemble((glyph, "$accent"), line(memory.content, max(self.width - max_cells(glyph), 8)))
        if many > _LISTED:
            yield assemble((f"    and {many - _LISTED:,} more below", "$text-muted"))

    def verdicts_text(self, verdicts: Sequence[VerdictKey], most: int) -> Content:
        """Keys, and what each would do to the picked side, in at most ``most`` lines if possible.

        In a line each; or one after the other; or in one or two words each.
        """
        key_width = max((len(one.key) for one in verdicts), default=0)
        for lines in (
            [self._verdict_line(one.key.ljust(key_width + 1), one.text) for one in verdicts],
            list(self._flow_parts(self._verdict_line(one.key, one.text) for one in verdicts)),
        ):
            if len(lines) <= most:
                return Content("\n").join(lines)
        return Content("\n").join(
            self._flow_parts(self._verdict_line(one.key, one.brief) for one in verdicts)
        )

    def _verdict_line(self, key: str, text: str) -> Content:
        return assemble((key, "bold $accent"), " ", (text, "$text-muted")).truncate(self.width, ellipsis=True)

    def _flow_parts(self, parts: Iterable[Content]) -> Iterable[Content]:
        """The parts one after the other, with line breaks between them."""
        here: list[Content] = []
        for part in parts:
            if here and sum(one.cell_length + _APART for one in here) + part.cell_length > self.width:
                yield content(" " * _APART).join(here)
                here = []
            here.append(part)
        if here:
            yield content(" " * _APART).join(here)

    # -- a pair

    def _pair_lines(self, card: Card, evidence: Evidence, pick: int | None) -> tuple[list[Content], int]:
        old, new = card.sides
        gone, come = _helpful_differences(old.content[:_LONGEST], new.content[:_LONGEST])
        beside = self.width >= BESIDE
        width = (self.width - GAP) // 2 if beside else self.width
        days = [local_date(one.event_time, self.now) for one in (old, new)]
        tell = local_time if days[0] == days[1] else local_date
        if (
            card.item.kind == "agent_change"
        ):  # the words that the old text was drawn from do not say the new one
            evidence = evidence._replace(sources={old.id: evidence.sources.get(old.id, ())})
        left = self._side_lines(card.names[0], old, gone, REMOVED, evidence, width, tell, picked=pick == 0)
        right = self._side_lines(card.names[1], new, come, ADDED, evidence, width, tell, picked=pick == 1)
        if beside:
            return list(side_by_side(left, right, width)), 0
        return [*left, content(""), *right], len(left) + 1 if pick == 1 else 0

    def _side_lines(
        self, name: str, memory: MemoryRecord, differs: list[tuple[int, int]], style: str, evidence: Evidence,
        width: int, tell: Callable[[float, float], str], *, picked: bool,
    ) -> list[Content]:  # fmt: skip
        bar = self.glyphs.cursor if picked else " "
        bar_part, text_width = assemble((bar, "$accent"), " "), max(width - 2, 8)
        head = assemble(
            (name, "bold $accent" if picked else "bold $text-muted"), "  ", (self.glyphs.kinds[memory.kind], "$accent"),
            (f"  {tell(memory.event_time, self.now)}", "$text-muted"),
        )  # fmt: skip
        text = content_with_marks(
            memory.content[:_LONGEST], differs, style, "bold $text" if picked else "$text"
        )
        lines = [
            head.truncate(text_width),
            *text.wrap(text_width),
            content(""),
            *self._memory_facts_lines(memory, text_width),
        ]
        lines += self._quotes_of_sources(memory, evidence, text_width, _QUOTE)
        return [assemble(bar_part, one) for one in lines]

    # -- a choice

    def _choice_lines(self, card: Card, evidence: Evidence, pick: int | None) -> tuple[list[Content], int]:
        """The new fact and those of which it may replace one, so that all are seen; then the words of the new and the picked
        one."""
        new, *known = card.sides
        picked = [memory for number, memory in enumerate(known, 1) if number == pick]
        lines = [*self._wrap_text(content(new.content[:_LONGEST], "bold $text")), content("")]
        picked_at, cut = 0, set()
        for memory in known:
            here = memory in picked
            if here:
                picked_at = len(lines)
            glyph = f" {self.glyphs.kinds[memory.kind]} "
            text_width = max(self.width - max_cells(glyph) - 1, 8)
            text = content(memory.content[:_LONGEST], "bold $text" if here else "$text").wrap(text_width)
            short = text[:_LINES_OF_CHOICE]
            if len(text) > len(short):
                cut.add(memory.id)
                short[-1] = assemble(short[-1], " ", text[len(short)]).truncate(text_width, ellipsis=True)
            bar = assemble((self.glyphs.cursor if here else " ", "$accent"))
            before = [(glyph, "$accent"), *[(" " * max_cells(glyph), "")] * (len(short) - 1)]
            lines += [assemble(bar, first, part) for first, part in zip(before, short, strict=True)]
        for name, memory in (("new", new), *(("picked", one) for one in picked)):
            lines += [content(""), assemble((name, "bold $text-muted"))]
            if memory.id in cut:
                lines += self._indent_lines(
                    content(memory.content[:_LONGEST], "$text").wrap(self.width - _INDENT)
                )
            lines += self._indent_lines(self._memory_facts_lines(memory, self.width - _INDENT))
            lines += self._indent_lines(
                self._quotes_of_sources(memory, evidence, self.width - _INDENT, _QUOTE_OF_MANY)
            )
        return lines, picked_at

    # -- one, or several

    def _several_lines(self, card: Card, evidence: Evidence, pick: int | None) -> tuple[list[Content], int]:
        lines: list[Content] = []
        picked_at = 0
        many = len(card.parts) > 1
        for index, memory in enumerate(card.sides[:EVIDENCED]):
            here = pick == index and many
            if here:
                picked_at = len(lines)
            bar = self.glyphs.cursor if here or (many and pick is None) else " "
            bar_part, text_width = assemble((bar, "$accent"), " "), max(self.width - 2, 8)
            text = content(memory.content[:_LONGEST], "bold $text" if here or not many else "$text")
            glyph = assemble((f"{self.glyphs.kinds[memory.kind]} ", "$accent"))
            shown = [
                assemble(glyph if at == 0 else "  ", part)
                for at, part in enumerate(text.wrap(text_width - 2))
            ]
            shown += [assemble("  ", part) for part in self._replaced_lines(card, memory, text_width - 2)]
            shown += [assemble("  ", part) for part in self._memory_facts_lines(memory, text_width - 2)]
            shown += [assemble("  ", part) for part in self._quotes_of_sources(
                memory, evidence, text_width - 2, _QUOTE_OF_MANY if many else _QUOTE
            )]  # fmt: skip
            lines += [assemble(bar_part, one) for one in shown]
            lines.append(content(""))
        if len(card.sides) > EVIDENCED:
            lines.append(assemble((f"and {len(card.sides) - EVIDENCED:,} more", "$text-muted")))
        elif lines:
            lines.pop()
        return lines, picked_at

    def _dependents_lines(
        self, card: Card, evidence: Evidence, pick: int | None
    ) -> tuple[list[Content], int]:
        """What was drawn from a memory that is no longer true: facts without other sources, then summaries of entities."""
        source_ids = {one.id for one in card.item.sources}
        narrow = {
            id: [one for one in turns if one.id in source_ids] for id, turns in evidence.sources.items()
        }
        lines, picked_at = self._several_lines(card, evidence._replace(sources=narrow), pick)
        many = len(card.parts) > 1
        for index, entity in enumerate(card.item.entities, len(card.sides)):
            here = pick == index and many
            if lines:
                lines.append(content(""))
            if here:
                picked_at = len(lines)
            bar = self.glyphs.cursor if here or (many and pick is None) else " "
            text = assemble(
                ("summary of ", "$text-muted"), line(entity.canonical_name, _NAME, "$accent"), ": ",
                content(entity.summary or "", "bold $text" if here or not many else "$text"),
            )  # fmt: skip
            lines += [assemble((bar, "$accent"), " ", one) for one in text.wrap(max(self.width - 2, 8))]
        return lines, picked_at

    def _quarantined_lines(self, card: Card, evidence: Evidence) -> list[Content]:
        text = card.item.text[:_LONGEST]
        lines = [*self._entity_lines(card.item.entities)]
        if not lines:
            lines += content(text, "bold $text").wrap(self.width)
        if card.item.kind == "quarantined":
            lines += self._wrap_text(assemble((quarantine_note(card.item), "$text-muted")))
        for turn in card.item.sources:
            lines.append(content(""))
            lines += self._indent_lines(self._quote_lines(text, turn, evidence, self.width - _INDENT, _QUOTE))
        return lines

    def _entity_lines(self, entities: Sequence[Entity]) -> Iterable[Content]:
        """A line for each entity: its name, its type, its number of memories."""
        name_width = min(
            max((max_cells(one_line(one.canonical_name, _NAME)) for one in entities), default=0),
            self.width // 2,
        )
        for one in entities:
            name = line(one.canonical_name, name_width, "bold $text")
            about = f"{one.type} {self.glyphs.dot} in {plural(one.mention_count, 'memory')}"
            gap = " " * (name_width - name.cell_length + 2)
            yield assemble(" " * _INDENT, name, gap, (about, "$text-muted")).truncate(
                self.width, ellipsis=True
            )

    def _indent_lines(self, lines: Iterable[Content]) -> Iterable[Content]:
        for one in lines:
            yield assemble(" " * _INDENT, one)

    def _change_request_lines(self, card: Card) -> Iterable[Content]:
        """The text that an agent asks for, with the new words marked."""
        if not card.item.text:
            return
        text = card.item.text[:_LONGEST]
        _, come = _helpful_differences(card.item.memories[0].content[:_LONGEST], text)
        yield content("")
        yield from self._wrap_text(assemble(("it would say", "$text-muted")))
        for one in content_with_marks(text, come, ADDED, "bold $text").wrap(self.width - 2):
            yield assemble("  ", one)

    def _replaced_lines(self, card: Card, memory: MemoryRecord, width: int) -> Iterable[Content]:
        """The known fact that this one would replace."""
        for known in card.item.replaced:
            if known.id == memory.supersedes:
                text = content(known.content[:_LONGEST], "$text")
                yield from assemble(("instead of ", "$warning"), "“", text, "”").wrap(width)

    # -- parts

    def _memory_facts_lines(self, memory: MemoryRecord, width: int) -> Iterable[Content]:
        """Trust, confidence, and whether it is confirmed."""
        parts = [speaker_note(memory), confidence_text(memory.effective), *memory.tags[:6]]
        text = assemble((f" {self.glyphs.dot} ".join(parts), "$text-muted"))
        if memory.protected:
            text = assemble(
                (f"{self.glyphs.protected} confirmed ", "$success"),
                (f"{self.glyphs.dot} ", "$text-muted"),
                text,
            )
        return text.wrap(width)

    def _quotes_of_sources(
        self, memory: MemoryRecord, evidence: Evidence, width: int, length: int
    ) -> Iterable[Content]:
        for turn in list(evidence.sources.get(memory.id, ()))[:4]:
            yield from self._quote_lines(memory.content, turn, evidence, width, length)

    def _quote_lines(
        self, text: str, turn: MemoryRecord, evidence: Evidence, width: int, length: int
    ) -> Iterable[Content]:
        """The words of a source, with the common ones marked, and where they were said."""
        whole = without_secrets(turn)
        part, ranges = excerpt_around(whole, shared_words(text, whole), length)
        yield from assemble("“", content_with_marks(part, ranges, "bold $accent", "$text-muted"), "”").wrap(
            width
        )
        said = turn.kind == "episode"
        title = evidence.titles.get(
            turn.session_id or "", turn.session_id or (turn.source if said else "") or ""
        )
        when = local_time(turn.event_time, self.now)
        who = "you" if turn.source_role == "user" else turn.source_role or f"{turn.kind} {speaker_note(turn)}"
        where = f"{who} {self.glyphs.dot} {when}"
        text_width = width - len(where) - 3
        where_text = assemble(where)
        if title and text_width >= 8:
            where_text = assemble(line(title, text_width), f" {self.glyphs.dot} ", where)
        yield where_text.stylize("$text-muted").truncate(width)

    def _wrap_text(self, text: Content) -> Iterable[Content]:
        return text.wrap(self.width)


def _helpful_differences(old: str, new: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The differences; none if nearly everything differs, because marks would not help."""
    gone, come = diff_ranges(old, new)
    changed = sum(end - start for start, end in (*gone, *come))
    return (gone, come) if changed < _MOSTLY * (len(old) + len(new)) else ([], [])


Row = TypeVar("Row")


class CardTable(RowTable[Row], inherit_bindings=False):
    BINDINGS = [*bindings_at("card")]
    part: ClassVar[ActionContext] = "card"

    def unavailable_reason(self, action: Action) -> str:
        return "There is nothing to decide." if not self.row_count else super().unavailable_reason(action)


class CardView(TextView, inherit_bindings=False):
    BINDINGS = [*bindings_at("card")]
    part: ClassVar[ActionContext] = "card"
    _height = 0

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield Static(classes="card-verdicts")

    def show_card(self, laid: CardLayout, verdicts: Content, *, subject: object) -> None:
        """Show a card and scroll to the picked fact. The verdicts stay below it."""
        same = subject == self._shown
        self.show_text(laid.text, subject=subject)
        below = self.query_one(".card-verdicts", Static)
        below.update(verdicts)
        below.display = bool(verdicts.plain)
        if same:
            self.call_after_refresh(self._scroll_to_line, laid.picked)

    def on_resize(self) -> None:
        super().on_resize()
        if self.outer_size.height != self._height:
            self._height = self.outer_size.height
            self.post_message(self.Rewidened(self.id or ""))

    def _scroll_to_line(self, line: int) -> None:
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        if line < top or line >= top + max(height - 3, 1):
            self.scroll_to(y=max(line - 1, 0), animate=False)
