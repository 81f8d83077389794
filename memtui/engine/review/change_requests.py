"""Change requests: an agent asks the person to forget, change or confirm a memory.

A change request changes nothing. It waits in Review. If the person accepts it, it is the person's own change, signed by them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import apsw

from memtui.engine.errors import InputError
from memtui.engine.memories import operations, validation
from memtui.engine.records import MemoryRecord, Options, Record
from memtui.engine.store import memories, proposals

MOST_WAITING = 20
"""How many change requests of one agent may wait at once: more would bury what matters."""
_LONGEST_REASON = 500

RequestVerb = Literal["forget", "correct", "confirm"]


class ChangeRequest(Record):
    """What an agent wants done to a memory. ``text``: the wording it proposes (correct). ``why``: in its words."""

    verb: RequestVerb
    agent: str
    text: str = ""
    why: str = ""

    @property
    def sentence(self) -> str:
        asked = {
            "forget": "asks to forget this",
            "correct": "asks to change this",
            "confirm": "says that this is still true",
        }[self.verb]
        return f"{self.agent} {asked}{': ' if self.why else ''}{self.why}"


def open_request(
    connection: apsw.Connection, verb: RequestVerb, memory: MemoryRecord, *, agent: str, text: str, why: str,
    options: Options, now: int,
) -> proposals.Proposal:  # fmt: skip
    """Open a change request, inside the caller's operation; the one that is there when the same was asked before.

    Raises InputError for a request that cannot be accepted, or when too many of this agent wait.
    """
    if verb != "forget" and memory.kind == "episode":
        raise InputError(
            "This is a turn of a conversation: it stays as it was said.",
            "Correct or confirm the fact that was drawn from it.",
        )
    if verb == "correct":
        text = validation.check_text(text.strip(), memory.kind, options.secrets).content
        if text == memory.content:
            raise InputError("The new text is the same as the old one.", "Nothing was changed.")
    why = (
        validation.check_text(why.strip(), "fact", options.secrets).content[:_LONGEST_REASON]
        if why.strip()
        else ""
    )
    id = proposals.identity(proposals.CHANGE_REQUEST, verb, memory.id, text)
    known = proposals.find(connection, id)
    if known is not None:
        return known
    if sum(one.agent == agent for _, one, _ in waiting_requests(connection, now)) >= MOST_WAITING:
        raise InputError(
            f"{MOST_WAITING} of your change requests wait for the person already.",
            "Tell the person to look into Review.",
        )
    payload = {"verb": verb, "memory": memory.id, "agent": agent, "text": text, "why": why}
    proposals.ask(connection, id, proposals.CHANGE_REQUEST, payload, now)
    return proposals.get(connection, id)


def waiting_requests(
    connection: apsw.Connection, now: float
) -> Iterable[tuple[str, ChangeRequest, MemoryRecord]]:
    """The change requests that can still be accepted, with their proposals' ids, the latest first."""
    for proposal in proposals.pending_proposals(connection, proposals.CHANGE_REQUEST, now):
        rows = connection.execute(
            f"SELECT {memories.COLUMNS} FROM memories m WHERE m.id = ? AND m.valid_until IS NULL",
            (str(proposal.payload["memory"]),),
        )
        for row in rows:
            yield proposal.id, request_from_payload(proposal.payload), memories.memory_record(row, now)


def request_from_payload(payload: dict[str, Any]) -> ChangeRequest:
    return ChangeRequest(
        verb=payload["verb"], agent=str(payload["agent"]), text=str(payload["text"]), why=str(payload["why"])
    )


def grant_request(
    connection: apsw.Connection, wanted: ChangeRequest, memory: MemoryRecord, *, text: str, actor: str, options: Options,
    now: int,
) -> None:  # fmt: skip
    """Do what was asked, as ``actor``; ``text``: another wording than the one proposed."""
    match wanted.verb:
        case "forget":
            operations.forget(connection, memory, actor=actor, now=now)
        case "correct":
            operations.correct(connection, memory, text or wanted.text, actor=actor, options=options, now=now)
        case "confirm":
            operations.confirm(connection, memory, actor=actor, now=now)
            memories.update(connection, memory.rid, reviewed_at=now)
