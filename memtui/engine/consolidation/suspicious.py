"""What a person should look at before an agent is told it: orders, secrets, claims that their sources do not make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from memtui.engine.guards import secrets
from memtui.engine.guards.instructions import find_instructions
from memtui.engine.records import TRUST_ORDER, Record, Trust

from .compare.similarity import analyse_statement, tokens_as_written
from .compare.statements import states_claim
from .extract.joined_statements import without_date
from .extract.sentences import split_sentences

# How much of a fact its sources must lack before it counts as unsupported: a rewording shares fewer words.
_MISSING_SHARE = 0.7


class Suspicion(Record):
    """``instruction``: it talks to the assistant; ``secret``: it carries one; ``unsupported``: its sources do not say it."""

    kind: Literal["instruction", "secret", "unsupported"]
    detail: str


def find_suspicions(content: str, trust: Trust, sources: Sequence[str] = ()) -> tuple[Suspicion, ...]:
    """What is wrong with a text, worst first. ``sources``: the texts it was drawn from; none: not judged by them.

    The person's own words are not held against them: an order of theirs is an order.
    """
    found: list[Suspicion] = []
    if trust != "user":
        found += [Suspicion(kind="instruction", detail=reason) for reason in find_instructions(content)]
    found += [
        Suspicion(kind="secret", detail=kind)
        for kind in dict.fromkeys(match.kind for match in secrets.find_secrets(content))
    ]
    missing = unsupported_words(content, sources)
    if missing:
        found.append(Suspicion(kind="unsupported", detail=f"its sources do not say {', '.join(missing[:6])}"))
    return tuple(found)


def unsupported_words(content: str, sources: Sequence[str]) -> tuple[str, ...]:
    """The words, names and numbers of ``content``, as written there, that no source has, when they are too many
    to be a rewording. A number that is in no source is enough by itself; so is a name.
    """
    if not sources:
        return ()
    content = without_date(content)
    claim = analyse_statement(content)
    statements = [analyse_statement(source) for source in sources]
    words = frozenset(stem for one in statements for stem in one.content)
    missing = [stem for stem in dict.fromkeys(claim.content) if not _is_form_of(stem, words)]
    numbers = sorted(claim.numbers - frozenset(number for one in statements for number in one.numbers))
    names = [stem for stem in missing if stem in claim.names]
    if len(missing) < 3 or len(missing) < _MISSING_SHARE * len(set(claim.content)):
        missing = names
        if not numbers and len(names) < 2:
            return ()
    return _as_written(content, (*numbers, *missing))


def is_supported(content: str, sources: Sequence[str]) -> bool:
    """Whether a sentence of one of the sources states this and no more: see ``states_claim``.

    What a source only asks supports nothing, nor does a sentence that quotes.
    """
    claim = without_date(content)
    return any(
        states_claim(sentence.text, claim)
        for source in sources
        for sentence in split_sentences(source)
        if not sentence.question and sentence.text == sentence.masked
    )


def _as_written(content: str, words: Sequence[str]) -> tuple[str, ...]:
    """The words behind stems and numbers of a reading."""
    written: dict[str, str] = {}
    for token in tokens_as_written(content):
        word = analyse_statement(token)
        for stem in (*word.content, *word.numbers):
            written.setdefault(stem, token)
    return tuple(dict.fromkeys(written.get(stem, stem) for stem in words))


def _is_form_of(stem: str, words: frozenset[str]) -> bool:
    """Also in another form: decided, decision."""
    return stem in words or (len(stem) > 4 and any(word[:5] == stem[:5] for word in words))


def least_trust(trusts: Sequence[Trust]) -> Trust:
    """That of the least trusted source; with none it is a model's own claim."""
    return max(trusts, key=TRUST_ORDER.index, default="model")
