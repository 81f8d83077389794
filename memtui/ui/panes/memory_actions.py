"""Actions on memories, for every pane whose rows are memories: on one, or on all marked ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from memtui.present.dependents import forget_note
from memtui.present.format import plural
from memtui.present.memory import is_replaced, without_secrets
from memtui.present.replacement import next_version
from memtui.present.text import one_line
from memtui.ui.actions import Action
from memtui.ui.messages import Notified, Severity

from .entity_links import NO_ROW, mentioned_in, show_about

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import Caution, Dependents, Kind, MemoryRecord, Operation
    from memtui.present.glyphs import Glyphs
    from memtui.ui.widgets.row_table import RowTable

    from .pane import Pane

# An action on more rows than this asks first.
ASK_ABOVE = 20
_NAMED = 40
_ROWS_AT_ONCE = 500
_KINDS: dict[Kind, str] = {
    "fact": "A fact.",
    "episode": "A turn of a conversation, word for word.",
    "reflection": "A reflection: a conclusion from several facts.",
    "observation": "An observation: a finding, an insight or a lesson.",
}
_A_KIND: dict[Kind, str] = {
    "fact": "a fact",
    "episode": "a turn",
    "reflection": "a reflection",
    "observation": "an observation",
}


def memory_legend(glyphs: Glyphs) -> list[tuple[str, str]]:
    """The signs of a list of memories, for the help."""
    return [
        *((glyph, _KINDS[kind]) for kind, glyph in glyphs.kinds.items()),
        (glyphs.protected, "Confirmed: it does not fade, and no job changes it."),
        (glyphs.pinned, "Pinned, beside the text: agents are told it at every prompt."),
        (glyphs.fading, "Fading: it will go to the Trash, unless it is recalled or confirmed."),
        (glyphs.replaced, "Replaced or merged: another memory has its place."),
        (glyphs.ended, "In the Trash."),
    ]


def _why_not_merged(memory: MemoryRecord) -> str:
    """Why a memory cannot be merged with another one, as a sentence; empty when it can."""
    if memory.kind == "fact" and memory.active:
        return ""
    why = "this one is in the Trash" if memory.kind == "fact" else f"this is {_A_KIND[memory.kind]}"
    return f"Only facts can be merged, and {why}: “{one_line(without_secrets(memory), _NAMED)}”"


class MemoryActions:
    """Actions on memories. ``current``: the memory under the cursor. ``go_to``: puts the cursor on a memory by its rid.

    ``table``: the rows, whose keys are rids; None where nothing can be marked. ``nothing``: why there is no memory.
    ``memory_of``: the memory of a row, where rows are not memories themselves.
    """

    def __init__(
        self,
        pane: Pane,
        current: Callable[[], MemoryRecord | None],
        *,
        table: Callable[[], RowTable[Any]] | None,
        go_to: Callable[[int], None],
        nothing: str = NO_ROW,
        memory_of: Callable[[Any], MemoryRecord | None] = lambda row: row,
    ) -> None:
        self._pane = pane
        self._current = current
        self._table = table
        self._go_to = go_to
        self._nothing = nothing
        self._memory_of = memory_of
        # The memory that was brought back last, by its rid.
        self.restored: int | None = None

    @property
    def current(self) -> MemoryRecord | None:
        return self._current()

    @property
    def _marked_keys(self) -> set[int]:
        return set() if self._table is None else self._table().marks

    def _clear_marks(self) -> None:
        if self._table is not None:
            self._table().set_marks(set())

    def unavailable_reason(self, action: Action) -> str:
        if action.id in ("correct", "editor", "about", "copy") and self.current is None:
            return self._nothing
        if action.id in ("about", "copy"):  # looking needs no restoring
            return ""
        if action.id == "erase":
            return "" if self._marked_keys or self.current is not None else self._nothing
        if action.id in ("successor", "told"):
            return "" if self.current is not None else self._nothing
        if action.id == "in_session":
            return _why_no_session(self.current)
        if action.id == "merge_marked":
            return self._why_not_two()
        if self._marked_keys:
            one_only = action.id in ("correct", "editor", "withhold")
            return "This works on one at a time: unmark the others first (Esc)." if one_only else ""
        memory = self.current
        if memory is None:
            return self._nothing
        if action.id == "restore":
            return "This one is not in the Trash." if memory.active else ""
        if action.id == "withhold":
            return _why_not_withhold(memory)
        if not memory.active:
            return "This one is in the Trash: restore it first."
        if action.id == "confirm" and memory.protected:
            return "This one is confirmed already. What you write or correct yourself needs no key for that."
        if action.id == "confirm" and memory.kind == "episode":
            return "This is what was said, word for word: there is nothing to confirm."
        if action.id in ("pin_fact", "topic") and memory.kind != "fact":
            ability = "can be pinned" if action.id == "pin_fact" else "have a topic"
            return f"{_KINDS[memory.kind].partition(':')[0].rstrip('.')}: only facts {ability}."
        return ""

    def _why_not_two(self) -> str:
        """What is missing until exactly two are marked."""
        keys = self._pane.shell.keymap_shown
        mark, merge = keys("mark"), keys("merge_marked")
        marks = len(self._marked_keys)
        if 1 <= marks <= 2 and self._table is not None:
            marked = map(self._memory_of, self._table().marked_rows)
            if reasons := [reason for one in marked if one is not None and (reason := _why_not_merged(one))]:
                return reasons[0]
        if marks == 0:
            return f"Nothing is marked: mark two facts with {mark}, then {merge} merges them."
        if marks == 1:
            return f"One is missing: go to the other fact, {mark} marks it, then {merge} merges both."
        return "" if marks == 2 else f"{marks} are marked, and two are merged at a time: {mark} unmarks one."

    async def do_confirm(self) -> None:
        await self._change_marked("confirm", "confirm", "confirming")

    async def do_pin_fact(self) -> None:
        """Pin the marked memories, or the current one. Unpin them if all are pinned."""
        rids = sorted(self._marked_keys)
        if len(rids) > ASK_ABOVE and not await self._ask_if_many("pin or unpin", len(rids)):
            self._pane.show_message("Nothing was changed.")
            return
        if not rids and self.current is not None:
            rids = [self.current.rid]
        now = await self._pane.change(lambda engine: _pin_or_unpin(engine, rids), "pinning")
        self._clear_marks()
        self._pane.post_message(Notified(now.message, now.severity, then=now.next_action))

    async def do_forget(self) -> None:
        """Forget it. Asks first if another memory says the same, or if a pinned question expects it."""
        if await self._ask_before_forgetting():
            await self._change_marked("forget", "forget", "forgetting")
        else:
            self._pane.show_message("Nothing was changed.")

    async def _ask_before_forgetting(self) -> bool:
        from memtui.ui.dialogs.choice import Question

        rids = sorted(self._marked_keys) or ([] if self.current is None else [self.current.rid])
        if not rids or len(rids) > ASK_ABOVE:
            return True  # that many are asked for by their number
        depends = await self._pane.ask(lambda engine: _load_dependents(engine, rids))
        if not depends.is_needed:
            return True
        keys = self._pane.shell.keymap_shown
        text = forget_note(depends, undo=keys("undo"), trash=keys("trash"))
        title = "Forget it?" if len(rids) == 1 else f"Forget {plural(len(rids), 'memory')}?"
        question = Question(title, text, yes="forget", depends=depends)
        return await self._pane.shell.show_dialog(question) is True

    async def do_withhold(self) -> None:
        """Forget it and withhold its turns from agents, after the person has seen how many there are."""
        from memtui.ui.dialogs.choice import Question

        memory = self.current
        if memory is None:
            return
        from .correction import load_sources_and_dependents

        memory_id = memory.id
        sources, depends = await self._pane.ask(lambda engine: load_sources_and_dependents(engine, memory_id))
        turns = plural(sum(one.kind == "episode" for one in sources), "turn")
        question = Question(
            "Forget it, and withhold what it was drawn from?",
            f"It goes to the Trash. Agents are not told the {turns} that it was drawn from either, until you restore it.",
            yes="forget and withhold",
            depends=depends,
        )
        if await self._pane.shell.show_dialog(question) is not True:
            self._pane.show_message("Nothing was changed.")
            return
        await self._pane.change(lambda engine: engine.forget(memory_id, withhold=True), "forgetting")

    async def do_agents(self) -> None:
        """Withhold the marked memories, or the current one, from an agent; or allow them again."""
        from memtui.ui.dialogs.choice import Choice, PickDialog

        rids = sorted(self._marked_keys) or ([] if self.current is None else [self.current.rid])
        if len(rids) > ASK_ABOVE and not await self._ask_if_many("choose an agent for", len(rids)):
            self._pane.show_message("Nothing was changed.")
            return
        agents, kept = await self._pane.ask(lambda engine: _load_agents(engine, rids))
        if not agents:
            self._pane.show_message("No agent has asked yet. To name one: memtui withhold ID --agent NAME")
            return
        choices = [Choice(name, note="withheld" if name in kept else "allowed") for name in agents]
        about = (
            "“withheld”: this agent gets neither the memory nor the turns that it came from. All others do."
        )
        picked = await self._pane.shell.show_dialog(
            PickDialog("Which agents may see it?", choices, yes="withhold or allow", text=about)
        )
        if picked is None:
            self._pane.show_message("Nothing was changed.")
            return
        agent = agents[picked]
        verb: Literal["withhold", "allow"] = "allow" if agent in kept else "withhold"
        done = await self._pane.change(
            lambda engine: engine.change_all(verb, rids, agent=agent), "changing who may see it"
        )
        self._clear_marks()
        if done is None and verb == "allow":
            self._pane.show_message(
                f"{agent} still does not get it: another memory that it belongs to is withheld.", "warning"
            )
        elif done is None:
            self._pane.show_message(f"{agent} did not get it before either.")

    async def do_restore(self) -> None:
        await self._change_marked("restore", "restore", "restoring")

    async def do_erase(self) -> None:
        from memtui.ui.dialogs.erase import EraseDialog

        rids = sorted(self._marked_keys)
        if rids:
            ids = [one.id for one in await self._pane.ask(lambda engine: engine.view.rows(rids))]
        else:
            ids = [] if self.current is None else [self.current.id]
        if await self._pane.shell.show_dialog(EraseDialog(ids)) is not None:
            self._clear_marks()

    async def do_merge_marked(self) -> None:
        from memtui.ui.dialogs.merge import FactMergeDialog

        def read_marked(engine: Memory) -> tuple[list[MemoryRecord], dict[str, tuple[Caution, ...]]]:
            memories = engine.view.rows(sorted(self._marked_keys))
            return memories, engine.view.cautions([one.id for one in memories])

        (first, second), cautions = await self._pane.ask(read_marked)
        if reason := _why_not_merged(first) or _why_not_merged(second):
            self._pane.show_message(reason, "warning")
            return
        gone = next((one for one in (first, second) if cautions.get(one.id)), None)
        if gone is not None:
            caution = cautions[gone.id][0]
            now = f": {one_line(caution.successor.content, _NAMED)}" if caution.successor is not None else ""
            text = one_line(without_secrets(gone), _NAMED)
            self._pane.show_message(f"“{text}” was {caution.what}{now}", "warning")
            return
        survivor = int(_merge_rank(second) > _merge_rank(first))
        depends = await self._pane.ask(lambda engine: engine.view.dependents([first.id, second.id]))
        merged = await self._pane.shell.show_dialog(FactMergeDialog((first, second), survivor, depends))
        if merged is None:
            self._pane.show_message("Nothing was merged.")
            return
        stays, goes = ((first, second), (second, first))[merged.survivor]
        record = await self._pane.change(
            lambda engine: engine.review.merge(stays.id, [goes.id], text=merged.text), "merging"
        )
        self._clear_marks()
        self._go_to(record.rid)

    async def do_successor(self) -> None:
        """Go to the version after this one, or to what it was merged into; from the last version to the first."""
        if self.current is None:
            return
        memory_id = self.current.id
        chain = await self._pane.ask(lambda engine: engine.view.chain(memory_id))
        one = next_version(chain, memory_id)
        if one is None:
            one = await self._pane.ask(lambda engine: engine.view.successor(memory_id))
        if one is None and is_replaced(self.current):
            self._pane.show_message("The memory that replaced it no longer exists.")
        elif one is None:
            self._pane.show_message("Nothing replaced this one, and it replaced nothing.")
        elif one.active:
            await self._pane.shell.navigation.open_memory(one.rid)
        else:
            await self._pane.shell.navigation.list_memories(f"is:trash id:{one.id}")

    async def do_told(self) -> None:
        """Ask for a prompt, and show whether an agent would be told this there; from there why a memory is not."""
        from memtui.ui.dialogs.context import ContextDialog
        from memtui.ui.dialogs.line_input import PromptDialog
        from memtui.ui.dialogs.why_not import WhyNotDialog

        memory = self.current
        prompt = await self._pane.shell.show_dialog(PromptDialog())
        if memory is None or not prompt:
            return
        block = await self._pane.ask(lambda engine: engine.context(prompt))
        if await self._pane.shell.show_dialog(ContextDialog(block, prompt, memory)):
            profile, best = block.result.profile, block.result.best
            await self._pane.shell.show_dialog(
                WhyNotDialog(prompt, "", profile, best, saved_profile=profile.name, block=block)
            )

    async def do_tag(self) -> None:
        from memtui.ui.dialogs.edit import TagDialog

        memory = self.current
        marks = set(self._marked_keys)
        if marks:
            tags = await self._pane.ask(lambda engine: engine.view.tag_counts(marks))
        else:  # at once: what is typed ahead is for the dialog
            tags = dict.fromkeys(memory.tags if memory is not None else (), 1)
        change = await self._pane.shell.show_dialog(TagDialog(tags, len(marks) or 1))
        if change is None:
            self._pane.show_message("No tag was changed.")
            return
        await self._change_marked("tag", "tag", "tagging", add=change.add, remove=change.remove)

    async def do_topic(self) -> None:
        from memtui.present.memory import topic_and_date
        from memtui.ui.dialogs.edit import TopicDialog

        memory, rids = self.current, sorted(self._marked_keys)
        now = (
            topic_and_date(memory, self._pane.shell.clock()) if memory is not None and not rids else "several"
        )
        change = await self._pane.shell.show_dialog(TopicDialog(now, len(rids) or 1))
        if change is None:
            self._pane.show_message("The topic stays as it is.")
            return
        if len(rids) > ASK_ABOVE and not await self._ask_if_many("sort", len(rids)):
            self._pane.show_message("Nothing was changed.")
            return
        if not rids and memory is not None:
            rids = [memory.rid]
        done = await self._pane.change(
            lambda engine: engine.change_all("classify", rids, topic=change.topic, happens=change.happens),
            "sorting",
        )
        self._clear_marks()
        if done is None:
            self._pane.show_message("Nothing changed: they were so already.")

    async def do_correct(self) -> None:
        if self.current is not None:
            from .correction import Correction

            await Correction(self._pane, self._go_to).correct(self.current)

    async def do_editor(self) -> None:
        if self.current is not None:
            from .correction import Correction

            await Correction(self._pane, self._go_to).correct_in_editor(self.current)

    async def _change_marked(
        self,
        verb: Literal["confirm", "forget", "restore", "tag"],
        name: str,
        doing: str,
        *,
        add: tuple[str, ...] = (),
        remove: tuple[str, ...] = (),
    ) -> None:
        rids = sorted(self._marked_keys)
        if len(rids) > ASK_ABOVE and not await self._ask_if_many(name, len(rids)):
            self._pane.show_message("Nothing was changed.")
            return
        if rids:
            change: Callable[[Memory], Operation | None] = lambda engine: engine.change_all(  # noqa: E731
                verb, rids, add=add, remove=remove
            )
            if await self._pane.change(change, doing) is None:
                self._pane.show_message("Nothing changed: they were so already.")
            self._clear_marks()
            return
        memory = self.current
        if memory is not None:
            await self._verb_on_one(verb, memory.id, doing, add, remove)

    async def _verb_on_one(
        self, verb: str, memory_id: str, doing: str, add: tuple[str, ...], remove: tuple[str, ...]
    ) -> None:
        def change_one(engine: Memory) -> MemoryRecord:
            match verb:
                case "confirm":
                    return engine.confirm(memory_id)
                case "forget":
                    return engine.forget(memory_id)
                case "restore":
                    return engine.restore(memory_id)
                case _:
                    return engine.tag(memory_id, add=add, remove=remove)

        before = self.current
        after = await self._pane.change(change_one, doing)
        if verb == "restore":
            self.restored = after.rid
        if before is not None and before.tags == after.tags and verb == "tag":
            self._pane.show_message("No tag changed: it was so already.")

    async def _ask_if_many(self, name: str, rows: int) -> bool:
        from memtui.ui.dialogs.choice import Question

        title = f"{name.capitalize()} {plural(rows, 'memory')}?"
        question = Question(title, "One undo takes it back.", yes=f"{name} {rows:,}")
        answer = await self._pane.shell.show_dialog(question)
        return answer is True

    async def do_in_session(self) -> None:
        memory = self.current
        if memory is None:
            return
        memory_id = memory.id
        sources = (
            [memory]
            if memory.kind == "episode"
            else await self._pane.ask(lambda engine: engine.view.sources(memory_id))
        )
        turn = next((source for source in sources if source.session_id is not None), None)
        if turn is None or turn.session_id is None:
            self._pane.show_message("The conversation that this came from is not in the memory.", "warning")
        else:
            await self._pane.shell.navigation.open_session(turn.session_id, turn.rid)

    async def do_about(self) -> None:
        if self.current is not None:
            await show_about(self._pane, await mentioned_in(self._pane, [self.current]))

    def do_copy(self) -> None:
        memory = self.current
        if memory is not None:
            self._pane.app.copy_to_clipboard(memory.content)
            self._pane.show_message("Copied the text.")


def _why_not_withhold(memory: MemoryRecord) -> str:
    if memory.kind == "episode":
        return "This is a turn itself: once forgotten, no agent sees it."
    if not memory.source_ids:
        return "No conversation is behind it: there are no turns to withhold."
    if memory.withheld:
        return "The turns that it came from are withheld already."
    return "" if memory.active or memory.ended_by == "forgotten" else "This one was not forgotten."


def _why_no_session(memory: MemoryRecord | None) -> str:
    if memory is None:
        return NO_ROW
    somewhere = memory.session_id is not None if memory.kind == "episode" else bool(memory.source_ids)
    return "" if somewhere else "This one was not said in a conversation."


def _merge_rank(one: MemoryRecord) -> tuple[bool, int, int]:
    """Which of two facts a merge keeps: the confirmed one, else that which says more, else the later one."""
    return one.protected, len(one.content), one.event_time


def _load_agents(engine: Memory, rids: Sequence[int]) -> tuple[list[str], set[str]]:
    """The agents that asked or have something withheld, and those from which all of these are withheld. Blocks."""
    view = engine.view
    named = {name.casefold(): name for name in (*view.agents(), *view.withheld_agents())}
    kept = set(named.values()) if 0 < len(rids) <= ASK_ABOVE else set()
    for one in view.rows(rids) if kept else ():
        kept &= {named[name.casefold()] for name in view.detail(one.id).withheld_from}
    return sorted(named.values()), kept


def _load_dependents(engine: Memory, rids: Sequence[int]) -> Dependents:
    return engine.view.dependents([one.id for one in engine.view.rows(rids)])


class _PinOutcome(NamedTuple):
    """The result of pinning, as a sentence."""

    message: str
    severity: Severity = "information"
    next_action: str = "undo"


def _pin_or_unpin(engine: Memory, rids: Sequence[int]) -> _PinOutcome:
    """Pin the facts among these memories, or unpin them if all are pinned. One operation. Blocks."""
    from memtui.engine.search.briefing import PINNED
    from memtui.engine.search.kept_back import why_kept_back

    facts = [
        memory
        for start in range(0, len(rids), _ROWS_AT_ONCE)
        for memory in engine.view.rows(rids[start : start + _ROWS_AT_ONCE])
        if memory.kind == "fact" and memory.active
    ]
    if not facts:
        return _PinOutcome("None of these is a fact in use: only those can be pinned.", "warning", "")
    one, off = len(facts) == 1, all(fact.pinned for fact in facts)
    if one:
        (engine.unpin if off else engine.pin)(facts[0].id)
    else:
        engine.change_all("unpin" if off else "pin", [fact.rid for fact in facts])
    if off:
        when = "it only if it is" if one else "them only if they are"
        return _PinOutcome(f"Unpinned: agents are told {when} relevant to the prompt.")
    if reason := next(filter(None, map(why_kept_back, facts[:ASK_ABOVE])), ""):
        return _PinOutcome(
            f"Pinned, but agents are not told {'it' if one else 'all of them'}: {reason}.", "warning"
        )
    pinned = engine.view.count("kind:fact is:pinned")
    if pinned > PINNED:
        return _PinOutcome(f"Pinned: of {pinned:,} pinned facts agents are told the {PINNED} pinned last.")
    return _PinOutcome(f"Pinned: agents are told {'it' if one else 'them'} at every prompt.")
