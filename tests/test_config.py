"""Settings: defaults, the file, the environment, and errors that name the place."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memtui import config
from memtui.config import schema
from memtui.engine.errors import InputError
from memtui.engine.records import Options, SecretPolicy


def written(folder: Path, text: str) -> Path:
    file = folder / "config.toml"
    file.write_text(text, "utf-8")
    return file


def refused(file: Path, environ: dict[str, str] | None = None) -> InputError:
    with pytest.raises(InputError) as caught:
        config.load(file, environ or {})
    return caught.value


class Nameless(schema.Section):
    heading = "Nameless"
    speed: int = 1


class Untitled(schema.Settings):
    nameless: Nameless = Nameless()


def test_a_setting_without_a_title_cannot_be_described(monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(setting.title and setting.heading for setting in config.describe_settings())
    monkeypatch.setattr(schema, "Settings", Untitled)
    with pytest.raises(TypeError, match="speed has no title"):
        config.describe_settings()


def test_without_a_file_everything_is_at_its_default(tmp_path: Path) -> None:
    loaded = config.load(environ={"MEMTUI_CONFIG": str(tmp_path / "none.toml")})
    assert loaded.settings == config.Settings()
    assert (loaded.exists, loaded.origins, loaded.unknown_variables) == (False, {}, ())


def test_the_file_is_read_and_each_value_knows_its_line(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        "# mine\n[general]\ntheme = 'nord'\n\n[decay]\nrate = 1 # an integer will do\n\n"
        "[keymap]\nforget = 'x delete'\n",
    )
    loaded = config.load(file, {})
    assert loaded.settings.general.theme == "nord"
    assert loaded.settings.decay.rate == 1.0
    assert loaded.settings.keymap == {"forget": "x delete"}
    assert loaded.origins == {
        "general.theme": "line 3",
        "decay.rate": "line 6",
        "keymap.forget": "line 9",
    }


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    file = written(tmp_path, "[general]\ntheme = 'nord'\n[search]\nlimit = 5\n")
    environ = {"MEMTUI_THEME": "dracula", "MEMTUI_SEARCH_LIMIT": "7", "MEMTUI_ASCII": "1", "NO_MOTION": "1"}
    loaded = config.load(file, environ)
    assert loaded.settings.general == config.General(theme="dracula", ascii=True, motion=False)
    assert loaded.settings.search.limit == 7
    assert loaded.origins["search.limit"] == "MEMTUI_SEARCH_LIMIT"
    assert loaded.origins["general.motion"] == "NO_MOTION"


def test_a_variable_that_is_set_to_nothing_is_not_set(tmp_path: Path) -> None:
    loaded = config.load(written(tmp_path, ""), {"MEMTUI_SEARCH_LIMIT": "", "MEMTUI_THEME": ""})
    assert loaded.settings == config.Settings()


def test_the_file_may_be_named_by_the_environment(tmp_path: Path) -> None:
    file = written(tmp_path, "[search]\nlimit = 5\n")
    assert config.load(environ={"MEMTUI_CONFIG": str(file)}).settings.search.limit == 5


def test_a_variable_that_means_nothing_is_told_not_swallowed(tmp_path: Path) -> None:
    loaded = config.load(written(tmp_path, ""), {"MEMTUI_TEHME": "x", "MEMTUI_CONFIG": "y", "OTHER": "z"})
    assert loaded.unknown_variables == ("MEMTUI_TEHME",)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[general]\ntheme = 3\n", "line 2", "text"),
        ("[general]\nascii = 'yes'\n", "line 2", "true or false"),
        ("[general]\nascii = 1\n", "line 2", "true or false"),
        ("\n[decay]\nthreshold = 1.5\n", "line 3", "from 0 to 1"),
        ("[decay]\nthreshold = nan\n", "line 2", "from 0 to 1"),
        ("[search]\nlimit = 2.5\n", "line 2", "whole number from 1 to 1000"),
        ("[embedder]\nkind = 'openai'\n", "line 2", "one of offline, minilm, endpoint, package, off"),
        ("[secrets]\nfacts = 'hide'\n", "line 2", "one of redact, quarantine, keep"),
        ("[keymap]\nforget = ['x']\n", "line 1", "each text"),
    ],
)
def test_a_wrong_value_names_its_line_and_what_would_be_right(
    text: str, line: str, words: str, tmp_path: Path
) -> None:
    error = refused(written(tmp_path, text))
    assert f"config.toml, {line}:" in error.message
    assert words in error.hint


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("[general]\ntehme = 'x'\n", "line 2: [general] has no 'tehme'", "'theme'"),
        ("[genral]\n", "line 1: [genral] is not a section", "'general'"),
        ("theme = 'x'\n", "line 1: [theme] is not a section", "general"),
        ("general = 3\n", "line 1: general is a section", "[general]"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_known_one(
    text: str, message: str, hint: str, tmp_path: Path
) -> None:
    error = refused(written(tmp_path, text))
    assert message in error.message
    assert hint in error.hint


@pytest.mark.parametrize(
    "text", ["[general\n", "theme = nord\n", "[a]\n[a]\n", "a = '\0'\n", "x=" + 9999 * "["]
)
def test_what_is_not_toml_is_a_clear_error(text: str, tmp_path: Path) -> None:
    assert "not valid TOML" in refused(written(tmp_path, text)).message


def test_other_unreadable_files_are_clear_errors(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"[general]\ntheme = '\xe9'\n")
    (tmp_path / "large").write_bytes(b"#" * (1 << 20) + b"\n")
    assert "not UTF-8" in refused(tmp_path / "latin").message
    assert "larger" in refused(tmp_path / "large").message
    assert "directory" in refused(tmp_path).message
    assert "There is no" in refused(tmp_path / "missing.toml").message


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    (tmp_path / "bom.toml").write_bytes(b"\xef\xbb\xbf[search]\nlimit = 5\n")
    assert config.load(tmp_path / "bom.toml", {}).settings.search.limit == 5


def test_a_wrong_variable_names_itself(tmp_path: Path) -> None:
    error = refused(written(tmp_path, ""), {"MEMTUI_DECAY_RATE": "fast"})
    assert error.message.startswith("MEMTUI_DECAY_RATE: decay.rate")


def test_every_setting_is_described_and_its_default_is_one_it_may_have(tmp_path: Path) -> None:
    rows = config.describe_settings()
    assert len({row.name for row in rows}) == len(rows) == len({(row.section, row.key) for row in rows})
    for row in rows:
        assert row.description.endswith("."), row.name
        assert row.expected
        assert row.variable or row.is_table
    variables = [row.variable for row in rows if row.variable]
    assert len(set(variables)) == len(variables)
    said = {True: "true", False: "false"}
    environ = {
        row.variable: said[row.default] if isinstance(row.default, bool) else str(row.default)
        for row in rows
        if row.variable and row.default != ""
    }
    assert config.load(written(tmp_path, ""), environ).settings == config.Settings()


def test_the_documentation_has_a_row_for_every_setting() -> None:
    rows = [line for line in config.settings_text().splitlines() if line.startswith("- ")]
    assert len(rows) == len(config.describe_settings())
    assert any(row.startswith("- `decay.rate`, `MEMTUI_DECAY_RATE`: ") and "`0.1`" in row for row in rows)
    assert rows[-1].startswith("- `keymap.<action>`: ")


def test_the_defaults_are_those_of_the_engine() -> None:
    assert config.Settings().options() == Options()
    settings = config.Settings(decay=config.Decay(rate=0.2), secrets=config.Secrets(facts="keep"))
    chosen = settings.options(background=False)
    assert chosen == Options(decay_rate=0.2, secrets=SecretPolicy(facts="keep"), background=False)


TEXT = """\
# my settings
[general]
theme = "nord"  # the cold one
# ascii stays off
ascii = false

