"""A secret in any text argument of any public verb, tool or line of an export is in no column of the file.

Verbs, tools and lines are read from their signatures: a new one, and a new field of an old one, is asked here too. Each
plant is a key of its own, so that what is found names the way it came in.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import random
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

import apsw
import msgspec
import pytest
from memtui import Memory
from memtui.engine.consolidation.extract.protocol import Context, Extraction
from memtui.engine.consolidation.extract.rules import KeywordExtractor
from memtui.engine.consolidation.extract.transcripts import TranscriptMessage
from memtui.engine.erase.columns import SCHEMA
from memtui.engine.errors import MemtuiError
from memtui.engine.records import MemoryRecord, Options, Profile
from memtui.engine.review.cards import ReviewItem
from memtui.engine.review.groups import ReviewGroup
from memtui.engine.store import export_rows
from memtui.engine.tools.agent import Agent
from memtui.engine.tools.base import arguments_schema
from memtui.engine.tools.registry import TOOLS, run_tool
from memtui.hook.quick import HookMemory

OPTIONS = Options(background=False, embedder="off")
# Verbs that end or replace the file, need a store, run until they are stopped, or hand out what other verbs are called on.
OTHER = frozenset(
    (
        "memory.close", "memory.reopen", "memory.rescue", "memory.subscribe", "memory.on_current_file", "backups.restore",
        "backups.opened", "files.follow", "files.export", "files.probe", "files.erase", "quotas.call", "jobs.start",
        "scratchpad.confined", "sessions.by_agent", "sync.follow", "sync.run", "sync.run_with", "sync.join",
    )
)  # fmt: skip


class Plants:
    """Keys that look real, each made for one place."""

    def __init__(self) -> None:
        self.places: dict[str, str] = {}
        self._random = random.Random(12)

    def key(self, place: str) -> str:
        drawn = "".join(self._random.choices(string.ascii_letters + string.digits, k=42))
        self.places[key := f"sk-proj-a1B{drawn}"] = place
        return key


def _found(path: Path, plants: Plants) -> list[str]:
    """``place -> table.column`` for each plant in the file; only the text of a turn may have one."""
    found = set()
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    for table in SCHEMA:
        names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        kept = ", kind = 'episode'" if table == "memories" else ", 0"
        for *row, turn in connection.execute(f"SELECT *{kept} FROM {table}"):
            for name, value in zip(names, row, strict=True):
                text = str(value).replace("\u200b", "").replace("\\u200b", "")
                if "sk-proj-" in text and not (turn and name == "content"):
                    found |= {
                        f"{one} -> {table}.{name}" for key, one in plants.places.items() if key[:20] in text
                    }
    connection.close()
    return sorted(found)


def _verbs(memory: Memory) -> Iterator[tuple[str, Callable[..., Any]]]:
    rooms = {"memory": memory} | {
        name: getattr(memory, name)
        for name, made in vars(Memory).items()
        if isinstance(made, cached_property) and name != "view"  # it only reads
    }
    for room, holder in rooms.items():
        for name, _ in inspect.getmembers(type(holder), inspect.isfunction):
            if not name.startswith("_") and f"{room}.{name}" not in OTHER:
                yield f"{room}.{name}", getattr(holder, name)


def _plain(memory: Memory, number: int) -> dict[str, Any]:
    """A value for every parameter that a verb may need, by its name; of things that each call has for itself."""
    fact = memory.remember(f"Ada Lovelace keeps garden number {number}")
    other = memory.remember(f"Grace Hopper sails boat number {number}")
    memory.record_turn(f"talk {number}", "user", f"Linus Berg painted fence number {number}")
    names = memory.entities.page(limit=2)
    return {
        "group": ReviewGroup(title="The garden", items=()),
        "id": fact.id, "memory_id": fact.id, "survivor": fact.id, "others": [other.id], "rids": [fact.rid], "ids": [fact.id],
        "served": [fact], "entity_id": names[0].id, "other": names[-1].id, "absorbed": names[-1].id,
        "name_or_id": "Ada Lovelace", "type": "person", "alias": "Countess", "summary": "An engineer.",
        "actor": "agent:scout", "verb": "tag", "content": "Likes tea", "new_content": "Likes coffee", "text": "Likes milk",
        "why": "It is old.",
        "session_id": f"talk {number}", "exclude": None, "role": "user", "query": "tea", "prompt": "tea", "key": "note",
        "value": "to do", "prefix": "n", "expected": None, "category": "lesson", "findings": ["The limit is 5"],
        "transcript": [TranscriptMessage(role="user", content="Important: always water the garden in the evening.")],
        "profile": "default", "name": "decay", "filter": "", "op_id": None, "query_id": 1, "reason": "manual",
        "paths": [], "plan": None, "plans": [], "items": [], "verdict": "correct", "when": "now",
        "item": ReviewItem(id=f"new:{number}", kind="suspicious", reason="", memories=(fact,)),
        "start": "yesterday", "size": None, "stats": memory.stats(), "tags": ["garden"], "add": ["garden"],
        "scope": "x", "callback": print, "agent": "scout", "since": 0.0, "kind": "client", "device": "laptop",
    }  # fmt: skip


def _arguments(verb: str, call: Callable[..., Any], plain: Mapping[str, Any]) -> dict[str, Any]:
    given = {}
    for parameter in inspect.signature(call).parameters.values():
        if parameter.default is inspect.Parameter.empty:
            assert parameter.name in plain, f"{verb}: add a value for {parameter.name} to _plain"
            given[parameter.name] = plain[parameter.name]
    if verb.startswith("entities."):
        given |= {key: plain["entity_id"] for key in ("id", "survivor") if key in given}
    if verb == "review.request_change":
        given["verb"] = "correct"
    if verb in (
        "backups.restore_memories",
        "backups.contents",
        "backups.find",
        "backups.info",
        "backups.preview",
        "jobs.run_now",
    ):
        given["name"] = "decay"
    return given


def _planted(
    place: str, call: Callable[..., Any], given: Mapping[str, Any], plain: Mapping[str, Any], plants: Plants
) -> Iterator[dict[str, Any]]:
    """The arguments once for each text among the parameters, with a key in that one; alone, and among words."""
    for parameter in inspect.signature(call).parameters.values():
        hint, name = str(parameter.annotation), parameter.name
        for shape in ("{}", "the key is {}"):
            here = f"{place}({name})"
            if "Callable" in hint:
                continue
            if "Message" in hint:
                for field in ("role", "content"):
                    message = TranscriptMessage(
                        role="user", content="Important: always water the garden in the evening."
                    )
                    value = shape.format(plants.key(f"{here}.{field}"))
                    yield {**given, name: [msgspec.structs.replace(message, **{field: value})]}
            elif hint == "ReviewItem":
                for field in ("reason", "text"):
                    value = shape.format(plants.key(f"{here}.{field}"))
                    yield {
                        **given,
                        "text": "Likes milk",
                        name: msgspec.structs.replace(given[name], **{field: value}),
                    }
            elif hint == "Profile":
                yield {**given, name: Profile(name=shape.format(plants.key(here)), k=70)}
            elif "str" in hint:
                value = shape.format(plants.key(here))
                many = any(word in hint for word in ("Sequence", "Iterable"))
                yield {**given, name: [value] if many else value}


def test_no_verb_keeps_a_secret_but_in_a_quarantined_turn(tmp_path: Path) -> None:
    place, plants, number = tmp_path / "memory.db", Plants(), 0
    with (
        Memory.open(place, options=OPTIONS) as memory,
        Memory.open(place, actor="agent:scout", options=OPTIONS) as agent,
    ):
        for hand in (memory, agent):
            verbs = dict(_verbs(hand))
            for verb, function in verbs.items():
                plain = _plain(memory, number := number + 1)
                given = _arguments(verb, function, plain)
                for arguments in _planted(f"{hand.actor} {verb}", function, given, plain, plants):
                    with suppress(MemtuiError, ValueError, TypeError):
                        _run(function, arguments)
        _go_on(memory, plants)
    assert len(plants.places) > 300
    found = _found(place, plants)
    assert not found, "\n".join(found)


def _run(function: Callable[..., Any], arguments: dict[str, Any]) -> None:
    made = function(**arguments)
    if inspect.iscoroutine(made):
        asyncio.run(made)


def _go_on(memory: Memory, plants: Plants) -> None:
    """What is done with a turn that has a secret, and what is drawn from it at night."""
    turn = memory.record_turn(
        "kept", "user", f"Remember: my key is {plants.key('a turn that is worked on')}, says Ada."
    )
    for verb in ("tag", "forget", "restore"):
        _run(getattr(memory, verb), {"id": turn.id} | ({"add": ["seen"]} if verb == "tag" else {}))
    memory.change_all("forget", [turn.rid])
    memory.undo()
    memory.review.request_change("forget", turn.id, why="It is old.")
    memory.questions.expect("what does Ada say?", turn.id)
    memory.questions.run()
    for item in memory.review.items():
        with suppress(MemtuiError):
            memory.review.decide(item, "snooze")
    asyncio.run(memory.consolidate("kept"))
    for job in memory.jobs.status().jobs:
        memory.jobs.run_now(job.name)


def test_no_tool_keeps_a_secret_but_in_a_quarantined_turn(tmp_path: Path) -> None:
    place, plants = tmp_path / "memory.db", Plants()
    with Memory.open(place, actor="agent:scout", options=OPTIONS) as memory:
        agent = Agent(memory)
        fact = memory.remember("Ada keeps bees")
        memory.record_turn("talk", "user", "Ada keeps bees and goats")
        plain: dict[str, Any] = {
            "memory_id": fact.id, "new_fact_id": fact.id, "old_fact_id": fact.id, "session_id": "talk", "role": "user",
            "source_ids": [memory.view.page("kind:episode")[0].id], "output": "The limit of the API is 100 calls. " * 20,
            "category": "lesson", "kind": "fact",
        }  # fmt: skip
        for tool in TOOLS:
            for arguments in _filled(tool.name, arguments_schema(tool), plain, plants):
                answer = run_tool(agent, tool.name, arguments)
                assert answer.error is None or answer.error.code != "failed", (tool.name, answer.text)
    assert len(plants.places) >= 40
    found = _found(place, plants)
    assert not found, "\n".join(found)


def _filled(
    place: str, shape: dict[str, Any], plain: Mapping[str, Any], plants: Plants
) -> Iterator[dict[str, Any]]:
    """Arguments of a tool once for each text among them, with a key in that one."""
    properties = shape.get("properties", {})
    base = {name: _some(name, properties[name], plain) for name in shape.get("required", ())}
    for name, one in properties.items():
        here = f"{place}.{name}"
        if one.get("type") == "string" and "enum" not in one:
            for words in ("{}", "the key is {}"):
                yield {**base, name: words.format(plants.key(here))}
        elif one.get("type") == "array" and one["items"].get("type") == "object":
            yield from ({**base, name: [item]} for item in _filled(here, one["items"], plain, plants))
        elif one.get("type") == "array":
            for words in ("{}", "the key is {}"):
                yield {**base, name: [words.format(plants.key(here))]}


def _some(name: str, one: dict[str, Any], plain: Mapping[str, Any]) -> Any:
    if name in plain:
        return plain[name]
    match one["type"]:
        case "array":
            items = one["items"]
            if items.get("type") == "object":
                return [
                    {field: _some(field, items["properties"][field], plain) for field in items["required"]}
                ]
            return ["Bees like lavender"]
        case "number" | "integer":
            return 1
    return "Bees like lavender"


def test_no_line_of_an_export_brings_one_in(tmp_path: Path) -> None:
    place, plants, export = tmp_path / "memory.db", Plants(), tmp_path / "export.jsonl"
    with Memory.open(tmp_path / "other.db", options=OPTIONS) as memory:
        memory.remember("Ada keeps bees", tags=["garden"])
        memory.record_turn("talk", "user", "Ada keeps bees and goats")
        memory.entities.describe(memory.entities.page()[0].id, "An engineer.")
        memory.questions.pin("who keeps bees?")
        memory.questions.save_profile(Profile(name="mine", k=70))
        memory.scratchpad.set("note", "to do")
        memory.scratchpad.set("gone", "to do")
        memory.scratchpad.delete("gone")
        memory.review.request_change("forget", memory.view.page("kind:fact")[0].id, why="It is old.")
        memory.files.export(export)
    lines = [json.loads(line) for line in export.read_text().splitlines()]
    kinds = {str(type.__struct_config__.tag): type for type in get_args(export_rows.AnyLine)}
    assert {"read", "decision"} >= kinds.keys() - {line.get("line") for line in lines}
    made = [lines[0]]
    for line in lines[1:-1]:
        for field in kinds[line["line"]].__struct_fields__ if line["line"] in kinds else ():
            made += _lines_with(line, field, plants)
    export.write_text("\n".join(json.dumps(line) for line in [*made, lines[-1]]) + "\n")
    with Memory.open(place, options=OPTIONS) as memory:
        memory.files.import_paths([export])
        assert memory.view.count() > 10
    found = _found(place, plants)
    assert not found, "\n".join(found)


def _lines_with(line: dict[str, Any], field: str, plants: Plants) -> Iterator[dict[str, Any]]:
    """The line with a key in a field, as a row of its own: no other of its kind has its id and name."""
    key = plants.key(f"{line['line']}.{field}")
    own = {
        name: f"{line[name][:5]}{len(plants.places):012x}"
        for name in ("id", "session_id", "key", "name", "canonical_name", "source_key")
        if isinstance(line.get(name), str)
    }
    if "content" in line:
        own["content"] = f"{line['content']} {len(plants.places)}"
    if "aliases" in line:
        name = own["canonical_name"]
        own["aliases"] = [{"key": name.casefold(), "alias": name}]
    for value in (
        f"the key is {key}",
        [f"the key is {key}"],
        {"x": f"the key is {key}"},
        [{"key": key, "alias": key}],
    ):
        yield {**line, **own, field: value}


def test_no_id_of_a_message_brings_one_in(tmp_path: Path) -> None:
    place, plants, talk = tmp_path / "memory.db", Plants(), tmp_path / "talk.jsonl"
    message = {"role": "user", "content": "Ada keeps bees"}
    talk.write_text(
        "\n".join(
            json.dumps({**message, field: plants.key(f"jsonl.{field}")})
            for field in ("id", "session_id", "session", "project", "title", "time", "role")
        )
    )
    with Memory.open(place, options=OPTIONS) as memory:
        memory.files.import_paths([talk])
        again = memory.files.import_paths([talk])
        assert memory.view.count() > 4 and again.imported == 0
    found = _found(place, plants)
    assert not found, "\n".join(found)


def test_the_hook_keeps_none(tmp_path: Path) -> None:
    place, plants = tmp_path / "memory.db", Plants()
    with Memory.open(place, options=OPTIONS) as memory:
        memory.remember("Ada keeps bees")
        block = memory.context("Who keeps bees?")
    quick = HookMemory(place, agent="claude-code", options=OPTIONS)
    plain = {
        "session_id": "talk",
        "role": "user",
        "content": "Ada keeps bees",
        "source": "hook",
        "project": "garden",
    }
    for field in plain:
        quick.record_turn(**{**plain, field: f"the key is {plants.key(field)}"}, served=block)  # type: ignore[arg-type]
    quick.close()
    found = _found(place, plants)
    assert not found, "\n".join(found)


def test_what_an_endpoint_complains_of_is_kept_without_one(tmp_path: Path) -> None:
    place, plants = tmp_path / "memory.db", Plants()

    class Refusing(KeywordExtractor):
        async def extract(self, turns: Sequence[MemoryRecord], context: Context) -> Extraction:
            raise MemtuiError(f"Incorrect key provided: {plants.key('an answer of an endpoint')}")

    with Memory.open(place, options=OPTIONS) as memory:
        memory.record_turn("talk", "user", "I keep bees in Ghent")
        asyncio.run(memory.sessions.consolidate("talk", extractor=Refusing()))
        [failed] = memory.sessions.pending()
        assert failed.last_error is not None and "Incorrect key provided" in failed.last_error
    found = _found(place, plants)
    assert not found, "\n".join(found)


def test_nobody_is_called_by_a_secret(tmp_path: Path) -> None:
    actor = f"agent:{Plants().key('actor')}"
    with pytest.raises(MemtuiError) as caught:
        Memory.open(tmp_path / "memory.db", actor=actor, options=OPTIONS)
    assert actor not in str(caught.value)
