"""What a session was about, in a line or two: the person's first request, and the names that they came back to."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from memtui.engine import word_lists
from memtui.engine.models.ner.words import NOT_NAMES, OPENERS
from memtui.engine.wording import cut_text

from .clauses import clause_spans
from .exclusions import in_known_language, is_hypothetical, is_request, is_small_talk
from .filler import filler_length, without_filler
from .sentences import split_sentences

_LONGEST = 140
_FEWEST_WORDS = 4
_FEWEST_MEANINGS = 2
_FEWEST_TURNS = 2  # in which a name stands that the session is about
_MOST_NAMES = 4
_MOST_TURNS = 60
_name = re.compile(r"(?<=[\w,'’] )[A-Z][^\W\d_]{3,}")
_wonders = re.compile(r"(?:which|what|how|who|when|where|why)\b", re.IGNORECASE)
_LIST = Path(__file__).with_name("requests.txt")
_WHOLE = {
    "polite": "(?:{polite})",
    "question": r"(?:{before a question})?(?:{question words})\b",
    "pointing": "{pointing}",
    "meaning": r"\b(?!(?:{empty})\b)[^\W\d_]{{3,}}",
}


def summarise_session(messages: Sequence[str]) -> str | None:
    """Of the person's messages of a session; None where nothing in them says what it was about."""
    messages = messages[:_MOST_TURNS]
    request = next(_list_requests(messages), None)
    if request is None:
        return None
    folded = request.casefold()
    names = [name for name in _common_names(messages) if name.casefold() not in folded]
    text = cut_text(request, _LONGEST)
    return f"{text} ({', '.join(names)})" if names else text


def _list_requests(messages: Sequence[str]) -> Iterator[str]:
    """What is asked for, in order. What is stated becomes facts."""
    for message in messages:
        if not in_known_language(message):
            continue
        for sentence in split_sentences(message):
            for start, end in clause_spans(sentence):
                masked = sentence.masked[start:end]
                if "\x00" in masked or is_small_talk(masked) or is_hypothetical(masked):
                    continue
                text = without_filler(sentence.text[start:end]).rstrip(" .!?")
                if len(text.split()) < _FEWEST_WORDS or not _stands_alone(text):
                    continue
                if (sentence.question and _request_pattern("question").match(text)) or (
                    is_request(masked[filler_length(masked) :]) and not _wonders.match(text)
                ):
                    plain = (
                        _request_pattern("polite").sub("", text, count=1)
                        if _request_pattern("polite").match(text)
                        else text
                    )
                    yield plain[:1].upper() + plain[1:]


@functools.cache
def _request_pattern(name: str) -> re.Pattern[str]:
    lists = {heading: "|".join(lines) for heading, lines in word_lists.read_sections(_LIST).items()}
    return re.compile(_WHOLE[name].format(**lists), re.IGNORECASE)


def _stands_alone(text: str) -> bool:
    """Whether somebody who did not hear the talk understands what is asked for."""
    pointing = _request_pattern("pointing").search(text)
    by_itself = text[: pointing.start()] if pointing else text
    return len(
        _request_pattern("meaning").findall(by_itself)
    ) >= _FEWEST_MEANINGS and not text.casefold().endswith(" before")


def _common_names(messages: Sequence[str]) -> list[str]:
    """The names of several messages, those of most first: what has a capital within a sentence."""
    turns = Counter(
        name
        for message in messages
        for name in {found[0] for one in split_sentences(message) for found in _name.finditer(one.masked)}
    )
    often = [name for name, count in turns.items() if count >= _FEWEST_TURNS]
    often = [name for name in often if name.casefold().removesuffix("s") not in NOT_NAMES | OPENERS]
    return sorted(often, key=lambda name: -turns[name])[:_MOST_NAMES]
