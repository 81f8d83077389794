"""What consolidation without a language model draws from the talks in tests/data/talks.

    python tests/benchmarks/extract_eval.py [PERSON ...] [--show] [--pairs]

Each person's turns are recorded in a fresh memory and consolidated, session by session. For the dev, the held and the fresh part
it prints:

gold     things worth keeping that a fact tells whose source is in their session; "anywhere": in whatever session
vital    the same of those that are marked vital (health, "must not")
lines    facts that were drawn; "matching": those that tell a gold thing or a value that was true at its time
never    lines that match what must not become a fact
topic    gold things that were kept, whose fact has the topic that the listing gives; "alone": where the fact tells
         things of one topic only, for a fact has no more than one
stale    superseded values that stand: an active fact tells the old one, nothing replaces it, and no card asks;
         "by its own": nothing that tells the new value replaces it, and no card shows both
cards    conflicts and choices that were asked; "choices": those with several known facts; "right": the new fact tells the new
         value of a pair, and one of the known ones the old value
told     what is told as perhaps changed while a card asks: pairs, "right" as above

``--show`` prints the misses and the wrong lines of the dev part; of the others only counts are ever printed.
``--pairs`` judges the pairs of updates_*.jsonl as well: conflict, duplicate or apart.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from memtui import Memory
from memtui.engine.records import TOPICS, MemoryRecord, Options

TALKS = Path(__file__).parents[1] / "data" / "talks"
HALVES = ("dev", "held", "fresh", "unseen")
_UNSEEN = ("updates_f", "updates_i", "updates_k", "updates_n", "updates_r")  # files that are kept back whole
_DEV = (
    "updates_j",
    "updates_n_train",
    "updates_p_train",
    "updates_q_train",
)  # files that were written to be trained on
_FRESH = {
    "updates_d": 60,
    "updates_e": 60,
}  # so many of the last pairs of a file; of the other files the second half is held
_BETWEEN_TURNS = 40
_AFTER = 3600


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Drawn(NamedTuple):
    fact: MemoryRecord
    sessions: frozenset[str]


class Asked(NamedTuple):
    """A card, or a fact that was replaced without one: the new text, and the ids and texts of the known facts; of a card
    the text that is told as perhaps changed."""

    new: str
    known: dict[str, str]
    is_card: bool
    told: str | None = None


def matches(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None


def read_talk(person: str) -> dict[str, Any]:
    talk: dict[str, Any] = json.loads((TALKS / f"{person}.json").read_text(encoding="utf-8"))
    return talk


def draw(talk: dict[str, Any], folder: Path) -> tuple[list[Drawn], list[Asked], float]:
    """The person's facts, what was replaced or is asked about, and the seconds it took."""
    clock = Clock()
    seconds = 0.0
    with Memory.open(
        folder / f"{talk['person']}.db", clock=clock, options=Options(background=False)
    ) as memory:
        for session in talk["sessions"]:
            clock.now = datetime.fromisoformat(session["start"]).replace(tzinfo=UTC).timestamp()
            for role, content in session["turns"]:
                clock.now += _BETWEEN_TURNS
                memory.record_turn(session["id"], role, content, project=session["project"])
            clock.now += _AFTER
            started = time.perf_counter()
            asyncio.run(memory.consolidate(session["id"]))
            seconds += time.perf_counter() - started
        facts = [
            fact
            for filter in ("kind:fact", "kind:fact is:trash")
            for fact in memory.view.page(filter, limit=10_000)
        ]
        drawn = [
            Drawn(fact, frozenset(turn.session_id or "" for turn in memory.view.sources(fact.id)))
            for fact in facts
        ]
        texts = {fact.id: fact.content for fact in facts}
        asked = [
            Asked(fact.content, {fact.supersedes: texts.get(fact.supersedes, "")}, is_card=False)
            for fact in facts
            if fact.supersedes
        ]
        for card in memory.review.items(limit=1_000_000, kinds=("conflict", "choice")):
            new, *known = card.memories
            told = next(
                (one.old.content for one in memory.view.replacements([new.id]).get(new.id, ())
                 if one.how == "asked" and one.old in known),
                None,
            )  # fmt: skip
            asked.append(Asked(new.content, {one.id: one.content for one in known}, is_card=True, told=told))
        return drawn, asked, seconds