[keymap]
"forget" = "x ]"  # brackets
"""


def test_saving_changes_one_value_and_keeps_every_comment(tmp_path: Path) -> None:
    file = written(tmp_path, TEXT)
    config.write_setting(file, "general.theme", "memtui-light")
    assert file.read_text() == TEXT.replace('"nord"', '"memtui-light"')
    config.write_setting(file, "keymap.forget", "d # delete")
    assert '"forget" = "d # delete"  # brackets\n' in file.read_text()
    assert config.load(file, {}).settings.keymap == {"forget": "d # delete"}


def test_saving_adds_what_was_not_there(tmp_path: Path) -> None:
    file = written(tmp_path, TEXT)
    config.write_setting(file, "general.motion", False)
    config.write_setting(file, "decay.rate", 0.25)
    config.write_setting(file, "keymap.new one", "n")
    settings = config.load(file, {}).settings
    assert (settings.general.motion, settings.decay.rate, settings.general.theme) == (False, 0.25, "nord")
    assert settings.keymap == {"forget": "x ]", "new one": "n"}
    assert file.read_text().startswith('# my settings\n[general]\ntheme = "nord"  # the')


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_comes_back_from_the_file_as_it_was_saved(value: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = written(Path(folder), TEXT)
        config.write_setting(file, "general.theme", value)
        assert config.load(file, {}).settings.general.theme == value


def test_saving_makes_a_private_file_in_a_private_folder(tmp_path: Path) -> None:
    file = tmp_path / "new" / "config.toml"
    config.write_setting(file, "general.theme", 'a "quoted" \\ name')
    assert config.load(file, {}).settings.general.theme == 'a "quoted" \\ name'
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize(
    "text",
    [
        'general = { theme = "nord" }\n',
        'general.theme = "nord"\n',
        '[general]\ntheme = """\nnord"""\n',
        '[decay]\nrate = 0.1\n[search]\nlimit = 3\n["general"]\n"theme" = """x"""\n',
    ],
)
def test_a_setting_is_changed_however_the_file_writes_it(text: str, tmp_path: Path) -> None:
    file = written(tmp_path, text)
    before = config.load(file, {}).settings
    config.write_setting(file, "general.theme", "dracula")
    changed = config.load(file, {}).settings
    assert changed.general.theme == "dracula"
    assert changed.decay == before.decay
    assert changed.search == before.search


def test_saving_refuses_what_loading_would_refuse(tmp_path: Path) -> None:
    file = written(tmp_path, TEXT)
    wrong = [("general.theme", True), ("decay.threshold", 2.0), ("general.nope", "x"), ("keymap", "x")]
    for name, value in wrong:
        with pytest.raises(InputError):
            config.write_setting(file, name, value)
    assert file.read_text() == TEXT


def test_saving_into_a_broken_file_leaves_it_alone(tmp_path: Path) -> None:
    file = written(tmp_path, "[general\n")
    with pytest.raises(InputError, match="cannot be changed"):
        config.write_setting(file, "general.theme", "nord")
    assert file.read_text() == "[general\n"


def test_saving_does_not_follow_a_link(tmp_path: Path) -> None:
    target = written(tmp_path, TEXT)
    (tmp_path / "link.toml").symlink_to(target)
    with pytest.raises(InputError, match="symbolic link"):
        config.write_setting(tmp_path / "link.toml", "general.theme", "nord")
    assert target.read_text() == TEXT


def test_strategies_are_named_in_the_file(tmp_path: Path) -> None:
    file = written(
        tmp_path, '[names]\nenrichment = "mine"\n\n[strategies]\nmine = "regex  spacy"\nfast = "regex"\n'
    )
    options = config.load(file, {}).settings.options()
    assert options.strategies == {"mine": ("regex", "spacy"), "fast": ("regex",)}
    assert options.enrichment == "mine"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[strategies]\n# one\nmine = "regex spacey"\n', "line 3: The strategy mine names 'spacey'"),
        ('[strategies]\nfast = "regex llm"\n', "line 2: The strategy fast cannot use 'llm'"),
        ('[strategies]\nmine = ""\n', "line 2: The strategy mine names no provider"),
        ('[names]\nenrichment = "best"\n', "line 2: There is no strategy 'best'"),
    ],
)
def test_a_strategy_that_cannot_be_is_told_with_its_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError, match=re.escape(says)):
        config.load(written(tmp_path, text), {})


def test_saving_refuses_a_strategy_that_is_not_there(tmp_path: Path) -> None:
    file = written(tmp_path, "")
    for name in ("names.enrichment", "strategies.mine"):
        with pytest.raises(InputError, match="strategy"):
            config.write_setting(file, name, "best")
    config.write_setting(file, "names.enrichment", "local")
    assert config.load(file, {}).settings.names.enrichment == "local"


def test_topics_that_last_are_words_and_a_wrong_one_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[decay]\nlasting = "plan, Health"\nnotes = true\n', encoding="utf-8")
    options = config.load(file, {}).settings.options()
    assert (options.lasting, options.notes_fade) == (("health", "plan"), True)
    file.write_text('[decay]\nlasting = "hobby"\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"line 2: 'hobby' is not a topic"):
        config.load(file, {})
