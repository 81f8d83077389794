"""The command palette: all actions of this place, commands of the pane, and the themes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from memtui.engine import word_lists
from memtui.present.text import VisibleText, visible_text

from .action_dispatch import node_or_app_unavailable_reason, start_worker
from .actions import ActionContext, actions_at
from .panes.maintenance.rows import names_of_topics
from .panes.registry import PANES
from .safe import assemble
from .shell import shell_of

if TYPE_CHECKING:
    from memtui.engine.records.saved import SavedFilter

    from .main_screen import MainScreen
    from .shell import Shell


class MemtuiPalette(CommandPalette):
    """The palette with our styles."""

    CSS_PATH = "styles/palette.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-roomy")]


class PaletteEntry(NamedTuple):
    """A command: its name, its display, what it runs, and whether an empty query lists it.

    ``also``: its description and everyday words, which find it too.
    """

    name: VisibleText
    palette_text: Content
    run: Callable[[], object]
    listed: bool
    also: str = ""


_EVERYDAY_WORDS = Path(__file__).with_name("everyday_words.txt")


# More than any score of a fuzzy match.
_TIER = 10_000
# Shorter queries are found by names only: they begin a word of most descriptions.
_LEAST_IN_DESCRIPTION = 3


def score_command(query: str, name: str, also: str, fuzzy: float) -> float:
    """The score of a command: words of its name, then words of ``also``, then what ``fuzzy`` found. 0: no hit.

    Whole words come before beginnings of words. ``fuzzy``: the score of the fuzzy match of the name, 0 if there is none.
    """
    typed = re.findall(r"\w+", query.casefold())
    named = set(re.findall(r"\w+", name.casefold()))
    described = named | set(re.findall(r"\w+", also.casefold()))
    places = [named] if len(query.strip()) < _LEAST_IN_DESCRIPTION else [named, described]
    for tier, words in enumerate(places):
        if not typed:
            break
        if words.issuperset(typed):
            return fuzzy + (4 - 2 * tier) * _TIER
        if all(any(word.startswith(one) for word in words) for one in typed):
            return fuzzy + (3 - 2 * tier) * _TIER
    return fuzzy


def _everyday_words(action_id: str) -> str:
    return " ".join(word_lists.read_sections(_EVERYDAY_WORDS).get(action_id, ()))


class PaletteCommands(Provider):
    """Saved filters come first. A query finds words, then names fuzzily: see ``rank``.

    An action that cannot run now shows the reason.
    """

    _saved: Sequence[SavedFilter] = ()

    async def startup(self) -> None:
        operations = shell_of(self.app).operations
        if operations.memory is not None:
            self._saved = await operations.ask(lambda memory: memory.filters.saved())

    async def discover(self) -> Hits:
        for entry in self._all_entries():
            if entry.listed:
                yield DiscoveryHit(entry.palette_text, entry.run, text=entry.name)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for entry in self._all_entries():
            score = score_command(query, entry.name, entry.also, matcher.match(entry.name))
            if score > 0:
                yield Hit(score, entry.palette_text, entry.run, text=entry.name)

    def _all_entries(self) -> Iterator[PaletteEntry]:
        shell = shell_of(self.app)
        main = cast("MainScreen", self.app.screen_stack[0])
        for saved in self._saved:
            name = visible_text(f"Filter: {saved.name}")
            show = partial(
                start_worker, shell.app, partial(shell.navigation.list_memories, saved.filter), "go"
            )
            yield PaletteEntry(name, _entry_display(name, "", saved.filter), show, True, saved.filter)
        for action in actions_at("everywhere", "list", main.pane.action_context):
            node = main.offerer_of(action)
            if action.group == "Move" or action.id == "palette" or node is None:
                continue
            reason = node_or_app_unavailable_reason(node, action)
            help = f"not now: {reason}" if reason else main.pane.help(action)
            name = visible_text(f"{action.label[0].upper()}{action.label[1:]}")
            run = partial(shell.action_perform, action.id)
            shown = _entry_display(name, shell.keymap.key_label(action), help)
            yield PaletteEntry(name, shown, run, True, f"{action.help} {_everyday_words(action.id)}")
        for command in main.pane.commands():
            name = visible_text(command.name)
            yield PaletteEntry(name, _entry_display(name, "", command.help), command.run, False, command.help)
        for saved in self._saved:
            name = visible_text(f"Remove the saved filter: {saved.name}")
            remove = partial(
                start_worker, shell.app, partial(_remove_saved_filter, shell, saved.name), "filter"
            )
            help = f"{saved.filter}. Undo brings it back."
            yield PaletteEntry(name, _entry_display(name, "", help), remove, False, help)
        yield from _entries_of_other_panes(shell, main.pane.action_context, main.pane.entity_name)
        for theme in sorted(self.app.available_themes):
            name = visible_text(f"Theme: {theme}")
            help, choose = "Change the colours.", partial(choose_theme, shell, theme)
            yield PaletteEntry(name, _entry_display(name, "", help), choose, False, help)


def _entries_of_other_panes(shell: Shell, here: ActionContext, entity_name: str) -> Iterator[PaletteEntry]:
    """Actions of other panes, topics of Maintenance, and how to connect agents. Choosing one goes there."""
    seen = {action.id for action in actions_at("everywhere", "list", here)}
    for spec in PANES:
        for action in actions_at(spec.pane_id):
            if action.group == "Move" or action.id in seen:
                continue
            seen.add(action.id)
            name = visible_text(f"{spec.label}: {action.label}")
            run = partial(start_worker, shell.app, partial(shell.navigation.begin_at, spec.pane_id), "go")
            shown = _entry_display(name, shell.keymap.key_label(action), action.help)
            yield PaletteEntry(name, shown, run, False, f"{action.help} {_everyday_words(action.id)}")
    for key, topic in names_of_topics():
        name = visible_text(f"Maintenance: {topic}")
        go = partial(start_worker, shell.app, partial(shell.navigation.open_topic, key), "go")
        help = "Show it in Maintenance."
        yield PaletteEntry(name, _entry_display(name, "", help), go, False, help)
    for what, help, show in (
        (
            "Connect your agent",
            "Which agents are here, and which tokens there are. Connect, disconnect and revoke.",
            partial(start_worker, shell.app, partial(show_connecting, shell), "go"),
        ),
        (
            "Picture for others",
            "The commands that draw you, the timeline or a person into a file.",
            partial(show_pictures, shell, entity_name),
        ),
        ("Read the guide", "A page for each subject.", partial(show_guide, shell)),
        (
            "Watch the sessions of agents",
            "A setting: import new turns while they are written.",
            partial(shell.action_perform, "settings"),
        ),
    ):
        name = visible_text(what)
        yield PaletteEntry(name, _entry_display(name, "", help), show, False, help)


def _entry_display(name: VisibleText, key: str, help: str) -> Content:
    return assemble((name, "bold"), "  ", (key, "$accent"), "\n", (help, "$text-muted"))


async def _remove_saved_filter(shell: Shell, name: str) -> None:
    await shell.operations.change(lambda memory: memory.filters.remove(name), "removing the filter")


def choose_theme(shell: Shell, name: str) -> None:
    """Change the colours, and save them if settings may be written."""
    from memtui.engine.errors import InputError

    from .configuration import save_setting

    shell.app.theme = name
    if shell.configuration is None:
        return
    try:
        save_setting(shell, "general.theme", name)
    except InputError as error:
        shell.show_message(f"The theme is not kept: {error.message} {error.hint}", "warning")


def show_guide(shell: Shell) -> None:
    """Open the guide at its first page."""
    from .dialogs.help import GuideDialog

    shell.app.push_screen(GuideDialog())


def show_pictures(shell: Shell, entity_name: str) -> None:
    """Show the shell commands that draw a picture of this memory, and of an entity if one is named."""
    from memtui.engine.installation import shell_line

    from .dialogs.help import HelpDialog, HelpLine

    def command_line(*words: str) -> str:
        return shell_line(*shell.shell_options, "picture", *words)

    draw = "A picture for others: in a shell"
    # A name that begins like an option stands behind the sign that ends options.
    named = (entity_name or "NAME",) if not entity_name.startswith("-") else ("--", entity_name)
    lines = [
        HelpLine(draw, command_line("you", "me.svg"), "What is known about you."),
        HelpLine(draw, command_line("timeline", "years.svg"), "Your memories over time."),
        HelpLine(draw, command_line("entity", *named, "who.svg"), f"Whom {named[-1]} is seen with."),
        HelpLine(draw, '--filter "-tag:private -topic:health"', "Leaves out what is not for others."),
    ]
    shell.app.push_screen(HelpDialog("Pictures", lines))


async def show_connecting(shell: Shell) -> None:
    """Show the agents of this machine and the tokens, to connect, disconnect and revoke.

    Files of other programs are read only where settings may be written. In a browser the shell commands are shown.
    """
    from memtui.engine.installation import runnable_text

    from .dialogs.agents import manage_agents
    from .dialogs.help import HelpDialog, HelpLine

    if shell.permissions.settings:
        await manage_agents(shell)
        return
    connect = "Connect your agent: in a shell"
    lines = [
        HelpLine(
            connect,
            runnable_text("memtui connect --all"),
            "All that were found. It shows the changes first.",
        ),
        HelpLine(
            connect,
            runnable_text("memtui connect claude-code"),
            "Only one. With --hooks it records every turn.",
        ),
        HelpLine(connect, runnable_text("memtui disconnect codex"), "Take memtui out of it again."),
    ]
    shell.app.push_screen(HelpDialog("Agents", lines))
