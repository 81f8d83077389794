"""The table of all actions. Key bindings, footer, help, palette, keymap and guide are made from it.

Each action has its own key. ``where``: the places of the app that have the action. In one place a key
never has two meanings (``keymap.find_clashes``; a test checks that). An action with the id ``forget`` is
run by the method ``do_forget`` of the widget at that place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

from .permissions import Effect

ActionContext = Literal[
    "everywhere", "list", "text", "transcript", "tuning", "card", "profile", "portrait", "neighbours", "grid",
    "you", "review", "memories", "timeline", "search", "entities", "mentions", "sessions", "observations",
    "scratchpad", "maintenance", "history", "typing", "filtering",
]  # fmt: skip
Group = Literal["Panes", "Move", "Look", "Change", "Undo", "Program"]
GROUPS: tuple[Group, ...] = get_args(Group)
# In the help, keys of the pane come first, and keys that work everywhere last.
HELP_GROUPS: tuple[Group, ...] = ("Change", "Look", "Undo", "Program", "Move", "Panes")
PANE_CONTEXTS: tuple[ActionContext, ...] = (
    "you", "review", "memories", "timeline", "search", "entities", "mentions", "sessions", "observations",
    "scratchpad", "maintenance", "history",
)  # fmt: skip
# One part of a pane has the focus. The keys of the pane and of "everywhere" work beside those of the part.
PART_CONTEXTS: tuple[ActionContext, ...] = (
    "list",
    "text",
    "transcript",
    "tuning",
    "card",
    "profile",
    "portrait",
    "neighbours",
    "grid",
)
# While typing, every printable key is text. Of the other keys only these and a few of "everywhere" work.
# A filter of memories ("filtering") also has completions.
WHILE_TYPING = frozenset({"ctrl+p", "f1", "ctrl+q"})
TYPING_CONTEXTS: tuple[ActionContext, ...] = ("typing", "filtering")


class Action(NamedTuple):
    """One thing that the person can do.

    ``keys``: as typed (``x``, ``/``, ``ctrl+o``, ``g g``); the first one is shown. ``footer``: its position in
    the footer, 0 = not there. ``changes``: it changes the memory, so it is refused if the memory is read only.
    ``needs``: the permission that it needs.
    """

    id: str
    keys: tuple[str, ...]
    label: str
    group: Group
    where: tuple[ActionContext, ...]
    help: str
    footer: int = 0
    changes: bool = False
    needs: Effect | None = None


def _action(
    id: str,
    keys: str,
    label: str,
    group: Group,
    where: tuple[ActionContext, ...],
    help: str,
    *,
    footer: int = 0,
    changes: bool = False,
    needs: Effect | None = None,
) -> Action:
    """A row of the table. ``keys`` are separated by two spaces."""
    return Action(id, tuple(keys.split("  ")), label, group, where, help, footer, changes, needs)


_ALL: tuple[ActionContext, ...] = ("everywhere",)
_LIST: tuple[ActionContext, ...] = ("list",)
_SIDES: tuple[ActionContext, ...] = ("list", "text", "transcript", "profile")
# In a card left and right pick a side.
_PARTS: tuple[ActionContext, ...] = (*_SIDES, "card", "portrait")
_LISTED: tuple[ActionContext, ...] = ("list", "card")
_PAGED: tuple[ActionContext, ...] = (*_PARTS, "grid")
_STEPS: tuple[ActionContext, ...] = (*_PAGED, "tuning", "neighbours")
_ROWS: tuple[ActionContext, ...] = ("memories", "search")
_WITH_KEPT_MEMORIES: tuple[ActionContext, ...] = (*_ROWS, "observations", "you", "mentions")
# You has one part; there the same keys go from section to section.
_WITH_PARTS: tuple[ActionContext, ...] = tuple(one for one in PANE_CONTEXTS if one != "you")
# Entities, and there a memory under the cursor of a profile.
_ENTITIES: tuple[ActionContext, ...] = ("entities", "mentions")
# Where memories are shown.
_SHOWN: tuple[ActionContext, ...] = (*_WITH_KEPT_MEMORIES, "review", "entities", "sessions", "history")

# fmt: off
ACTIONS: tuple[Action, ...] = (
    # The number of a pane never changes.
    _action("pane_you", "0", "You", "Panes", _ALL,
            "Go to You: what is known about you, by topic, and what goes on around it."),
    _action("pane_review", "1", "Review", "Panes", _ALL,
            "Go to Review: what needs a decision, worst first."),
    _action("pane_memories", "2", "Memories", "Panes", _ALL,
            "Go to Memories: everything that is remembered."),
    _action("pane_search", "3", "Search", "Panes", _ALL,
            "Go to Search: type a question, or with one there look at its hits and why each ranks where it does; / asks anew."),
    _action("pane_entities", "4", "Entities", "Panes", _ALL,
            "Go to Entities: people, projects and places, and everything about each."),
    _action("pane_sessions", "5", "Sessions", "Panes", _ALL,
            "Go to Sessions: the conversations, word for word."),
    _action("pane_observations", "6", "Observations", "Panes", _ALL,
            "Go to Observations: findings, insights, lessons; and the scratchpad."),
    _action("pane_maintenance", "7", "Maintenance", "Panes", _ALL,
            "Go to Maintenance: the jobs, their runs, plots, models and health."),
    _action("pane_history", "8", "History", "Panes", _ALL,
            "Go to History: every change, who made it, and its undo."),
    _action("next_part", "tab", "next part", "Panes", _WITH_PARTS, "Move to the next part of the pane."),
    _action("previous_part", "shift+tab", "previous part", "Panes", _WITH_PARTS, "Move to the part before."),
    _action("jump", "ctrl+o", "jump", "Panes", _ALL, "Show a letter on every part; that letter goes there."),

    _action("up", "up  k", "up", "Move", _STEPS, "One row up."),
    _action("down", "down  j", "down", "Move", _STEPS, "One row down."),
    _action("page_up", "pageup", "page up", "Move", _PAGED, "One page up."),
    _action("page_down", "pagedown", "page down", "Move", _PAGED, "One page down."),
    _action("half_up", "ctrl+u", "half page up", "Move", _PAGED, "Half a page up."),
    _action("half_down", "ctrl+d", "half page down", "Move", _PAGED, "Half a page down."),
    _action("top", "g g  home", "top", "Move", _PARTS, "To the first row."),
    _action("bottom", "G  end", "bottom", "Move", _PARTS, "To the last row."),
    _action("focus_list", "h  left", "list", "Move", _SIDES, "Go to the list."),
    _action("focus_preview", "l  right", "preview", "Move", _SIDES, "Go to the preview."),
    _action("column_left", "left  h", "left column", "Move", ("portrait", "neighbours"),
            "Go to the column at the left; in the first line to the item before."),
    _action("column_right", "right  l", "right column", "Move", ("portrait", "neighbours"),
            "Go to the column at the right; in the first line to the next item."),
    _action("next_section", "tab", "sections", "Move", ("you",),
            "In You to the title of the next section: a topic, what is new, what changed by month. After the last to the "
            "first line.", footer=12),
    _action("previous_section", "shift+tab", "section before", "Move", ("you",),
            "In You to the title of the section before. From the first line to the last section, what changed by month."),
    _action("period_before", "left  h", "back in time", "Move", ("grid",), "One period earlier."),
    _action("period_after", "right  l", "on in time", "Move", ("grid",), "One period later."),
    _action("earliest", "home  ^", "earliest", "Move", ("grid",), "To the earliest period."),
    _action("latest", "end  $", "latest", "Move", ("grid",), "To the latest period."),
    _action("filled_before", "p", "one before", "Move", ("timeline",), "To the period before in which this row has anything."),
    _action("filled_after", "n", "next one", "Move", ("timeline",), "To the next period in which this row has anything.",
            footer=12),
    _action("pan_left", "H  shift+left", "pan back", "Move", ("timeline",), "Half a window back in time."),
    _action("pan_right", "L  shift+right", "pan on", "Move", ("timeline",), "Half a window on in time."),
    _action("back", "escape", "back", "Move", _ALL,
            "One step back: to the list, then without marks, then without filter."),

    _action("open", "enter", "open", "Look", _LISTED, "Open the selected row in full."),
    _action("go", "enter", "open", "Look", ("portrait", "profile"),
            "Open what the cursor is on: a fact, a person, all facts of a topic, Review.", footer=5),
    _action("then", "w", "that month", "Look", ("you",),
            "Show in the timeline the month of the person, or of the change, under the cursor; of a plan list "
            "all of its month.", footer=6),
    _action("list_cell", "enter", "list these", "Look", ("grid",),
            "List the memories under the cursor; Esc comes back to the same place.", footer=5),
    _action("timeline", "T", "timeline", "Look", ("you", "memories"),
            "Show over time how much was learned, changed, forgotten or recalled of each topic.", footer=35),
    _action("as_list", "T", "as a list", "Look", ("timeline",), "Back to the list of memories.", footer=18),
    _action("zoom_in", "=  ]", "zoom in", "Look", ("timeline",),
            "Finer periods around the cursor: from years down to hours. The mouse wheel does so too.", footer=6),
    _action("zoom_out", "-  [", "zoom out", "Look", ("timeline",), "Coarser periods, up to years.", footer=7),
    _action("fit_all_time", "f", "fit all", "Look", ("timeline",), "As fine as all of it fits into the window.", footer=14),
    _action("layer", "v", "layer", "Look", ("timeline",),
            "The next layer: learned, changed, forgotten, faded, recalled by agents.", footer=8),
    _action("rows_by", "b", "rows", "Look", ("timeline",), "A row for each topic, person or project.", footer=9),
    _action("unfold", "enter", "unfold", "Look", ("transcript",), "Show a long turn whole, or fold it again."),
    _action("less", "left  h", "less", "Look", ("tuning",), "Lower the chosen value; the hits follow at once.",
            footer=4),
    _action("more", "right  l", "more", "Look", ("tuning",), "Raise the chosen value; the hits follow at once.",
            footer=5),
    _action("filter", "/", "filter", "Look", ("review", "memories", "timeline", *_ENTITIES, "sessions", "maintenance", "history"),
            "Narrow the list: words, kind:fact, tag:work, conf<0.5, -word, \"exact words\".", footer=10),
    _action("query", "/", "search", "Look", ("you", "search", "observations", "scratchpad"),
            "Type a question, or words to look for.", footer=10),
    _action("scratchpad", "P", "scratchpad", "Look", ("observations",),
            "Show the scratchpad, which agents share with you.", footer=14),
    _action("observations", "P", "observations", "Look", ("scratchpad",),
            "Back to findings, insights and lessons.", footer=14),
    _action("neighbours", "w", "who with whom", "Look", _ENTITIES,
            "Draw whom and what it is seen with; again for the profile.", footer=12),
    _action("to_middle", "enter", "to the middle", "Look", ("neighbours",),
            "Put this one into the middle; on the middle itself, show its profile.", footer=5),
    _action("walk_back", "backspace", "the one before", "Look", ("neighbours",),
            "Put the one into the middle that was there before; Esc too.", footer=8),
    _action("span_before", "[", "earlier time", "Look", _ENTITIES,
            "Draw whom it is seen with in the period before; first the latest month with anything.", footer=9),
    _action("span_after", "]", "later time", "Look", _ENTITIES,
            "Draw whom it is seen with in the next period with anything.", footer=9),
    _action("span_unit", "v", "by month", "Look", _ENTITIES,
            "The period: a month, a quarter, a year.", footer=14),
    _action("all_time", "f", "all time", "Look", _ENTITIES, "Draw whom it is seen with at any time.", footer=15),
    _action("shared", "M", "its memories", "Look", ("neighbours", *_ENTITIES),
            "List the memories that mention it, in the drawing those that mention both. There dates filter too.", footer=13),
    _action("filter_hits", "f", "filter", "Look", ("search",),
            "Search only in what passes a filter.", footer=12),
    _action("context", "v", "told to agents", "Look", ("search",),
            "Show what an agent would be told at this prompt (the context block), and whether this hit is in it.",
            footer=16),
    _action("told", "v", "told to agents", "Look", ("you", "memories", "observations"),
            "Ask whether an agent would be told this at a prompt that you type, and why."),
    _action("why_not", "w", "why not here?", "Look", ("search",),
            "Ask why a certain memory is not among the hits.", footer=14),
    _action("tune", "T", "tune", "Look", ("search",),
            "Change the weights of the retrievers, and see the hits move.", footer=18),
    _action("pin", "p", "pin", "Look", ("search", *_ENTITIES),
            "Pin this question or entity; again to unpin it.", footer=46, changes=True),
    _action("expect", "n", "expect here", "Look", ("search",),
            "Expect this hit for this question; again to stop. Imports and maintenance check it.",
            footer=46, changes=True),
    _action("save_profile", "S", "save profile", "Look", ("search",),
            "Save this ranking under a name, for agents too.", footer=47, changes=True),
    _action("agents_profile", "A", "agents use it", "Look", ("search",),
            "Let agents rank by this profile: it becomes the setting search.profile.", footer=48),
    _action("recalls", "L", "recall log", "Look", ("history",),
            "Show what agents were told and when; again for the changes.", footer=40),
    _action("as_of", "W", "look back", "Look", ("history",),
            "See the memory as it was at a time, or what changed between two times.", footer=42),
    _action("in_session", "O", "in session", "Look", _WITH_KEPT_MEMORIES,
            "Open the conversation where it was said."),
    _action("successor", "N", "other version", "Look", _WITH_KEPT_MEMORIES,
            "Go to the version that replaced this one, or what it was merged into; from the last version to the first."),
    _action("sort", ">", "sort", "Look", _LIST, "Sort by the next column.", footer=70),
    _action("reverse", "<", "reverse", "Look", _LIST, "Reverse the order."),
    _action("trash", "X", "trash", "Look", ("memories",),
            "Show what was forgotten, has faded or was replaced; again to leave.", footer=75),
    _action("episodes", "K", "turns", "Look", ("memories", "timeline"),
            "Add the turns of conversations; again to take them out.", footer=80),
    _action("about", "@", "about", "Look", _SHOWN, "Show everything about a person or thing that it mentions.", footer=38),
    _action("copy", "y", "copy", "Look", PANE_CONTEXTS, "Copy the text of the selected row."),
    _action("zoom", "+", "zoom", "Look", _ALL, "Make this part full-screen."),
    _action("unzoom", "_", "unzoom", "Look", _ALL, "Show all parts again."),

    _action("pick_left", "left  h", "pick left", "Change", ("card",),
            "Pick the side at the left, or the fact before."),
    _action("pick_right", "right  l", "pick right", "Change", ("card",),
            "Pick the side at the right, or the next fact."),
    _action("keep", "c", "keep", "Change", ("review",),
            "Keep what is picked: it is true.", footer=15, changes=True),
    _action("run", "r", "run", "Change", ("sessions", "maintenance"),
            "Run the job; consolidate this session, or all that are marked (a failed one is tried again).",
            footer=15, changes=True),
    _action("run_all", "A", "run all", "Change", ("sessions",), "Consolidate every session that waits.",
            footer=17, changes=True),
    _action("dry_run", "d", "dry run", "Look", ("sessions", "maintenance"),
            "Show what would be written, line by line, before anything is.", footer=18),
    _action("switch", "s", "on/off", "Change", ("maintenance",),
            "Run the job on its schedule, or only when you start it.", footer=36, changes=True),
    _action("stop", "ctrl+x", "stop", "Change", ("sessions", "maintenance"), "Stop what is running here."),
    _action("accept_clock", "C", "clock is right", "Change", ("review", "maintenance"),
            "The computer's clock jumped, and the time is right now: jobs that wait may run.", changes=True),
    _action("by_rules", "b", "by rules", "Change", ("sessions",),
            "Read by rules what a language model could not read; it can read it again later.", footer=32, changes=True),
    _action("again", "a", "read again", "Change", ("sessions",),
            "Read it again with what is configured now: shows the difference to what was drawn before.",
            footer=34, changes=True),
    _action("skip", "s", "skip", "Change", ("sessions",),
            "Mark it as done; no facts are taken from it.", footer=36, changes=True),
    _action("correct", "e", "correct", "Change", (*_WITH_KEPT_MEMORIES, "review"),
            "Correct it: the old and the new text are both kept, and linked.", footer=20, changes=True),
    _action("confirm", "c", "confirm", "Change", _WITH_KEPT_MEMORIES,
            "Confirm that it is true: it no longer fades, and no job may change it.", footer=25, changes=True),
    _action("pin_fact", "!", "pin fact", "Change", _WITH_KEPT_MEMORIES,
            "Pin a fact: agents are told it at every prompt; again to unpin it.", changes=True),
    _action("forget", "x", "forget", "Change", (*_WITH_KEPT_MEMORIES, "review"),
            "Forget it: it goes to the Trash, from where it can be restored.", footer=30, changes=True),
    _action("withhold", "z", "withhold", "Change", _WITH_KEPT_MEMORIES,
            "Forget it, and keep the turns that it was drawn from away from agents too.", changes=True),
    _action("agents", "V", "who may see it", "Change", _WITH_KEPT_MEMORIES,
            "Keep this and its turns from one agent; again to allow it.", changes=True),
    _action("both", "b", "both are true", "Change", ("review",),
            "Keep both: they do not contradict or repeat each other.", footer=32, changes=True),
    _action("merge", "m", "merge", "Change", ("review", *_ENTITIES),
            "Merge two into one: choose which one stays; you see the result first.", footer=34, changes=True),
    _action("merge_marked", "m", "merge", "Change", _ROWS,
            "Merge two marked facts; you see the result first.", footer=19, changes=True),
    _action("later", "s", "later", "Change", ("review",), "Ask again in 7 days.", footer=36, changes=True),
    _action("group", "w", "whole group", "Change", ("review",),
            "Keep or forget all that waits of this conversation, or about somebody it mentions.", footer=33, changes=True),
    _action("everything", "A", "all cards", "Look", ("review",),
            "Show all cards, also those beyond today's twenty; again to go back."),
    _action("restore", "R", "restore", "Change", _ROWS, "Bring it back from the Trash.",
            footer=55, changes=True),
    _action("restore_backup", "R", "restore", "Change", ("maintenance",),
            "Restore this backup, or single memories of it, after a preview.",
            footer=55, changes=True),
    _action("erase", "E", "erase for good", "Change", (*_WITH_KEPT_MEMORIES, "sessions"),
            "Erase it for good, from history and backups too: shows everything with its text, and proves that it is gone.",
            footer=78, changes=True),
    _action("mark", "space", "mark", "Change", _LISTED,
            "Mark this row; actions then apply to all marked rows.", footer=40),
    _action("mark_all", "*", "mark all", "Change", _LISTED,
            "Mark all rows of the list, or none."),
    _action("add", "a", "add", "Change", ("memories", "observations"), "Write down a new memory.", footer=45, changes=True),
    _action("tag", "t", "tag", "Change", _WITH_KEPT_MEMORIES, "Add and remove tags.", footer=50, changes=True),
    _action("topic", "#", "topic", "Change", (*_ROWS, "you", "mentions"),
            "Say what a fact is about, and the day that it names: health, plan 12 june, none.", footer=52, changes=True),
    _action("editor", "o", "editor", "Change", _WITH_KEPT_MEMORIES,
            "Open the text in $EDITOR; what is saved there becomes a correction.", changes=True, needs="editor"),

    _action("add_note", "a", "add", "Change", ("scratchpad",), "Write a text under a new key.",
            footer=16, changes=True),
    _action("edit_note", "e", "change", "Change", ("scratchpad",), "Change the text under this key.",
            footer=20, changes=True),
    _action("delete_note", "x", "delete", "Change", ("scratchpad",),
            "Delete this key and its text; undo brings it back.", footer=30, changes=True),
    _action("note_editor", "o", "editor", "Change", ("scratchpad",),
            "Change the text under this key in $EDITOR.", footer=40, changes=True, needs="editor"),
    _action("rename", "e", "rename", "Change", ("entities",),
            "Rename it. The old name is kept as another name.", footer=20, changes=True),
    _action("retype", "T", "retype", "Change", _ENTITIES,
            "Say what it is: a person, a project, a place.", footer=24, changes=True),
    _action("not_entity", "x", "not an entity", "Change", ("entities",),
            "Not an entity: remove it, and stop detecting it.", footer=32, changes=True),
    _action("unlink", "-", "not in here", "Change", _ENTITIES,
            "Wrong one: the memory picked in the profile is not about this entity.", footer=49, changes=True),
    _action("split", "|", "split", "Change", _ENTITIES,
            "One of its names belongs to somebody else: make a new entity of it.", footer=48, changes=True),
    _action("add_name", "a", "add name", "Change", _ENTITIES,
            "Add another name for it.", footer=42, changes=True),
    _action("drop_name", "D", "drop name", "Change", _ENTITIES,
            "Remove one of its names; memories with that name belong to somebody else.", changes=True),
    _action("summary", "s", "summary", "Change", _ENTITIES,
            "Say in a line who or what this is.", footer=44, changes=True),

    _action("typed", "enter  down", "to the list", "Move", ("typing",), "Keep what is typed, and go to the list.",
            footer=20),
    _action("leave_typing", "escape", "back", "Move", ("typing",),
            "Close the completions; without any go back to the list. What is typed stays.", footer=30),
    _action("complete", "tab", "complete", "Look", ("filtering",),
            "Put in the marked completion; at the end of the text the right arrow does so too.", footer=10),
    _action("next_choice", "down", "next", "Move", ("filtering",), "The next completion; without any go to the list."),
    _action("previous_choice", "up", "previous", "Move", ("filtering",), "The completion before."),
    _action("save_filter", "ctrl+s", "save filter", "Change", ("filtering",),
            "Keep this filter under a name: it is offered first while you type, and in the commands.",
            footer=40, changes=True),

    _action("undo", "u", "undo", "Undo", _ALL, "Take back your latest change.", footer=65, changes=True),
    _action("redo", "ctrl+r  ctrl+y", "redo", "Undo", _ALL, "Do again what was just undone.", changes=True),
    _action("undo_this", "U", "undo this", "Undo", ("maintenance", "history"),
            "Take back the selected operation, whoever made it.", footer=20, changes=True),
    _action("undo_agent", "A", "undo all since", "Undo", ("history",),
            "Undo everything that this agent did since the selected operation, in one step; shows it first.", changes=True),

    _action("wrong", "F", "that was wrong", "Program", _ALL,
            "List the last answers of agents with what was in them; Enter goes to a memory, V keeps it from that agent."),
    _action("import", "i", "import", "Program", _ALL,
            "Bring in conversations: files, folders, exports.", footer=90, changes=True),
    _action("export", "I", "export", "Program", _ALL,
            "Write everything, or what is shown, to a file or a folder of notes.", needs="export"),
    _action("pause", "Z", "pause", "Program", _ALL,
            "Pause recording for all programs; while paused: record again, after a question.", changes=True),
    _action("never_record", "B", "never remember", "Program", _ALL,
            "Name a subject: a message that has its words in one sentence is never recorded.", changes=True),
    _action("settings", "comma", "settings", "Program", _ALL, "See and change the settings."),
    _action("palette", "ctrl+p  :", "commands", "Program", _ALL, "Find any command by its name.", footer=95),
    _action("help", "?  f1", "help", "Program", _ALL, "What the keys do here.", footer=99),
    _action("tour_next", "ctrl+n", "next step", "Program", _ALL, "In the tour: do what the step says, and go on."),
    _action("quit", "q  ctrl+q", "quit", "Program", _ALL, "Leave memtui."),
)
# fmt: on

BY_ID: Mapping[str, Action] = {action.id: action for action in ACTIONS}


def actions_at(*places: ActionContext) -> tuple[Action, ...]:
    """The actions of these places, in the order of the table."""
    return tuple(action for action in ACTIONS if not set(places).isdisjoint(action.where))


def footer_actions(pane: ActionContext, part: ActionContext = "list") -> tuple[Action, ...]:
    """The actions of the footer while ``pane`` is shown, in order. ``part``: the kind of its list."""
    shown = (action for action in actions_at("everywhere", part, pane) if action.footer)
    return tuple(sorted(shown, key=lambda action: action.footer))


def typing_actions(context: ActionContext) -> tuple[Action, ...]:
    """The actions that work while typing, in order. None has a printable key."""
    own = actions_at(*(TYPING_CONTEXTS if context == "filtering" else ("typing",)))
    always = [
        action for action in actions_at("everywhere") if any(key in WHILE_TYPING for key in action.keys)
    ]
    return (*sorted(own, key=lambda action: action.footer), *always)


def typing_footer(context: ActionContext) -> tuple[Action, ...]:
    """The actions of the footer while typing."""
    return tuple(action for action in typing_actions(context) if action.footer and action.id != "palette")
