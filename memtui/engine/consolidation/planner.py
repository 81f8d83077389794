"""From drafts to a plan: deduplicated among themselves and against the store, conflicts found, suspicious ones held."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import apsw
from msgspec.structs import replace

from memtui.engine.guards import secrets
from memtui.engine.memories import validation
from memtui.engine.records import MemoryRecord, SecretPolicy, Trust
from memtui.engine.store import memories, replacements, tombstones

from .compare import conflicts, dose_alone, duplicates, self_correction, several_changes
from .compare.candidates import Candidate, KnownFacts, earlier_messages, preceding_text
from .compare.change_words import says_change
from .compare.pair_features import Statement
from .compare.values import shares_words, words_shared
from .extract.joined_statements import without_date
from .extract.protocol import MAX_CHARACTERS, MOST_CONFIDENCE, Draft, Extraction
from .extract.topics import with_topic
from .plan import RETIRED, Contradicted, PlanLine
from .preview_facts import PreviewFacts
from .suspicious import find_suspicions, is_supported, least_trust

_MOST_ALSO = 2
# In log-odds.
_NEARLY_AS_LIKELY = 1.0
_LIKELY_IN_PART = 2.0  # what another part of a statement changes
_LEAST_ALONE = -1.2  # for a value alone
_MAY_BE_MEANT = -1.5  # for what is offered beside the target
_MOST_MEANT = 2
# What is told as perhaps changed, and not only asked about.
_LEAST_TOLD = 0.5
_CLEARLY_LIKELIER = 1.0
_MUCH_SHARED = 3  # words
_MOST_ALSO_OF_PLAN = 10
"""So many further questions at most: a reply that contradicts everything does not crowd out other cards."""


def plan_lines(
    connection: apsw.Connection,
    drafts: Sequence[Draft],
    turns: Mapping[str, MemoryRecord],
    now: float,
    *,
    limit: int | None = None,
    supersedes_left: int = conflicts.MOST_SUPERSEDED,
    within: duplicates.Within = set,
    own_trust: Trust | None = None,
    settled: Collection[int] = (),
    foreseen: PreviewFacts | None = None,
) -> list[PlanLine]:
    """The lines of a plan. What is said in different projects, or only claimed to be said, stays apart.

    ``turns``: those that were read, by id; ``limit``: the most facts, and
    the most observations; ``supersedes_left``: facts that the run may still supersede by itself.

    ``settled``: facts in the Trash that the caller compares with itself.
    ``foreseen``: what earlier sessions of the same preview bring.
    ``own_trust``: of whoever drew the facts, for those that their sources do not say; without it the sources lend theirs."""
    found: list[PlanLine] = []
    usable = [draft for draft in drafts if draft.sources and all(source in turns for source in draft.sources)]
    given = {"fact": 0, "observation": 0}
    foreseen = foreseen or PreviewFacts()
    known = KnownFacts(connection, now, turns.values(), foreseen)
    also_left = _MOST_ALSO_OF_PLAN
    for draft in _merge_drafts(usable, turns):
        given[draft.kind] += 1
        if limit is not None and given[draft.kind] > limit:
            continue
        line = _plan_line(
            connection,
            draft,
            [turns[source] for source in draft.sources],
            now,
            supersedes_left,
            within,
            own_trust,
            known,
            settled,
            foreseen,
        )
        if line is not None:
            line = replace(line, also=line.also[:also_left])
            also_left -= len(line.also)
            found.append(line)
            supersedes_left -= line.action == "supersede"
    return found


def in_order(extraction: Extraction, turns: Sequence[MemoryRecord]) -> Sequence[Draft]:
    """The drafts of a chunk; among them, where they were said, those that only count as updates."""
    if not extraction.updates:
        return extraction.drafts
    places = {turn.id: index for index, turn in enumerate(turns)}
    drafts = [*extraction.drafts, *(replace(one, bare=True) for one in extraction.updates)]
    return sorted(drafts, key=lambda one: min((places.get(id, len(places)) for id in one.sources), default=0))


def as_stored(drafts: Sequence[Draft], policy: SecretPolicy) -> list[Draft]:
    """Drafts in the words in which they would be stored: turns may have NUL characters, facts may not. What rules drew,
    and of which only a blacked-out secret is left, is left out."""
    found = [
        replace(one, content=validation.apply_secret_policy(text, "fact", policy).content)
        for one in drafts
        if (text := one.content.replace("\0", " ").strip())
    ]
    return [one for one in found if not (one.verbatim and secrets.is_only_redactions(one.content))]


class Origin(NamedTuple):
    """Where a turn comes from. ``claimed``: that the person said it is an agent's word."""

    project: str | None
    claimed: bool


