"""The options of an open memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Literal

from ..errors import InputError
from ..strategies import ProviderName
from .base import Record
from .memories import MemoryRecord, Topic

QuotaName = Literal["writes", "bytes", "calls"]


class Quota(Record):
    """A limit for each clock hour, agent and scope; 0 is none. ``unit``: what is counted, in words."""

    name: QuotaName
    limit: int
    unit: str


QUOTAS = (
    Quota(name="writes", limit=2_000, unit="writes"),
    Quota(name="bytes", limit=20_000_000, unit="bytes of text"),
    Quota(name="calls", limit=20_000, unit="calls"),
)


class Usage(Record):
    """What an agent did in one hour."""

    agent: str
    writes: int = 0
    bytes: int = 0
    calls: int = 0

    def of(self, quota: Quota) -> int:
        counted: int = getattr(self, quota.name)
        return counted


SecretMode = Literal["redact", "quarantine", "keep"]


class SecretPolicy(Record):
    """What happens to a text that carries a secret, by what it would become."""

    facts: SecretMode = "redact"
    episodes: SecretMode = "quarantine"


class LlmOptions(Record):
    """The language model, if there is one: any OpenAI-compatible endpoint. Off while either name is empty.

    ``key_env`` names the environment variable that holds the key, ``key_confirmed`` the only host that gets it (empty:
    that of ``base_url``). ``timeout``: seconds for one call, in all.
    ``budget_tokens``: what one run may spend. ``price``: what a million of them cost; 0 where it is not known.
    """

    section: ClassVar[str] = "llm"

    base_url: str = ""
    model: str = ""
    key_env: str = "OPENAI_API_KEY"
    key_confirmed: str = ""
    timeout: float = 120.0
    budget_tokens: int = 200_000
    price: float = 0.0

    @property
    def configured(self) -> bool:
        return bool(self.base_url and self.model)


class EmbeddingOptions(Record):
    """An OpenAI-compatible endpoint that makes vectors. ``dimensions`` are asked for, and checked.

    ``timeout``: seconds for one call with many texts, in all. ``price``: what a million tokens cost, 0 where that is
    not known.
    """

    section: ClassVar[str] = "embedder"

    base_url: str = "https://api.openai.com/v1"
    model: str = "text-embedding-3-large"
    key_env: str = "OPENAI_API_KEY"
    key_confirmed: str = ""
    dimensions: int = 256
    timeout: float = 60.0
    price: float = 0.0


class ContextOptions(Record):
    """The context block: whether it may quote the person's own ``turns``, and up to how many ``tokens`` they fill."""

    turns: bool = True
    tokens: int = 400


EmbedderKind = Literal["offline", "minilm", "endpoint", "package", "off"]
ExtractorFunction = Callable[[Sequence[MemoryRecord]], Iterable[object]]
"""Takes the turns of one session, in order, and gives objects of ``Draft``."""
NameFinder = Callable[[str], Iterable[tuple[str, str]]]
"""Takes a text and gives the names in it, each with its type: person, project, organization, location or other."""
_MOST_DIMS = 4_096


class EmbeddingFunction(Record):
    """Vectors by a function of your program: ``embed`` takes a list of texts and gives ``dims`` numbers for each.

    ``name`` is stored beside the vectors: give another model another name. Raises InputError for what cannot be used.
    """

    name: str
    dims: int
    embed: Callable[[list[str]], object]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise InputError("An embedding function has no name.", "Name the model that makes the vectors.")
        if not isinstance(self.dims, int) or not 1 <= self.dims <= _MOST_DIMS:
            raise InputError(
                f"Vectors cannot have {self.dims!r} dimensions.",
                f"dims is a whole number from 1 to {_MOST_DIMS:,}.",
            )
        if not callable(self.embed):
            raise InputError(
                f"An embedding function is a function, not {self.embed!r}.", "It takes a list of texts."
            )


class Options(Record):
    """What a program may choose when it opens a memory; the defaults are those of the app.

    ``embedder``: ``offline`` is the packaged one, ``minilm`` the stronger one of the extra of that name, ``endpoint``
    sends texts to ``endpoint``, ``package`` is the one that an installed package brings as ``embedder_package``, ``off``
    does without vectors; an ``EmbeddingFunction`` is your own. The vectors that a file already has go on serving until
    ``Memory.reembedding`` was run.
    ``decay_rate`` per day for new facts, but those of a topic that is ``lasting`` and, unless ``notes_fade``, those from notes
    that the person keeps by hand: these do not fade; ``fade_threshold``: effective confidence below which a fact is fading.
    ``fade_cap``, ``fade_share``: in one local date at most this many facts, or this share of them, go to the Trash.
    ``retention_days``: turns that are older go to the Trash once their facts are drawn, 0: none; in one local date at most
    ``retention_cap``, or that share of all turns.
    ``background``: make links and vectors in a thread after writes. ``network``: whether ``endpoint`` may be asked at all.
    ``profile``: the default ranking.
    ``llm``: without one, facts are drawn from conversations by rules. ``extractor``: draws them in the place of both; an
    installed package brings it under this name, or it is a function of yours.
    ``strategies``: how names are found, name -> providers in order; added to those of ``STRATEGIES``, or in their
    place. ``enrichment`` is the one that the nightly job reads with.
    ``name_finder``: a function of yours that reads beside the providers of each strategy but ``fast``.
    ``quotas``: what an agent may do through its tools in an hour. ``context``: what the context block holds.
    ``sync_auto``: jobs sync a memory that is in a group of devices.
    """

    secrets: SecretPolicy = SecretPolicy()
    embedder: EmbedderKind | EmbeddingFunction = "offline"
    embedder_package: str = ""
    endpoint: EmbeddingOptions = EmbeddingOptions()
    decay_rate: float = 0.1
    lasting: tuple[Topic, ...] = ("health", "rule")
    notes_fade: bool = False
    fade_threshold: float = 0.05
    fade_cap: int = 20
    fade_share: float = 0.02
    retention_days: int = 0
    retention_cap: int = 500
    background: bool = True
    network: bool = True
    allow_unsafe_fs: bool = False
    profile: str = "default"
    llm: LlmOptions = LlmOptions()
    extractor: str | ExtractorFunction = ""
    strategies: dict[str, tuple[ProviderName, ...]] = {}
    enrichment: str = "accurate"
    name_finder: NameFinder | None = None
    quotas: tuple[Quota, ...] = QUOTAS
    context: ContextOptions = ContextOptions()
    sync_auto: bool = True

    def rate_of(self, topic: Topic | None) -> float:
        """The rate at which a new fact of this topic fades, a day; 0: it does not."""
        return 0.0 if topic in self.lasting else self.decay_rate
