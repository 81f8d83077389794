"""What an agent does not get, and why: texts with a secret, orders to an assistant that were not confirmed."""

from __future__ import annotations

from memtui.engine.records import MemoryRecord, Record


class LeftOut(Record):
    """What would have been told, or made, and why it was not. ``memory`` None: not about one memory.

    ``text``: the piece of a turn that is meant; empty for the whole memory.
    """

    reason: str
    memory: MemoryRecord | None = None
    text: str = ""

    @property
    def shown(self) -> str:
        """The words that were left out."""
        return self.text or (self.memory.content if self.memory is not None else "")


def holds_secret(memory: MemoryRecord) -> bool:
    """Whether a secret is in it: no model may read it."""
    return "secrets" in memory.attributes and "redacted" not in memory.attributes


def why_kept_back(memory: MemoryRecord) -> str:
    """Why an agent is not told a memory; empty when it is."""
    if holds_secret(memory):
        return "it holds a secret"
    if "redacted" in memory.attributes:
        from memtui.engine.guards import secrets

        if secrets.is_only_redactions(memory.content):
            return "it tells only that there was a secret"
    if memory.protected:
        return ""
    from memtui.engine.guards.instructions import find_instructions, find_overrides

    # The person may well give orders; what was pasted among their words may be somebody else's.
    reasons = (find_overrides if memory.trust == "user" else find_instructions)(memory.content)
    return f"it reads like an order ({reasons[0]}) and was not confirmed" if reasons else ""
