"""memtui connect: an agent's configuration, before and after."""

from __future__ import annotations

import json
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
from cli_kit import Cli
from memtui import operating_system

FILES = {
    "claude-code": ".claude.json",
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "codex": ".codex/config.toml",
}


@pytest.fixture(autouse=True)
def _no_folders_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CODEX_HOME", raising=False)
    monkeypatch.setattr(operating_system, "PLATFORM", "linux")


def server(home: Path, client: str) -> Any:
    text = (home / FILES[client]).read_text()
    if client == "codex":
        return tomllib.loads(text)["mcp_servers"]["memtui"]
    return json.loads(text)["mcpServers"]["memtui"]


@pytest.mark.parametrize("client", FILES)
def test_a_client_gets_the_server_once(client: str, cli: Cli, home: Path) -> None:
    result = cli("connect", client, "--yes", "--project", "work", "--filter=-tag:private")
    assert result.code == 0, result.err
    entry = server(home, client)
    assert Path(entry["command"]).is_absolute()
    assert Path(entry["command"]).is_file()
    arguments = entry["args"][entry["args"].index("mcp") :]
    assert arguments == [
        "mcp", f"--db={home}/memory.db", f"--agent={client}", "--project=work", "--filter=-tag:private",
    ]  # fmt: skip
    before = (home / FILES[client]).read_bytes()
    again = cli("connect", client, "--project", "work", "--filter=-tag:private")
    assert (again.code, "already" in again.out) == (0, True)
    assert (home / FILES[client]).read_bytes() == before


@pytest.mark.parametrize("client", FILES)
def test_what_else_is_there_is_kept_and_the_old_file_too(client: str, cli: Cli, home: Path) -> None:
    file = home / FILES[client]
    file.parent.mkdir(parents=True, exist_ok=True)
    old = (
        '# mine\nmodel = "x"\n'
        if client == "codex"
        else '{"theme":  "dark", "mcpServers": {"a": {"command": "b"}}}\n'
    )
    file.write_text(old)
    shown = cli("connect", client, "--dry-run")
    assert shown.code == 0
    assert "+++ " in shown.out
    assert file.read_text() == old
    assert cli("connect", client, "-y").code == 0
    assert old.split("}", maxsplit=1)[0].rstrip() in file.read_text()
    (backup,) = file.parent.glob(f"{file.name}.*.bak")
    assert backup.read_text() == old


def test_keys_that_the_person_added_to_our_entry_stay(cli: Cli, home: Path) -> None:
    (home / ".claude.json").write_text(
        '{"mcpServers": {"memtui": {"command": "old", "env": {"A": "1"}, "args": []}}}'
    )
    assert cli("connect", "claude-code", "--yes").code == 0
    entry = server(home, "claude-code")
    assert entry["env"] == {"A": "1"}
    assert entry["command"] != "old"


@pytest.mark.parametrize(
    ("client", "text"),
    [
        ("claude-code", '{"mcpServers": '),
        ("claude-code", "[]"),
        ("claude-code", '{"mcpServers": []}'),
        ("claude-desktop", '{"mcpServers": {"memtui": 3}}'),
        ("claude-desktop", "// a comment\n{}"),
        ("codex", "model = \n"),
        ("codex", "mcp_servers = 3\n"),
        ("codex", "caf\udce9 = 1"),
    ],
)
def test_a_file_that_cannot_be_changed_is_left_as_it_is(client: str, text: str, cli: Cli, home: Path) -> None:
    file = home / FILES[client]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    result = cli("connect", client, "--yes")
    assert result.code == 3
    assert f"error: {file}" in result.err
    assert "hint: " in result.err
    assert file.read_bytes() == text.encode("utf-8", "surrogateescape")
    assert len(list(file.parent.glob(f"{file.name}*"))) == 1


