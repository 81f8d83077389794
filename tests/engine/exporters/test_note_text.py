"""Whatever a stored text holds, Markdown reads it as plain paragraphs, and importing the note gives it back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from memtui import Memory
from memtui.engine.exporters.markdown_text import (
    as_block_quote,
    escape_markdown,
    escape_on_one_line,
    file_name,
    wiki_link,
    yaml_frontmatter,
)
from memtui.engine.importers.formats.vault import strip_quotes
from memtui.engine.records import Options, SecretPolicy

PIECES = (
    *"\\`*_[]<>|$^&~=:%{}#+-.!()@\"'/\n\t 1a",
    "\n\n", "```\n", "```dataview\nTABLE x\n```", "`= this.file.name`", "`$= dv.x`", "- [ ] task", "> [!note]- x", "key:: value",
    "[key:: value]", "| a | b |\n|---|---|\n| 1 | 2 |", "a\nb\n---\n", "# Head", "Title\n===", "1. one", "2) two", "<b>x</b>",
    "<%* tp.x() %>", "<% x %>", "{{date}}", "[[Note]]", "![[Note#^id]]", "![x](http://x.test/a.png)", "[a]: http://x.test\n",
    "https://x.test/a_b", "www.x.test", "ada@x.test", "^block-1", "text ^block-1", "#tag", "%%comment%%", "$x$", "$$x$$", "==x==",
    "~~x~~", "**x**", "snake_case_name", "_x_", "[^1]", "^[note]", "[^1]: foot", "&amp;", "&#32;", "---\nid: x\n---", "    code",
    "\tcode", "+ item", "* item", ": definition", "~~~\n", "<!-- x -->", "<https://x.test>", "```query\n", "ends with \\",
    "blank ",
    "\r\n", "\r", "\x0b\x0c", "\u2028", "\x1b[31m", "\ufeff", "Straße", "数据",
)  # fmt: skip
TEXT = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=6)), max_size=12).map("".join)
MARKDOWN = MarkdownIt("gfm-like")
# Obsidian and GitHub make links of addresses with a scheme and of e-mail addresses, not of "file.name".
MARKDOWN.linkify.set({"fuzzy_link": False})
SHOWN = {"blockquote_open", "blockquote_close", "paragraph_open", "paragraph_close", "inline"}


def _is_plain(note: str) -> None:
    for token in MARKDOWN.parse(note):
        assert token.type in SHOWN, (token.type, note)
        for child in token.children or ():
            assert child.type in ("text", "text_special", "softbreak"), (child.type, child.content, note)


@given(TEXT)
def test_a_quoted_text_is_plain_and_comes_back(text: str) -> None:
    note = as_block_quote(text)
    _is_plain(note)
    assert "\n".join(strip_quotes(line) for line in note.split("\n")) == text
    assert all(line.startswith(">") for line in note.split("\n"))


@given(TEXT)
def test_what_plugins_read_in_the_raw_file_is_not_there(text: str) -> None:
    raw = escape_markdown(text)
    assert not re.search(r"(?<!\\)`|<%|\{\{|%%|::|(?<!\\)\[|(?m:^\s*[-*+] )|==|\$\$|(?<!\\)<", raw)
    for name in ("role", "title"):
        told = f"**{name}** {escape_on_one_line(text, 200)}"
        assert "\n" not in told
        assert not re.search(r"(?<!\\)`|<%|\{\{|%%|::|(?<!\\)\[", told)


@given(TEXT)
def test_names_and_links_are_plain(text: str) -> None:
    name = file_name(text, "fact")
    listed = f"x [[Facts/{name} fact_1|y]] z"
    _is_plain(listed)
    _is_plain(wiki_link(f"Facts/{name}", text))
    assert wiki_link(f"Facts/{name}", text).count("[[") == 1
    shown = wiki_link("Facts/x", text).removeprefix("[[Facts/x").removesuffix("]]").removeprefix("|")
    assert not re.search(r"[`<>$|\[\]\\]|%%|\{\{|::|://|==", shown)


@given(TEXT)
def test_front_matter_holds_strings_only(text: str) -> None:
    front = yaml_frontmatter({"aliases": [text], "name": text})
    assert front.count("\n") == 4
    assert not re.search(r"<%|\{\{|\[\[", front)


@pytest.mark.parametrize("text", PIECES)
def test_each_live_piece_alone_and_in_a_line_is_plain(text: str) -> None:
    for one in (text, f"a {text} b", f"{text}\n{text}", f"a\n{text}\nb"):
        _is_plain(as_block_quote(one))
        assert "\n".join(strip_quotes(line) for line in as_block_quote(one).split("\n")) == one


def test_a_key_that_was_split_is_not_put_together_in_a_name(tmp_path: Path) -> None:
    key = "ghp_" + "a1B2c3D4e5F6" * 3
    with Memory.open(
        ":memory:", options=Options(background=False, secrets=SecretPolicy(facts="keep"))
    ) as memory:
        for told in (key, f"{key[:20]}\n{key[20:]}", f"{key[:9]}\u200b{key[9:]}"):
            memory.remember(f"Uses {told} at work")
        memory.files.export(tmp_path / "vault", format="markdown")
    names = [path.name for path in (tmp_path / "vault" / "Facts").iterdir()]
    assert len(names) == 3
    assert all("redacted github token" in name and key[4:12] not in name for name in names)
    assert key[4:12] not in (tmp_path / "vault" / "Index.md").read_text()


def test_a_memory_goes_into_a_vault_and_back_as_it_was(tmp_path: Path) -> None:
    texts = {f"{piece} {number} {piece}".strip() for number, piece in enumerate(PIECES)}
    options = Options(background=False, embedder="off")
    with Memory.open(":memory:", options=options) as memory:
        for text in texts:
            memory.remember(text)
        held = {one.content for one in memory.view.page(limit=200)}
        memory.files.export(tmp_path / "vault", format="markdown")
    with Memory.open(":memory:", options=options) as memory:
        memory.files.import_paths([tmp_path / "vault"])
        assert {one.content for one in memory.view.page(limit=200)} == held
    index = (tmp_path / "vault" / "Index.md").read_text()
    for token in MARKDOWN.parse(index):
        assert token.type in SHOWN | {"heading_open", "heading_close", "bullet_list_open", "bullet_list_close",
                                      "list_item_open", "list_item_close"}  # fmt: skip
        assert all(child.type in ("text", "text_special", "softbreak") for child in token.children or ())
