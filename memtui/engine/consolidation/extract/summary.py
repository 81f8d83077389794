"""What a session was about, in a line or two: the person's first request, and the names that they came back to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from memtui.engine.models.ner.words import NOT_NAMES, OPENERS
from memtui.engine.wording import cut

from .clauses import clauses
from .exclusions import asks, in_known_language, is_small_talk, made_up
from .filler import lead, without_filler
from .sentences import sentences

_LONGEST = 140
_FEWEST_WORDS = 4
_FEWEST_MEANINGS = 2
_FEWEST_TURNS = 2  # in which a name stands that the session is about
_MOST_NAMES = 4
_MOST_TURNS = 60
_name = re.compile(r"(?<=[\w,'’] )[A-Z][^\W\d_]{3,}")
_polite = re.compile(
    r"(?:(?:can|could|would|will) (?:you|u|i|we) (?:please )?|please |pls |help me (?:to )?|"
    r"i (?:need|want) (?:you to |help (?:with|to) )|"
    r"(?:kannst du|können sie|bitte) |(?:peux-tu|pouvez-vous|tu peux) |(?:puedes|me puedes) )",
    re.IGNORECASE,
)  # fmt: skip
_question = re.compile(
    r"(?:and |so |also |but |ok |now |und |et |y )?(?:what|how|who|when|where|why|which|whose|is|are|am|was|were|do|does|did|can|"
    r"could|should|would|will|has|have|any|anything|anyone|wie|wo|wer|wann|warum|welche|kann|soll|muss|darf|ist|sind|gibt|"
    r"hast|habt|qué|que|cómo|como|cuándo|dónde|cuál|cuánto|quién|es|puedo|debo|hay|me|quels?|quelles?|qu'|comment|où|"
    r"quand|pourquoi|combien|est|puis|dois|il|y)\b|whats\b",
    re.IGNORECASE,
)  # fmt: skip
# What points at something that was said before, and means nothing without it.
_points = re.compile(
    r"(?<!\bis )(?<!\bare )\bthere\b(?! (?:is|are)\b)|(?<!\bis )\bit\b|\bit\b(?! (?:true|ok|okay|possible|safe|worth|allowed)\b)|"
    r"\b(?:them|him|her|then|those|these|the same|instead|(?:this|that)(?! (?!(?:is|was|in|on|for|normal)\b)\w{3,})|"
    r"the (?:first|second|last|other) one|dort|damit|dafür|ça|cela|eso|esto|ahí)\b",
    re.IGNORECASE,
)  # fmt: skip
_meaning = re.compile(
    r"\b(?!(?:what|whats|which|when|where|would|could|should|will|have|does|that|this|with|from|about|please|again|also|just|need|want|"
    r"give|make|write|tell|help|find|show|kind|thing|things|something|anything|usually|true|really|long|much|many|"
    r"the|and|for|how|why|who|can|you|are|was|has|had|any|get|got|let|put|now|but|our|your|his|her|its|all|one|two|out|off|not|"
    r"too|did|say|ask|use|see|lay|way|der|die|das|ein|und|ist|wie|les|des|une|que|los|las|por|con|del)\b)[^\W\d_]{3,}",
    re.IGNORECASE,
)  # fmt: skip
_wonders = re.compile(r"(?:which|what|how|who|when|where|why)\b", re.IGNORECASE)


def summary(messages: Sequence[str]) -> str | None:
    """Of the person's messages of a session; None where nothing in them says what it was about."""
    messages = messages[:_MOST_TURNS]
    request = next(_requests(messages), None)
    if request is None:
        return None
    said = request.casefold()
    names = [name for name in _names(messages) if name.casefold() not in said]
    text = cut(request, _LONGEST)
    return f"{text} ({', '.join(names)})" if names else text


def _requests(messages: Sequence[str]) -> Iterator[str]:
    """What is asked for, in order. What is only told becomes facts."""
    for message in messages:
        if not in_known_language(message):
            continue
        for sentence in sentences(message):
            for start, end in clauses(sentence):
                masked = sentence.masked[start:end]
                if "\x00" in masked or is_small_talk(masked) or made_up(masked):
                    continue
                text = without_filler(sentence.text[start:end]).rstrip(" .!?")
                if len(text.split()) < _FEWEST_WORDS or not _stands_alone(text):
                    continue
                if (sentence.question and _question.match(text)) or (
                    asks(masked[lead(masked) :]) and not _wonders.match(text)
                ):
                    plain = _polite.sub("", text, count=1) if _polite.match(text) else text
                    yield plain[:1].upper() + plain[1:]


def _stands_alone(text: str) -> bool:
    """Whether somebody who did not hear the talk understands what is asked for."""
    pointing = _points.search(text)
    by_itself = text[: pointing.start()] if pointing else text
    return len(_meaning.findall(by_itself)) >= _FEWEST_MEANINGS and not text.casefold().endswith(" before")


def _names(messages: Sequence[str]) -> list[str]:
    """The names of several messages, those of most first: what has a capital within a sentence."""
    turns = Counter(
        name
        for message in messages
        for name in {found[0] for one in sentences(message) for found in _name.finditer(one.masked)}
    )
    often = [name for name, count in turns.items() if count >= _FEWEST_TURNS]
    often = [name for name in often if name.casefold().removesuffix("s") not in NOT_NAMES | OPENERS]
    return sorted(often, key=lambda name: -turns[name])[:_MOST_NAMES]
