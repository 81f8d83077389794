"""The typed values that cross the rooms. Frozen; times are Unix seconds; ids are strings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, dataclass_transform

import msgspec

from .strategies import ProviderName

Kind = Literal["episode", "fact", "reflection", "observation"]
Category = Literal["finding", "insight", "lesson"]
EndedBy = Literal["forgotten", "faded", "superseded", "merged"]
Trust = Literal["user", "agent", "tool", "model"]
ArmName = Literal["keyword", "vector", "sense", "entity", "context"]
EntityType = Literal["person", "project", "organization", "location", "email", "url", "date", "other"]

KINDS: tuple[Kind, ...] = ("episode", "fact", "reflection", "observation")
ID_PREFIX: Mapping[Kind, str] = {
    "episode": "ep_",
    "fact": "fact_",
    "reflection": "ref_",
    "observation": "obs_",
}
# Least trusted last: a derived memory takes the last of its sources'.
TRUST_ORDER: tuple[Trust, ...] = ("user", "agent", "tool", "model")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
class Record(msgspec.Struct, frozen=True, kw_only=True):
    """Base of the records: frozen, keyword only, JSON through msgspec."""


class MemoryRecord(Record):
    """One row of ``memories``.

    ``confidence`` is what was stored; ``effective`` is what is left of it at the time of reading
    (both in [0, 1]). ``protected``: confirmed or stated by the person, so no job and no model
    touches it. ``ended_by`` says why it is in the Trash; None while it is active.
    """

    rid: int
    id: str
    kind: Kind
    content: str
    event_time: int
    created_at: int
    confidence: float
    effective: float
    decay_rate: float
    trust: Trust
    category: Category | None = None
    session_id: str | None = None
    source_role: str | None = None
    source: str | None = None
    source_key: str | None = None
    project: str | None = None
    valid_until: int | None = None
    ended_by: EndedBy | None = None
    access_count: int = 0
    last_accessed: int | None = None
    recall_days: int = 0
    confirmed_at: int | None = None
    reviewed_at: int | None = None
    source_ids: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    attributes: dict[str, Any] = {}

    @property
    def active(self) -> bool:
        return self.valid_until is None

    @property
    def protected(self) -> bool:
        return self.confirmed_at is not None

    @property
    def supersedes(self) -> str | None:
        """The id of the memory that this one corrects."""
        value = self.attributes.get("supersedes")
        return value if isinstance(value, str) else None


class Turn(Record):
    """One message of a conversation as a feed found it, before it is recorded.

    ``source_key`` is its identity at the source: importing it again adds nothing.
    ``session_id`` is already namespaced by the feed (``chatgpt:<id>``). ``event_time`` None: unknown.
    """

    session_id: str
    role: str
    content: str
    source_key: str
    source: str
    event_time: float | None = None
    project: str | None = None
    session_title: str | None = None
    trust: Trust | None = None


class Skip(Record):
    """Something a feed passed over, and why (``reason`` is a short phrase that is counted)."""

    reason: str
    place: str = ""


class Entity(Record):
    """Somebody or something that memories name.

    ``mention_count``: active memories that are linked to it or to one merged into it. ``first_seen``, ``last_seen``:
    when the earliest and the latest of them happened, Unix seconds. ``aliases``: its other names. ``decided``: the
    person named or typed it. ``merged_into``: the ``eid`` of the entity that it is a name of.
    """

    eid: int
    id: str
    canonical_name: str
    type: str
    mention_count: int
    aliases: tuple[str, ...] = ()
    summary: str | None = None
    merged_into: int | None = None
    pinned: bool = False
    first_seen: int | None = None
    last_seen: int | None = None
    decided: bool = False


class Companion(Record):
    """An entity and the number of memories that mention it ``together`` with another one."""

    entity: Entity
    together: int


class EntityProfile(Record):
    """Everything about one entity.

    ``memories``: facts first, then the rest, the newest first; ``total`` is how many there are. ``seen_with``:
    those it is mentioned with most. ``unlinked``: memories that somebody said are not about it. ``waiting``:
    texts of the whole memory that have not been read for names yet.
    """

    entity: Entity
    memories: tuple[MemoryRecord, ...]
    total: int
    seen_with: tuple[Companion, ...] = ()
    unlinked: int = 0
    waiting: int = 0


class EntityMerge(Record):
    """What a merge would make: ``moved`` memories come to the survivor, which then has ``memories_after``."""

    survivor: Entity
    absorbed: Entity
    memories_after: int
    moved: int
    aliases: tuple[str, ...]
    type: str


class Link(Record):
    """Code points ``start:end`` of a memory's text name an entity."""

    start: int
    end: int
    entity: Entity


