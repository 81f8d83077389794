"""What would be written into a client's configuration, as a diff that shows no secrets of others."""

from __future__ import annotations

import difflib
import re

from memtui.engine.records import Record

from .clients import Client
from .files import Edit

_HIDDEN = "[hidden]"
_JSON_OR_TOML = re.compile(r"""("(?:[^"\\]|\\.)*"|'[^']*')(\s*[:=])?|(//|/\*|#).*""")
_YAML_PIECE = re.compile(r"[^,{}\[\]]+")
_YAML_KEY = re.compile(r"(\s*(?:- +)?)((?:[\w.$-]+|\"[^\"]*\"|'[^']*'):(?=\s|$))?(\s*)(.*?)(\s*)$")
_LITERALS = {"true", "false", "null", "~", ""}


class PlannedEdits(Record):
    """What would be written for a client. ``shown``: the texts that a diff may show. ``problem``: why nothing can."""

    client: Client
    edits: tuple[Edit, ...]
    shown: frozenset[str]
    problem: str = ""

    @property
    def changed_edits(self) -> tuple[Edit, ...]:
        return tuple(edit for edit in self.edits if edit.changes_text)


def diff_lines(edit: Edit, planned: PlannedEdits) -> list[str]:
    """The lines that change. Of values only what memtui writes is shown, and no comments: others may be secrets."""
    from memtui.engine.guards import secrets

    name = str(edit.path)
    lines = difflib.unified_diff(
        (edit.before or "").splitlines(),
        (edit.after or "").splitlines(),
        name if edit.before is not None else "(new)",
        name if edit.after is not None else "(removed)",
        lineterm="",
        n=0,
    )
    masked = _mask_yaml if planned.client.format == "yaml" else _mask_values
    return [
        line
        if line.startswith(("+++ ", "--- ", "@@ "))
        else secrets.redact_secrets(masked(line, planned.shown))[0]
        for line in lines
    ]


def _mask_values(line: str, ours: frozenset[str]) -> str:
    def mask_match(match: re.Match[str]) -> str:
        if match[3]:
            return f"{match[3]} {_HIDDEN}"
        text = match[1][1:-1].replace('\\"', '"').replace("\\\\", "\\")
        is_name = bool(match[2])
        return match[0] if is_name or text in ours or "memtui" in text else f'"{_HIDDEN}"'

    return _JSON_OR_TOML.sub(mask_match, line)


def _mask_yaml(line: str, ours: frozenset[str]) -> str:
    text, sign, _ = line.partition(" #")
    masked = _YAML_PIECE.sub(lambda match: _mask_value(match[0], ours), text[1:])
    return f"{text[:1]}{masked}{f' # {_HIDDEN}' if sign else ''}"


def _mask_value(piece: str, ours: frozenset[str]) -> str:
    match = _YAML_KEY.match(piece)
    if match is None:
        return _HIDDEN
    before, key, gap, value, after = match.groups("")
    bare = value[1:-1] if value[:1] in "'\"" and value[-1:] == value[:1] else value
    known = bare in ours or bare in _LITERALS or bare.isdigit() or "memtui" in bare
    return f"{before}{key}{gap}{value if known else _HIDDEN}{after}"
