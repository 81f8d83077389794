"""Rules for recording: pauses, and sources that are never recorded. They are in the file, so all programs obey them.

The rules are not part of history. Rejected turns are counted; neither their words nor their speakers are kept.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

import apsw
import msgspec

from memtui.engine.errors import NotRecordedError
from memtui.engine.records import Never, Pause, Recording
from memtui.engine.wording import until_when

from . import metadata
from .sql import json_text
from .tokens import fold_text, text_stems

_PAUSES, _TURNED_AWAY, _NEVER = "recording_pauses", "recording_turned_away", "recording_never"
_sentence_end = re.compile(r"[.!?…。！？]+(?=\s|$)|\n")
# Where an operation can put words, beside the text of a memory.
_TEXTS = (
    ("memories", "rid", "content"),
    ("scratchpad", "pad_id", "value"),
    ("proposals", "proposal_id", "payload"),
)
# Beyond so many, the two pauses that lie nearest to each other count as one.
_MAX_PAUSES = 1_000
# What an agent writes in an operation of such a kind says what it heard.
_WORDS_OF_AGENTS = frozenset(
    {"record", "remember", "correct", "observe", "scratchpad", "consolidate", "change_request"}
)


def all_pauses(connection: apsw.Connection) -> list[Pause]:
    """All of them, the latest last."""
    kept = metadata.get(connection, _PAUSES)
    return [Pause(since=since, until=until) for since, until in _parse_pauses(kept)] if kept else []


def _parse_pauses(kept: str) -> list[tuple[int, int | None]]:
    return msgspec.json.decode(kept, type=list[tuple[int, int | None]])


def pause_in_force(connection: apsw.Connection, now: float) -> Pause | None:
    """The pause that holds. Where the clock went back, one that was begun later holds too."""
    latest = all_pauses(connection)[-1:]
    return next((one for one in latest if one.until is None or one.until > now), None)


def recording_state(connection: apsw.Connection, now: float) -> Recording:
    turned_away = int(metadata.get(connection, _TURNED_AWAY) or 0)
    return Recording(
        pause=pause_in_force(connection, now),
        turned_away=turned_away,
        never=tuple(never_recorded(connection)),
    )


def pause(connection: apsw.Connection, now: int, until: int | None) -> None:
    """Begin a pause, or give the one that holds another end; inside the caller's transaction."""
    known = all_pauses(connection)
    if current := pause_in_force(connection, now):
        known[-1] = Pause(since=current.since, until=until)
    else:
        known.append(Pause(since=now, until=until))
        metadata.set_value(connection, _TURNED_AWAY, "0")
    _store_pauses(connection, known)


def end_pause(connection: apsw.Connection, now: int) -> None:
    """End the pause that holds, if one does; inside the caller's transaction."""
    if current := pause_in_force(connection, now):
        _store_pauses(
            connection,
            [*all_pauses(connection)[:-1], Pause(since=current.since, until=max(now, current.since))],
        )


def _store_pauses(connection: apsw.Connection, known: list[Pause]) -> None:
    while len(known) > _MAX_PAUSES:
        gaps = [later.since - (one.until or later.since) for one, later in pairwise(known)]
        nearest = gaps.index(min(gaps))
        known[nearest : nearest + 2] = [Pause(since=known[nearest].since, until=known[nearest + 1].until)]
    metadata.set_value(connection, _PAUSES, json_text([(one.since, one.until) for one in known]))


def is_within_pause(known: list[Pause], moment: float) -> bool:
    """Whether something was said in one of the pauses."""
    return any(one.since <= moment and (one.until is None or moment < one.until) for one in known)


def never_recorded(connection: apsw.Connection) -> list[Never]:
    """What is never recorded, in the order in which it was named."""
    kept = metadata.get(connection, _NEVER)
    return msgspec.json.decode(kept, type=list[Never]) if kept else []


def save_never(connection: apsw.Connection, wanted: list[Never]) -> None:
    """Inside the caller's transaction."""
    metadata.set_value(connection, _NEVER, msgspec.json.encode(wanted).decode())