class Enrichment(Record):
    """A memory was read again for names at ``at`` (Unix seconds), and has the links to ``added`` from that."""

    at: int
    added: tuple[Entity, ...]


class Session(Record):
    """One row of ``sessions_consolidations`` with its counts; ``turns`` counts active episodes.

    ``opening``: the first words of the first turn of the user, where it has no title and an id that nobody can read.
    Read from the turn each time, so that it goes with the turn.
    """

    session_id: str
    first_seen_at: int
    last_seen_at: int
    turns: int
    consolidated_at: int | None = None
    consolidated_through: int | None = None
    attempts: int = 0
    next_attempt_at: int | None = None
    last_error: str | None = None
    title: str | None = None
    summary: str | None = None
    source: str | None = None
    project: str | None = None
    opening: str | None = None

    @property
    def name(self) -> str:
        """What people know it by: its title, else how its first turn begins, else its id."""
        return self.title or self.opening or self.session_id


class Operation(Record):
    """One named change of the memory. ``rows`` counts the rows it changed."""

    op_id: int
    at: int
    actor: str
    kind: str
    label: str
    state: Literal["running", "done", "undone"]
    rows: int
    run_id: str | None = None
    undoes: int | None = None
    undone_by: int | None = None


class RowChange(Record):
    """What one operation did to one row: the columns that changed, before and after.

    ``before`` is None for an inserted row, ``after`` is None for a deleted one.
    ``memory_id`` is set where the row is a memory.
    """

    table: str
    key: int
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    memory_id: str | None = None


class Conflict(Record):
    """A row that undo left alone, because somebody changed it (or came to depend on it) since."""

    table: str
    key: int
    reason: str
    memory_id: str | None = None
    wanted: dict[str, Any] | None = None
    current: dict[str, Any] | None = None


class Undone(Record):
    """The outcome of undo or redo: the operation taken back, the new one, and what was left alone."""

    operation: Operation
    by: Operation
    restored: int
    conflicts: tuple[Conflict, ...] = ()


class Changes(Record):
    """Told to subscribers after a commit: which operation touched which tables and memories.

    ``ids`` is cut at 1,000; ``operation`` None means that another process wrote. ``sessions``: the ids of those
    that are over, of ``session_completed`` alone.
    """

    tables: frozenset[str]
    ids: tuple[str, ...] = ()
    operation: Operation | None = None
    sessions: tuple[str, ...] = ()


class Recall(Record):
    """An agent was told these memories in answer to ``query``."""

    at: int
    agent: str
    query: str
    memory_ids: tuple[str, ...]
    session_id: str | None = None


class ImportReport(Record):
    """Counts in turns and whatever else came in. ``kinds`` tells ``imported`` apart ("turn", "fact", ...);
    ``reasons`` maps a skip reason to its count; ``operation`` None when nothing was added.
    """

    imported: int
    already_there: int
    skipped: int
    sessions: int
    files: int
    seconds: float
    dry_run: bool
    formats: tuple[str, ...] = ()
    kinds: dict[str, int] = {}
    reasons: dict[str, int] = {}
    redacted: int = 0
    warnings: tuple[str, ...] = ()
    cancelled: bool = False
    operation: Operation | None = None


class ImportProgress(Record):
    """How far an import is: bytes of all sources, turns so far, and where it reads now.

    ``rate``: turns looked at in a second, on average since the start.
    """

    bytes_done: int
    bytes_total: int
    files_done: int
    files: int
    imported: int
    already_there: int
    skipped: int
    rate: float
    place: str
    dry_run: bool


class ExportProgress(Record):
    """How far an export is: lines of a file, or notes of a folder, of how many."""

    done: int
    total: int


class ExportReport(Record):
    """What an export wrote. ``path`` None: to a stream. ``counts``: lines of each kind, or notes. ``size`` in bytes.

    ``content_hash``: of what was written; that of the memory (``Memory.content_hash``) when nothing was left out.
    ``kept``: notes that somebody has changed since they were exported, or others' files; they stay as they are.
    """

    path: str | None
    format: str
    counts: dict[str, int]
    size: int
    seconds: float
    content_hash: str = ""
    kept: tuple[str, ...] = ()
    cancelled: bool = False


