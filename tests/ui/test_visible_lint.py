"""The app and the command line show text only as visible text (``visible_lint`` explains the rule)."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import memtui
import pytest
from visible_lint import check, check_package

HEAD = """
from rich.segment import Segment
from textual.app import App
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button, Label, Static, TabPane
import click
from memtui.ui.safe import assemble, content, line, notice, segment
from memtui.present.text import VisibleText, one_line, visible_text
"""

BAD = {
    "a variable": "def f(memory): return Static(memory.content)",
    "a parameter of type str": "def f(name: str): return Label(name)",
    "an f-string": "def f(name): return Static(f'hello {name}')",
    "an f-string of visible text, which is parsed": "def f(name): return Static(f'{visible_text(name)}')",
    "visible text, which is parsed": "def f(name): return Static(visible_text(name))",
    "a call": "def f(name): return Button(str(name))",
    "a keyword": "def f(name): return TabPane(title=name)",
    "a local name": "def f(name):\n    label = 'x'\n    label = name\n    return Label(label)",
    "a name added to": "def f(name):\n    label = content('x')\n    label += name\n    return Label(label)",
    "a loop": "def f(names):\n    for name in names:\n        yield Label(name)",
    "update": "def f(self, text): self.query_one('#x', Static).update(text)",
    "update with an attribute": "def f(self): self.body.update(self.memory.content)",
    "a border title": "def f(self, text): self.border_title = text",
    "a tooltip": "def f(self, text): self.tooltip = f'{text}'",
    "a window title": "class A(App):\n    def f(self, text): self.sub_title = text",
    "notify": "def f(self, text): self.notify(text)",
    "notify with markup": "def f(self, text): self.notify(visible_text(text))",
    "notify without markup": "def f(self, text): self.notify(f'saved {text}', markup=False)",
    "Content": "def f(text): return Content(text)",
    "Content.assemble": "def f(text): return Content.assemble(text)",
    "Content.styled of visible": "def f(text): return Content.styled(visible_text(text), 'bold')",
    "from_markup": "def f(text): return Content.from_markup(text)",
    "from_markup as a value": "make = Content.from_markup",
    "from_text": "def f(text): return Content.from_text(text)",
    "Rich text": "from rich.text import Text\ndef f(text): return Text(text)",
    "render without a type": "class W(Widget):\n    def render(self): return self.text",
    "render of a str": "class W(Widget):\n    def render(self) -> str: return f'{self.text}'",
    "a subclass": "class Row(Static):\n    pass\ndef f(text): return Row(text)",
    "super": "class Row(Static):\n    def __init__(self, text):\n        super().__init__(text)",
    "a segment": "def f(text): return Segment(text)",
    "a segment of a padded str": "def f(text): return Segment(text.ljust(8))",
    "concatenation": "def f(text): return Label(content('a') + text)",
    "append": "def f(text): return Label(content('a').append(text))",
    "VisibleText without visible_text": "def f(text): return VisibleText(text)",
    "palette help": "from textual.command import Hit\ndef f(x): return Hit(1, content(x), print, help=x)",
    "echo": "def f(text): click.echo(text)",
    "echo of an f-string": "def f(text): click.echo(f'{text}')",
    "print": "def f(text): print(text)",
    "stdout": "import sys\ndef f(text): sys.stdout.write(text)",
    "RichLog": "from textual.widgets import RichLog",
    "the markup module": "from textual.markup import escape",
    "one annotation of two": "class A:\n    x: Content\nclass B:\n    x: str\ndef f(a): return Label(a.x)",
    "a function that returns str": "def name() -> str: return 'x'\ndef f(): return Label(name())",
    "a silencer without a reason": "def f(text): return Label(text)  # safe-text:",
}

GOOD = {
    "a literal": "def f(): return Static('[b]bold[/b]')",
    "a constant": "TITLE = 'Memories'\ndef f(): return Label(TITLE)",
    "content": "def f(memory): return Static(content(memory.content, 'bold'), id='x', classes=memory.kind)",
    "a choice": "def f(x): return Label(content(x) if x else 'nothing')",
    "a local name": "def f(x):\n    y = content(x)\n    if x: y = line(x, 3)\n    return Label(y)",
    "a parameter of type Content": "def f(label: Content | None): return Label(label or '')",
    "a method": "class A:\n    def body(self) -> Content: ...\n    def f(self): self.update(self.body())",
    "a property": "class A:\n    @property\n    def y(self) -> Content: ...\ndef f(a): a.update(a.y)",
    "an attribute": "class A:\n    body: Content\n    def f(self): self.border_title = self.body",
    "a list of contents": "def f(parts: list[Content]):\n    for part in parts:\n        yield Label(part)",
    "a join": "def f(rows): return Label(Content('\\n').join([line(row, 9) for row in rows]))",
    "concatenation": "def f(x): return Label(content(x) + ' · ' + content(x))",
    "styling": "def f(x): return Label(content(x).stylize('bold', 0, 3))",
    "render": "class W(Widget):\n    def render(self) -> Content: return self.text",
    "a dict": "def f(self, x):\n    seen = {}\n    seen.update(x)",
    "an annotated dict": "class A:\n    seen: dict[str, int]\n    def f(self, x): self.seen.update(x)",
    "a set": "def f(x):\n    seen = set()\n    seen.update(x)",
    "a progress bar": "def f(self, n): self.bar.update(progress=n)",
    "a notice": "def f(self, text): notice(self, text, title='Saved')",
    "a literal notification": "def f(self): self.notify('Saved')",
    "a visible notification": "def f(self, x): self.notify(f'Saved {visible_text(x, 40)}', markup=False)",
    "markup off": "def f(x): return Static(visible_text(x), markup=False)",
    "a segment": "def f(x): return [segment(x), Segment(' ' * 3), Segment(one_line(x, 8).ljust(8))]",
    "a parameter of type VisibleText": "def f(x: VisibleText): return Segment(x + '…')",
    "numbers": "class R:\n    rows: int\ndef f(r, n): return Segment(f'{r.rows} {n:,} {len(n)} {n:>5.1f}')",
    "an editable original": "from textual.widgets import Input\ndef f(x): return Input(value=x.content)",
    "echo": "def f(x): click.echo(visible_text(x, newlines=True)); click.echo(f'{one_line(x, 8)}: {len(x)}')",
    "a repr": "def f(x): click.echo(f'no such command: {x!r}')",
    "a reason": "def f(text): return Label(text)  # safe-text: a name from the action table",
    "attributes elsewhere": "class Record:\n    def __init__(self, title): self.title = title",
    "a subclass": "class R(Static):\n    def __init__(self, x): super().__init__(line(x, 9))\nR(X)",
    "accumulated": "def f(rows):\n    y = ''\n    for x in rows: y += one_line(x, 8)\n    return Segment(y)",
}


@pytest.mark.parametrize("name", BAD)
def test_it_finds(name: str) -> None:
    findings = check({"ui/sample.py": HEAD + BAD[name]})
    assert findings
    assert all(finding.line > HEAD.count("\n") for finding in findings)


@pytest.mark.parametrize("name", GOOD)
def test_it_accepts(name: str) -> None:
    assert check({"ui/sample.py": HEAD + GOOD[name]}) == []


def test_annotations_count_across_files() -> None:
    theirs = "class Row:\n    label: Content\ndef caption(x) -> Content: ..."
    ours = HEAD + "def f(row, x):\n    yield Label(row.label)\n    yield Label(caption(x))"
    assert check({"ui/theirs.py": theirs, "ui/ours.py": ours}) == []
    assert len(check({"ui/ours.py": ours})) == 2


def test_a_function_of_the_same_name_elsewhere_does_not_count() -> None:
    theirs = "def one_line(value) -> str: ..."
    assert check({"ui/sample.py": HEAD + "def f(x): return Segment(one_line(x, 8))"}, [theirs]) == []
    ours = "from memtui.engine.importers.foreign_values import one_line\ndef f(x): return Segment(one_line(x, 8))"
    assert len(check({"ui/sample.py": "from rich.segment import Segment\n" + ours}, [theirs])) == 1


def test_a_finding_names_its_place() -> None:
    source = dedent(
        """
        def f(self, memory):
            self.border_title = (
                memory.content
            )
        """
    )
    (finding,) = check({"ui/sample.py": source})
    assert (finding.path, finding.line) == ("ui/sample.py", 4)
    assert "border_title" in finding.message


def test_the_app_and_the_command_line_show_visible_text_only() -> None:
    findings = check_package(Path(memtui.__file__).parent)
    assert not findings, "\n".join(f"{one.path}:{one.line}: {one.message}" for one in findings)
