"""Draw the demo's facts anew: run the program on the talks of ``demo.jsonl`` and write down what it drew.

usage: python assets/make_demo.py [--list] [--check {facts,all}]

Turns, decisions, reflections, observations and notes of the file are kept as they are. Its ``drawn`` and ``recall``
lines are replaced: by the plans of consolidation without a model, and by what the assistant is given at the start of a
talk. A decision about a fact that is not drawn any more stops it, with the texts to choose from. ``--list`` also prints
the facts that stand at the end. ``--check`` writes nothing: it prints what would change, and leaves with 1 if anything would.
"""

from __future__ import annotations

import argparse
import asyncio
import difflib
import json
import os
import re
import sys
import tempfile
import time
import unicodedata
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from memtui.demo.lines import DATE, RecordedContradiction, RecordedLine, TurnLine, fill_dates, read_lines
from memtui.demo.story import AGENT, Story
from memtui.engine.consolidation.extract.rules import KeywordExtractor
from memtui.engine.consolidation.plan import Contradicted, PlanLine
from memtui.engine.records import Options
from memtui.engine.store.file import open_file

ASSET = Path(__file__).parent / "demo.jsonl"
NOW = 1_789_500_000
OVER = 1_860
"""Seconds after its last turn a session is over, and the job reads it."""
PENDING = ("coach", "this-week")
"""Nobody read these yet: they wait in the Sessions pane."""
_ESCAPED = ("Cc", "Cf", "Mn")
_SAID = re.compile(r"\(said (\d+ \w+ \d{4})\)$")

Line = dict[str, Any]


class Making:
    """One run of the program over the talks. ``recalls``: also note what the assistant is given, which takes most of the time."""

    def __init__(self, written: list[Line], *, recalls: bool = True) -> None:
        self.written = written
        self._recalls = recalls
        self._today = datetime.fromtimestamp(NOW)
        self._raw = {
            fill_dates(line["content"], self._today): line["content"]
            for line in written
            if "{{" in line.get("content", "")
        }
        self._by_key = {line["key"]: line for line in written if "key" in line}
        self.recorded: list[Line] = []

    def run(self, *, show: bool) -> None:
        with tempfile.TemporaryDirectory() as folder:
            connections = open_file(Path(folder) / "demo.db")
            try:
                self._story = Story(
                    connections, read_lines(NOW, _encoded(self.written)), Options(background=False)
                )
                steps = []
                for talk in self._story.talks:
                    if self._recalls:
                        steps.append((talk[0].time, partial(self._recall, talk[0])))
                    if talk[0].session not in PENDING:
                        steps.append((talk[-1].time + OVER, partial(self._draw, talk[0].session)))
                self._story.write(steps)
                if show:
                    self._show()
            finally:
                connections.close()

    def _recall(self, turn: TurnLine, at: int) -> None:
        memory = self._story.memory
        memory.models.index_pending()
        memory.actor = AGENT
        given = memory.context(turn.content, session_id=turn.session).memories
        if given:
            self.recorded.append(
                {
                    "type": "recall",
                    "session": turn.session,
                    "time": at - NOW,
                    "content": self._unfilled(turn.content),
                    "given": [self._unfilled(one.content) for one in given],
                }
            )

    def _draw(self, session: str, at: int) -> None:
        memory = self._story.memory
        memory.actor = "scheduler"
        (outcome,) = asyncio.run(memory.sessions.consolidate(session, rules=True)).outcomes
        assert outcome.plan is not None, outcome.error
        self.recorded.append(
            {
                "type": "drawn",
                "session": session,
                "time": at - NOW,
                "extractor": KeywordExtractor.name,
                "lines": [self._line(line) for line in outcome.plan.lines],
            }
        )

    def _line(self, line: PlanLine) -> Line:
        keys = self._story.turn_keys()
        sources = tuple(keys[one] for one in line.sources)
        text = line.content
        for found in DATE.finditer(" ".join(self._by_key[key]["content"] for key in sources)):
            text = text.replace(fill_dates(found[0], self._today), found[0])
        if said := _SAID.search(text):
            days = (datetime.strptime(said[1], "%d %B %Y").date() - self._today.date()).days
            text = text[: said.start()] + f"(said {{{{{days}:year}}}})"
        self._raw[line.content] = text
        recorded = RecordedLine(
            action=line.action, content=text, sources=sources, reason=line.reason,
            known=self._unfilled(line.known) if line.known else None, confidence=line.confidence,
            trust=line.trust, tags=line.tags, category=line.category, topic=line.topic,
            also=self._contradictions(line.also), meant=self._contradictions(line.meant), weak=line.weak,
        )  # fmt: skip
        return msgspec.to_builtins(recorded)

    def _contradictions(self, found: Sequence[Contradicted]) -> tuple[RecordedContradiction, ...]:
        return tuple(
            RecordedContradiction(known=self._unfilled(one.known), reason=one.reason) for one in found
        )

    def _unfilled(self, text: str) -> str:
        return self._raw.get(text, text)

    def _show(self) -> None:
        for record in self._story.memory.view.page("kind:fact", limit=500):
            mark = "confirmed" if record.protected else f"{record.confidence:.1f}"
            print(
                f"{mark:9} {record.effective:.2f} {record.recall_days} {record.topic or '-':10} {record.content}"
            )


