"""What becomes of a contradiction in Review when one of its sides is corrected elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from memtui.engine.consolidation.compare.conflicts import stand
from memtui.engine.records import MemoryRecord
from memtui.engine.store import memories, proposals


def corrected(
    connection: apsw.Connection, asked: Sequence[proposals.Proposal], old: MemoryRecord, new: MemoryRecord, actor: str,
    now: int,
) -> str:  # fmt: skip
    """Settle the cards that ask about ``old``, with the reason; in the caller's operation.

    Where the corrected text contradicts the other side all the same, or an agent corrected it, the question goes on about
    the new text. Returns what became of them, to end a label with.
    """
    told = ""
    for proposal in asked:
        side = "new" if proposal.payload["new"] == old.id else "old"
        others = memories.by_ids(connection, [str(proposal.payload["old" if side == "new" else "new"])], now)
        other = next((one for one in others if one.active), None)
        if other is None:
            continue
        found = stand(new.content, other.content)
        goes_on = found.kind == "conflict" or actor != "person"
        if goes_on:
            id = proposals.identity(proposals.CONFLICT, new.id, other.id)
            reason = found.reason or str(proposal.payload["reason"])
            proposals.ask(
                connection, id, proposals.CONFLICT, {**proposal.payload, side: new.id, "reason": reason}, now
            )
        whose = "you" if actor == "person" else actor.removeprefix("agent:")
        proposals.retell(
            connection,
            proposal.id,
            {**proposal.payload, "settled": f"{whose} corrected one side, now {new.id}"},
        )
        proposals.decide(connection, proposal.id, "accepted", now)
        told = "; its card in Review goes on" if goes_on else told or ", which settles its card in Review"
    return told