def test_what_a_symbolic_link_leads_to_is_changed_and_the_link_stays(
    cli: Cli, home: Path, tmp_path: Path
) -> None:
    target = tmp_path / "dotfiles.json"
    target.write_text("{}")
    (home / ".claude.json").symlink_to(target)
    result = cli("connect", "claude-code", "--yes")
    assert (result.code, str(target) in result.out) == (0, True)
    assert "memtui" in json.loads(target.read_text())["mcpServers"]
    assert (home / ".claude.json").is_symlink()
    assert cli("connect", "claude-code", "--yes").out.startswith("Claude Code is connected already")


def test_links_in_a_circle_are_told(cli: Cli, home: Path) -> None:
    (home / ".claude.json").symlink_to(home / "b.json")
    (home / "b.json").symlink_to(home / ".claude.json")
    result = cli("connect", "claude-code", "--yes")
    assert (result.code, "leads nowhere" in result.err) == (3, True)


@pytest.mark.parametrize("client", FILES)
def test_a_byte_order_mark_and_line_ends_of_windows_are_kept(client: str, cli: Cli, home: Path) -> None:
    file = home / FILES[client]
    file.parent.mkdir(parents=True, exist_ok=True)
    old = 'model = "x" # mine\r\n\r\n[a]\r\nb = 1\r\n' if client == "codex" else '{\r\n  "a": 1\r\n}\r\n'
    file.write_bytes(b"\xef\xbb\xbf" + old.encode())
    assert cli("connect", client, "--yes").code == 0
    raw = file.read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf" + old[:10].encode())
    assert raw.count(b"\n") == raw.count(b"\r\n") > old.count("\n")
    assert b"memtui" in raw
    assert cli("connect", client, "--yes").out.rstrip().endswith("Nothing was changed.")


def test_an_inline_table_gets_the_server(cli: Cli, home: Path) -> None:
    file = home / FILES["codex"]
    file.parent.mkdir()
    file.write_text('mcp_servers = { other = { command = "x" } } # all of them\n')
    assert cli("connect", "codex", "--yes").code == 0
    assert server(home, "codex")["args"]
    assert file.read_text().endswith("# all of them\n")


def test_hooks_join_those_that_are_there_and_are_replaced_where_they_stand(cli: Cli, home: Path) -> None:
    folder = home / ".claude"
    folder.mkdir()
    theirs = {"hooks": [{"type": "command", "command": "say done"}]}
    (folder / "settings.json").write_text(json.dumps({"model": "x", "hooks": {"Stop": [theirs]}}, indent=2))
    assert cli("connect", "claude-code", "--hooks", "--yes").code == 0
    assert server(home, "claude-code")["args"][-1] == "--no-recording"
    settings = json.loads((folder / "settings.json").read_text())
    assert settings["model"] == "x"
    assert settings["hooks"]["Stop"][0] == theirs
    for event in ("UserPromptSubmit", "Stop"):
        (hook,) = settings["hooks"][event][-1]["hooks"]
        words = shlex.split(hook["command"])
        assert Path(words[0]).is_absolute()
        assert words[words.index("hook") :] == [
            "hook", "claude-code", f"--db={home}/memory.db", "--agent=claude-code",
            f"--config={home}/.config/memtui/config.toml",
        ]  # fmt: skip
        assert hook["timeout"] == 5
    assert cli("connect", "claude-code", "--hooks", "--yes", "--agent", "cc").code == 0
    again = json.loads((folder / "settings.json").read_text())["hooks"]
    assert [len(again[event]) for event in ("UserPromptSubmit", "Stop")] == [1, 2]
    assert " --agent=cc " in again["Stop"][1]["hooks"][0]["command"]


def test_nobody_there_to_ask_means_nothing_is_written(cli: Cli, home: Path) -> None:
    result = cli("connect", "codex")
    assert result.code == 2
    assert "--yes" in result.err
    assert not (home / ".codex").exists()


@pytest.mark.parametrize(
    "line",
    [["codex", "--hooks"], ["nothing"], ["codex", "--json"], ["--demo", "codex"]],
)
def test_what_makes_no_sense_is_refused(line: list[str], cli: Cli) -> None:
    assert cli("connect", *line).code == 2