def origin_of_turn(turn: MemoryRecord) -> Origin:
    return Origin(turn.project, validation.is_claim(turn.source_role, turn.trust))


def group_by_origin(turns: Iterable[MemoryRecord]) -> dict[Origin, list[MemoryRecord]]:
    """Turns by where they come from; facts drawn from one kind are planned apart from the others."""
    found: dict[Origin, list[MemoryRecord]] = {}
    for turn in turns:
        found.setdefault(origin_of_turn(turn), []).append(turn)
    return found


def _merge_drafts(drafts: Sequence[Draft], turns: Mapping[str, MemoryRecord]) -> Iterator[Draft]:
    """Each statement once for each origin of its sources."""
    apart: dict[tuple[Origin, ...], list[Draft]] = {}
    for draft in drafts:
        origins = tuple(dict.fromkeys(origin_of_turn(turns[source]) for source in draft.sources))
        apart.setdefault(origins, []).append(draft)
    for together in apart.values():
        yield from duplicates.merge_drafts(together, _correction_reason)


def _correction_reason(new: str, old: str) -> str | None:
    standing = conflicts.relation_between(new, old, correcting=True)
    return standing.reason if standing.kind == "conflict" and standing.strong else None


def _plan_line(
    connection: apsw.Connection, draft: Draft, sources: Sequence[MemoryRecord], now: float, supersedes_left: int,
    within: duplicates.Within, own_trust: Trust | None, facts: KnownFacts, settled: Collection[int],
    foreseen: PreviewFacts,
) -> PlanLine | None:  # fmt: skip
    draft = with_topic(draft)
    trust = least_trust([turn.trust for turn in sources])
    claimed = any(origin_of_turn(turn).claimed for turn in sources)
    if claimed:  # what is known elsewhere is not decided by what becomes of a claim
        within = duplicates.in_project(connection, within, sources[0].project)
    blacked_out = secrets.is_redacted(draft.content)
    texts = [validation.open_text(turn) if blacked_out else turn.content for turn in sources]
    if own_trust and not is_supported(draft.content, texts):
        trust = least_trust([trust, own_trust])
    said_at = max(turn.event_time for turn in sources)
    wrong = find_suspicions(
        draft.content[:MAX_CHARACTERS],
        trust if draft.verbatim else "model",
        texts,
    )
    if not draft.verbatim and any(suspicion.kind == "unsupported" for suspicion in wrong):
        trust = least_trust([trust, own_trust or "model"])
    line = PlanLine(
        action="add" if draft.kind == "fact" else "observation",
        content=draft.content[:MAX_CHARACTERS], sources=draft.sources, trust=trust, tags=draft.tags,
        confidence=min(draft.confidence, MOST_CONFIDENCE), category=draft.category, event_time=said_at, suspicions=wrong,
        topic=draft.topic, project=sources[0].project, claimed=claimed,
    )  # fmt: skip
    draw_keys = {tombstones.drawn_key(source, line.content) for source in draft.sources}
    if tombstones.erased_among(connection, draw_keys) == draw_keys:
        return None  # erased for good; only a turn of later brings it back
    same = duplicates.same_text(connection, line.content, draft.kind, now, within)
    if same is None or not same.active:
        same = foreseen.same_text(line.content, draft.kind, line.project, claimed=claimed) or same
    if same is not None and same.active:
        if draft.kind == "observation":
            return None
        if (later := _statement_in_its_place(connection, same, facts)) is not None:
            return _conflict_with_replacement(line, same, later, sources)
        return _line_with_action(line, action="reinforce", reason="known already", target=same, score=1.0)
    decided = same if same is not None and _taken_away(same) else None
    if draft.kind == "fact":
        decided = decided or duplicates.find_decided(
            connection, line.content, now, lambda rids: within(rids).difference(settled)
        )
    if decided is not None and (draft.bare or not _is_said_after_decision(sources, decided)):
        return None  # somebody took it away; what an assistant or an older turn says does not bring it back
    if decided is not None and draft.kind == "fact":
        return _conflict_with_decision(connection, line, decided, now, within)
    if any(suspicion.kind == "instruction" for suspicion in wrong):
        if draft.bare:
            return None
        return _line_with_action(line, action="quarantine", reason=f"it {wrong[0].detail}")
    if draft.kind == "observation":
        return line
    if draft.question:
        return None if draft.bare else _line_with_action(line, action="quarantine", reason=draft.question)
    talk = sources[0].session_id if len({turn.session_id for turn in sources}) == 1 else None
    new = Statement(
        line.content, preceding_text(line.content, sources[-1].content), earlier_messages(sources[-1], facts.turns),
        talk or "", said_at,
    )  # fmt: skip
    candidates = facts.candidates(new, said_at, within, line.project, claimed=claimed)
    corrects = self_correction.corrects_itself(line.content, sources[-1].content)
    line = _against_known(draft, line, new, facts, candidates, supersedes_left, talk, corrects=corrects)
    if line.action == "reinforce" and line.target:
        known = memories.get(connection, line.target, now)
        if (later := _statement_in_its_place(connection, known, facts)) is not None:
            return _conflict_with_replacement(line, known, later, sources)
    if draft.bare and line.action not in ("conflict", "supersede"):
        return None
    if (
        line.action == "conflict"
        and line.target
        and facts.corrected_since(line.content, line.target, said_at)
    ):
        return None  # an older talk says what was corrected since
    if line.action != "reinforce" and not line.claimed:
        facts.earlier.append(new)
    return line


