"""Make a folder of Claude Code session files, for benchmarks and demos.

    python tests/benchmarks/make_sessions.py FOLDER [--sessions 100] [--turns 40] [--seed 1]

The files look like real ones: tool calls and their output between the turns, snapshots, a reminder here and there,
titles, one compaction and one subagent in every tenth session. The same arguments make the same files.
"""

from __future__ import annotations

import argparse
import json
import random
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

_PROJECTS = ("greenhouse", "bakery-site", "star-atlas", "choir-planner", "tide-tables")
_WORDS = """
    please check why the pump for the northern beds stops at noon we moved the sensor last week and since then
    Clara gets an alert each morning could it be the timer or the new relay from Porto I would rather keep the old
    schedule until May but test the other one on Friday with Tomás the invoices are in the shared folder and the
    draft must be ready before the meeting about colours fonts and the garden fair in Lisbon that nobody has booked
""".split()  # noqa: SIM905


def write_sessions(folder: Path, sessions: int, turns: int, seed: int = 1) -> int:
    """Write ``sessions`` files of ``turns`` turns each below ``folder``; returns the bytes written."""
    random_ = random.Random(seed)
    start = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
    written = 0
    for number in range(sessions):
        project = random_.choice(_PROJECTS)
        session = str(uuid.UUID(int=random_.getrandbits(128), version=4))
        here = folder / f"-home-ada-{project}"
        here.mkdir(parents=True, exist_ok=True)
        maker = _Session(random_, session, project, start + timedelta(hours=number))
        written += _write(here / f"{session}.jsonl", maker.records(turns, compacted=number % 10 == 3))
        if number % 10 == 7:
            aside = here / session / "subagents" / f"agent-{random_.getrandbits(32):08x}.jsonl"
            aside.parent.mkdir(parents=True)
            written += _write(aside, maker.subagent(aside.stem.removeprefix("agent-")))
    return written


def _write(path: Path, records: Iterator[dict[str, Any]]) -> int:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path.stat().st_size


class _Session:
    def __init__(self, random_: random.Random, session: str, project: str, start: datetime) -> None:
        self.random = random_
        self.session = session
        self.project = project
        self.now = start
        self.parent: str | None = None

    def records(self, turns: int, *, compacted: bool) -> Iterator[dict[str, Any]]:
        yield {
            "type": "file-history-snapshot",
            "messageId": self._uuid(),
            "snapshot": {},
            "isSnapshotUpdate": False,
        }
        for turn in range(turns):
            if compacted and turn == turns // 2:
                yield self._record("system", "Conversation compacted", subtype="compact_boundary")
                yield self._record("user", "A summary of what was said so far.", isCompactSummary=True)
            if turn % 2:
                yield from self._tool_use()
                yield self._record("assistant", [{"type": "text", "text": self._text(20, 120)}])
            else:
                text = self._text(5, 60)
                if self.random.random() < 0.2:
                    text += "\n<system-reminder>The todo list is empty.</system-reminder>"
                yield self._record("user", text)
            if turn == 1:
                yield {"type": "ai-title", "aiTitle": self._text(3, 6), "sessionId": self.session}

    def subagent(self, agent: str) -> Iterator[dict[str, Any]]:
        self.parent = None
        yield self._record("user", self._text(20, 40), isSidechain=True, agentId=agent)
        yield self._record(
            "assistant", [{"type": "text", "text": self._text(30, 60)}], isSidechain=True, agentId=agent
        )

    def _tool_use(self) -> Iterator[dict[str, Any]]:
        call = f"toolu_{self.random.getrandbits(64):016x}"
        use = {
            "type": "tool_use",
            "id": call,
            "name": "Read",
            "input": {"file_path": f"/home/ada/{self.project}/a.py"},
        }
        yield self._record("assistant", [use])
        output = self._text(50, 200)
        result = {"type": "tool_result", "tool_use_id": call, "content": output}
        yield self._record("user", [result], toolUseResult={"stdout": output})

    def _record(self, kind: str, content: Any, **fields: Any) -> dict[str, Any]:
        self.now += timedelta(seconds=self.random.randint(3, 90))
        parent, self.parent = self.parent, self._uuid()
        record = {
            "parentUuid": parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": f"/home/ada/{self.project}",
            "sessionId": self.session,
            "version": "2.1.0",
            "gitBranch": "main",
            "type": kind,
            "uuid": self.parent,
            "timestamp": self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        } | fields
        if kind == "system":
            return record | {"content": content}
        return record | {"message": {"role": kind, "content": content}}

    def _uuid(self) -> str:
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def _text(self, fewest: int, most: int) -> str:
        return " ".join(self.random.choices(_WORDS, k=self.random.randint(fewest, most)))


def main() -> None:
    parser = argparse.ArgumentParser(description="Make a folder of Claude Code session files.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--turns", type=int, default=40, help="turns in each session")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    written = write_sessions(given.folder, given.sessions, given.turns, given.seed)
    print(
        f"{given.sessions} sessions, {given.sessions * given.turns} turns, {written / 1e6:.1f} MB in {given.folder}"
    )


if __name__ == "__main__":
    main()