def test_a_filter_that_the_server_would_refuse_is_refused_before_it_is_written(cli: Cli, home: Path) -> None:
    result = cli("connect", "codex", "--filter", "kind:bogus", "--yes")
    assert result.code == 3
    assert "kind: has no value 'bogus'" in result.err
    assert not (home / ".codex").exists()


@pytest.mark.parametrize("scope", [["--filter", ""], ["--project", " "]])
def test_an_empty_scope_is_refused_before_it_is_written(scope: list[str], cli: Cli, home: Path) -> None:
    result = cli("connect", "codex", *scope, "--yes")
    assert (result.code, "is empty" in result.err) == (3, True)
    assert not (home / ".codex").exists()


def test_scripts_learn_what_was_written(cli: Cli, home: Path) -> None:
    shown = cli("connect", "claude-code", "--hooks", "--dry-run", "--json").json
    assert shown["written"] is False
    result = cli("connect", "claude-code", "--hooks", "--yes", "--json").json
    assert result["written"] is True
    assert [file["path"] for file in result["files"]] == [
        str(home / ".claude.json"), str(home / ".claude" / "settings.json"),
    ]  # fmt: skip
    assert cli("connect", "claude-code", "--hooks", "--yes", "--json").json["files"] == []


def test_the_programs_own_folders_are_honoured(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "cc"))
    monkeypatch.setenv("CODEX_HOME", str(home / "cx"))
    cli("connect", "claude-code", "--hooks", "--yes")
    cli("connect", "codex", "--yes")
    assert sorted(p.relative_to(home).as_posix() for p in home.rglob("*") if p.is_file()) == [
        "cc/.claude.json", "cc/settings.json", "cx/config.toml",
    ]  # fmt: skip


@pytest.mark.parametrize("indent", [2, None])
@pytest.mark.parametrize("options", [["--dry-run"], ["--dry-run", "--json"], ["--yes"]])
def test_the_keys_of_other_servers_are_not_shown(
    options: list[str], indent: int | None, cli: Cli, home: Path
) -> None:
    file = home / FILES["claude-code"]
    key = "ghp_" + "a1B2c3D4e5F6" * 3
    servers = {
        "a": {
            "command": "b",
            "args": ["--api", "violets"],
            "env": {"GH": key, "MY_TOKEN": "tulips and roses"},
        }
    }
    file.write_text(json.dumps({"mcpServers": servers}, indent=indent))
    result = cli("connect", "claude-code", *options)
    assert result.code == 0
    assert '"memtui"' in result.out or '\\"memtui\\"' in result.out
    assert key not in result.out
    assert "tulips" not in result.out
    assert "violets" not in result.out
    if options == ["--yes"]:
        assert json.loads(file.read_text())["mcpServers"]["a"] == servers["a"]


def test_every_client_that_is_found_is_connected_after_one_question_and_parted_again(
    cli: Cli, home: Path
) -> None:
    assert cli("connect", "--all", "--yes").code == 1  # nobody is here
    for folder in (".cursor", ".codex", ".config/goose", ".config/zed"):
        (home / folder).mkdir(parents=True)
    goose = "# mine\nextensions:\n  o: {cmd: b, envs: {T: tulips}}\n"
    (home / ".config/goose/config.yaml").write_text(goose)
    (home / ".config/zed/settings.json").write_text('{"theme": ')
    listed = cli("connect", "--list")
    assert listed.code == 0
    assert [line.split()[:2] for line in listed.out.splitlines()[:10]] == [
        ["claude-code", "not"], ["claude-desktop", "not"], ["codex", "found,"], ["cursor", "found,"],
        ["vscode", "not"], ["windsurf", "not"], ["gemini-cli", "not"], ["opencode", "not"], ["zed", "cannot"],
        ["goose", "found,"],
    ]  # fmt: skip
    assert "memtui connect --all" in listed.out
    done = cli("connect", "--all", "--hooks", "--yes", "--project", "work")
    assert done.code == 5
    assert "Zed is left as it is" in done.err
    assert "Restart Codex, Cursor, Goose" in done.out
    assert "type /hooks" in done.out
    known = {one["client"]: one for one in cli("connect", "--json").json["clients"]}
    assert [name for name, one in known.items() if one["connected"]] == ["codex", "cursor", "goose"]
    assert (known["codex"]["agent"], known["codex"]["project"], known["codex"]["hooks"]) == (
        "codex",
        "work",
        "on",
    )
    assert known["zed"]["problem"]
    # Hooks that are there stay, and record instead of the server.
    cli("connect", "codex", "--yes")
    assert server(home, "codex")["args"][-1] == "--no-recording"
    parted = cli("disconnect", "--all", "--yes", "--json").json
    assert [one["client"] for one in parted["clients"]] == ["codex", "cursor", "zed", "goose"]
    assert (home / ".config/goose/config.yaml").read_text() == goose
    assert (home / ".config/zed/settings.json").read_text() == '{"theme": '
    assert not (home / ".cursor/mcp.json").exists()
    assert cli("disconnect", "codex").out == "Codex is not connected. Nothing was changed.\n"