def _is_said_after_decision(sources: Sequence[MemoryRecord], decided: MemoryRecord) -> bool:
    """Whether the person said it after the decision; the same second counts as before."""
    return any(
        turn.source_role == "user" and turn.trust == "user" and turn.event_time > (decided.valid_until or 0)
        for turn in sources
    )


def _statement_in_its_place(
    connection: apsw.Connection, known: MemoryRecord, facts: KnownFacts
) -> MemoryRecord | None:
    """The statement that is in force in the place of a known fact that stays, weaker (``apply.weaken_replaced``)."""
    if not known.id or not replacements.is_replaced(connection, known):
        return None
    return facts.successor_in_force(known)


def _conflict_with_replacement(
    line: PlanLine, known: MemoryRecord, later: MemoryRecord, sources: Sequence[MemoryRecord]
) -> PlanLine | None:
    """The person says again what a later statement replaced. What was said before that, or by an assistant, says nothing new."""
    since = max(later.event_time, known.reviewed_at or 0)
    if not any(
        turn.source_role == "user" and turn.trust == "user" and turn.event_time > since for turn in sources
    ):
        return None
    reason = "this was replaced, and you said it again"
    return replace(_line_with_action(line, action="conflict", reason=reason, target=later), again=True)


def _conflict_with_decision(
    connection: apsw.Connection, line: PlanLine, decided: MemoryRecord, now: float, within: duplicates.Within
) -> PlanLine:
    """The person says again what was corrected or forgotten: only they know which of the two holds."""
    if decided.ended_by == "superseded":
        later = memories.latest_version(connection, decided.id, now)
        if later.active and later.rid in within([later.rid]):
            reason = "you corrected this, and said it again"
            return replace(
                _line_with_action(line, action="conflict", reason=reason, target=later), again=True
            )
    how = "corrected" if decided.ended_by == "superseded" else "forgotten"
    return replace(
        line, action="quarantine", reason=f"it was {how}, and you said it again", target=None, known=None
    )


def _taken_away(ended: MemoryRecord) -> bool:
    """By somebody's decision; not by time, and not by a reading that no longer drew it."""
    return ended.ended_by != "faded" and RETIRED not in ended.attributes


