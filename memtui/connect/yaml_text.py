"""Set or remove one mapping in the text of a YAML file and leave every other character as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_INDENT = "  "
_TOUCHES_MORE = "it cannot be changed there without touching more"


def load(text: str) -> dict[str, Any]:
    """The document; a blank text is an empty mapping. Raises ValueError for anything but a mapping."""
    import yaml

    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" (line {mark.line + 1})" if mark else ""
        raise ValueError(f"it is not valid YAML{line}") from error
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise ValueError("it is not a mapping")
    return document


def set_values(text: str, path: Sequence[str], values: Mapping[str, Any]) -> str:
    """``text`` with ``values`` in the mapping at ``path``, which is created if missing; its other keys are kept.

    Raises ValueError if the text is no YAML mapping, if something else is on the path, or if other text would change.
    """
    expected = load(text)
    inner, outers = expected, []
    for depth, name in enumerate(path, 1):
        if inner.get(name) is None:
            inner[name] = {}
        inner = inner[name]
        outers.append(inner)
        if not isinstance(inner, dict):
            raise ValueError(f"its {'.'.join(path[:depth])} is not a mapping")
    if any(_count_references(expected, one) > 1 for one in outers):
        raise ValueError(_TOUCHES_MORE)
    inner.update(values)
    if load(text) == expected:
        return text
    return _check_edit(_set_in_block(text, path, values), expected)


def remove(text: str, path: Sequence[str], *, prune: bool = True) -> str:
    """``text`` without the mapping at ``path``, and with ``prune`` without what is empty then around it.

    The text itself if nothing is there. Raises ValueError as ``set_values``.
    """
    expected = load(text)
    outer = expected
    for name in path[:-1]:
        inner = outer.get(name)
        if not isinstance(inner, dict):
            return text
        outer = inner
    if path[-1] not in outer:
        return text
    del outer[path[-1]]
    changed = _cut_mapping(text, path)
    if not outer and len(path) > 1:
        pruned = _cut_mapping(text, path[:-1])
        if prune and pruned.count("#") == changed.count("#"):  # no comment would go with it
            _set_in_document(expected, path[:-1], gone=True)
            return _check_edit(pruned, expected)
        if load(changed) != expected:  # a key without a value, where an empty mapping was
            _set_in_document(expected, path[:-1], gone=False)
    return _check_edit(changed, expected)


def _count_references(document: Any, wanted: Any) -> int:
    """How often a mapping is part of the document: more than once if there is an alias of it."""
    references, seen, left = 0, {id(document)}, [document]
    while left:
        outer = left.pop()
        for one in outer.values() if isinstance(outer, dict) else outer:
            references += one is wanted
            if isinstance(one, dict | list) and id(one) not in seen:
                seen.add(id(one))
                left.append(one)
    return references


def _set_in_block(text: str, path: Sequence[str], values: Mapping[str, Any]) -> str:
    node = _compose_document(text)
    for depth, name in enumerate(path):
        pair = _find_pair(node, name)
        if pair is None:
            return _insert_member(text, node, name, _nest_values(path[depth + 1 :], values))
        key, value = pair
        if value.id != "mapping" or not value.value:
            return _replace_value(text, node, key, value, _nest_values(path[depth + 1 :], values))
        node = value
    for name, wanted in values.items():
        node = _compose_document(text)
        for step in path:
            node = _find_pair(node, step)[1]
        pair = _find_pair(node, name)
        if pair is None:
            text = _insert_member(text, node, name, wanted)
        elif load(text[_start_offset(pair[0]) : _end_offset(text, pair[1])] + "\n") != {name: wanted}:
            text = f"{text[: _start_offset(pair[0])]}{name}: {_flow_yaml(wanted)}{text[_end_offset(text, pair[1]) :]}"
    return text


def _nest_values(path: Sequence[str], values: Mapping[str, Any]) -> Any:
    nested: Any = dict(values)
    for name in reversed(path):
        nested = {name: nested}
    return nested


def _insert_member(text: str, node: Any, name: str, value: Any) -> str:
    """A new member at the end of a mapping. ``node`` is None for an empty document."""
    if node is None:
        begun = text if not text or text.endswith("\n") else f"{text}\n"
        return begun + _block_yaml({name: value}, "")
    if not node.value or node.flow_style:
        place = _end_offset(text, node.value[-1][1]) if node.value else node.start_mark.index + 1
        separator = ", " if node.value else ""
        return f"{text[:place]}{separator}{_flow_yaml({name: value})[1:-1]}{text[place:]}"
    indent = " " * node.value[0][0].start_mark.column
    last = _end_offset(text, node.value[-1][1])
    line_end = text.find("\n", last)
    place = len(text) if line_end < 0 else line_end
    return f"{text[:place]}\n{_block_yaml({name: value}, indent).rstrip()}{text[place:]}"


def _replace_value(text: str, node: Any, key: Any, value: Any, nested: Any) -> str:
    """The value of a key of ``node`` that has none yet, or an empty mapping."""
    if node.flow_style:
        start = max(value.start_mark.index, key.end_mark.index)
        sign = "" if ":" in text[key.end_mark.index : start] else ":"
        return f"{text[:start].rstrip()}{sign} {_flow_yaml(nested)}{text[value.end_mark.index :]}"
    indent = " " * key.start_mark.column + _INDENT
    end = value.end_mark.index
    colon = text.index(":", key.end_mark.index) + 1
    block = _block_yaml(nested, indent).rstrip()
    if value.start_mark.index == end:  # nothing is written
        return f"{text[:colon]}\n{block}{text[colon:]}"
    return f"{text[:colon]}\n{block}{text[end:]}"


def _cut_mapping(text: str, path: Sequence[str]) -> str:
    node = _compose_document(text)
    for name in path[:-1]:
        node = _find_pair(node, name)[1]
    key, value = _find_pair(node, path[-1])
    begin, end = _start_offset(key), _end_offset(text, value)
    if node.flow_style:
        place = next(n for n, pair in enumerate(node.value) if pair[0] is key)
        if place + 1 < len(node.value):
            return text[:begin] + text[_start_offset(node.value[place + 1][0]) :]
        if place:
            begin = _end_offset(text, node.value[place - 1][1])
        return text[:begin] + text[end:]
    begin -= key.start_mark.column
    line_end = text.find("\n", end)
    if line_end < 0:
        return text[: max(begin - 1, 0)]
    return text[:begin] + text[line_end + 1 :]


def _check_edit(edited: str, expected: dict[str, Any]) -> str:
    try:
        as_expected = load(edited) == expected
    except ValueError:
        as_expected = False
    if not as_expected:
        raise ValueError(_TOUCHES_MORE)
    return edited


def _compose_document(text: str) -> Any:
    import yaml

    return yaml.compose(text, Loader=yaml.SafeLoader)


def _find_pair(node: Any, name: str) -> Any:
    """The key and the value of a member, None if it is not there."""
    pairs = node.value if node is not None else ()
    return next((pair for pair in pairs if pair[0].value == name), None)


def _start_offset(node: Any) -> int:
    return int(node.start_mark.index)


def _end_offset(text: str, node: Any) -> int:
    """Where a value ends. The marks of blocks lie behind the lines and comments that follow them."""
    if node.id in ("mapping", "sequence") and node.value and not node.flow_style:
        last = node.value[-1]
        return _end_offset(text, last[1] if node.id == "mapping" else last)
    end = int(node.end_mark.index)
    if node.id == "scalar" and node.style in ("|", ">"):
        return len(text[:end].rstrip("\n"))
    return end


def _block_yaml(value: Any, indent: str) -> str:
    import yaml

    dumped: str = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=10_000)
    return "".join(f"{indent}{line}\n" for line in dumped.splitlines())


def _flow_yaml(value: Any) -> str:
    import yaml

    dumped: str = yaml.safe_dump(
        value, sort_keys=False, allow_unicode=True, width=10_000, default_flow_style=True
    )
    return dumped.removesuffix("\n").removesuffix("\n...")


def _set_in_document(document: dict[str, Any], path: Sequence[str], *, gone: bool) -> None:
    """Remove the key at ``path``, or its value."""
    for name in path[:-1]:
        document = document[name]
    document[path[-1]] = None
    if gone:
        del document[path[-1]]
