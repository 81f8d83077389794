"""Each client on each platform: its place, its shape, connected, connected again, parted, and what cannot be read."""

from __future__ import annotations

import json
import re
import shlex
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from memtui.cli.hook import hook_command
from memtui.cli.mcp import mcp_command
from memtui.connect import connection, files
from memtui.connect.clients import CLIENTS, Client, Machine
from memtui.connect.launch import LaunchCommand, RemoteServer, parse
from memtui.connect.wording import connection_hooks_text, connection_scope_text, connection_state_text
from memtui.engine.errors import InputError
from memtui.hook.events import DIALECTS
from memtui.hook.program import CLIENTS as HOOK_CLIENTS

# Below the home, as the documentation of each client has it.
PLACES = {
    "claude-code": (".claude.json",) * 3,
    "claude-desktop": (
        ".config/Claude/claude_desktop_config.json",
        "Library/Application Support/Claude/claude_desktop_config.json",
        "AppData/Roaming/Claude/claude_desktop_config.json",
    ),
    "codex": (".codex/config.toml",) * 3,
    "cursor": (".cursor/mcp.json",) * 3,
    "vscode": (
        ".config/Code/User/mcp.json",
        "Library/Application Support/Code/User/mcp.json",
        "AppData/Roaming/Code/User/mcp.json",
    ),
    "windsurf": (".codeium/windsurf/mcp_config.json",) * 3,
    "gemini-cli": (".gemini/settings.json",) * 3,
    "opencode": (".config/opencode/opencode.json",) * 3,
    "zed": (".config/zed/settings.json", ".config/zed/settings.json", "AppData/Roaming/Zed/settings.json"),
    "goose": (
        ".config/goose/config.yaml",
        ".config/goose/config.yaml",
        "AppData/Roaming/Block/goose/config/config.yaml",
    ),
}
PLATFORMS = ("linux", "darwin", "win32")
ARGUMENTS = ["mcp", "--db=/m.db", "--agent=a b", "--filter=-tag:private"]
ENTRIES: Mapping[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "claude-code": (("mcpServers",), {"type": "stdio", "command": "/opt/memtui", "args": ARGUMENTS}),
    "claude-desktop": (("mcpServers",), {"command": "/opt/memtui", "args": ARGUMENTS}),
    "codex": (("mcp_servers",), {"command": "/opt/memtui", "args": ARGUMENTS}),
    "cursor": (("mcpServers",), {"type": "stdio", "command": "/opt/memtui", "args": ARGUMENTS}),
    "vscode": (("servers",), {"type": "stdio", "command": "/opt/memtui", "args": ARGUMENTS}),
    "windsurf": (("mcpServers",), {"command": "/opt/memtui", "args": ARGUMENTS}),
    "gemini-cli": (("mcpServers",), {"command": "/opt/memtui", "args": ARGUMENTS}),
    "opencode": (("mcp",), {"type": "local", "enabled": True, "command": ["/opt/memtui", *ARGUMENTS]}),
    "zed": (("context_servers",), {"source": "custom", "command": "/opt/memtui", "args": ARGUMENTS}),
    "goose": (
        ("extensions",),
        {
            "enabled": True, "type": "stdio", "name": "memtui", "timeout": 300, "cmd": "/opt/memtui",
            "args": ARGUMENTS,
        },
    ),
}  # fmt: skip
CALL = LaunchCommand(
    program=("/opt/memtui",), options=tuple(ARGUMENTS[1:]), configuration=Path("/c.toml"), hooked=False
)
HOOKED = LaunchCommand(
    program=("/opt/memtui",), options=tuple(ARGUMENTS[1:]), configuration=Path("/c.toml"), hooked=True
)
TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


def machine(home: Path, platform: str = "linux", **environ: str) -> Machine:
    return Machine(home=home, platform=platform, environ=environ)


def parsed(client: Client, text: str) -> Any:
    """What the client's own kind of reader makes of it; comments and trailing commas are taken out first."""
    if client.format == "toml":
        return tomllib.loads(text)
    if client.format == "yaml":
        return yaml.safe_load(text)
    lines = [line.partition(" // ")[0] for line in text.splitlines()]
    text = "\n".join(line for line in lines if not line.lstrip().startswith("//"))
    return json.loads(re.sub(r",(\s*[}\]])", r"\1", text))


