"""What a caller may know of the public names: each has a docstring, which names the errors and the units."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Iterator
from typing import Any

import memtui
import pytest
from memtui import Memory, MemtuiError
from memtui.engine import records
from memtui.engine.records import Options

_ROOMS = ("memtui.engine.namespaces.", "memtui.engine.backups.", "memtui.engine.jobs.")
# An argument by its name, as a caller has it who has mistyped something: nothing of this exists, or it cannot be read.
_WRONG: dict[str, Any] = {
    **dict.fromkeys(("id", "identity", "memory_id", "entity_id", "name_or_id", "survivor", "absorbed", "other"), "none_such"),
    **dict.fromkeys(("name", "alias", "key", "session_id", "agent", "job", "strategy"), "none such"),
    **dict.fromkeys(("op_id", "query_id"), 10**9),
    **dict.fromkeys(("when", "since", "after", "before", "until", "start", "end"), "no time"),
    **dict.fromkeys(("content", "new_content", "text", "query", "prompt", "value", "summary"), ""),
    **dict.fromkeys(("type", "category", "kind", "role"), "other"),
    "filter": "kind:", "ids": ["none_such"], "others": ["none_such"], "paths": ["/none/such"], "sources": [], "rids": [],
}  # fmt: skip
_ENDS = {"close", "reopen", "start", "stop", "lead", "subscribe", "on_current_file"}


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open(":memory:", options=Options(background=False, embedder="off")) as opened:
        yield opened


def _public(memory: Memory) -> Iterator[tuple[str, object, str, Any]]:
    """(name of the object, object, name, member) of everything public of a memory and its namespaces."""
    names = sorted(name for name in vars(Memory).keys() | vars(memory).keys() if not name.startswith("_"))
    held = {name: getattr(memory, name) for name in names if not callable(getattr(Memory, name, None))}
    rooms = {name: one for name, one in held.items() if type(one).__module__.startswith(_ROOMS)}
    for room, owner in {"memory": memory, **rooms}.items():
        for name, member in vars(type(owner)).items():
            if not name.startswith("_"):
                yield room, owner, name, member


def test_each_public_member_has_a_docstring(memory: Memory) -> None:
    bare = [f"{room}.{name}" for room, _, name, member in _public(memory) if not inspect.getdoc(member)]
    assert not bare


def test_each_docstring_names_the_errors_of_wrong_arguments(memory: Memory) -> None:
    silent, raised = [], 0
    for room, owner, name, member in _public(memory):
        if not inspect.isfunction(member) or name in _ENDS:
            continue
        needed = [
            one.name
            for one in list(inspect.signature(member).parameters.values())[1:]
            if one.default is one.empty
        ]
        if not _WRONG.keys() >= set(needed):
            continue
        try:
            result = getattr(owner, name)(**{one: _WRONG[one] for one in needed})
            if inspect.iscoroutine(result):
                asyncio.run(result)
        except MemtuiError as error:
            raised += 1
            if type(error).__name__ not in str(inspect.getdoc(member)):
                silent.append(f"{room}.{name} raises {type(error).__name__}: {error.message}")
    assert not silent
    assert raised > 50


def test_records_say_the_units_of_spans_and_sizes() -> None:
    """Points in time are Unix seconds everywhere. The unit of a span or size is in the field's name or the docstring."""
    assert "times are Unix seconds" in str(records.__doc__)
    for name in memtui.__all__:
        kind = getattr(memtui, name)
        for field in getattr(kind, "__struct_fields__", ()):
            if re.search(r"(^|_)(timeout|elapsed|took|wait|size)($|_)", field):
                assert re.search(r"seconds|bytes", f"{field} {kind.__doc__}"), f"{name}.{field}"