@pytest.mark.parametrize(
    "line", [["connect", "--all", "codex"], ["disconnect"], ["disconnect", "codex", "--all"]]
)
def test_it_has_to_be_clear_who_is_meant(line: list[str], cli: Cli) -> None:
    assert cli(*line, "--yes").code == 2


def test_a_client_without_hooks_says_what_it_lacks(cli: Cli) -> None:
    result = cli("connect", "opencode", "--hooks")
    assert (result.code, "runs plugins in JavaScript and no commands" in result.err) == (2, True)


def test_an_agent_that_consolidates_itself_gets_the_tools_for_it(cli: Cli, home: Path) -> None:
    assert cli("connect", "codex", "--hooks", "--tools", "consolidator", "--yes").code == 0
    assert "--tools=consolidator" in server(home, "codex")["args"]
    assert "--tools" not in (home / ".codex/hooks.json").read_text()
    assert cli("connect", "--list").out.count("consolidates") == 1


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (".config/zed/settings.json", '{"a": "x" // key tulips\n}'),
        (".config/zed/settings.json", '{"a": "x", "context_servers": {"o": {"env": {"T": "tulips"}}}} /* tulips */'),
        (".config/goose/config.yaml", "a: {T: tulips, U: [two tulips, 'tulips']} # tulips"),
        (".config/goose/config.yaml", 'extensions: {o: {cmd: "tulips", args: [--key, tulips]}}  # tulips\n'),
        (".codex/config.toml", 'mcp_servers = { o = { env = { T = "tulips", U = \'tulips\' } } } # tulips\n'),
    ],
)  # fmt: skip
def test_no_secret_of_a_neighbour_is_shown_in_any_format(place: str, text: str, cli: Cli, home: Path) -> None:
    file = home / place
    file.parent.mkdir(parents=True)
    file.write_text(text)
    (client,) = (
        one["client"] for one in cli("connect", "--json").json["clients"] if one["file"] == str(file)
    )
    for command in ("connect", "disconnect"):
        for options in (["--dry-run"], ["--dry-run", "--json"], ["--yes"]):
            result = cli(command, client, *options)
            assert (result.code, "memtui" in result.out) == (0, True), result.err
            assert "tulips" not in result.out + result.err
    assert file.read_text() == text


def test_what_the_person_put_into_our_entry_is_not_shown_when_it_goes(cli: Cli, home: Path) -> None:
    cli("connect", "goose", "--yes")
    file = home / ".config/goose/config.yaml"
    file.write_text(file.read_text().rstrip("\n") + "\n    envs:\n      TOKEN: tulips and roses\n")
    result = cli("disconnect", "goose", "--yes")
    assert "-      TOKEN: [hidden]" in result.out.splitlines()
    assert "tulips" not in result.out
    assert not file.exists()