def judge(talk: dict[str, Any], drawn: list[Drawn], asked: list[Asked], *, show: bool) -> Counter[str]:
    found: Counter[str] = Counter()
    handled = {id for one in asked for id in one.known}
    ids = {one.fact.content: one.fact.id for one in drawn}
    handled |= {ids[one.new] for one in asked if one.is_card}
    for one in asked:
        found["cards"] += one.is_card
        found["choices"] += len(one.known) > 1
        found["right"] += one.is_card and any(
            _is_of(pair, one.new, text) for pair in talk["superseded"] for text in one.known.values()
        )
        if one.told is not None:
            found["told"] += 1
            found["told right"] += any(_is_of(pair, one.new, one.told) for pair in talk["superseded"])
    active = [one for one in drawn if one.fact.active]
    for gold in talk["gold"]:
        telling = [one for one in active if matches(gold["pattern"], one.fact.content)]
        kept = any(gold["session"] in one.sessions for one in telling)
        found["gold"] += 1
        found["kept"] += kept
        found["anywhere"] += bool(telling)
        own = [one for one in telling if gold["session"] in one.sessions]
        if own and gold["topic"] in TOPICS:
            found["with topic"] += 1
            right = any(one.fact.topic == gold["topic"] for one in own)
            found["topic right"] += right
            alone = any(len(_topics(talk, one.fact.content)) == 1 for one in own)
            found["alone"] += alone
            found["alone right"] += alone and right
            if show and not right:
                print(
                    f"  {talk['person']} topic {gold['topic']}, not {own[0].fact.topic}: {own[0].fact.content}"
                )
        if gold.get("vital"):
            found["vital"] += 1
            found["vital kept"] += kept
        if show and not kept:
            print(f"  {talk['person']} miss  {'VITAL ' if gold.get('vital') else ''}{gold['name']}")
    for one in drawn:
        text = one.fact.content
        wrong = [never["name"] for never in talk["never"] if matches(never["pattern"], text)]
        told = any(matches(gold["pattern"], text) for gold in talk["gold"]) or any(
            matches(pair[side], text) for pair in talk["superseded"] for side in ("old", "new")
        )
        found["lines"] += 1
        found["matching"] += told
        found["never"] += bool(wrong)
        if show and (wrong or not told):
            print(f"  {talk['person']} {'NEVER' if wrong else 'other'} {text}")
    for pair in talk["superseded"]:
        old = [
            one
            for one in active
            if matches(pair["old"], one.fact.content) and not matches(pair["new"], one.fact.content)
        ]
        standing = [one for one in old if one.fact.id not in handled]
        found["superseded"] += 1
        found["old drawn"] += bool(old)
        found["stale"] += bool(standing)
        own = {id for one in asked if matches(pair["new"], one.new) for id in one.known}
        found["stale by own"] += any(one.fact.id not in own for one in old)
        if show:
            for one in standing:
                print(f"  {talk['person']} stale {one.fact.content}")
    found["turns"] = sum(len(session["turns"]) for session in talk["sessions"])
    return found


def _is_of(pair: dict[str, str], new: str, old: str) -> bool:
    """Whether a card of these two asks about the superseded value."""
    return matches(pair["new"], new) and matches(pair["old"], old) and not matches(pair["new"], old)


def _topics(talk: dict[str, Any], text: str) -> set[str]:
    return {gold["topic"] for gold in talk["gold"] if matches(gold["pattern"], text)}


