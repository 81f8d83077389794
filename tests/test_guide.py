"""The guide is complete and true: nothing that a person can name is missing in it, and its examples run.

After a change of commands, keys, settings, formats, tools or public names, ``python tests/test_guide.py`` writes the lists
of the pages anew.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import memtui
import pytest
from memtui import Memory
from memtui.cli.root import COMMANDS, memtui_group
from memtui.config import settings_text
from memtui.connect.clients import CLIENTS, Machine
from memtui.engine.errors import InputError
from memtui.engine.importers.registry import BUILT_IN
from memtui.engine.search.filters.compiler import compile_filter as compile_filter
from memtui.engine.search.filters.sql import STATES
from memtui.engine.search.filters.terms import KEYS
from memtui.engine.tools.registry import TOOLS
from memtui.guide import ORDER, guide_page, guide_pages
from memtui.ui.actions import ACTIONS, GROUPS
from memtui.ui.keymap import Keymap, key_text

from foreign_stores import KNOWN

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
GUIDE = ROOT / "memtui" / "guide"
PROMISES = GUIDE / "promises.md"
_NAMED = re.compile(r"^`(tests/[\w/]+\.py)::(test_\w+)`$", re.MULTILINE)
_SHELL = re.compile(r"```sh\n(.*?)```", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.])\s")
_NAMESPACES = ("memtui.engine.namespaces.", "memtui.engine.backups.", "memtui.engine.jobs.")


def _names(kind: type) -> list[str]:
    return [name for name in vars(kind) if not name.startswith("_")]


def public_names() -> str:
    """The public names of a memory, those of its namespaces each in a paragraph."""
    with Memory.open(":memory:") as memory:
        rooms = {
            name: _names(type(getattr(memory, name)))
            for name in sorted(vars(Memory).keys() | vars(memory).keys())
            if not name.startswith("_") and type(getattr(memory, name)).__module__.startswith(_NAMESPACES)
        }
    own = [name for name in _names(Memory) if name not in rooms]
    rows = [("memory", own), *((f"memory.{name}", names) for name, names in rooms.items())]
    return "\n".join(f"- **{name}**: {' '.join(f'`{one}`' for one in names)}" for name, names in rows)


def public_records() -> str:
    """The records and errors that the package offers."""
    names = [name for name in memtui.__all__ if name not in ("Memory", "Toolbox", "__version__")]
    errors = [name for name in names if name.endswith("Error")]
    rows = (("records", [name for name in names if name not in errors]), ("errors", errors))
    return "\n".join(f"- **{kind}**: {' '.join(f'`{one}`' for one in found)}" for kind, found in rows)


def commands() -> str:
    lines: list[str] = []
    for part in dict.fromkeys(entry.group for entry in COMMANDS.values()):
        rows = [f"- `memtui {name}`: {e.help}" for name, e in COMMANDS.items() if e.group == part]
        lines += [f"## {part}", "", *rows, ""]
    return "\n".join(lines).strip()


def formats() -> str:
    return "\n".join(
        ["| name | reads |", "|---|---|", *(f"| `{one.name}` | {one.label} |" for one in BUILT_IN)]
    )


def stores() -> str:
    """What is known of each store and client.

    The first cells are tested in tests/cli/test_cli_store_copy.py, the last ones in tests/connect.
    """
    head = [
        "| store or client | found | looked at | imported | connected | hooks |",
        "|---|---|---|---|---|---|",
    ]
    rows = []
    for one in KNOWN:
        place = f"`~/{one.found}`" if one.found else "name the file"
        rows.append(
            f"| {one.label} | {place} | `--db` | `{one.format}` | {_connected(one.format, one.label)} |"
        )
    formats = {one.format for one in KNOWN}
    rows += [
        f"| {client.label} | it keeps no conversations that are read | | | {_connected(client.name, client.label)} |"
        for client in CLIENTS.values()
        if client.name not in formats
    ]
    return "\n".join([*head, *rows])


def _connected(format: str, label: str) -> str:
    client = CLIENTS.get(format)
    if client is None or "earlier" in label:
        return " | "
    return f"`memtui connect {client.name}` | {'yes' if client.hooks else ''}"


def tools() -> str:
    return "\n".join(f"- `{tool.name}`: {_SENTENCE.split(tool.description)[0]}" for tool in TOOLS)


def clients() -> str:
    """The agents that can be connected, with the place of each configuration on three platforms, and its hooks."""
    lines = ["| agent | name | configuration | hooks |", "|---|---|---|---|"]
    for client in CLIENTS.values():
        places = [
            str(client.configuration_file(Machine(home=Path("~"), platform=platform, environ={})))
            for platform in ("linux", "darwin", "win32")
        ]
        places[2] = places[2].replace("~/AppData/Roaming", "%APPDATA%")
        named = places if len(set(places)) == 3 else list(dict.fromkeys(places))
        shown = "; ".join(f"`{place}`" for place in named)
        lines.append(f"| {client.label} | `{client.name}` | {shown} | {client.lacks or 'yes'} |")
    return "\n".join(lines)


def key_table() -> str:
    keymap = Keymap()
    lines = ["| keys | action | what it does |", "|---|---|---|"]
    for context in GROUPS:
        for action in ACTIONS:
            if action.group == context:
                keys = " ".join(f"`{key_text(key)}`" for key in keymap.keys(action))
                lines.append(f"| {keys} | {action.label} | {action.help} |")
    return "\n".join(lines)


LISTS = {
    ("python", "api"): public_names,
    ("python", "records"): public_records,
    ("keys", "keys"): key_table,
    ("settings", "settings"): settings_text,
    ("commands", "commands"): commands,
    ("import", "formats"): formats,
    ("import", "stores"): stores,
    ("agents", "tools"): tools,
    ("agents", "clients"): clients,
}


def _section(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->)", re.DOTALL)


@pytest.mark.parametrize(("topic", "name"), LISTS)
def test_a_list_is_that_of_the_code(topic: str, name: str) -> None:
    found = _section(name).search((GUIDE / f"{topic}.md").read_text(encoding="utf-8"))
    assert found is not None
    assert found[0].strip() == LISTS[topic, name]().strip(), "python tests/test_guide.py writes it anew"


def test_every_page_is_in_the_order_and_has_a_title() -> None:
    assert sorted(ORDER) == sorted(path.stem for path in GUIDE.glob("*.md"))
    assert [one.topic for one in guide_pages()] == list(ORDER)
    for one in guide_pages():
        assert one.title
        assert one.text.startswith(f"# {one.title}\n")
        assert "<!--" not in one.text
    with pytest.raises(InputError):
        guide_page("../../README")


def test_every_term_and_state_of_a_filter_is_told() -> None:
    text = guide_page("filters").text
    told = {key for key in KEYS if f"`{key}:" in text or f"`{key}<" in text}
    assert told == set(KEYS)
    assert set(re.findall(r"`is:(\w+)`", text)) >= set(STATES)
    examples = re.findall(r"^\| `([^`.]+)` \|", text, re.MULTILINE)
    assert len(examples) > 8
    for example in examples:
        compile_filter(example, 0.0, fade_threshold=0.05)


def example_commands() -> list[str]:
    """Each ``memtui ...`` of the shell examples in the README and the guide."""
    found: list[str] = []
    for text in (README.read_text(encoding="utf-8"), *(one.text for one in guide_pages())):
        for block in _SHELL.findall(text):
            for line in block.splitlines():
                plain = re.sub(r"(^|\s)#.*", "", line)
                parts = [part.strip() for part in re.split(r"&&|\|(?!\|)", plain)]
                found += [part for part in parts if part.startswith("memtui ")]
    return sorted(set(found))


@pytest.mark.parametrize("example", example_commands())
def test_an_example_is_understood(example: str) -> None:
    """Parsed as the program parses it: the command, its options, its arguments."""
    words = shlex.split(example)[1:]
    while words and words[0].startswith("--"):
        words = words[1:]
    if not words:
        return
    with click.Context(memtui_group, info_name="memtui") as context:
        name, command, rest = memtui_group.resolve_command(context, words)
        assert command is not None
        with command.make_context(name, list(rest), parent=context, resilient_parsing=False):
            pass


def test_every_test_that_a_promise_names_exists() -> None:
    text = PROMISES.read_text(encoding="utf-8")
    named = _NAMED.findall(text)
    assert len(named) == text.count("`tests/"), "a test is named in another form"
    missing = [
        f"{path}::{name}"
        for path, name in named
        if not (ROOT / path).is_file() or f"def {name}(" not in (ROOT / path).read_text(encoding="utf-8")
    ]
    assert missing == []


def test_every_promise_has_a_test_before_the_next_one() -> None:
    text = PROMISES.read_text(encoding="utf-8")
    promises = re.split(r"^(?=\*\*|## )", text, flags=re.MULTILINE)
    bare = [one.splitlines()[0] for one in promises if one.startswith("**") and not _NAMED.search(one)]
    assert bare == []


def write_lists() -> None:
    for (topic, name), made in LISTS.items():
        path = GUIDE / f"{topic}.md"
        text = path.read_text(encoding="utf-8")
        body = made().strip() + "\n"
        path.write_text(_section(name).sub(lambda _, body=body: body, text), encoding="utf-8")


if __name__ == "__main__":
    write_lists()