def test_the_doctor_says_how_the_agents_here_are_connected(cli: Cli, home: Path, tmp_path: Path) -> None:
    (home / ".config/zed").mkdir(parents=True)
    cli("connect", "cursor", "--yes", "--project", "work")
    cli("connect", "codex", "--yes", "--db", tmp_path / "other.db")
    cli("connect", "gemini-cli", "--yes", "--hooks")
    settings = home / ".gemini/settings.json"
    settings.write_text(settings.read_text().replace("AfterAgent", "Other"))
    (home / ".claude.json").write_text('{"mcpServers": {"memtui": {"command": "/gone/memtui"}}}')
    (home / ".config/goose").mkdir()
    (home / ".config/goose/config.yaml").write_text("- broken\n")
    found = {
        (one["state"], one["text"].partition(" ")[0]): one
        for one in cli("doctor", "--json").json["findings"]
        if one["area"] == "agents"
    }
    assert found["ok", "Cursor"]["text"] == "Cursor is connected as cursor, project work"
    assert str(tmp_path / "other.db") in found["note", "Codex"]["text"]
    assert found["note", "Gemini"]["remedy"].endswith("memtui connect gemini-cli --hooks")
    assert found["note", "Claude"]["text"] == "Claude Code is connected, but /gone/memtui is gone"
    assert "config.yaml cannot be changed" in found["note", "Goose:"]["text"]
    assert found["note", "not"]["text"] == "not connected: Zed"


def test_a_program_that_may_vanish_is_told(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "temporary" not in cli("connect", "zed", "--dry-run").err
    monkeypatch.setattr("memtui.engine.installation.program_command", lambda: "uvx memtui")
    assert "uv tool install or pipx install keeps it" in cli("connect", "zed", "--dry-run").err


URL = "https://memory.example.net/mcp"


def test_a_memtui_somewhere_else_is_connected_by_its_token_which_is_not_shown(
    cli: Cli, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text("memtui_ab_s3cret\n")
    result = cli(
        "connect",
        "claude-code",
        "--url",
        "https://memory.example.net",
        "--token-file",
        tmp_path / "token",
        "--yes",
    )
    assert result.code == 0, result.err
    assert server(home, "claude-code") == {
        "type": "http", "url": URL, "headers": {"Authorization": "Bearer memtui_ab_s3cret"},
    }  # fmt: skip
    assert URL in result.out and "s3cret" not in result.out + result.err
    listed = cli("connect", "--list")
    assert f"connected to {URL}" in listed.out and "s3cret" not in listed.out
    again = cli(
        "connect", "codex", "--url", URL, "--token-file", "-", "--yes", "--json", input=b"memtui_ab_s3cret"
    )
    assert server(home, "codex")["url"] == URL and "s3cret" not in again.out
    gone = cli("disconnect", "claude-code", "--yes")
    assert gone.code == 0 and "s3cret" not in gone.out and not (home / FILES["claude-code"]).exists()


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--token-file", "-"], 2, "Add --url"),
        (["--url", URL, "--token-file", "-", "--hooks"], 2, "said by its token"),
        (["--url", URL, "--token-file", "-", "--project", "x"], 2, "said by its token"),
        (["--url", URL], 2, "--token-file"),
        (["--url", "http://memory.example.net/mcp", "--token-file", "-"], 3, "unencrypted"),
        (["--url", "ftp://memory.example.net", "--token-file", "-"], 3, "no address of a server"),
        (["--url", "https://ada:pw@memory.example.net", "--token-file", "-"], 3, "no address of a server"),
        (["--url", URL, "--token-file", "-", "x"], 2, ""),
    ],
)
def test_an_address_that_would_not_work_is_refused(
    cli: Cli, home: Path, words: list[str], code: int, says: str
) -> None:
    result = cli("connect", "claude-code", *words, "--yes", input=b"memtui_ab_s3cret")
    assert (result.code, says in result.err) == (code, True), result.err
    assert not (home / FILES["claude-code"]).exists()


@pytest.mark.parametrize("token", ["", "sk-ant-1", "memtui_a b", "memtui_\x1b[31m"])
def test_what_is_no_token_is_refused(cli: Cli, home: Path, token: str) -> None:
    result = cli(
        "connect",
        "claude-code",
        "--url",
        "http://127.0.0.1:6368/mcp",
        "--token-file",
        "-",
        "--yes",
        input=token.encode(),
    )
    assert (result.code, "no token of memtui" in result.err) == (3, True)
