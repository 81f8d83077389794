"""The lines of a consolidation plan as rows of a list, and one line as text with its turns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from memtui.present.consolidation import ACTIONS
from memtui.present.consolidation import content as line_text
from memtui.present.format import local_time
from memtui.present.memory import confidence, without_secrets
from memtui.present.session import speaker
from memtui.present.text import one_line, visible
from memtui.ui.presenters.diff import old_and_new
from memtui.ui.presenters.source_words import excerpt, shared
from memtui.ui.safe import assemble, content, marked
from memtui.ui.widgets.columns import Column, Piece

if TYPE_CHECKING:
    from memtui.engine.consolidation.plan import Plan, PlanLine
    from memtui.engine.records import MemoryRecord
    from memtui.present.glyphs import Glyphs

_QUOTE = 400
_SHOWN = 4_000
_MOST_LINES = 100_000


class Proposal(NamedTuple):
    """A line of a plan, by the index of both."""

    plan: int
    place: int
    line: PlanLine

    @property
    def key(self) -> int:
        return self.plan * _MOST_LINES + self.place


def proposals_of(plans: Sequence[Plan]) -> list[Proposal]:
    return [
        Proposal(number, place, line)
        for number, plan in enumerate(plans)
        for place, line in enumerate(plan.lines)
    ]


def proposal_columns(glyphs: Glyphs, one_of: Callable[[int], str]) -> list[Column[Proposal]]:
    """Box, action, text; and the session if there are several (``one_of`` gives its title)."""

    def box(row: Proposal, width: int) -> Iterable[Piece]:
        if row.line.action == "unchanged":
            yield Piece(visible("   "), "dim")
            return
        yield Piece(visible("[x]" if row.line.accepted else "[ ]"), "accent" if row.line.accepted else "dim")

    def action(row: Proposal, width: int) -> Iterable[Piece]:
        word, role, _ = ACTIONS[row.line.action]
        yield Piece(one_line(word, width), role if row.line.accepted else "dim")

    def text(row: Proposal, width: int) -> Iterable[Piece]:
        sign = "e " if row.line.edited else ""
        yield Piece(visible(sign), "accent")
        yield Piece(one_line(line_text(row.line), width - len(sign)), "text" if row.line.accepted else "dim")

    def session(row: Proposal, width: int) -> Iterable[Piece]:
        yield Piece(one_line(one_of(row.plan), width), "dim")

    return [
        Column("box", "", box, width=3),
        Column("action", "what", action, width=11, gap=1),
        Column("text", "", text, least=16),
        Column("session", "session", session, width=18, drop=1),
    ]


def proposal_text(
    row: Proposal, plan: Plan, turns: Mapping[str, MemoryRecord], now: float, glyphs: Glyphs
) -> Content:
    """All of a line: what it does and why, the new text and the old one, and the turns that say it."""
    line = row.line
    word, _, what = ACTIONS[line.action]
    parts: list[Content | str | tuple[str, str]] = [
        (word, "bold $accent"), ("  rejected: it is not written" if not line.accepted else "", "$warning"), "\n",
        (what, "$text-muted"), "\n",
    ]  # fmt: skip
    if line.reason and line.action != "summary":
        parts += [("because  ", "$text-muted"), (line.reason, "$warning"), "\n"]
    for suspicion in line.suspicions:
        parts += [(f"{glyphs.conflict} {suspicion.kind}  ", "$warning"), suspicion.detail, "\n"]
    parts.append("\n")
    if line.known is not None and line.action in ("supersede", "conflict", "reinforce", "reword"):
        parts.append(old_and_new(line.known[:_SHOWN], line_text(line)[:_SHOWN]))
        for one in line.also:
            parts += ["\n", ("also against  ", "$text-muted"), one.known[:_SHOWN]]
    else:
        parts.append(content(line_text(line)[:_SHOWN], "bold"))
    parts += ["\n\n", *_line_status(line, glyphs)]
    for source in line.sources:
        turn = turns.get(source)
        if turn is not None:
            said = without_secrets(turn)
            part, found = excerpt(said, shared(line_text(line), said), _QUOTE)
            parts += ["\n", (f"{speaker(turn)} {glyphs.dot} {local_time(turn.event_time, now)}\n", "$text-muted"),
                      "“", marked(part, found, "bold $accent", "$text"), "”\n"]  # fmt: skip
    return assemble(*parts)


def _line_status(line: PlanLine, glyphs: Glyphs) -> Iterable[tuple[str, str]]:
    if line.action == "summary":
        return
    whose = {
        "user": "in your words",
        "agent": "from an agent",
        "tool": "from a tool",
        "model": "a model's wording",
    }
    parts = (
        ["as you wrote it, confirmed"]
        if line.edited
        else [whose[line.trust], f"{confidence(line.confidence)} sure"]
    )
    if line.category is not None:
        parts.append(line.category)
    yield f" {glyphs.dot} ".join([*parts, *line.tags]) + "\n", "$text-muted"
