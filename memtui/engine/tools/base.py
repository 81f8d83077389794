"""A tool, and the call of one: arguments are checked strictly, and every error becomes an answer.

The agent acts on the answer, so an error has a code, its cause and the next step. Nothing that an agent sends raises
an exception.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from memtui.engine.errors import (
    DegradedError,
    InputError,
    MemtuiError,
    NotFoundError,
    ProtectedError,
    QuotaError,
    ReadOnlyError,
    StoreError,
)
from memtui.engine.guards.hidden_characters import with_hidden_shown
from memtui.engine.records import Record
from memtui.engine.store.sql import storable_text
from memtui.log import error_outline

if TYPE_CHECKING:
    from .agent import Agent

Group = Literal["memory", "consolidator", "observations", "scratchpad"]
GROUPS: tuple[Group, ...] = ("memory", "consolidator", "observations", "scratchpad")
Code = Literal[
    "bad_arguments",
    "unknown_tool",
    "not_found",
    "confirmed",
    "refused",
    "read_only",
    "quota",
    "unavailable",
    "failed",
]

MOST_BYTES = 4_000_000
"""Of the arguments of one call."""
_EXACT = 2.0**53
_log = logging.getLogger("memtui.tools")


class Arguments(Record, forbid_unknown_fields=True):
    """Base class of the arguments of tools. ``msgspec.Meta`` has ranges and descriptions."""


class Tool(Record):
    """A tool. ``description`` tells the model what it does and when to use it. ``returns``: the type of its result.
    ``writes``: it can change the memory, so a read-only agent does not get it. ``keeps_at_most``: bytes of its arguments.
    """

    name: str
    description: str
    group: Group
    arguments: type[Arguments]
    returns: type[Record]
    run: Callable[[Agent, Any], Record]
    writes: bool = False
    keeps_at_most: int = MOST_BYTES


class ToolError(Record):
    """Why a call failed: ``message`` is the cause, ``hint`` the next step."""

    code: Code
    message: str
    hint: str = ""


class ToolAnswer(Record):
    """The result of a call: a value or an error, never both."""

    value: Record | None = None
    error: ToolError | None = None

    @property
    def ok(self) -> bool:
        return self.error is None

    @property
    def text(self) -> str:
        """The value (or ``{"error": ...}``) as JSON, for the model; hidden characters are shown."""
        body = self.value if self.error is None else {"error": self.error}
        return msgspec.json.encode(with_hidden_shown(msgspec.to_builtins(body))).decode()

    @property
    def structured(self) -> dict[str, Any] | None:
        """The value as an object; None for an error."""
        return None if self.value is None else with_hidden_shown(msgspec.to_builtins(self.value))


def call(agent: Agent, tool: Tool | None, arguments: Mapping[str, Any] | str | bytes) -> ToolAnswer:
    """Run a tool for an agent. ``arguments``: JSON text, or an object already read from it. Never raises.

    ``null`` for an argument with a default is the default, and 5.0 is 5: clients send both.
    """
    if tool is None:
        return _error_answer(
            "unknown_tool", "There is no such tool.", "Call one of the tools that are listed."
        )
    if tool.writes and agent.readonly:
        return _error_answer("read_only", f"{tool.name} changes the memory; this connection only reads it.")
    try:
        parsed = _parse_arguments(tool, arguments)
    except (msgspec.MsgspecError, UnicodeError, RecursionError, InputError) as error:
        return _error_answer(
            "bad_arguments",
            f"The arguments of {tool.name} cannot be used: {error}",
            _usage_hint(tool.arguments),
        )
    try:
        return ToolAnswer(value=agent.memory.on_current_file(lambda: _charge_call(agent, tool, parsed)))
    except MemtuiError as error:
        return _error_answer(_error_code(error), error.message, error.hint)
    except Exception as error:  # an error of ours must not end the agent's run; the log has it
        _log.error("the tool %s failed: %s", tool.name, error_outline(error))
        return _error_answer(
            "failed", f"{tool.name} failed inside the memory.", "Go on without it, and tell the person."
        )


def arguments_schema(tool: Tool) -> dict[str, Any]:
    """The JSON schema of a tool's arguments: plain types, what is required, defaults, the lengths that are enforced."""
    return _object_schema(tool.arguments)


