"""A lint over the syntax trees: text reaches a terminal only as visible text.

The rule: whatever is not a literal goes through ``memtui.ui.safe`` (which makes ``Content`` and calls
``visible_text()``) before a widget gets it, and through ``visible_text()`` before the command line prints it.

The lint knows the places where text leaves (``sinks``): constructors of widgets, ``update``, ``notify``,
titles, palette hits, line segments, ``click.echo``, and what a ``render`` method returns. An argument
there must be *evidently* fit. Two kinds of fitness:

- **content**: a literal, a call of the safe module, or anything annotated ``Content``. A ``str`` is not
  content, even a visible one, because Textual parses it as markup.
- **string**: a literal, a number, ``VisibleText``, or built from these by f-strings, ``+``, ``*``, ``join``
  and the like. Good where nothing is parsed: ``Segment``, ``click.echo``, ``notify(markup=False)``.

What a name is, is looked up in its function (every assignment must be fit) and, for parameters,
attributes and calls, in the annotations of the whole package: a name counts as ``Content``,
``VisibleText`` or number only if all its annotations say so. mypy proves the annotations, and only the safe
module can make ``Content`` from a variable, so the chain has no gap but ``Any``. Also forbidden are the
functions that parse, and widgets that cannot be used safely.

A finding that is wrong is silenced by ``# safe-text: <reason>`` on its line.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from visible_lint_names import Fitness, Function, Package, Scope, annotated, dotted, last_name, own_nodes

Found = Iterator[tuple[ast.stmt | ast.expr, str]]
Places = tuple[tuple[int, ...], tuple[str, ...]]

# They make text visible, and are tested for it.
TRUSTED_FILES = ("ui/safe.py", "present/text.py", "present/format.py", "ui/line_filter.py", "cli/output.py")
SAFE_CALLS: Mapping[str, Fitness] = {
    **dict.fromkeys(("content", "line", "assemble", "content_with_marks", "content_of_line"), "content"),
    **dict.fromkeys(("visible_text", "one_line", "relative_time", "local_time", "local_date"), "string"),
    **dict.fromkeys(("format_count", "short_count", "plural"), "string"),
}
SAFE_MODULES = ("safe", "text", "format")
NUMBER_CALLS: Mapping[str, Fitness] = dict.fromkeys(
    ("len", "int", "float", "round", "sum", "abs", "ord"), "number"
)
# Of each constructor: the places and names of the arguments that it shows (-1: every positional one).
CONTENT_SINKS: Mapping[str, Places] = {
    "Static": ((0,), ("content",)),
    "Label": ((0,), ("content",)),
    "Button": ((0,), ("label", "tooltip")),
    "Link": ((0,), ("text", "tooltip")),
    "Checkbox": ((0,), ("label", "tooltip")),
    "RadioButton": ((0,), ("label", "tooltip")),
    "RadioSet": ((-1,), ("tooltip",)),
    "Tab": ((0,), ("label",)),
    "Tabs": ((-1,), ()),
    "TabPane": ((0,), ("title",)),
    "TabbedContent": ((-1,), ()),
    "Collapsible": ((), ("title",)),
    "Placeholder": ((0,), ("label",)),
    "Tooltip": ((0,), ("content",)),
    "Option": ((0,), ("prompt",)),
    "OptionList": ((-1,), ()),
    "Selection": ((0,), ("prompt",)),
    "Select": ((), ("prompt", "tooltip")),
    "Switch": ((), ("tooltip",)),
    "Input": ((), ("tooltip",)),
    "Hit": ((1,), ("match_display", "help")),
    "DiscoveryHit": ((0,), ("display", "help")),
    "SystemCommand": ((0, 1), ("title", "help")),
}
CONTENT_METHODS: Mapping[str, tuple[int, ...]] = {
    "update": (0,),
    "with_tooltip": (0,),
    "set_label": (0,),
    "add_option": (0,),
    "add_tab": (0,),
    "replace_option_prompt": (1,),
    "replace_option_prompt_at_index": (1,),
}
CONTENT_ATTRIBUTES = ("border_title", "border_subtitle", "tooltip")
STRING_ATTRIBUTES = ("title", "sub_title", "placeholder")
STRING_SINKS: Mapping[str, Places] = {
    "Segment": ((0,), ("text",)),
    "Digits": ((0,), ("value",)),
    "Input": ((1,), ("placeholder",)),
    "TextArea": ((), ("placeholder",)),
    "VisibleText": ((0,), ()),
    "print": ((-1,), ()),
    "echo": ((0,), ("message",)),
    "secho": ((0,), ("message",)),
    **dict.fromkeys(("click.confirm", "click.prompt"), ((0,), ("text",))),
    **dict.fromkeys(("stdout.write", "stderr.write"), ((0,), ())),
}
PARSERS = ("from_markup", "from_text", "from_rich_text", "from_ansi", "render_str", "render_markup")
UNSAFE_NAMES = (
    *("Log", "RichLog", "Pretty", "Markdown", "MarkdownViewer", "DataTable", "Tree", "DirectoryTree"),
    *("textual.markup", "rich.markup"),
)
CASES = ("upper", "lower", "title", "capitalize", "split")
EDGES = ("ljust", "rjust", "center", "zfill", "strip", "lstrip", "rstrip", "removeprefix", "removesuffix")
CONTENT_ONLY = ("stylize", "stylize_before", "truncate", "pad_left", "pad_right", "expand_tabs")
TAKES_TEXT = ("join", "append", "replace")
SAME_FITNESS_METHODS = frozenset((*CASES, *EDGES, *CONTENT_ONLY, *TAKES_TEXT))
NUMBER_FORMAT = re.compile(r"[<>^]?[-+ ]?0?\d*(,|_|[,_]?(\.\d+)?[bdeEfFgGnoxX%])$")
SILENCED = re.compile(r"#\s*safe-text:\s*\S")


@dataclass(frozen=True)
class Finding:
    path: str
    line: int
    message: str


def check(sources: Mapping[str, str], context: Iterable[str] = ()) -> list[Finding]:
    """The findings in ``sources`` (path -> text); ``context``: further files whose annotations count."""
    package, elsewhere = Package(), Package()
    trees = {path: ast.parse(text) for path, text in sources.items()}
    for tree in trees.values():
        package.learn(tree)
    for text in context:
        elsewhere.learn(ast.parse(text))
    package.add_missing(elsewhere)
    findings: list[Finding] = []
    for path, tree in trees.items():
        if path.endswith(TRUSTED_FILES):
            continue
        lines = sources[path].splitlines()
        for node, message in FileLint(package, tree, "ui/" in path).findings():
            first, last = node.lineno, node.end_lineno or node.lineno
            if not any(SILENCED.search(text) for text in lines[first - 1 : last]):
                findings.append(Finding(path, first, message))
    return sorted(set(findings), key=lambda one: (one.path, one.line, one.message))


def check_package(root: Path) -> list[Finding]:
    """The findings in the app and the command line below the package folder ``root``."""
    texts = {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in root.rglob("*.py")}
    ours = {path: text for path, text in texts.items() if path.startswith(("ui/", "cli"))}
    return check(ours, [text for path, text in texts.items() if path not in ours])


class FileLint:
    def __init__(self, package: Package, tree: ast.Module, has_widgets: bool) -> None:
        self.package = package
        self.tree = tree
        self.has_widgets = has_widgets
        self.safe_calls = dict(NUMBER_CALLS)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[-1] in SAFE_MODULES:
                for alias in node.names:
                    if alias.name in SAFE_CALLS:
                        self.safe_calls[alias.asname or alias.name] = SAFE_CALLS[alias.name]
        self._busy: set[tuple[int, str, Fitness]] = set()

    def findings(self, node: ast.AST | None = None, outer: Scope | None = None) -> Found:
        node = node or self.tree
        scope = Scope(node, outer)
        if isinstance(node, Function):
            yield from self._returns(node, scope)
        for child in own_nodes(node):
            yield from self._node(child, scope)
            if isinstance(child, Function | ast.ClassDef | ast.Lambda):
                yield from self.findings(child, scope)

    def _node(self, node: ast.AST, scope: Scope) -> Found:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if {alias.name, node.module} & set(UNSAFE_NAMES) and (node.module or "").startswith(
                    ("textual", "rich")
                ):
                    yield node, f"{node.module}.{alias.name} prints what it gets"
        elif isinstance(node, ast.Attribute) and node.attr in PARSERS:
            yield node, f"{node.attr} parses its text"
        elif isinstance(node, ast.Call):
            yield from self._call(node, scope)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Attribute):
                    yield from self._attribute(target, node.value, scope)

    def _attribute(self, target: ast.Attribute, value: ast.expr, scope: Scope) -> Found:
        if target.attr in CONTENT_ATTRIBUTES and not self.fit(value, "content", scope):
            yield value, f"{target.attr} = a text that is not Content"
        family = set(self.package.family(scope.class_name))
        of_screen = last_name(target.value) in ("app", "screen") or family & {
            "App",
            "Screen",
            "ModalScreen",
            "Input",
        }
        if target.attr in STRING_ATTRIBUTES and of_screen and not self.fit(value, "string", scope):
            yield value, f"{target.attr} = a text that is not VisibleText"

    def _returns(self, node: Function, scope: Scope) -> Found:
        if node.name != "render" or not scope.class_name or annotated(node.returns) == "content":
            return
        for child in own_nodes(node):
            if isinstance(child, ast.Return) and child.value and not self.fit(child.value, "content", scope):
                yield child.value, "render returns a text that is not Content"

    def _call(self, call: ast.Call, scope: Scope) -> Found:
        name, full = last_name(call.func), dotted(call.func)
        if name in ("Content", "Text") or full.startswith(("Content.", "Text.")):
            harmless = name in ("blank", "empty")
            if not harmless and not all(
                self.literal(one) for one in [*call.args, *(k.value for k in call.keywords)]
            ):
                yield call, f"{full} from a variable: use memtui.ui.safe"
            return
        if name == "notify" and isinstance(call.func, ast.Attribute):
            yield from self._notify(call, scope)
        for known, wanted in (
            (CONTENT_SINKS if self.has_widgets else {}, "content"),
            (STRING_SINKS, "string"),
        ):
            for sink in self._sink_names(call, scope):
                if places := known.get(sink):
                    yield from self._arguments(call, sink, places, wanted, scope)  # type: ignore[arg-type]
                    break
        if (
            isinstance(call.func, ast.Attribute)
            and (at := CONTENT_METHODS.get(name))
            and not self._of_mapping(call, scope)
        ):
            yield from self._arguments(call, name, (at, ()), "content", scope)

    def _sink_names(self, call: ast.Call, scope: Scope) -> list[str]:
        name = last_name(call.func)
        if ast.unparse(call.func) == "super().__init__":
            return list(self.package.family(scope.class_name))[1:]
        tail = ".".join(dotted(call.func).split(".")[-2:])
        if name in self.package.own_init:
            return []  # it hands the text on itself, and is looked at there
        return [tail, *self.package.family(name)]

    def _arguments(
        self,
        call: ast.Call,
        sink: str,
        places: Places,
        wanted: Fitness,
        scope: Scope,
    ) -> Found:
        positions, keywords = places
        plain = any(k.arg == "markup" and is_false(k.value) for k in call.keywords)
        for at, argument in enumerate(call.args):
            concerned = at in positions or -1 in positions or isinstance(argument, ast.Starred)
            if concerned and positions and not self.fits(argument, wanted, plain, scope):
                yield argument, f"{sink}() gets a text that is not {wanted_name(wanted)}"
        for keyword in call.keywords:
            if keyword.arg in keywords and not self.fits(keyword.value, wanted, plain, scope):
                yield keyword.value, f"{sink}({keyword.arg}=) gets a text that is not {wanted_name(wanted)}"

    def _notify(self, call: ast.Call, scope: Scope) -> Found:
        shown = [*call.args[:1], *(k.value for k in call.keywords if k.arg in ("message", "title"))]
        plain = any(k.arg == "markup" and is_false(k.value) for k in call.keywords)
        for text in shown:
            if not self.literal(text) and not (plain and self.fit(text, "string", scope)):
                yield text, "notify() gets a text: use memtui.ui.safe.notice"

    def _of_mapping(self, call: ast.Call, scope: Scope) -> bool:
        """``update`` of a dict or set, as far as it can be seen."""
        if last_name(call.func) != "update":
            return False
        if len(call.args) != 1 or isinstance(call.args[0], ast.Dict | ast.Set | ast.DictComp | ast.SetComp):
            return True
        receiver = call.func.value if isinstance(call.func, ast.Attribute) else call.func
        values = [
            node.value if isinstance(node, ast.Assign) else node.annotation
            for node in ast.walk(self.tree)
            if (
                isinstance(node, ast.Assign)
                and any(ast.unparse(t) == ast.unparse(receiver) for t in node.targets)
            )
            or (isinstance(node, ast.AnnAssign) and last_name(node.target) == last_name(receiver))
        ]
        mappings = ("dict", "set", "defaultdict", "Counter", "OrderedDict", "Mapping", "MutableMapping")
        return any(isinstance(one, ast.Dict | ast.Set) or last_name(one) in mappings for one in values)

    def literal(self, node: ast.expr) -> bool:
        if isinstance(node, ast.IfExp):
            return self.literal(node.body) and self.literal(node.orelse)
        return isinstance(node, ast.Constant) or (
            isinstance(node, ast.Name) and node.id in self.package.constants
        )

    def fits(self, node: ast.expr, wanted: Fitness, plain: bool, scope: Scope) -> bool:
        return self.fit(node, wanted, scope) or (plain and self.fit(node, "string", scope))

    def fit(self, node: ast.expr, wanted: Fitness, scope: Scope) -> bool:
        """Whether the expression is evidently literal, a number, or what is wanted."""

        def recur(*nodes: ast.expr) -> bool:
            return all(self.fit(one, wanted, scope) for one in nodes)

        match node:
            case ast.Constant():
                return True
            case ast.JoinedStr():
                return all(
                    isinstance(part, ast.Constant) or self._interpolation(part, wanted, scope)
                    for part in node.values
                )
            case ast.IfExp():
                return recur(node.body, node.orelse)
            case ast.BoolOp():
                return recur(*node.values)
            case ast.Tuple() | ast.List():
                return recur(*node.elts)
            case ast.ListComp() | ast.GeneratorExp():
                return recur(node.elt)
            case ast.Starred() | ast.NamedExpr() | ast.Await() | ast.Subscript():
                return recur(node.value)
            case ast.BinOp(op=ast.Mult()):
                return recur(node.left) or recur(node.right)
            case ast.BinOp(op=ast.Add()):
                return all(
                    recur(one) or self.fit(one, "string", scope) for one in (node.left, node.right)
                ) and (recur(node.left) or recur(node.right))
            case ast.BinOp(op=ast.Sub() | ast.Div() | ast.FloorDiv()) | ast.Compare() | ast.UnaryOp():
                return True  # a number
            case ast.Name():
                return self._name(node.id, wanted, scope)
            case ast.Attribute():
                return self._agreed(self.package.attributes.get(node.attr), wanted)
            case ast.Call():
                return self._result(node, wanted, scope)
        return False

    def _interpolation(self, part: ast.expr, wanted: Fitness, scope: Scope) -> bool:
        assert isinstance(part, ast.FormattedValue)
        if part.conversion in (ord("r"), ord("a")) and wanted == "string":
            return True  # repr escapes what is not printable
        spec = part.format_spec
        if isinstance(spec, ast.JoinedStr) and all(isinstance(one, ast.Constant) for one in spec.values):
            text = "".join(str(one.value) for one in spec.values if isinstance(one, ast.Constant))
            if NUMBER_FORMAT.match(text):
                return True
        # A visible string is still parsed where content is wanted.
        return self.fit(part.value, "string" if wanted == "string" else "number", scope)

    def _name(self, name: str, wanted: Fitness, scope: Scope) -> bool:
        home = scope.find(name)
        if home is None:
            return name in self.package.constants
        if name in home.promised:
            return self._agreed({home.promised[name]}, wanted)
        key = (id(home), name, wanted)
        if key in self._busy:
            return True  # a loop (x = x + ...): the other assignments decide
        self._busy.add(key)
        try:
            return all(self.fit(value, wanted, home) for value in home.bound[name])
        finally:
            self._busy.discard(key)

    def _agreed(self, promises: Iterable[Fitness | None] | None, wanted: Fitness) -> bool:
        return bool(promises) and all(one in (wanted, "number") for one in promises or ())

    def _result(self, call: ast.Call, wanted: Fitness, scope: Scope) -> bool:
        name = last_name(call.func)
        if name in ("Content", "Text", "VisibleText"):
            return wanted == ("string" if name == "VisibleText" else "content")  # looked at where it stands
        if name == "str" and len(call.args) == 1:
            return self.fit(call.args[0], "string" if wanted == "string" else "number", scope)
        if name in ("max", "min", "list", "tuple", "sorted", "reversed", "cast"):
            return all(self.fit(one, wanted, scope) for one in call.args[name == "cast" :])
        if isinstance(call.func, ast.Name) and name in self.safe_calls:
            return self.safe_calls[name] in (wanted, "number")
        if isinstance(call.func, ast.Attribute) and name in SAME_FITNESS_METHODS:
            texts = call.args if name in TAKES_TEXT else []
            return self.fit(call.func.value, wanted, scope) and all(
                self.fit(one, wanted, scope) or self.fit(one, "string", scope) for one in texts
            )
        return self._agreed(self.package.functions.get(name), wanted)


def is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def wanted_name(fitness: Fitness) -> str:
    return "Content (memtui.ui.safe)" if fitness == "content" else "visible_text()"