def _encoded(lines: list[Line]) -> bytes:
    return "".join(_encoded_line(line) for line in lines).encode()


def _encoded_line(line: Line) -> str:
    """What cannot be seen, or hangs on another character, is written as an escape."""
    text = json.dumps(line, ensure_ascii=False)
    return "".join(rf"\u{ord(c):04x}" if unicodedata.category(c) in _ESCAPED else c for c in text) + "\n"


def _with_keys(written: list[Line]) -> list[Line]:
    """Every turn has one, so that whatever is drawn can name its source."""
    found, count = [], Counter[str]()
    for line in written:
        if line["type"] == "turn":
            count[line["session"]] += 1
            line = {"type": "turn", "key": f"{line['session']}-{count[line['session']]}"} | line
        found.append(line)
    return found


def _with_used_keys(written: list[Line], recorded: list[Line]) -> list[Line]:
    used = {key for line in recorded for one in line.get("lines", ()) for key in one.get("sources", ())}
    return [
        {name: value for name, value in line.items() if name != "key" or value in used} for line in written
    ]


def _lines_of(recorded: list[Line]) -> list[str]:
    """What was drawn and given, a text for each line of a plan or recall."""
    found = []
    for line in recorded:
        where = f"{line['type']} {line['session']} {line['time']}: "
        for one in line.get("lines", (line,)):
            found.append(where + json.dumps(one, ensure_ascii=False))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--list", action="store_true", help="print the facts that stand at the end")
    parser.add_argument(
        "--check", choices=("facts", "all"),
        help="write nothing, print what would change: of the facts (seconds), or also of what the assistant is given",
    )  # fmt: skip
    arguments = parser.parse_args()
    os.environ["TZ"] = "UTC"  # on which day something was said depends on it
    if hasattr(time, "tzset"):
        time.tzset()
    lines = [json.loads(line) for line in ASSET.read_text(encoding="utf-8").split("\n") if line]
    written = [line for line in lines if line["type"] not in ("drawn", "recall")]
    making = Making(_with_keys(written), recalls=arguments.check != "facts")
    making.run(show=arguments.list)
    if arguments.check:
        made = {line["type"] for line in making.recorded}
        old = _lines_of([line for line in lines if line["type"] in made])
        new = _lines_of(making.recorded)
        changes = [line for line in difflib.ndiff(old, new) if line[0] in "+-"]
        print("\n".join(changes) or "nothing would change")
        return int(bool(changes))
    ASSET.write_bytes(_encoded(_with_used_keys(making.written, making.recorded) + making.recorded))
    print(f"{sum(len(line.get('lines', ())) for line in making.recorded)} lines drawn")
    return 0


if __name__ == "__main__":
    sys.exit(main())
