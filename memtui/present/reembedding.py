"""Re-embedding as text: what a change of the embedding model costs, and its result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .format import file_size, format_count, format_price, plural

if TYPE_CHECKING:
    from memtui.engine.records import Stats
    from memtui.engine.records.embedding import ReembedPlan, ReembedResult, StrongerModel, VectorSpace


def model_change_note(stats: Stats) -> str:
    """A note if the settings name another model than the one of the stored vectors. Empty if not."""
    if not stats.vectors_wanted:
        return ""
    waiting = plural(stats.embedded + stats.unembedded, "memory")
    return f"the settings want {stats.vectors_wanted}: {waiting} to embed anew"


def better_ranking_note(stats: Stats) -> str:
    """A note if another ranking finds more with this model. Empty if not."""
    if not stats.better_ranking:
        return ""
    return f'the ranking "{stats.better_ranking}" finds more with this model: the setting search.profile'


# Of what questions need, found among the first ten hits, on data that nobody tuned on: docs/internals.md, Chats.
_IN_CHATS = (46, 59)


def stronger_model_text(stronger: StrongerModel) -> str:
    """What MiniLM would bring and take for this memory. The command that installs it is apart."""
    before, after = _IN_CHATS
    packages = f", and packages of about {file_size(stronger.packages)}" if stronger.packages else ""
    return (
        f"MiniLM finds more: in chats {after} of 100 messages that questions need, not {before}. For the "
        f"{plural(stronger.texts, 'memory')} here it takes about {_duration_text(stronger.seconds)} once and "
        f"{file_size(stronger.size)} in the file{packages}. No text leaves this machine."
    )


def plan_rows(plan: ReembedPlan, a_million: float) -> list[tuple[str, str]]:
    """A label and a text for each row. ``a_million``: the price of a million tokens, if texts are sent."""
    cost = format_price(plan.tokens, a_million) if plan.sends_to else ""
    earlier = f", {format_count(plan.done)} more are done by an earlier run" if plan.done else ""
    stay = "no one: the texts stay on this machine"
    ranking = []
    if plan.words and not plan.words_before:
        ranking = [("ranking", '"late" becomes possible, which finds most with this model: you are asked')]
    elif plan.words_before and not plan.words:
        ranking = [("ranking", '"late" cannot work with this model: "default" ranks in its place')]
    return [
        ("from", _space_name(plan.before) if plan.before else "no vectors yet"),
        ("to", _space_name(plan.after)),
        ("texts", f"{format_count(plan.texts)}{earlier}"),
        (
            "to read",
            f"{format_count(plan.characters)} characters, about {format_count(plan.tokens)} tokens{cost}",
        ),
        ("time", f"about {_duration_text(plan.seconds)}"),
        ("size", file_size(plan.size)),
        ("sent to", plan.sends_to or stay),
        *ranking,
    ]


def reembed_result(done: ReembedResult, model: str) -> str:
    texts = plural(done.embedded, "text")
    text = f"Embedded {texts}: the vectors are those of {model} now."
    if not done.switched:
        text = f"Stopped after {texts}; they are kept, and the vectors of before go on serving."
    elif done.words:
        text += ' With the ranking "late" (search.profile) each word of a question finds what means the same.'
    if done.refused:
        without = plural(done.refused, "text has", "texts have")
        text = f"{text} {without} no vector, the model refused or could not read what is said: words alone find them."
    return text


def _space_name(space: VectorSpace) -> str:
    return f"{space.model_id}, {space.dims} dimensions"


def _duration_text(seconds: float) -> str:
    if seconds < 90:
        return plural(max(round(seconds), 1), "second")
    return (
        plural(round(seconds / 60), "minute") if seconds < 5_400 else plural(round(seconds / 3_600), "hour")
    )