class Stats(Record):
    """Counts of active memories by kind, and what is still being prepared.

    ``unlinked`` / ``unembedded`` wait for entity links / vectors (none do where vectors are switched off);
    ``quarantined`` carry a secret and get no vector.
    ``vectors_wanted``: the model that the settings want, where the file holds the vectors of another one, or none.
    ``vectors_problem``: why nothing can be compared with the file's vectors just now.
    """

    by_kind: dict[str, int]
    active: int
    ended: int
    protected: int
    sessions: int
    pending_sessions: int
    entities: int
    operations: int
    unlinked: int
    unembedded: int
    embedded: int
    quarantined: int
    latest: int | None
    file_bytes: int
    vectors: str
    vectors_wanted: str = ""
    vectors_problem: str = ""


class ArmHit(Record):
    """What one arm said about one memory.

    ``rank`` counts from 1 in that arm; ``score`` is the arm's raw score (BM25, cosine similarity,
    number of matched entities); ``term`` is its part of the fused score: the terms of a hit add up
    to the hit's score. ``matched``: the words, entity names or neighbours that matched; of the sense arm the words of
    the question whose meaning is there.
    """

    rank: int
    score: float
    term: float
    matched: tuple[str, ...] = ()


class ArmReport(Record):
    """How an arm took part: ``answered``, ``empty`` (it found nothing), ``off`` (weight 0), ``unavailable`` or
    ``coming`` (it waits for a network, and the search did not).
    """

    arm: ArmName
    state: Literal["answered", "empty", "off", "unavailable", "coming"]
    found: int = 0
    why: str = ""
    milliseconds: float = 0.0


class Hit(Record):
    """One search result; ``rank`` counts from 1; ``arms`` holds the arms that found it."""

    rank: int
    memory: MemoryRecord
    score: float
    arms: dict[ArmName, ArmHit]


class Profile(Record):
    """Everything that decides a ranking (a profile can be saved under a name).

    ``fusion``: ``rrf`` sums weight / (k + rank); ``score`` sums weight * share, where an arm's share says
    how much of the question a memory answers (0 to about 1).
    ``depth``: how many candidates each arm hands to fusion. ``floor``: the least cosine similarity
    at which a memory found by the vector arm alone may appear.
    ``neighbours``: how much of what the turn before or after says counts for a turn (half of it two turns
    away); ``session``: how much of what its session's best turns score; ``facts``: how much of what a fact
    that was drawn from it scores. These belong to the context arm, which takes no part in ``rrf``; nor does
    ``sense``, the weight of how near its words are in meaning to those of the question.
    """

    name: str = "default"
    fusion: Literal["rrf", "score"] = "score"
    k: int = 60
    keyword: float = 1.0
    vector: float = 0.25
    sense: float = 0.0
    entity: float = 0.1
    neighbours: float = 0.5
    session: float = 0.3
    facts: float = 0.35
    floor: float = 0.3
    depth: int = 100


class SearchResult(Record):
    """Hits in order, what each arm did, and notes for the reader (what is missing, and why).

    ``candidates`` is the number of fused memories before ``limit``.
    """

    query: str
    filter: str
    profile: Profile
    hits: tuple[Hit, ...]
    arms: tuple[ArmReport, ...]
    notes: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    candidates: int = 0
    milliseconds: float = 0.0


class Explanation(Record):
    """Why a memory is, or is not, among the hits of a query.

    ``rank`` is its place in the fused list over everything that passes the filter (None when no arm
    finds it); ``arms`` its exact place in each arm; ``excluded`` what keeps it out, worst first;
    ``remedies`` what would bring it in.
    """

    query: str
    memory: MemoryRecord
    rank: int | None
    score: float
    limit: int
    arms: dict[ArmName, ArmHit]
    excluded: tuple[str, ...] = ()
    remedies: tuple[str, ...] = ()


RowsOf = Literal["file", "memories", "entities", "sessions", "operations"]


