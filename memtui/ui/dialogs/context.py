"""The context block that an agent would get for a question, and what was left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.content import Content

from memtui.present.format import plural
from memtui.present.hit import served_line
from memtui.present.memory import RULE_FIRST, pinned_since, without_secrets
from memtui.present.text import one_line
from memtui.ui.safe import assemble, content, content_of_line
from memtui.ui.widgets.text_view import TextView

from .dialog import Dialog

if TYPE_CHECKING:
    from memtui.engine.records import MemoryRecord
    from memtui.engine.search.briefing import ContextBlock
    from memtui.present.text import LabelledLine


def in_context_line(block: ContextBlock, memory_id: str) -> LabelledLine:
    """Whether the block has a memory, and why not where that is known."""
    reasons = (one.reason for one in block.left_out if one.memory is not None and one.memory.id == memory_id)
    return served_line(any(one.id == memory_id for one in block.memories), next(reasons, ""))


class ContextDialog(Dialog[bool]):
    """Shows the block, why each memory is in it, what was left out, and how tokens were counted.

    True: the person asks why a memory is not in it.
    """

    wide = True
    hints = (("j k", "scroll"), ("y", "copy the block"), ("w", "why not here?"))
    BINDINGS = [("y", "copy_block", "copy"), ("w", "why_not", "why not here?")]

    def __init__(self, block: ContextBlock, query: str, about: MemoryRecord | None = None) -> None:
        """``about``: the memory of which the person asks whether it is told."""
        super().__init__()
        self._about = about
        self._block = block
        self._query = query

    def title_text(self) -> str:
        return f"What an agent would be told: about {plural(self._block.tokens, 'token')}"

    def body(self) -> ComposeResult:
        yield TextView(id="context-text")

    def on_mount(self) -> None:
        view = self.query_one(TextView)
        view.show_text(self._context_text())
        view.focus()

    def _context_text(self) -> Content:
        from memtui.engine.search.block_text import HOW_COUNTED
        from memtui.engine.search.briefing import INSIGHT_DAYS

        block = self._block
        parts: list[Content | str | tuple[str, str]] = [
            ("asked   ", "$text-muted"), one_line(self._query, 200), "\n\n",
        ]  # fmt: skip
        if self._about is not None:
            label, answer = in_context_line(block, self._about.id)
            parts += [(f"{label}: ", "bold"), content_of_line(answer), "\n"]
            parts.append((f"  {one_line(without_secrets(self._about), 300)}\n\n", "$text-muted"))
        if block.text:
            parts.append(content(block.text))
        else:
            parts.append(("No memory is relevant to this question: the agent gets nothing.", "$warning"))
        parts.append("\n\n")
        if block.insight is None:
            parts.append((f"No reflection of the last {INSIGHT_DAYS} days.\n", "$text-muted"))
        now = self.shell.clock()
        reasons = [(RULE_FIRST, one.content) for one in block.rules]
        reasons += [(f"pinned {pinned_since(one, now)}", one.content) for one in block.pinned]
        reasons += [(one.reason, one.memory.content) for one in block.vital]
        reasons += [("; ".join(fact.reasons), fact.memory.content) for fact in block.related]
        reasons += [("; ".join(excerpt.reasons), excerpt.text) for excerpt in block.excerpts]
        for reason, text in reasons:
            parts += [("  why told  ", "bold $success"), (f"{one_line(reason, 200)}\n", "$text-muted")]
            parts.append((f"            {one_line(text, 300)}\n", "$text-muted"))
        for one in block.left_out:
            parts += [("! left out  ", "bold $warning"), (f"{one.reason}\n", "$warning")]
            if one.shown:
                parts.append((f"            {one_line(one.shown, 300)}\n", "$text-muted"))
        for note in block.result.notes:
            parts.append((f"! {note}\n", "$warning"))
        parts.append((f"Tokens are estimated: {HOW_COUNTED}.", "$text-muted"))
        return assemble(*parts)

    def action_copy_block(self) -> None:
        self.app.copy_to_clipboard(self._block.text)
        self.shell.show_message("Copied the context block.")
        self.dismiss(None)

    def action_why_not(self) -> None:
        self.dismiss(True)
