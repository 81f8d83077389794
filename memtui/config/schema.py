"""What can be set, as typed records: each field carries its meaning, its default and its bounds.

A setting is named ``section.key``, as it is in the file. Its environment variable is
``MEMTUI_SECTION_KEY``, and ``MEMTUI_KEY`` for those of ``[general]``; tables have none.
"""

from functools import cache
from typing import Annotated, Any, ClassVar, Literal, dataclass_transform, get_args, get_origin

import msgspec
from msgspec import Meta

from ..engine.errors import InputError
from ..engine.records import (
    QUOTAS,
    TOPICS,
    ContextOptions,
    EmbedderKind,
    EmbeddingOptions,
    LlmOptions,
    Options,
    Quota,
    Record,
    SecretMode,
    SecretPolicy,
    Topic,
)
from ..engine.strategies import ProviderName, check_strategy

ConfirmedHost = Annotated[
    str,
    Meta(
        title="key goes to",
        max_length=300,
        description="The host (with its port) that the key is sent to, as you confirmed it in the settings; to another "
        "one it is not sent. Empty: to that of base_url, as the file has it.",
    ),
]


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of the sections of the file. ``heading``: what the app calls it; each field has a ``title``."""

    heading: ClassVar[str] = ""


class General(Section):
    heading: ClassVar[str] = "This app"

    db: Annotated[
        str,
        Meta(title="memory file", description="The memory to open; empty: memory.db in the data folder."),
    ] = ""
    theme: Annotated[
        str,
        Meta(
            title="colours",
            description="Colours of the app: memtui-dark, memtui-light (or dark, light) or a built-in.",
        ),
    ] = "memtui-dark"
    ascii: Annotated[
        bool,
        Meta(
            title="plain letters only",
            description="Plain letters in place of signs and frames; --ascii for one call. A vt100 gets them anyway.",
        ),
    ] = False
    motion: Annotated[
        bool,
        Meta(title="animations", description="Animations and spinners; NO_MOTION turns them off too."),
    ] = True


class Embedder(Section):
    heading: ClassVar[str] = "Vectors"

    kind: Annotated[
        EmbedderKind,
        Meta(
            title="made by",
            description="offline: the packaged model makes vectors; minilm: a stronger, slower one that is installed "
            "apart, best with search.profile late; endpoint: texts are sent to base_url for it; "
            "package: an installed package makes them; off: search by words and names only.",
        ),
    ] = "offline"
    package: Annotated[
        str,
        Meta(
            title="of the package",
            max_length=200,
            description="The name of an embedder from an installed package.",
        ),
    ] = ""
    base_url: Annotated[
        str,
        Meta(
            title="address",
            description="The OpenAI-compatible endpoint for vectors, https or on this machine.",
        ),
    ] = "https://api.openai.com/v1"
    model: Annotated[
        str,
        Meta(title="model there", min_length=1, max_length=200, description="The embedding model there."),
    ] = "text-embedding-3-large"
    key_env: Annotated[
        str,
        Meta(title="key is in variable", description="The environment variable that holds the key."),
    ] = "OPENAI_API_KEY"
    key_confirmed: ConfirmedHost = ""
    dimensions: Annotated[
        int,
        Meta(
            title="dimensions",
            ge=8,
            le=4096,
            description="Dimensions to ask for. The answer is checked.",
        ),
    ] = 256
    price: Annotated[
        float,
        Meta(
            title="price of a million",
            ge=0,
            le=1_000_000,
            description="What a million tokens cost, in your currency; 0: unknown.",
        ),
    ] = 0.0


class Search(Section):
    heading: ClassVar[str] = "Search"

    profile: Annotated[
        str,
        Meta(
            title="way of ranking",
            description="How the searches are combined: default, rrf (reciprocal ranks, k = 60) or late (word by word).",
        ),
    ] = "default"
    limit: Annotated[
        int,
        Meta(title="hits at most", ge=1, le=1000, description="Hits that a search returns."),
    ] = 10


class Context(Section):
    heading: ClassVar[str] = "What agents are told"

    turns: Annotated[
        bool,
        Meta(
            title="your own words",
            description="Give agents short excerpts of what you said before, where facts do not answer.",
        ),
    ] = True
    tokens: Annotated[
        int,
        Meta(
            title="tokens at most",
            ge=50,
            le=4000,
            description="Tokens that excerpts of your words may take in the context block.",
        ),
    ] = 400


class Decay(Section):
    heading: ClassVar[str] = "Fading"

    rate: Annotated[
        float,
        Meta(
            title="how fast, a day", ge=0, le=10, description="Rate a day at which an unrecalled fact fades."
        ),
    ] = 0.1
    lasting: Annotated[
        str,
        Meta(
            title="topics that do not fade",
            description="Topics that never fade, separated by spaces. If empty, only confirmed facts stay.",
        ),
    ] = "health rule"
    notes: Annotated[
        bool,
        Meta(
            title="own notes fade",
            description="Whether facts from notes that you keep by hand (Markdown) fade.",
        ),
    ] = False
    threshold: Annotated[
        float,
        Meta(title="faded below", ge=0, le=1, description="Confidence below which a fact has faded."),
    ] = 0.05
    cap: Annotated[
        int,
        Meta(
            title="facts a day at most",
            ge=0,
            le=1_000_000,
            description="Facts that may go to the Trash in one day, whatever their share.",
        ),
    ] = 20
    share: Annotated[
        float,
        Meta(
            title="share a day at most",
            ge=0,
            le=1,
            description="Share of all facts that may go to the Trash in one day.",
        ),
    ] = 0.02

    def topics(self) -> tuple[Topic, ...]:
        """Those of ``lasting``. Raises InputError for a word that is not a topic."""
        wanted = self.lasting.casefold().replace(",", " ").split()
        if unknown := [word for word in wanted if word not in TOPICS]:
            raise InputError(
                f"{unknown[0]!r} is not a topic.", f"It can be {', '.join(TOPICS)}, blanks between."
            )
        return tuple(topic for topic in TOPICS if topic in wanted)


class Retention(Section):
    heading: ClassVar[str] = "Old turns"

    days: Annotated[
        int,
        Meta(
            title="kept for days",
            ge=0,
            le=36_500,
            description="Turns older than that go to the Trash once their facts are drawn. 0: all are kept.",
        ),
    ] = 0
    cap: Annotated[
        int,
        Meta(
            title="turns a day at most",
            ge=0,
            le=1_000_000,
            description="Turns that may go to the Trash in one day; or decay.share of them, where that is more.",
        ),
    ] = 500


class Secrets(Section):
    heading: ClassVar[str] = "Secrets"

    facts: Annotated[
        SecretMode,
        Meta(
            title="in facts",
            description="Secret-looking text in facts: redact, quarantine (from models) or keep.",
        ),
    ] = "redact"
    episodes: Annotated[
        SecretMode,
        Meta(title="in conversations", description="The same for turns of conversations."),
    ] = "quarantine"


class Llm(Section):
    heading: ClassVar[str] = "Language model"

    base_url: Annotated[
        str,
        Meta(
            title="address",
            description="An OpenAI-compatible endpoint, https or on this machine. Empty: no model.",
        ),
    ] = ""
    model: Annotated[
        str,
        Meta(
            title="model there",
            description="The model that reads conversations there. It must support json_schema replies.",
        ),
    ] = ""
    key_env: Annotated[
        str,
        Meta(title="key is in variable", description="The environment variable that holds the key."),
    ] = "OPENAI_API_KEY"
    key_confirmed: ConfirmedHost = ""
    timeout: Annotated[
        float,
        Meta(
            title="seconds for a call", ge=1, le=3600, description="Seconds that one call may take, in all."
        ),
    ] = 120.0
    budget: Annotated[
        int,
        Meta(title="tokens for a run", ge=0, le=1_000_000_000, description="Tokens that one run may spend."),
    ] = 200_000
    price: Annotated[
        float,
        Meta(
            title="price of a million",
            ge=0,
            le=1_000_000,
            description="What a million tokens cost, in your currency; 0: unknown.",
        ),
    ] = 0.0


class Mcp(Section):
    heading: ClassVar[str] = "Agent server"

    jobs: Annotated[
        bool,
        Meta(
            title="may run jobs",
            description="A server for agents (memtui mcp) may run the maintenance jobs while it is open.",
        ),
    ] = True
    model: Annotated[
        bool,
        Meta(
            title="may use the model",
            description="The server may use the language model for them; else the app does these jobs.",
        ),
    ] = False
    requests: Annotated[
        int,
        Meta(
            title="requests a minute",
            ge=0,
            description="Over HTTP, how many requests each token may make in a minute; 0: no limit.",
        ),
    ] = 3_000


class Quotas(Section):
    heading: ClassVar[str] = "Limits of agents"

    writes: Annotated[
        int,
        Meta(
            title="writes an hour",
            ge=0,
            description="What each agent may write through its tools in an hour; 0: no limit. Programs that record "
            "what was said are not limited.",
        ),
    ] = 2_000
    megabytes: Annotated[
        int,
        Meta(title="megabytes an hour", ge=0, description="The same for the text that it writes."),
    ] = 20
    calls: Annotated[
        int,
        Meta(title="calls an hour", ge=0, description="The same for calls of its tools, reading ones too."),
    ] = 20_000

    def quota_list(self) -> tuple[Quota, ...]:
        limits = {"writes": self.writes, "bytes": self.megabytes * 1_000_000, "calls": self.calls}
        return tuple(msgspec.structs.replace(quota, limit=limits[quota.name]) for quota in QUOTAS)


class Names(Section):
    heading: ClassVar[str] = "Names"

    enrichment: Annotated[
        str,
        Meta(
            title="read again at night by",
            description="How the nightly job looks for more names.",
        ),
    ] = "accurate"


class Facts(Section):
    heading: ClassVar[str] = "Language model"

    extractor: Annotated[
        str,
        Meta(
            title="facts are drawn by",
            max_length=200,
            description="The name of an extractor from an installed package. Empty: the language model, or rules.",
        ),
    ] = ""


class Feeds(Section):
    heading: ClassVar[str] = "Sessions"

    watch: Annotated[
        bool,
        Meta(
            title="follow live ones",
            description="While the app is open, import new messages of Claude Code and Codex at once.",
        ),
    ] = False


class Sync(Section):
    heading: ClassVar[str] = "Sync"

    auto: Annotated[
        bool,
        Meta(
            title="by itself",
            description="A memory that memtui sync was set up for is synced while the app or a server for agents is open.",
        ),
    ] = True


class Settings(Section):
    """Everything that can be configured."""

    general: General = General()
    embedder: Embedder = Embedder()
    search: Search = Search()
    context: Context = Context()
    decay: Decay = Decay()
    retention: Retention = Retention()
    secrets: Secrets = Secrets()
    llm: Llm = Llm()
    facts: Facts = Facts()
    mcp: Mcp = Mcp()
    quotas: Quotas = Quotas()
    names: Names = Names()
    feeds: Feeds = Feeds()
    sync: Sync = Sync()
    strategies: Annotated[
        dict[str, str],
        Meta(
            title="ways of finding them",
            extra={"heading": "Name strategies"},
            description="How names are found: strategy -> its providers in order, blanks between, of "
            'regex, names, spacy, llm: mine = "regex spacy".',
        ),
    ] = msgspec.field(default_factory=dict)
    keymap: Annotated[
        dict[str, str],
        Meta(
            title="own keys",
            extra={"heading": "Keys"},
            description='Action -> its keys, blanks between: forget = "x delete".',
        ),
    ] = msgspec.field(default_factory=dict)

    def own_strategies(self) -> dict[str, tuple[ProviderName, ...]]:
        """Raises InputError for a strategy that cannot be."""
        return {name: check_strategy(name, providers.split()) for name, providers in self.strategies.items()}

    def options(self, *, background: bool = True, allow_unsafe_fs: bool = False) -> Options:
        """What ``Memory.open`` takes of it."""
        return Options(
            secrets=SecretPolicy(facts=self.secrets.facts, episodes=self.secrets.episodes),
            embedder=self.embedder.kind,
            embedder_package=self.embedder.package,
            extractor=self.facts.extractor,
            endpoint=EmbeddingOptions(
                base_url=self.embedder.base_url,
                model=self.embedder.model,
                key_env=self.embedder.key_env,
                key_confirmed=self.embedder.key_confirmed,
                dimensions=self.embedder.dimensions,
                price=self.embedder.price,
            ),
            decay_rate=self.decay.rate,
            lasting=self.decay.topics(),
            notes_fade=self.decay.notes,
            fade_threshold=self.decay.threshold,
            fade_cap=self.decay.cap,
            fade_share=self.decay.share,
            retention_days=self.retention.days,
            retention_cap=self.retention.cap,
            background=background,
            allow_unsafe_fs=allow_unsafe_fs,
            profile=self.search.profile,
            context=ContextOptions(turns=self.context.turns, tokens=self.context.tokens),
            strategies=self.own_strategies(),
            enrichment=self.names.enrichment,
            sync_auto=self.sync.auto,
            quotas=self.quotas.quota_list(),
            llm=LlmOptions(
                base_url=self.llm.base_url,
                model=self.llm.model,
                key_env=self.llm.key_env,
                key_confirmed=self.llm.key_confirmed,
                timeout=self.llm.timeout,
                budget_tokens=self.llm.budget,
                price=self.llm.price,
            ),
        )


class Setting(Record):
    """One row of the documentation. ``expected`` says in words what may be set.

    ``title`` and ``heading`` are what the app calls it and its section.
    """

    name: str
    section: str
    key: str
    title: str
    heading: str
    type: Any
    expected: str
    default: Any
    description: str
    variable: str | None

    @property
    def is_table(self) -> bool:
        return get_origin(_type_without_meta(self.type)) is dict


# What an entry of a table is called.
_ENTRIES = {"keymap": "action", "strategies": "strategy"}


def describe_settings() -> tuple[Setting, ...]:
    """Every setting in the order of the file. A table (``[keymap]``, ``[strategies]``) is one row with an empty key."""
    return _settings_of(Settings)


@cache
def _settings_of(settings: type[msgspec.Struct]) -> tuple[Setting, ...]:
    rows = []
    for section in msgspec.structs.fields(settings):
        if isinstance(section.type, type) and issubclass(section.type, Section):
            for field in msgspec.structs.fields(section.type):
                rows.append(_setting_of_field(section.encode_name, field, section.type.heading))
        else:
            rows.append(
                _setting_of_field("", section, (_meta_of_type(section.type).extra or {}).get("heading", ""))
            )
    return tuple(rows)


def settings_text() -> str:
    """All settings as Markdown, a heading for each section, for the documentation."""
    lines: list[str] = []
    section = None
    for setting in describe_settings():
        name = f"{setting.name}.<{_ENTRIES[setting.name]}>" if setting.is_table else setting.name
        if setting.heading != section:
            section = setting.heading
            lines += ["", f"## {section}", ""]
        variable = f", `{setting.variable}`" if setting.variable else ""
        default = "" if setting.is_table else f" Default: `{to_toml(setting.default)}`."
        lines.append(f"- `{name}`{variable}: {setting.description} ({setting.expected}){default}")
    return "\n".join(lines[1:])


def to_toml(value: str | bool | int | float) -> str:
    """A value as it is written in the file."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # A JSON string is a TOML basic string, but for DEL.
        return msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")
    return repr(value)