def output_schema(tool: Tool) -> dict[str, Any]:
    """The JSON schema of the result of a call without an error."""
    return _object_schema(tool.returns)


def _charge_call(agent: Agent, tool: Tool, arguments: Arguments) -> Record:
    """Count the call. Raises QuotaError if the agent has used up a limit of this hour."""
    with agent.count_call(
        min(_argument_bytes(msgspec.to_builtins(arguments)), tool.keeps_at_most) if tool.writes else None
    ):
        return tool.run(agent, arguments)


def _argument_bytes(value: Any) -> int:
    """The size of all texts in a call's arguments."""
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, dict):
        return sum(map(_argument_bytes, value.values()))
    return sum(map(_argument_bytes, value)) if isinstance(value, list | tuple) else 0


def _parse_arguments(tool: Tool, arguments: Mapping[str, Any] | str | bytes) -> Arguments:
    if isinstance(arguments, str | bytes):
        raw = arguments.encode("utf-8") if isinstance(arguments, str) else arguments
        if len(raw) > MOST_BYTES:
            raise InputError(f"they have {len(raw):,} bytes, {MOST_BYTES:,} is the most")
        arguments = msgspec.json.decode(raw) if raw.strip() else {}
    return msgspec.convert(_clean_arguments(arguments), tool.arguments)


def _clean_arguments(value: Any) -> Any:
    """The arguments without null and without characters that SQLite cannot store. 5.0 becomes 5."""
    if isinstance(value, Mapping):
        return {
            storable_text(str(key)): _clean_arguments(one) for key, one in value.items() if one is not None
        }
    if isinstance(value, list | tuple):
        return [_clean_arguments(one) for one in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return int(value)
    return storable_text(value) if isinstance(value, str) else value


def _error_answer(code: Code, message: str, hint: str = "") -> ToolAnswer:
    return ToolAnswer(error=ToolError(code=code, message=storable_text(message), hint=storable_text(hint)))


def _error_code(error: MemtuiError) -> Code:
    match error:
        case NotFoundError():
            return "not_found"
        case ProtectedError():
            return "confirmed"
        case QuotaError():
            return "quota"
        case ReadOnlyError():
            return "read_only"
        case DegradedError() | StoreError():
            return "unavailable"
        case _:
            return "refused"


def _usage_hint(arguments: type[Arguments]) -> str:
    names = [
        field.encode_name + (" (required)" if field.required else "")
        for field in msgspec.structs.fields(arguments)
    ]
    return f"It takes {', '.join(names)}." if names else "It takes no arguments: send {}."


def _object_schema(struct: type[msgspec.Struct]) -> dict[str, Any]:
    _, definitions = msgspec.json.schema_components((struct,), ref_template="{name}")
    schema = _flatten_schema(definitions[struct.__name__], definitions)
    return {key: value for key, value in schema.items() if key != "description"}  # the tool has its own


def _flatten_schema(node: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """A schema without references and unions. An optional argument may be left out."""
    flattened = {key: value for key, value in node.items() if key not in ("title", "propertyNames")}
    if "anyOf" in flattened:
        [kind] = [one for one in flattened.pop("anyOf") if one.get("type") != "null"]
        flattened = {**kind, **flattened}
    if "$ref" in flattened:
        flattened = {**definitions[flattened.pop("$ref")], **flattened}
        return _flatten_schema(flattened, definitions)
    if "enum" in flattened:
        flattened["type"] = "string"
    if flattened.get("default", 0) is None:
        del flattened["default"]
    if isinstance(flattened.get("items"), Mapping):
        flattened["items"] = _flatten_schema(flattened["items"], definitions)
    if "properties" in flattened:
        flattened["properties"] = {
            name: _flatten_schema(one, definitions) for name, one in flattened["properties"].items()
        }
    if isinstance(flattened.get("additionalProperties"), Mapping):
        flattened["additionalProperties"] = _flatten_schema(flattened["additionalProperties"], definitions)
    return flattened