class Finding(Record):
    """One broken invariant: which check, how bad, what, and the rows that it is about.

    ``ids``: the first 200 of ``total`` rows ``about`` whose table they are, by the names that ``memtui show``,
    ``entity``, ``sessions`` and ``history`` take; none where it is about the file. ``remedy``: the next step.
    """

    check: str
    severity: Literal["error", "warning"]
    message: str
    repairable: bool
    ids: tuple[str, ...] = ()
    total: int = 0
    about: RowsOf = "file"
    remedy: str = ""


class Repair(Record):
    """What ``memtui check --repair`` mended: the check that had complained, and what was done."""

    check: str
    did: str


class CheckReport(Record):
    """The outcome of ``memtui check``. ``ok`` when no finding is an error.

    ``findings``: after a repair those that are left. ``backup``: the copy made before anything was repaired.
    """

    ok: bool
    checks: tuple[str, ...]
    findings: tuple[Finding, ...]
    repaired: tuple[Repair, ...] = ()
    seconds: float = 0.0
    backup: str = ""


SecretMode = Literal["redact", "quarantine", "keep"]


class SecretPolicy(Record):
    """What happens to a text that carries a secret, by what it would become."""

    facts: SecretMode = "redact"
    episodes: SecretMode = "quarantine"


class LlmOptions(Record):
    """The language model, if there is one: any OpenAI-compatible endpoint. Off while either name is empty.

    ``key_env`` names the environment variable that holds the key. ``timeout``: seconds for one call, in all.
    ``budget_tokens``: what one run may spend. ``price``: what a million of them cost; 0 where it is not known.
    """

    section: ClassVar[str] = "llm"

    base_url: str = ""
    model: str = ""
    key_env: str = "OPENAI_API_KEY"
    timeout: float = 120.0
    budget_tokens: int = 200_000
    price: float = 0.0

    @property
    def configured(self) -> bool:
        return bool(self.base_url and self.model)


class ProviderReport(Record):
    """What one provider of names did: the texts it read (those it knew by heart are ``remembered``), the spans it
    found in them, its time. ``why``: why it took no part; "" when it did.
    """

    provider: ProviderName
    texts: int = 0
    remembered: int = 0
    spans: int = 0
    milliseconds: float = 0.0
    why: str = ""


class StrategyReport(Record):
    """What a strategy did: ``spans`` are those that were kept where providers overlap."""

    strategy: str
    texts: int
    spans: int
    milliseconds: float
    providers: tuple[ProviderReport, ...]


class EmbeddingOptions(Record):
    """An OpenAI-compatible endpoint that makes vectors. ``dimensions`` are asked for, and checked.

    ``timeout``: seconds for one call with many texts, in all. ``price``: what a million tokens cost, 0 where that is
    not known.
    """

    section: ClassVar[str] = "embedder"

    base_url: str = "https://api.openai.com/v1"
    model: str = "text-embedding-3-large"
    key_env: str = "OPENAI_API_KEY"
    dimensions: int = 256
    timeout: float = 60.0
    price: float = 0.0


EmbedderKind = Literal["offline", "minilm", "endpoint", "off"]


class Options(Record):
    """What a program may choose when it opens a memory; the defaults are those of the app.

    ``embedder``: ``offline`` is the packaged one, ``minilm`` the stronger one of the extra of that name, ``endpoint``
    sends texts to ``endpoint``, ``off`` does without vectors. The vectors that a file already has go on serving until
    ``Memory.reembedding`` was run.
    ``decay_rate`` per day for new facts; ``fade_threshold``: effective confidence below which a fact is fading.
    ``fade_cap``, ``fade_share``: in one local date at most this many facts, or this share of them, go to the Trash.
    ``background``: make links and vectors in a thread after writes. ``profile``: the default ranking.
    ``llm``: without one, facts are drawn from conversations by rules.
    ``strategies``: how names are found, name -> providers in order; added to those of ``STRATEGIES``, or in their
    place. ``enrichment`` is the one that the nightly job reads with.
    """

    secrets: SecretPolicy = SecretPolicy()
    embedder: EmbedderKind = "offline"
    endpoint: EmbeddingOptions = EmbeddingOptions()
    decay_rate: float = 0.1
    fade_threshold: float = 0.05
    fade_cap: int = 20
    fade_share: float = 0.02
    background: bool = True
    allow_unsafe_fs: bool = False
    profile: str = "default"
    llm: LlmOptions = LlmOptions()
    strategies: dict[str, tuple[ProviderName, ...]] = {}
    enrichment: str = "accurate"
