"""Why a hit has its rank: each retriever's rank, raw score and share, the sum, the lead over the next hit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from textual.content import Content

from memtui.present.hit import (
    ARMS,
    explanation_lines,
    matched_text,
    points,
    rank,
    raw_score,
    term,
    why_above,
    why_absent,
)
from memtui.present.text import cells, visible
from memtui.ui.safe import assemble, content, drawn

from .arms import bar, bar_text, marks
from .memory_text import LONGEST, MemoryText

if TYPE_CHECKING:
    from memtui.engine.records import ArmHit, ArmName, ArmReport, Explanation, Hit, MemoryDetail, SearchResult


NAME = 9
TERM = 6
_WIDEST_BAR = 20
# Of a longer text (in code points) only a part is shown above the breakdown.
_BRIEF = 600


class HitText(MemoryText):
    """Lays out a hit and the details of its memory."""

    def hit(self, hit: Hit, result: SearchResult, detail: MemoryDetail | None = None) -> Content:
        """The breakdown of the score. With ``detail``, the memory and its sources below it."""
        lines = [*self._text(hit.memory.content, hit.arms), *self._cautions(hit.cautions), assemble("")]
        lines += self._breakdown(hit, result)
        if detail is not None:
            lines.append(self._rule())
            if len(hit.memory.content) > _BRIEF:
                lines += [content(hit.memory.content[:LONGEST]), assemble("")]
            lines += [*self._state(hit.memory), *self._successor(detail)]
            lines += self._topic_and_date(hit.memory)
            lines += self._group(self._said_in(detail), self._named(detail), self._versions(detail))
            lines += self._group(self._around(detail))
            lines += self._group(self._foot(hit.memory))
        return Content("\n").join(lines)

    def explanation(self, found: Explanation, best: float, listed: int) -> Content:
        """Why a memory is or is not among the hits. ``best``: the score of row 1. ``listed``: the number of rows."""
        lines = [*self._text(found.memory.content, found.arms), assemble("")]
        for label, reason in explanation_lines(found, listed):
            lines += self.labelled(label, drawn(reason))
        lines.append(assemble(""))
        lines += self._arms(found.arms, {}, max(best, found.score))
        for arm in ARMS:
            if arm not in found.arms and arm != "sense":  # which finds nothing by itself
                lines += self._absent(arm, "does not find it")
        if found.arms:
            place = f"  number {found.rank:,}" if found.rank is not None else ""
            lines.append(self._total(found.score, max(best, found.score), place))
        return Content("\n").join(lines)

    # -- parts

    def _text(self, text: str, arms: dict[ArmName, ArmHit]) -> Iterable[Content]:
        """The memory's text with its matches in the colour of their retriever. A long text is cut around the first match."""
        shown = text[:LONGEST]
        found = marks(shown, arms)
        first = found[0][0] if found else 0
        at = first - _BRIEF // 6 if first > _BRIEF // 2 and len(shown) > _BRIEF else 0
        last = at + _BRIEF
        parts: list[str | tuple[str, str]] = ["…" if at else ""]
        for start, end, arm in found:
            if at <= start and end <= last:
                parts += [shown[at:start], (shown[start:end], f"bold ${arm}")]
                at = end
        yield assemble(*parts, shown[at:last], "…" if last < len(text) else "")

    def _breakdown(self, hit: Hit, result: SearchResult) -> Iterable[Content]:
        best = result.best
        reports = {report.arm: report for report in result.arms}
        yield from self._arms(hit.arms, reports, best)
        yield self._total(hit.score, best)
        yield from self._why_above(hit, result)
        missing = [arm for arm in ARMS if arm in reports and arm not in hit.arms]
        if missing:
            yield assemble("")
            for arm in missing:
                yield from self._absent(arm, why_absent(reports.get(arm)))

    def _arms(
        self, arms: dict[ArmName, ArmHit], reports: dict[ArmName, ArmReport], best: float
    ) -> Iterable[Content]:
        """A line for each retriever that found it, with what matched below."""
        found = [arm for arm in ARMS if arm in arms]
        for short in (False, True):
            ranks = {arm: rank(arms[arm], reports.get(arm), short=short) for arm in found}
            raws = {arm: raw_score(arm, arms[arm], short=short) for arm in found}
            rank_width = max(map(len, ranks.values()), default=0) + 1
            raw_width = max(map(len, raws.values()), default=0) + 1
            room = self.width - NAME - rank_width - raw_width - TERM
            if room >= 0:
                break
        room = max(room, 0)
        for arm in found:
            hit = arms[arm]
            filled = bar({arm: hit.term}, best, min(room, _WIDEST_BAR)) if room > 3 and hit.term else []
            level = bar_text(arm, filled[0][1], self.glyphs) if filled else visible("")
            yield assemble(
                (arm.ljust(NAME), f"${arm}"),
                ranks[arm].ljust(rank_width),
                (raws[arm].ljust(raw_width), "$text-muted"),
                (level, f"${arm}"),
                " " * max(room - cells(level), 0),
                (term(hit, best).rjust(TERM), "bold"),
            )
            words = matched_text(arm, hit)
            if words:
                for part in content(words, "$text-muted", limit=400).wrap(max(self.width - NAME, 8)):
                    yield assemble(" " * NAME, part)

    def _total(self, score: float, best: float, place: str = "") -> Content:
        total = str(points(score, most=best))
        blanks = " " * max(self.width - len("total") - 2 - len(total) - len(place), 0)
        return assemble(blanks, ("total", "$text-muted"), "  ", (total, "bold"), (place, "$text-muted"))

    def _why_above(self, hit: Hit, result: SearchResult) -> Iterable[Content]:
        """Why it ranks above the next row."""
        if hit.rank >= len(result.hits):
            return
        yield assemble("")
        yield from drawn(why_above(hit, result.hits[hit.rank], result.best)).wrap(self.width)

    def _absent(self, arm: ArmName, why: str) -> Iterable[Content]:
        name = assemble((arm.ljust(NAME), "$text-muted"))
        for index, part in enumerate(assemble((why, "$text-muted")).wrap(max(self.width - NAME, 8))):
            yield assemble(name if index == 0 else " " * NAME, part)

    def _rule(self) -> Content:
        return assemble("\n", (self.glyphs.rule * self.width, "$frame"))