def at(document: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        document = document[name]
    return document


def written(edits: list[files.Edit]) -> None:
    for edit in edits:
        if edit.changes_text:
            files.write_edit(edit)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("name", CLIENTS)
def test_from_nothing_at_its_place_in_its_shape_and_back_to_nothing(
    name: str, platform: str, tmp_path: Path
) -> None:
    client, here = CLIENTS[name], machine(tmp_path, platform)
    file = tmp_path / PLACES[name][PLATFORMS.index(platform)]
    assert client.configuration_file(here) == file
    assert connection.connection_of(client, here).is_connected is False
    written(connection.edits_to_connect(client, here, CALL))
    path, entry = ENTRIES[name]
    assert at(parsed(client, file.read_text()), path) == {"memtui": entry}
    assert not any(edit.changes_text for edit in connection.edits_to_connect(client, here, CALL))
    known = connection.connection_of(client, here)
    assert known.launched is not None
    assert (known.launched.agent, known.launched.filter, known.found) == ("a b", "-tag:private", True)
    written(connection.edits_to_disconnect(client, here))
    assert not file.exists()
    assert not any(edit.changes_text for edit in connection.edits_to_disconnect(client, here))


def neighbours(client: Client, *, commented: bool) -> list[str]:
    """Files with another server, its token, comments where the format has them, and odd layouts."""
    path, _ = ENTRIES[client.name]
    if client.format == "toml":
        return [
            f'# mine\nmodel = "x" # why\n\n[mcp_servers.other]\ncommand = "b"\nenv = {{ T = "{TOKEN}" }}\n\n# next\n[z]\na = 1\n',
            'a = 1',
            'mcp_servers = { other = { command = "x" } } # all of them\n',
        ]  # fmt: skip
    if client.format == "yaml":
        return [
            f"# mine\nX: 1\nextensions:\n  other:\n    cmd: b # why\n    envs:\n      T: {TOKEN}\n\n# next\nY: |\n  a\n  b\n",
            "extensions: {}\n",
            "extensions:\nX: 1",
            f"extensions: {{other: {{cmd: b, envs: {{T: {TOKEN}}}}}}}  # flow\nX: 1\n",
        ]
    key, other = path[0], {"command": "b", "env": {"T": TOKEN}}
    plain = [
        json.dumps({"theme": "x", key: {"other": other}}, indent=4),
        json.dumps({key: {"other": other}, "z": [1]}),
        "{ }",
        "",
        f'{{\n\t"{key}": {{}}\n}}\n',
    ]
    if not commented:
        return plain
    return [
        *plain,
        f'// mine\n{{\n  "{key}": {{\n    "other": {{"command": "b"}}, // why\n    // last\n  }},\n  "z": 1, // end\n}}\n',
        f'{{\n  "{key}": {{\n    // none yet\n  }}\n}}\n',
    ]


@pytest.mark.parametrize("name", CLIENTS)
def test_beside_neighbours_with_comments_twice_and_back_to_the_bytes_before(
    name: str, tmp_path: Path
) -> None:
    client = CLIENTS[name]
    path, entry = ENTRIES[name]
    for number, before in enumerate(neighbours(client, commented=client.format == "jsonc")):
        here = machine(tmp_path / str(number))
        file = client.configuration_file(here)
        file.parent.mkdir(parents=True)
        file.write_text(before)
        written(connection.edits_to_connect(client, here, CALL))
        after = file.read_text()
        assert at(parsed(client, after), (*path, "memtui")) == entry, before
        comments = re.findall(r"//.*|# .*", before)
        assert [one for one in comments if one not in after] == []
        assert not any(edit.changes_text for edit in connection.edits_to_connect(client, here, CALL))
        written(connection.edits_to_disconnect(client, here))
        assert file.read_text() == before


@pytest.mark.parametrize("name", CLIENTS)
def test_what_was_changed_since_stays_when_memtui_goes(name: str, tmp_path: Path) -> None:
    client, here = CLIENTS[name], machine(tmp_path)
    file = client.configuration_file(here)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(neighbours(client, commented=False)[0])
    written(connection.edits_to_connect(client, here, CALL))
    changed = file.read_text().replace(TOKEN, "changed")
    file.write_text(changed)
    written(connection.edits_to_disconnect(client, here))
    assert file.read_text() == neighbours(client, commented=False)[0].replace(TOKEN, "changed")


@pytest.mark.parametrize("name", CLIENTS)
def test_keys_that_the_person_added_to_our_entry_stay_when_it_is_renewed(name: str, tmp_path: Path) -> None:
    client, here = CLIENTS[name], machine(tmp_path)
    written(connection.edits_to_connect(client, here, CALL))
    file = client.configuration_file(here)
    old = {"toml": "args = [", "yaml": "timeout: 300", "json": '"args": [', "jsonc": '"args": ['}[
        client.format
    ]
    new = {"toml": "own = 1\nargs = [", "yaml": "timeout: 300\n    own: 1"}.get(
        client.format, '"own": 1, "args": ['
    )
    if client.shape == "list":
        old, new = '"enabled"', '"own": 1, "enabled"'
    file.write_text(file.read_text().replace(old, new))
    written(connection.edits_to_connect(client, here, HOOKED))
    entry = at(parsed(client, file.read_text()), (*ENTRIES[name][0], "memtui"))
    assert entry["own"] == 1
    words = entry["command"] if client.shape == "list" else entry["args"]
    assert words[-1] == "--no-recording"


BROKEN = {
    "json": ('{"mcpServers": ', "[]", '{"mcpServers": []}', '{"mcpServers": {"memtui": 3}}', "// a\n{}"),
    "jsonc": ('{"a": 1 "b": 2}', "[]", '{"a": /* never closed }'),
    "toml": ("model = \n", "mcp_servers = 3\n"),
    "yaml": ("a: [1\n", "- a\n", "extensions: 3\n", "a: 1\n---\nb: 2\n", "a:\n\tb: 1\n"),
}


@pytest.mark.parametrize("name", CLIENTS)
def test_a_broken_file_is_refused_by_name_and_not_touched(name: str, tmp_path: Path) -> None:
    client, here = CLIENTS[name], machine(tmp_path)
    file = client.configuration_file(here)
    file.parent.mkdir(parents=True, exist_ok=True)
    for text in BROKEN[client.format]:
        file.write_text(text)
        with pytest.raises(InputError, match="cannot be changed") as caught:
            connection.edits_to_connect(client, here, CALL)
        assert str(file) in caught.value.message
        assert (file.read_text(), len(list(file.parent.glob(f"{file.name}*")))) == (text, 1)
    file.write_text(BROKEN[client.format][0])
    known = connection.connection_of(client, here)
    assert (known.is_connected, connection_state_text(known)) == (False, "cannot be read")
    assert str(file) in known.problem


HOOKS = {
    "claude-code": (".claude/settings.json", 5, ["SessionStart", "PreCompact", "UserPromptSubmit", "Stop"]),
    "codex": (".codex/hooks.json", 5, ["SessionStart", "PreCompact", "UserPromptSubmit", "Stop"]),
    "gemini-cli": (".gemini/settings.json", 5_000, ["BeforeAgent", "AfterAgent"]),
}


@pytest.mark.parametrize("name", CLIENTS)
def test_hooks_of_the_clients_that_have_them(name: str, tmp_path: Path) -> None:
    client, here = CLIENTS[name], machine(tmp_path)
    assert (client.hooks is None, bool(client.lacks)) == (name not in HOOKS, name not in HOOKS)
    if client.hooks is None:
        return
    place, timeout, events = HOOKS[name]
    file = tmp_path / place
    theirs = {"hooks": [{"type": "command", "command": "say done"}]}
    before = json.dumps({"model": "x", "hooks": {events[-1]: [theirs]}}, indent=1)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(before)
    written(connection.edits_to_connect(client, here, HOOKED))
    found = json.loads(file.read_text())["hooks"]
    assert sorted(found) == sorted(events)
    line = f"/opt/memtui hook {name} --db=/m.db '--agent=a b' --filter=-tag:private --config=/c.toml"
    for event in events:
        assert found[event][-1] == {"hooks": [{"type": "command", "command": line, "timeout": timeout}]}
    assert found[events[-1]][0] == theirs
    assert not any(edit.changes_text for edit in connection.edits_to_connect(client, here, HOOKED))
    known = connection.connection_of(client, here)
    assert (known.hooks, connection_hooks_text(known)) == ("on", "hooks on")
    written(connection.edits_to_disconnect(client, here))
    assert file.read_text() == before
    assert connection.connection_of(client, here).hooks == "off"


def test_hooks_of_an_earlier_version_are_renewed_in_their_place(tmp_path: Path) -> None:
    client, here = CLIENTS["claude-code"], machine(tmp_path)
    file = tmp_path / ".claude/settings.json"
    file.parent.mkdir()
    old = {"type": "command", "command": "/gone/memtui hook claude-code", "timeout": 2, "own": 1}
    file.write_text(json.dumps({"hooks": {"Stop": [{"matcher": "", "hooks": [{"command": "x"}, old]}]}}))
    known = connection.connection_of(client, here)
    assert (known.hooks, connection_hooks_text(known)) == ("outdated", "hooks of an older version")
    written(connection.edits_to_connect(client, here, HOOKED))
    (group,) = json.loads(file.read_text())["hooks"]["Stop"]
    assert [hook.get("timeout") for hook in group["hooks"]] == [None, 5]
    assert group["hooks"][1]["own"] == 1
    written(connection.edits_to_disconnect(client, here))
    left = json.loads(file.read_text())
    assert left == {"hooks": {"Stop": [{"matcher": "", "hooks": [{"command": "x"}]}]}}


def test_variables_of_the_programs_move_their_files(tmp_path: Path) -> None:
    here = machine(
        tmp_path, CLAUDE_CONFIG_DIR="/cc", CODEX_HOME="/cx", XDG_CONFIG_HOME="/xdg", APPDATA="/roaming"
    )
    found = {name: str(client.configuration_file(here)) for name, client in CLIENTS.items()}
    assert (found["claude-code"], found["codex"]) == ("/cc/.claude.json", "/cx/config.toml")
    assert (found["opencode"], found["zed"]) == ("/xdg/opencode/opencode.json", "/xdg/zed/settings.json")
    hooks = [client.hooks.place.path_on(here) for client in CLIENTS.values() if client.hooks]
    assert list(map(str, hooks[:2])) == ["/cc/settings.json", "/cx/hooks.json"]
    windows = Machine(home=tmp_path, platform="win32", environ=here.environ)
    assert str(CLIENTS["goose"].configuration_file(windows)) == "/roaming/Block/goose/config/config.yaml"


def test_opencode_is_met_where_it_keeps_its_servers(tmp_path: Path) -> None:
    client, here = CLIENTS["opencode"], machine(tmp_path)
    file = tmp_path / ".config/opencode/opencode.jsonc"
    file.parent.mkdir(parents=True)
    before = '{\n  // of the second version\n  "mcp": {"servers": {"o": {"type": "local", "command": ["x"]}}},\n}\n'
    file.write_text(before)
    written(connection.edits_to_connect(client, here, CALL))
    assert '"memtui": {"type": "local", "enabled": true, "command": ["/opt/memtui"' in file.read_text()
    assert connection.connection_of(client, here).is_connected
    written(connection.edits_to_disconnect(client, here))
    assert file.read_text() == before
    assert not file.with_suffix(".json").exists()


def test_the_list_says_what_an_entry_of_any_shape_lets_the_agent_do(tmp_path: Path) -> None:
    client, here = CLIENTS["cursor"], machine(tmp_path)
    assert connection_state_text(connection.connection_of(client, here)) == "not found"
    file = client.configuration_file(here)
    file.parent.mkdir()
    known = connection.connection_of(client, here)
    assert (connection_state_text(known), connection_scope_text(known), connection_hooks_text(known)) == (
        "found, not connected",
        "",
        "",
    )
    words = ["mcp", "--agent", "cc", "--project", "work", "--readonly", "--tools", "consolidator"]
    file.write_text(json.dumps({"mcpServers": {"memtui": {"command": "/bin/sh", "args": words}}}))
    known = connection.connection_of(client, here)
    assert connection_state_text(known) == "connected as cc"
    assert connection_scope_text(known) == "project work, reads only, consolidates"
    file.write_text('{"mcpServers": {"memtui": {"command": "/gone/memtui", "args": ["mcp"]}}}')
    assert (
        connection_state_text(connection.connection_of(client, here)) == "connected, but /gone/memtui is gone"
    )
    file.write_text('{"mcpServers": {"memtui": {"url": "http://127.0.0.1:8001/mcp"}}}')
    known = connection.connection_of(client, here)
    assert (known.is_connected, connection_state_text(known)) == (
        True,
        "connected to http://127.0.0.1:8001/mcp",
    )
    with pytest.raises(InputError, match="memtui disconnect cursor removes it"):
        connection.edits_to_connect(client, here, CALL)
    written(connection.edits_to_disconnect(client, here))
    assert not file.exists()


REMOTE = RemoteServer(url="https://memory.example.net/mcp", token="memtui_ab_secret")
_HEADERS = {"Authorization": "Bearer memtui_ab_secret"}
_URL = {"url": REMOTE.url, "headers": _HEADERS}
REMOTE_ENTRIES: Mapping[str, dict[str, Any]] = {
    "claude-code": {"type": "http", **_URL},
    "codex": {"url": REMOTE.url, "http_headers": _HEADERS},
    "cursor": _URL,
    "vscode": {"type": "http", **_URL},
    "windsurf": {"serverUrl": REMOTE.url, "headers": _HEADERS},
    "gemini-cli": {"httpUrl": REMOTE.url, "headers": _HEADERS},
    "opencode": {"type": "remote", "enabled": True, **_URL},
    "zed": _URL,
    "goose": {
        "enabled": True, "type": "streamable_http", "name": "memtui", "timeout": 300, "uri": REMOTE.url,
        "headers": _HEADERS,
    },
}  # fmt: skip


@pytest.mark.parametrize("name", REMOTE_ENTRIES)
def test_a_memtui_somewhere_else_in_its_shape_and_back_to_nothing(name: str, tmp_path: Path) -> None:
    client, here = CLIENTS[name], machine(tmp_path)
    file = client.configuration_file(here)
    written(connection.edits_to_connect_remote(client, here, REMOTE))
    assert at(parsed(client, file.read_text()), ENTRIES[name][0]) == {"memtui": REMOTE_ENTRIES[name]}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert not any(edit.changes_text for edit in connection.edits_to_connect_remote(client, here, REMOTE))
    known = connection.connection_of(client, here)
    assert (connection_state_text(known), connection_scope_text(known)) == (
        f"connected to {REMOTE.url}",
        "as its token says",
    )
    assert "secret" not in json.dumps(connection.connection_json(known))
    # Another token takes the place of the old one; a program does not.
    again = RemoteServer(url=REMOTE.url, token="memtui_cd_other")
    written(connection.edits_to_connect_remote(client, here, again))
    assert "memtui_cd_other" in file.read_text() and "memtui_ab_secret" not in file.read_text()
    with pytest.raises(InputError, match=f"memtui disconnect {name} removes it"):
        connection.edits_to_connect(client, here, CALL)
    assert not connection.texts_we_wrote(client, here) & {"Bearer memtui_cd_other", "memtui_cd_other"}
    written(connection.edits_to_disconnect(client, here))
    assert not file.exists()
    written(connection.edits_to_connect(client, here, CALL))
    with pytest.raises(InputError, match="its entry for memtui starts a program"):
        connection.edits_to_connect_remote(client, here, REMOTE)


def test_a_client_whose_file_knows_no_addresses_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot name a server at an address") as caught:
        connection.edits_to_connect_remote(CLIENTS["claude-desktop"], machine(tmp_path), REMOTE)
    assert "connector" in caught.value.hint
    assert REMOTE_ENTRIES.keys() == CLIENTS.keys() - {"claude-desktop"}


def test_the_command_that_is_written_is_one_that_memtui_understands(tmp_path: Path) -> None:
    call = LaunchCommand(
        program=("/opt/memtui",), configuration=tmp_path / "c.toml", hooked=True, server_options=("--tools=consolidator",),
        options=("--db=/m.db", "--agent=cc", "--project=work", "--filter=-tag:private", "--readonly", "--allow-unsafe-fs"),
    )  # fmt: skip
    program, arguments = call.server_command()
    assert (program, arguments[0]) == ("/opt/memtui", "mcp")
    given = mcp_command.make_context("mcp", list(arguments[1:]))
    assert given.params["agent"] == "cc"
    said = parse(CLIENTS["zed"].entry_command(CLIENTS["zed"].entry_values(program, arguments)))
    assert (said.memory, said.agent, said.project, said.filter) == ("/m.db", "cc", "work", "-tag:private")
    assert (said.tools, said.readonly) == ("consolidator", True)
    for name in HOOK_CLIENTS:
        words = shlex.split(call.hook_line(name))
        assert hook_command.make_context("hook", words[2:]).params["client"] == name


def test_every_client_with_hooks_has_events_that_are_answered() -> None:
    hooked = {client.name: client.hooks for client in CLIENTS.values() if client.hooks}
    assert set(hooked) == {*HOOK_CLIENTS} == {*DIALECTS}
    for name, settings in hooked.items():
        assert {DIALECTS[name].prompt, DIALECTS[name].answer} <= {*settings.events}


def test_what_a_link_leads_to_is_changed_and_given_back(tmp_path: Path) -> None:
    client, here = CLIENTS["cursor"], machine(tmp_path)
    file, target = client.configuration_file(here), tmp_path / "dotfiles.json"
    file.parent.mkdir()
    file.symlink_to(target)
    for before in ('{"a": 1}\r\n', "\ufeff{\r\n}\r\n"):
        target.write_bytes(before.encode())
        written(connection.edits_to_connect(client, here, CALL))
        assert connection.connection_of(client, here).is_connected
        written(connection.edits_to_disconnect(client, here))
        assert (file.is_symlink(), target.read_bytes().decode()) == (True, before)
    target.unlink()
    written(connection.edits_to_connect(client, here, CALL))
    written(connection.edits_to_disconnect(client, here))
    assert (file.is_symlink(), target.exists()) == (True, True)