def _against_known(
    draft: Draft,
    line: PlanLine,
    new: Statement,
    facts: KnownFacts,
    candidates: Sequence[Candidate],
    supersedes_left: int,
    talk: str | None,
    *,
    corrects: bool,
) -> PlanLine:
    """The line after a comparison with the candidates. ``corrects``: the person takes back what they said before."""
    worst: tuple[conflicts.Relation, Candidate] | None = None
    worst_rank = (False, False, 0.0)
    found_all: list[tuple[conflicts.Relation, Candidate]] = []
    scored = [one for one in candidates if one.score is not None]
    among_many = len(scored) >= conflicts.MANY_KNOWN
    likeliest = max(scored, key=lambda one: one.score or 0.0) if among_many else None
    changes = draft.correcting or says_change(new.text)
    for one in candidates:
        if one.record is None and not (
            (changes and one is likeliest)
            or (draft.correcting and conflicts.takes_back(new.text, one.statement.text, one.score))
        ):
            continue  # of one conversation only what says so takes something back; their words were compared already
        standing = conflicts.relation_between(
            new.text, one.statement.text, correcting=draft.correcting, judged=one.score,
            likeliest=one is likeliest and not draft.bare, among_many=among_many,
        )  # fmt: skip
        if standing.kind == "duplicate" and one.record is not None:
            return _line_with_action(
                line, action="reinforce", reason=standing.reason, target=one.record, score=standing.score
            )
        if standing.kind == "conflict":
            later = facts.successor_in_force(one.record) if one.record is not None else None
            rank = (later is None, standing.strong, standing.score)
            if later is None:
                found_all.append((standing, one))
            if worst is None or rank > worst_rank:
                worst, worst_rank = (standing, one._replace(record=later or one.record)), rank
    if by_parts := _changed_by_parts(new, scored, facts):
        changed = {one.statement.text for _, one in by_parts}
        found_all = [*by_parts, *(one for one in found_all if one[1].statement.text not in changed)]
        worst = worst or by_parts[0]
    if doses := _medicines_of_dose(new, candidates, facts):
        found_all, worst = (
            [],
            (conflicts.Relation(kind="conflict", reason=dose_alone.DOSE, score=1.0), doses[0]),
        )
    certain = worst is not None and worst[0].strong
    if corrects and not certain and (found := _find_corrected(new, candidates)) is not None:
        worst = found
    elif worst is None and self_correction.is_value_alone(new.text):
        worst = _last_of_its_kind(new, candidates)
    if worst is None:
        return line
    standing, known = worst
    line = replace(line, also=_other_contradicted(line.content, found_all, known))
    if len(doses) > 1:
        line = replace(line, meant=_offered(doses[1:]))
    elif standing.reason == conflicts.CHANGED and not conflicts.is_plain_change(
        new.text, known.statement.text, known.score
    ):
        shown = {known.statement.text, *(one.known for one in line.also)}
        if known.record is not None:
            shown.add(validation.open_text(known.record))
        line = replace(line, meant=_may_be_meant(line.content, facts, scored, shown))
    if standing.reason == conflicts.CHANGED and not standing.strong:
        rivals = {one.known for one in line.meant}
        line = replace(line, weak=_is_weak(line, known, [one for one in scored if _text_of(one) in rivals]))
    if known.record is None:
        action = "supersede" if standing.strong and supersedes_left > 0 else "conflict"
        reason = f"{standing.reason}, said later in the same conversation"
        return replace(line, action=action, reason=reason, known=known.statement.text, score=standing.score)
    waits = conflicts.may_supersede(
        known.record, trust_of_new=line.trust, said_at=line.event_time, strong=standing.strong, supersedes_left=supersedes_left,
        claimed=line.claimed, same_talk=talk is not None and talk == known.record.session_id,
    )  # fmt: skip
    if waits:
        return _line_with_action(
            line,
            action="conflict",
            reason=f"{standing.reason} ({waits})",
            target=known.record,
            score=standing.score,
        )
    return _line_with_action(
        line, action="supersede", reason=standing.reason, target=known.record, score=standing.score
    )


def _medicines_of_dose(new: Statement, candidates: Sequence[Candidate], facts: KnownFacts) -> list[Candidate]:
    """The known facts about a medicine of which a dose alone may be."""
    if not dose_alone.is_dose_alone(without_date(new.text)):
        return []
    return [
        one
        for one in candidates
        if one.record is not None
        and one.score is not None
        and dose_alone.may_be_dose_of(without_date(new.text), one.statement.text)
        and facts.successor_in_force(one.record) is None
    ][: _MOST_MEANT + 1]


def _offered(medicines: Sequence[Candidate]) -> tuple[Contradicted, ...]:
    """The other medicines of which a dose may be."""
    return tuple(
        Contradicted(
            known=validation.open_text(one.record), target=one.record.id or None, reason=dose_alone.DOSE
        )
        for one in medicines
        if one.record is not None
    )


def _changed_by_parts(
    new: Statement, scored: Sequence[Candidate], facts: KnownFacts
) -> list[tuple[conflicts.Relation, Candidate]]:
    """The known facts that single parts of a statement change, the likeliest first."""
    known = [one for one in scored if one.record is not None]
    found = several_changes.changed_by_parts(new.text, [one.statement for one in known])
    return [
        (conflicts.Relation(kind="conflict", reason=conflicts.CHANGED_IN_PART, score=1 / (1 + math.exp(-odds))), one)
        for place, odds in sorted(found.items(), key=lambda one: -one[1])
        if (one := known[place]).record is not None and facts.successor_in_force(one.record) is None
    ]  # fmt: skip


