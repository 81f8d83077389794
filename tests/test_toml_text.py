"""Setting keys of a table in the text of a TOML file."""

from __future__ import annotations

import tomllib

import pytest
from memtui.config.toml_text import remove, set_values

VALUES = {"command": "/opt/memtui", "args": ("mcp", '--filter=-tag:"very private"')}
FILE = """# my settings
model = "o5" # the good one

[mcp_servers.other]
command = "x"
"""


def test_a_table_is_appended_and_comments_stay() -> None:
    changed = set_values(FILE, ("mcp_servers", "memtui"), VALUES)
    assert changed.startswith(FILE)
    assert tomllib.loads(changed)["mcp_servers"]["memtui"] == {**VALUES, "args": list(VALUES["args"])}
    assert set_values(changed, ("mcp_servers", "memtui"), VALUES) == changed


def test_of_a_table_that_is_there_only_the_named_keys_change() -> None:
    old = (
        '[mcp_servers.memtui] # mine\nstartup_timeout_sec = 20 # slow disk\nargs = [\n  "old", # two\n  "lines"\n]\n'
        '\n[mcp_servers.memtui.env]\nA = "1"\n'
    )
    changed = set_values(old, ("mcp_servers", "memtui"), VALUES)
    assert "[mcp_servers.memtui] # mine" in changed
    assert "startup_timeout_sec = 20 # slow disk\n" in changed
    assert tomllib.loads(changed)["mcp_servers"]["memtui"] == {
        "startup_timeout_sec": 20, "env": {"A": "1"}, "command": "/opt/memtui", "args": list(VALUES["args"]),
    }  # fmt: skip


def test_an_empty_file_gets_the_table_alone() -> None:
    assert set_values("", ("a", "b"), {"c": "d"}) == '[a.b]\nc = "d"\n'


@pytest.mark.parametrize(
    "text",
    [
        "mcp_servers = { other = { command = 'x' } } # all of them\n",
        "mcp_servers.memtui = { command = 'x' }\nmodel = 'y' # the good one\n",
        "mcp_servers = {}\n",
        "mcp_servers.other.command = 'x'\n",
        'x = """\n[mcp_servers.memtui]\n"""\n[mcp_servers."memtui"]\ncommand = "x"\n',
    ],
)
def test_inline_and_dotted_tables_are_changed_where_they_stand(text: str) -> None:
    changed = set_values(text, ("mcp_servers", "memtui"), VALUES)
    expected = tomllib.loads(text)
    expected["mcp_servers"]["memtui"] = {**VALUES, "args": list(VALUES["args"])}
    assert tomllib.loads(changed) == expected
    assert text.partition("#")[2] in changed


@pytest.mark.parametrize("text", ["a = ", "mcp_servers = 1\n", "[[mcp_servers]]\na = 1\n"])
def test_what_is_no_table_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        set_values(text, ("mcp_servers", "memtui"), VALUES)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # With its own tables; what stands before the next header belongs to that.
        (
            'a = 1\n\n[s.memtui]\nx = 1\n\n[s.memtui.env]\nT = "y" # own\n\n# next\n[z]\nb = 2\n',
            "a = 1\n\n# next\n[z]\nb = 2\n",
        ),
        ('[s.other]\nx = 1\n[s.memtui]\nx = 1\n[s.third]\nx = 1\n', '[s.other]\nx = 1\n[s.third]\nx = 1\n'),
        ('s.memtui.x = 1\ns.other.x = 2 # mine\n', 's.other.x = 2 # mine\n'),
        ('s = { memtui = { x = 1 }, other = { x = 2 } } # mine\n', 's = {other = { x = 2 } } # mine\n'),
        ('[s."memtui"]\nx = 1\n', ""),
        ('a = """\n[s.memtui]\nx = 1\n"""\n[s.memtui]\nx = 1\n', 'a = """\n[s.memtui]\nx = 1\n"""\n'),
        ("a = 1\n", "a = 1\n"),
        ("s = 3\n", "s = 3\n"),
    ],
)  # fmt: skip
def test_a_table_goes_and_nothing_else_moves(before: str, after: str) -> None:
    removed = remove(before, ("s", "memtui"))
    assert tomllib.loads(removed) == tomllib.loads(after)
    assert removed.replace(" ", "") == after.replace(" ", "")


def test_a_table_around_that_was_written_stays_when_its_own_header_is_there() -> None:
    assert remove("[s]\n\n[s.memtui]\nx = 1\n", ("s", "memtui"), prune=False) == "[s]\n"
