"""Import turns: find what is new in a batch, and store it.

A single turn is recorded with its session (curate.turns); here a transaction holds hundreds of turns of few
sessions, so the sessions are registered once for all of them.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import apsw

from memtui.engine.errors import InputError
from memtui.engine.memories import operations, validation
from memtui.engine.memories.turns import NewTurn, find_recorded, is_recorded, row_of_turn
from memtui.engine.records import Turn
from memtui.engine.store import full_text, memories, recording_rules, sessions, tombstones
from memtui.engine.store.sql import json_text, scalar

from . import report
from .report import CHARACTERS_AT_ONCE, MERGED_PAGES, ROWS_AT_ONCE, CountedRecord, ImportCounts

PAUSED = "said while recording was paused"
UNWANTED = "never recorded (memtui pause --show)"
TOO_LONG = f"longer than {validation.MAX_EPISODE:,} characters"
_TITLES_KEPT = 256
# Sessions of programs that are followed as they go on, whose turns have a time of their own.
_CLIENTS = {
    "import:claude-code": "claude-code",
    "import:claude-history": "claude-code",
    "import:claude-mem": "claude-code",
    "import:codex": "codex",
    "import:gemini-cli": "gemini-cli",
    "import:opencode": "opencode",
}
# The source of an import, and those that tell the same turns in other words: the hook which records them as they are
# said, the list of prompts, the prompts that claude-mem keeps.
SAME_WORDS = {
    "import:claude-code": ("hook:claude-code", "import:claude-history", "import:claude-mem"),
    "import:claude-history": ("hook:claude-code", "import:claude-code", "import:claude-mem"),
    "import:claude-mem": ("hook:claude-code", "import:claude-code", "import:claude-history"),
    "import:codex": ("hook:codex",),
    "import:gemini-cli": ("hook:gemini-cli",),
}


class AssignedTitles(OrderedDict[str, str]):
    """The titles that this import gave to its latest sessions: those it may still replace."""

    def note_title(self, session_id: str, title: str) -> str | None:
        """Note the new title; returns the one given before, if it is still known."""
        before = self.pop(session_id, None)
        self[session_id] = title
        if len(self) > _TITLES_KEPT:
            self.popitem(last=False)
        return before


class TurnImporter:
    """``cross_source``: two of its formats tell the same words, so what one of them brought is there for the other."""

    def __init__(self, shared: ImportCounts, *, cross_source: bool) -> None:
        self._shared = shared
        self._cross_source = cross_source
        self._titles = AssignedTitles()
        # The latest row when it was looked up what others said.
        self._since = 0
        # The latest row before this import; None until it begins.
        self._before: int | None = None
        # The rows of other sources that stand for a turn of this import already.
        self._used: set[int] = set()

    def select_new(self, connection: apsw.Connection, turns: Sequence[Turn]) -> list[NewTurn]:
        shared = self._shared
        keys = [turn.source_key for turn in turns]
        stored_keys = known_keys(connection, keys)
        if self._before is None:
            self._before = latest_rid(connection)
        ours = known_keys(connection, list(stored_keys), after=self._before) if stored_keys else set()
        gone = tombstones.erased_among(connection, keys)
        paused, never = recording_rules.all_pauses(connection), recording_rules.never_recorded(connection)
        new: dict[str, NewTurn] = {}
        for key, turn in zip(keys, turns, strict=True):
            if key in gone:
                shared.skip(report.ERASED)
            elif (
                key in stored_keys
                or key in new
                or (self._cross_source and self._is_cross_source_duplicate(turn))
            ):
                shared.already_there += 1
                shared.repeated += key in ours or key in new
            elif recording_rules.first_excluded(
                never,
                client=_CLIENTS.get(turn.source),
                project=turn.project,
                folder=turn.folder,
                text=turn.content,
            ):
                shared.skip(UNWANTED)
            elif turn.source in _CLIENTS and recording_rules.is_within_pause(paused, turn.event_time or 0.0):
                shared.skip(PAUSED)
            elif len(turn.content) > validation.MAX_EPISODE:
                shared.skip(TOO_LONG, f"{shared.tally.place}: {key}")
            elif checked := self._check_turn(turn):
                new[key] = checked
        self._since = latest_rid(connection)
        for key in cross_source_duplicates(connection, new, self._used):
            del new[key]
            shared.already_there += 1
        for key in erased_turns(connection, new):
            del new[key]
            shared.skip(report.ERASED)
        return list(new.values())

    def _is_cross_source_duplicate(self, turn: Turn) -> bool:
        """Whether another format of this import brought the same words; notes that this one did."""
        others = SAME_WORDS.get(turn.source, ())
        if not others or turn.role != "user":
            return False
        key = f"{turn.session_id} {turn.content}"
        if any(self._shared.met.has(f"said {other} {key}") for other in others):
            return True
        self._shared.met.add_new(f"said {turn.source} {key}")
        return False

    def _check_turn(self, turn: Turn) -> NewTurn | None:
        """The turn as it will be stored, None where intake refuses it."""
        try:
            return NewTurn(
                session_id=validation.check_name(turn.session_id, "session id"),
                role=validation.check_name(turn.role, "role"),
                intake=validation.check_text(turn.content, "episode", self._shared.options.secrets),
                event_time=int((turn.event_time or 0.0) // 1),
                trust=turn.trust or validation.trust_of_role(turn.role, self._shared.actor),
                source=turn.source,
                source_key=turn.source_key,
                project=turn.project and validation.without_secrets(turn.project),
                title=turn.session_title and validation.without_secrets(turn.session_title),
            )
        except InputError as error:
            self._shared.skip(report.REFUSED, error.message)
            return None

    def identities(self, turn: NewTurn) -> tuple[str, ...]:
        return (f"key {turn.source_key}",)

    def store_some(self, connection: apsw.Connection, new: Sequence[NewTurn]) -> tuple[int, list[NewTurn]]:
        until = time.monotonic() + report.SECONDS_PER_TRANSACTION
        now = int(self._shared.clock())
        beside = latest_rid(connection) > self._since
        stored: list[NewTurn] = []
        processed = 0
        while processed < len(new) and (not processed or time.monotonic() < until):
            some = new[
                processed : processed + rows_per_statement(turn.intake.content for turn in new[processed:])
            ]
            processed += len(some)
            # A hook may have been quicker, since that was looked up.
            stored += _insert_turns(
                connection,
                [
                    one
                    for one in some
                    if not (beside and cross_source_duplicates(connection, {"": one}, self._used))
                ],
                now,
            )
        _register_sessions(connection, stored, self._titles)
        full_text.merge(connection, MERGED_PAGES)
        self._since = latest_rid(connection)
        self._shared.already_there += processed - len(stored)
        return processed, stored

    def counted_record(self, turn: NewTurn) -> CountedRecord:
        return CountedRecord("turn", turn.session_id, "secrets" in turn.intake.attributes)


def known_keys(connection: apsw.Connection, keys: Sequence[str], *, after: int = 0) -> set[str]:
    """Those of the source keys that the memory holds in rows ``after`` this one, in the Trash or not."""
    rows = connection.execute(
        "SELECT source_key FROM memories WHERE source_key IN (SELECT value FROM json_each(?)) AND rid > ?",
        (json_text(keys), after),
    )
    return {str(key) for (key,) in rows}


def erased_turns(connection: apsw.Connection, turns: Mapping[str, NewTurn]) -> set[str]:
    """The keys of those turns that were erased for good under any key: recorded live, or brought by another source."""
    gone = tombstones.erased_among(connection, chain.from_iterable(map(_has_message_times, turns.values())))
    return (
        {key for key, turn in turns.items() if not gone.isdisjoint(_has_message_times(turn))}
        if gone
        else set()
    )


def _has_message_times(turn: NewTurn) -> list[str]:
    """Only programs whose turns surely have a time of their own may say the same words again; else it can be the file's."""
    at = turn.event_time if turn.source in SAME_WORDS else 0
    return tombstones.keys_of_turn(turn.session_id, turn.role, turn.intake.content, at)