def told(name: str, found: Counter[str], seconds: float) -> None:
    def share(part: str, whole: str) -> str:
        return f"{found[part]}/{found[whole]} {found[part] / max(1, found[whole]):.0%}"

    print(
        f"{name:5} gold {share('kept', 'gold')} (anywhere {share('anywhere', 'gold')})  vital {share('vital kept', 'vital')}"
        f"  lines {found['lines']}  matching {share('matching', 'lines')}  never {share('never', 'lines')}"
        f"  stale {share('stale', 'superseded')} (by its own {share('stale by own', 'superseded')})"
        f"  cards {found['cards']} (choices {found['choices']}) right {share('right', 'cards')}"
        f"  told {share('told right', 'told')}"
        f"  topic {share('topic right', 'with topic')} (alone {share('alone right', 'alone')})"
        f"  {1000 * seconds / max(1, found['turns']):.1f} s for 1,000 turns"
    )


def pairs_of(file: Path, half: str) -> list[dict[str, str]]:
    """The labelled pairs of a file that belong to a half."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    if file.stem in _UNSEEN or half == "unseen":
        return rows if file.stem in _UNSEEN and half == "unseen" else []
    if file.stem in _DEV:
        return rows if half == "dev" else []
    kept_back = _FRESH.get(file.stem)
    middle = len(rows) - kept_back if kept_back else len(rows) // 2
    if half == "dev":
        return rows[:middle]
    return rows[middle:] if (half == "fresh") == bool(kept_back) else []


def judge_pairs(half: str, *, show: bool) -> None:
    from memtui.engine.consolidation.compare import conflicts, update_model
    from memtui.engine.consolidation.compare.pair_features import Statement
    from memtui.engine.consolidation.extract.statement_shapes import CORRECTING

    judged: Counter[tuple[str, str]] = Counter()
    scores: list[tuple[float, bool]] = []
    for file in sorted(TALKS.glob("updates_*.jsonl")):
        for row in pairs_of(file, half):
            correcting = CORRECTING.search(row["new"].casefold()) is not None
            score = update_model.update_model().replacement_odds(
                Statement(row["new"]), [Statement(row["old"])]
            )[0]
            kind = conflicts.relation_between(
                row["new"], row["old"], correcting=correcting, judged=score
            ).kind
            kind = "apart" if kind == "beside" else kind
            judged[row["label"], kind] += 1
            scores.append((score, row["label"] == "conflict"))
            if show and kind != row["label"] and "conflict" in (kind, row["label"]):
                print(f"  {row['label']} judged {kind}: {row['old']}  |  {row['new']}")
    for label in ("conflict", "duplicate", "apart"):
        print(
            f"{half:5} {label:10}",
            {kind: judged[label, kind] for kind in ("conflict", "duplicate", "apart")},
        )
    _print_precision(half, scores)


def _print_precision(half: str, scores: list[tuple[float, bool]]) -> None:
    """How precise the score alone is where it finds a share of the conflicts."""
    scores.sort(reverse=True)
    conflicts, found = sum(right for _, right in scores), 0
    wanted = [0.6, 0.7, 0.75, 0.8, 0.85]
    for called, (score, right) in enumerate(scores, 1):
        found += right
        if wanted and found >= wanted[0] * conflicts:
            print(
                f"{half:5} from {score:5.2f}: recall {found / conflicts:.2f}, precision {found / called:.2f}"
            )
            wanted.pop(0)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("person", nargs="*")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--pairs", action="store_true")
    parser.add_argument("--half", choices=HALVES)
    options = parser.parse_args()
    split = json.loads((TALKS / "split.json").read_text(encoding="utf-8"))
    for half in (options.half,) if options.half else HALVES[:-1]:
        show = options.show and half == "dev"
        total: Counter[str] = Counter()
        seconds = 0.0
        for person in split.get(half, ()):
            if options.person and person not in options.person:
                continue
            talk = read_talk(person)
            with tempfile.TemporaryDirectory() as folder:
                drawn, asked, took = draw(talk, Path(folder))
            total += judge(talk, drawn, asked, show=show)
            seconds += took
        if total:
            told(half, total, seconds)
        if options.pairs:
            judge_pairs(half, show=show)


if __name__ == "__main__":
    main()