def _other_contradicted(
    text: str, related: Sequence[tuple[conflicts.Relation, Candidate]], but: Candidate
) -> tuple[Contradicted, ...]:
    """The likeliest of what is contradicted beside one. What only sounds changed has to be about as likely and share a word,
    or to be what another part of the statement is about."""
    best = max((one.score or 0.0 for _, one in related), default=0.0)
    likeliest = sorted(related, key=lambda one: one[0].score, reverse=True)
    return tuple(
        Contradicted(
            known=_text_of(one), target=(one.record.id or None) if one.record else None, reason=standing.reason,
        )
        for standing, one in likeliest
        if one.statement.text != but.statement.text
        and (
            standing.reason != conflicts.CHANGED
            or ((one.score or 0.0) >= best - _NEARLY_AS_LIKELY and shares_words(text, one.statement.text))
            or (
                (one.score or 0.0) >= _LIKELY_IN_PART
                and several_changes.is_in_another_part(text, one.statement.text, but.statement.text)
            )
        )
    )[:_MOST_ALSO]  # fmt: skip


def _may_be_meant(
    text: str, facts: KnownFacts, scored: Sequence[Candidate], but: Collection[str]
) -> tuple[Contradicted, ...]:
    """The likeliest of the other candidates: what only sounds changed is often another one of them."""
    found: list[Contradicted] = []
    for one in sorted(scored, key=lambda one: one.score or 0.0, reverse=True):
        known = _text_of(one)
        if (one.score or 0.0) < _MAY_BE_MEANT or len(found) == _MOST_MEANT:
            break
        if known in (text, *but) or (
            one.record is not None and facts.successor_in_force(one.record) is not None
        ):
            continue
        target = (one.record.id or None) if one.record else None
        found.append(Contradicted(known=known, target=target, reason=conflicts.CHANGED))
    return tuple(found)


def _is_weak(line: PlanLine, known: Candidate, rivals: Sequence[Candidate]) -> bool:
    """Whether it is doubtful that ``known`` is what changed. Beside rivals, of which each may be meant instead, it has to be
    clearly likelier, share a word, and be about the same topic or in much the same words."""
    score = known.score or 0.0
    if not rivals:
        return score < _LEAST_TOLD
    if score < max(one.score or 0.0 for one in rivals) + _CLEARLY_LIKELIER:
        return True
    same_topic = line.topic is not None and known.record is not None and known.record.topic == line.topic
    return words_shared(line.content, known.statement.text) < (1 if same_topic else _MUCH_SHARED)


def _text_of(one: Candidate) -> str:
    return validation.open_text(one.record) if one.record else one.statement.text


def _last_of_its_kind(
    new: Statement, candidates: Sequence[Candidate]
) -> tuple[conflicts.Relation, Candidate] | None:
    """What the conversation said last with a value of the kind that the new one has alone; the person is asked."""
    found = _find_corrected(new, candidates, messages_back=self_correction.LONG_BACK)
    if found is None or (found[1].score is not None and found[1].score < _LEAST_ALONE):
        return None
    return replace(found[0], strong=False), found[1]


def _find_corrected(
    new: Statement, candidates: Sequence[Candidate], *, messages_back: int = self_correction.MESSAGES_BACK
) -> tuple[conflicts.Relation, Candidate] | None:
    """What the person said a moment ago and corrects now."""
    said = sorted(
        (one for one in candidates if one.statement.session_id == new.session_id),
        key=lambda one: one.statement.said_at,
    )
    found = self_correction.find_corrected_statement(
        new, [one.statement for one in said], messages_back=messages_back
    )
    if found is None:
        return None
    index, kind = found
    strong = not self_correction.says_much_else(new.text, said[index].statement.text)
    return conflicts.Relation(kind="conflict", reason=f"a different {kind}", strong=strong, score=1.0), said[
        index
    ]


def _line_with_action(
    line: PlanLine, *, action: str, reason: str, target: MemoryRecord | None = None, score: float = 0.0
) -> PlanLine:
    return replace(
        line, action=action, reason=reason, target=(target.id or None) if target else None,
        known=validation.open_text(target) if target else None, score=score,
    )  # fmt: skip