def excluded_subject_in(known: Sequence[Never], texts: Iterable[str]) -> Never | None:
    """The first subject among what is never recorded that one of the texts is about: by words, "accounts" as "account"."""
    subjects = [(one, frozenset(text_stems(one.name))) for one in known if one.kind == "subject"]
    if not subjects:
        return None
    for text in texts:
        for sentence in _sentence_end.split(text):
            stems = set(text_stems(sentence))
            for one, wanted in subjects:
                if wanted <= stems:
                    return one
    return None


def first_excluded(
    known: list[Never], *, client: str | None, project: str | None, folder: str | None, text: str = ""
) -> Never | None:
    """The first of what is never recorded that something belongs to."""
    for one in known:
        match one.kind:
            case "client":
                same_client = client is not None and client.casefold() == one.name.casefold()
            case "project":
                same_client = project is not None and fold_text(project) == fold_text(one.name)
            case "folder":
                same_client = folder is not None and f"{_normalise_folder(folder)}/".startswith(
                    f"{_normalise_folder(one.name).rstrip('/')}/"
                )
            case "subject":
                same_client = excluded_subject_in([one], [text]) is not None
        if same_client:
            return one
    return None


def _normalise_folder(folder: str) -> str:
    return os.path.realpath(folder).replace("\\", "/")


def refusal_of_operation(
    connection: apsw.Connection, actor: str, kind: str, now: float, *, project: str | None = None,
    folder: str | None = None,
) -> NotRecordedError | None:  # fmt: skip
    """Why an operation brings words that are not recorded now; None where it may go on.

    Turns are turned away whoever brings them; else what agents write. The person's own notes are theirs. ``folder``:
    in which the program works; of an agent that of this process, where it is not given.
    """
    agent = actor.removeprefix("agent:") if actor.startswith("agent:") else None
    if kind != "record" and not (agent is not None and kind in _WORDS_OF_AGENTS):
        return None
    current = pause_in_force(connection, now)
    if current is not None:
        return NotRecordedError(
            f"Recording is paused{until_text(current, now)}: nothing was stored.",
            "Reading works. The person ends the pause with memtui pause --off.",
        )
    known = never_recorded(connection)
    working_folder = folder or (_working_folder() if agent is not None and known else None)
    rule = first_excluded(known, client=agent, project=project, folder=working_folder)
    if rule is None:
        return None
    return NotRecordedError(
        f"This {rule.kind} is never recorded: nothing was stored.",
        "Reading works. The person changes that with memtui pause.",
    )


def refusal_of_words(
    connection: apsw.Connection, actor: str, kind: str, op_id: int
) -> NotRecordedError | None:
    """Why the words that a running operation put in are not recorded: they are about a subject that never is.

    Of the same operations as ``refusal``: the caller takes the operation back.
    """
    if kind != "record" and not (actor.startswith("agent:") and kind in _WORDS_OF_AGENTS):
        return None
    known = [one for one in never_recorded(connection) if one.kind == "subject"]
    if not known:
        return None
    texts = [
        text
        for table, row, column in _TEXTS
        for (text,) in connection.execute(
            f"SELECT t.{column} FROM changes c JOIN {table} t ON t.{row} BETWEEN c.lo AND c.hi "
            "WHERE c.op_id = ? AND c.tbl = ? AND c.act != 'delete'",
            (op_id, table),
        )
    ]
    subject = excluded_subject_in(known, texts)
    if subject is None:
        return None
    return NotRecordedError(
        f"“{subject.name}” is never recorded: nothing was stored.",
        "Reading works. The person changes that with memtui pause.",
    )


def keeps_question(
    connection: apsw.Connection, agent: str, now: float, project: str | None, question: str
) -> bool:
    """Whether what an agent (of a ``project``) asks may be noted."""
    if refusal_of_operation(connection, f"agent:{agent}", "record", now, project=project) is not None:
        return False
    return excluded_subject_in(never_recorded(connection), [question]) is None


def _working_folder() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError:  # it was deleted
        return None


def count_refusal(connection: apsw.Connection) -> None:
    """Something was turned away; inside the caller's transaction."""
    metadata.set_value(connection, _TURNED_AWAY, str(int(metadata.get(connection, _TURNED_AWAY) or 0) + 1))


def until_text(pause: Pause, now: float) -> str:
    """`` until 18:00``; empty for a pause without an end."""
    return "" if pause.until is None else f" {until_when(pause.until, now)}"
