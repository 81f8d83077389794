"""What the lint knows about names: annotations of the whole package, and assignments in their scopes."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

Fitness = Literal["content", "string", "number"]
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Package:
    """What the annotations of all files say about functions, attributes, constants and bases."""

    functions: dict[str, set[Fitness | None]] = field(default_factory=lambda: defaultdict(set))
    attributes: dict[str, set[Fitness | None]] = field(default_factory=lambda: defaultdict(set))
    constants: set[str] = field(default_factory=set)
    bases: dict[str, list[str]] = field(default_factory=dict)
    own_init: set[str] = field(default_factory=set)

    def learn(self, tree: ast.Module) -> None:
        for line in tree.body:
            if isinstance(line, ast.Assign | ast.AnnAssign) and isinstance(line.value, ast.Constant):
                targets = line.targets if isinstance(line, ast.Assign) else [line.target]
                self.constants.update(target.id for target in targets if isinstance(target, ast.Name))
        for node in ast.walk(tree):
            if isinstance(node, Function):
                fitness = annotated(node.returns)
                is_property = any(
                    last_name(one) in ("property", "cached_property") for one in node.decorator_list
                )
                (self.attributes if is_property else self.functions)[node.name].add(fitness)
            elif isinstance(node, ast.ClassDef):
                self.bases[node.name] = [last_name(base) for base in node.bases]
                for child in node.body:
                    if isinstance(child, ast.AnnAssign) and isinstance(child.target, ast.Name):
                        self.attributes[child.target.id].add(annotated(child.annotation))
                    elif isinstance(child, Function) and child.name == "__init__":
                        self.own_init.add(node.name)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Attribute):
                self.attributes[node.target.attr].add(annotated(node.annotation))

    def add_missing(self, other: Package) -> None:
        """What ``other`` knows about names that are not ours."""
        for ours, theirs in ((self.functions, other.functions), (self.attributes, other.attributes)):
            for name, promises in theirs.items():
                if name not in ours:
                    ours[name] = promises

    def family(self, name: str) -> Iterator[str]:
        """The class and its bases, as far as the package knows them."""
        seen = [name]
        for one in seen:
            yield one
            seen.extend(base for base in self.bases.get(one, ()) if base not in seen)


def last_name(node: ast.AST) -> str:
    """``c`` of ``a.b.c`` and of ``a.b.c[...]`` and of ``a.b.c(...)``."""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def dotted(node: ast.AST) -> str:
    return ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else last_name(node)


def annotated(annotation: ast.expr | None) -> Fitness | None:
    """What an annotation promises; containers promise it for their elements."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    if annotation is None:
        return None
    names = {one.id for one in ast.walk(annotation) if isinstance(one, ast.Name)}
    names |= {one.attr for one in ast.walk(annotation) if isinstance(one, ast.Attribute)}
    if names & {"str", "Any", "object", "Callable"}:
        return None
    if names & {"Content", "Strip"}:
        return "content"
    if "VisibleText" in names:
        return "string"
    return "number" if names and names <= {"int", "float", "bool", "tuple", "list", "Sequence"} else None


class Scope:
    """Names of one function (or of the module) with the expressions that they were bound to."""

    def __init__(self, node: ast.AST, outer: Scope | None) -> None:
        self.outer = outer
        self.promised: dict[str, Fitness | None] = {}
        self.bound: dict[str, list[ast.expr]] = defaultdict(list)
        self.class_name: str = outer.class_name if outer else ""
        if isinstance(node, ast.ClassDef):
            self.class_name = node.name
        if isinstance(node, Function | ast.Lambda):
            arguments = node.args
            named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            for argument in [*named, *filter(None, (arguments.vararg, arguments.kwarg))]:
                self.promised[argument.arg] = annotated(argument.annotation)
        for child in own_nodes(node):
            self._learn(child)

    def _learn(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._bind(target, node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            self.promised[node.target.id] = annotated(node.annotation)
            if self.promised[node.target.id] is None and node.value is not None:
                del self.promised[node.target.id]
                self._bind(node.target, node.value)
        elif isinstance(node, ast.AugAssign | ast.NamedExpr):
            self._bind(node.target, node.value)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            self._bind(node.target, node.iter)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._bind(node.optional_vars, node.context_expr)

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.bound[target.id].append(value)
        elif isinstance(target, ast.Tuple | ast.List):
            parts = value.elts if isinstance(value, ast.Tuple | ast.List) else []
            if len(parts) != len(target.elts):
                parts = [value] * len(target.elts)
            for one, part in zip(target.elts, parts, strict=True):
                self._bind(one, part)

    def find(self, name: str) -> Scope | None:
        scope: Scope | None = self
        while scope is not None and name not in scope.promised and name not in scope.bound:
            scope = scope.outer
        return scope


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below, without those of inner functions and classes (but the inner node itself)."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, Function | ast.ClassDef | ast.Lambda):
            yield from own_nodes(child)