def _setting_of_field(section: str, field: msgspec.structs.FieldInfo, heading: str) -> Setting:
    """Raises TypeError for a setting that nothing could show."""
    meta = _meta_of_type(field.type)
    if not meta.title or not heading:
        raise TypeError(f"the setting {field.name} has no title, or its section no heading")
    default = field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
    key = field.encode_name if section else ""
    table = get_origin(_type_without_meta(field.type)) is dict
    stem = key if section == "general" else f"{section}_{key}"
    return Setting(
        name=f"{section}.{key}" if section else field.encode_name,
        section=section or field.encode_name,
        key=key,
        title=meta.title,
        heading=heading,
        type=field.type,
        expected=expected_value_text(field.type),
        default=default,
        description=meta.description or "",
        variable=None if table else f"MEMTUI_{stem}".upper(),
    )


def expected_value_text(kind: Any) -> str:
    """A type in words: "a number from 0 to 1", "one of offline, endpoint, off"."""
    bare, meta = _type_without_meta(kind), _meta_of_type(kind)
    if get_origin(bare) is Literal:
        return "one of " + ", ".join(get_args(bare))
    if get_origin(bare) is dict:
        return f"a table of names, each {expected_value_text(get_args(bare)[1])}"
    words = {bool: "true or false", str: "text", int: "a whole number", float: "a number"}[bare]
    if meta.le is not None:
        return f"{words} from {meta.ge} to {meta.le}"
    return f"{words} from {meta.ge} up" if meta.ge is not None else words


def _type_without_meta(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _meta_of_type(kind: Any) -> Meta:
    return get_args(kind)[1] if get_origin(kind) is Annotated else Meta()