def is_cross_source_duplicate(connection: apsw.Connection, turn: Turn) -> bool:
    """Whether another source already brought the same turn."""
    others = SAME_WORDS.get(turn.source, ())
    return bool(others) and is_recorded(
        connection, turn.session_id, turn.role, turn.content, int((turn.event_time or 0) // 1), others
    )


def cross_source_duplicates(
    connection: apsw.Connection, new: Mapping[str, NewTurn], used: set[int] | None = None
) -> set[str]:
    """The keys of turns that another source brought under another key, or without one.

    A row stands for one of them: who says the same twice and was recorded once said it twice. ``used``: the rows that stand
    for one already; those of ``new`` are added.
    """
    duplicates: set[str] = set()
    used = set() if used is None else used
    for key, turn in new.items():
        if not (others := SAME_WORDS.get(turn.source or "")):
            continue
        rows = find_recorded(
            connection, turn.session_id, turn.role, turn.intake.content, turn.event_time, others
        )
        if (row := next((rid for rid in rows if rid not in used), None)) is not None:
            used.add(row)
            duplicates.add(key)
    return duplicates


def latest_rid(connection: apsw.Connection) -> int:
    """The latest row of the memory, 0 in an empty one."""
    return int(scalar(connection, "SELECT max(rid) FROM memories") or 0)


def rows_per_statement(texts: Iterable[str]) -> int:
    """How many of the rows that begin with these texts go into one statement: a few dozen, few if they are long."""
    length = 0
    for count, text in enumerate(texts, 1):
        length += len(text)
        if count == ROWS_AT_ONCE or length > CHARACTERS_AT_ONCE:
            return count
    return count


def _insert_turns(connection: apsw.Connection, new: Sequence[NewTurn], now: int) -> list[NewTurn]:
    """Insert turns by one statement; those that were not there."""
    rids = memories.insert_all(connection, [row_of_turn(turn, now) for turn in new])
    stored = [(rid, turn) for rid, turn in zip(rids, new, strict=True) if rid is not None]
    for rid, turn in stored:
        operations.keep_from_vectors(connection, rid, turn.intake)
    return [turn for _, turn in stored]


def _register_sessions(
    connection: apsw.Connection, stored: Sequence[NewTurn], titles: AssignedTitles
) -> None:
    by_session: dict[str, list[NewTurn]] = {}
    for turn in stored:
        by_session.setdefault(turn.session_id, []).append(turn)
    for session_id, those in by_session.items():
        times = [turn.event_time for turn in those]
        title = next((turn.title for turn in reversed(those) if turn.title), None)
        if title and tombstones.erased_among(connection, [tombstones.title_key(session_id, title)]):
            title = None
        sessions.register_session(
            connection, session_id, min(times), max(times),
            title=title, source=those[0].source, project=those[-1].project,
        )  # fmt: skip
        if title and (before := titles.note_title(session_id, title)) not in (None, title):
            # A conversation may get its title late. One that somebody else gave is not ours to replace.
            connection.execute(
                "UPDATE sessions_consolidations SET title = ? WHERE session_id = ? AND title = ?",
                (title, session_id, before),
            )
