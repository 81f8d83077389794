"""Word lists of subjects and people: which words of a prompt ask for something, which words of a statement bear on it.

The lists are text files in ``words/``: English, German, French and Spanish, in small letters without accents.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from memtui.engine import word_lists
from memtui.engine.records import Record
from memtui.engine.store.tokens import STOP_WORDS, text_stems, text_words

# What people say before they come to it.
_FOLDER = Path(__file__).parent / "words"
_prelude = re.compile(
    rf"\W*(?:(?:{word_lists.read_expression(_FOLDER / 'phrases.txt', 'PRELUDE')})\W+)*", re.IGNORECASE
)


class WordList(Record):
    """Words, and the beginnings of words."""

    whole: frozenset[str]
    beginnings: tuple[str, ...]

    def listed_among(self, among: Iterable[str]) -> set[str]:
        """Those of some words that are on the list."""
        return {one for one in among if one in self.whole or one.startswith(self.beginnings)}


class LexiconTopic(Record):
    """A subject. ``asked``: words of a prompt about it; ``strong``: words of a statement that bears on it.

    ``alone``: words of a prompt that ask for it only where no other subject is asked for.
    ``weak``: words with other uses, which count only in a statement that has a ``strong`` word too.
    """

    name: str
    asked: WordList
    alone: WordList
    strong: WordList
    weak: WordList


@functools.cache
def load_topics() -> tuple[LexiconTopic, ...]:
    """The subjects, in the order of the list."""
    found: dict[str, dict[str, list[str]]] = {}
    for name, lines in _read_sections("topics").items():
        for line in lines:
            side, _, listed = line.partition(":")
            found.setdefault(name, {}).setdefault(side, []).extend(listed.split())
    return tuple(
        LexiconTopic(
            name=name,
            asked=_word_list(sides["asked"]),
            alone=_word_list(sides.get("alone", ())),
            strong=_word_list(sides["strong"]),
            weak=_word_list(sides.get("weak", ())),
        )
        for name, sides in found.items()
    )


def topics_asked_about(words: Collection[str]) -> tuple[str, ...]:
    """The names of the topics that the words of a prompt ask about."""
    topics = tuple(topic.name for topic in load_topics() if topic.asked.listed_among(words))
    return topics or tuple(topic.name for topic in load_topics() if topic.alone.listed_among(words))


@functools.cache
def vital_lists() -> dict[str, WordList]:
    """``health``: what may harm; ``rule``: what forbids or demands; ``diet``: what some do not eat;
    ``wish``: how meals shall be.
    """
    return {name: _word_list(" ".join(lines).split()) for name, lines in _read_sections("vital").items()}


@functools.cache
def sentence_words() -> dict[str, frozenset[str]]:
    """Small words by what they tell of a sentence."""
    return {
        name: frozenset(" ".join(lines).split()) for name, lines in _read_sections("sentence_words").items()
    }


@functools.cache
def compiled_pattern(name: str) -> re.Pattern[str]:
    """How prompts or statements begin, or what is in them."""
    return re.compile("|".join(_read_sections("patterns")[name]), re.IGNORECASE)


def begins_with(name: str, text: str) -> bool:
    """Whether a text begins with a pattern, after what people say before they come to it."""
    return phrase_at_start(name, text) is not None


def phrase_at_start(name: str, text: str) -> str | None:
    """What of a text a pattern covers at its beginning, after what people say before they come to it."""
    start = _prelude.match(text)
    found = compiled_pattern(name).match(text, start.end() if start else 0)
    return found[0] if found else None


def asked_attributes(prompt: str) -> tuple[re.Pattern[str], ...]:
    """How statements look that have what a prompt asks for by name: an age, a price, a number to call."""
    names = [
        name for name in _read_sections("attributes") if _attribute_patterns(name, "asked").search(prompt)
    ]
    return tuple(_attribute_patterns(name, "answer") for name in names)


@functools.cache
def _attribute_patterns(name: str, side: str) -> re.Pattern[str]:
    parts = [line.partition(": ") for line in _read_sections("attributes")[name]]
    return re.compile(
        "|".join(listed for listed_side, _, listed in parts if listed_side == side), re.IGNORECASE
    )


class PhraseList(Record):
    """Words, and several in a row, each with a space before and after it; of one that stands for beginnings, only before it."""

    single: WordList
    rows: tuple[str, ...]

    def find_in(self, words: Iterable[str], plain: str) -> set[str]:
        """Those that occur in a text: its words, and the text as ``store.words.plain`` gives it."""
        return self.single.listed_among(words) | {row.strip() for row in self.rows if row in plain}


class AnswerWording(Record):
    """Words of a prompt, and what statements say that answer it with others."""

    asked: frozenset[str]
    answers: PhraseList


def answer_wordings(words: Collection[str], plain: str) -> tuple[AnswerWording, ...]:
    """What answers the words of a prompt with others, by group of the list."""
    groups = _load_wordings("asked")
    matches = ((name, listed.find_in(words, plain)) for name, listed in groups.items())
    return tuple(
        AnswerWording(
            asked=frozenset(word for one in found for word in one.split()),
            answers=_load_wordings("answer")[name],
        )
        for name, found in matches
        if found
    )


@functools.cache
def _load_wordings(side: str) -> dict[str, PhraseList]:
    return {
        name: _phrase_list(
            one for line in lines if line.startswith(side) for one in line.partition(":")[2].split(",")
        )
        for name, lines in _read_sections("wordings").items()
    }


def _phrase_list(listed: Iterable[str]) -> PhraseList:
    single: list[str] = []
    rows: list[str] = []
    for one in map(str.strip, listed):
        begins = one.endswith("*")
        bare = one.removesuffix("*")
        parts = bare.split() if bare.isascii() and bare.replace(" ", "").isalnum() else text_words(bare)
        if len(parts) == 1:
            single.append(parts[0] + "*" * begins)
        else:
            rows.append(f" {' '.join(parts)}{'' if begins else ' '}")
    return PhraseList(single=_word_list(single), rows=tuple(rows))


@functools.cache
def words_for_people() -> dict[str, WordList]:
    """Kinds of people by the words for them."""
    return {name: _word_list(listed.split()) for name, listed in _people_lines() if "=" not in name}


@functools.cache
def words_for_groups() -> dict[frozenset[str], WordList]:
    """The words for several kinds of people at once."""
    return {
        frozenset(name.partition("=")[2].split()): _word_list(listed.split())
        for name, listed in _people_lines()
        if "=" in name
    }


@functools.cache
def kinship_words() -> dict[str, frozenset[str]]:
    """What facts call those for whom a prompt has a word."""
    found: dict[str, frozenset[str]] = {}
    for line in _read_lines("kinship"):
        in_questions, _, in_facts = line.partition(":")
        found |= dict.fromkeys(in_questions.split(), frozenset((in_facts or in_questions).split()))
    return found


@functools.cache
def stop_words() -> frozenset[str]:
    """Words that say next to nothing, of languages other than English."""
    return frozenset(word for line in _read_lines("stop_words") for word in line.split())


@functools.cache
def chatter_words() -> frozenset[str]:
    """Words that agree, thank, greet or close."""
    return frozenset(word for line in _read_lines("chatter") for word in line.split())


@functools.cache
def words_without_content() -> frozenset[str]:
    """Words that say nothing by themselves, of any language."""
    return stop_words() | STOP_WORDS


def is_content_word(word: str) -> bool:
    """Whether a word says something by itself."""
    return word not in words_without_content()


def content_stems(text: str) -> set[str]:
    """The stems of the words of a text that say something."""
    return {
        stem for word, stem in zip(text_words(text), text_stems(text), strict=True) if is_content_word(word)
    }


@functools.lru_cache(maxsize=20_000)
def lists_marking(word: str) -> tuple[str, ...]:
    """The lists of what statements say on which a word stands: ``strong``, of vital things, people and sentences."""
    whole, beginnings, lengths = _marking_words()
    found = whole.get(word, ())
    for length in lengths:
        if length > len(word):
            break
        found += beginnings.get(word[:length], ())
    return found if len(found) < 2 else tuple(dict.fromkeys(found))


@functools.cache
def _marking_words() -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]], tuple[int, ...]]:
    """The names of the lists by word and by beginning, and how long the beginnings are."""
    lists = [(strong_mark(topic.name), topic.strong) for topic in load_topics()]
    lists += [(weak_mark(topic.name), topic.weak) for topic in load_topics()]
    lists += [*vital_lists().items(), *words_for_people().items()]
    lists += [(name, listed) for kinds, listed in words_for_groups().items() for name in kinds]
    lists += [(name, WordList(whole=listed, beginnings=())) for name, listed in sentence_words().items()]
    whole: dict[str, tuple[str, ...]] = {}
    beginnings: dict[str, tuple[str, ...]] = {}
    for name, listed in lists:
        for word in listed.whole:
            whole[word] = (*whole.get(word, ()), name)
        for beginning in listed.beginnings:
            beginnings[beginning] = (*beginnings.get(beginning, ()), name)
    return whole, beginnings, tuple(sorted({len(one) for one in beginnings}))


def strong_mark(topic: str) -> str:
    """The mark of words by which a statement bears on a topic."""
    return f"strong {topic}"


def weak_mark(topic: str) -> str:
    """The mark of words that count for a topic only beside a ``strong`` word."""
    return f"weak {topic}"


def count_topic_words(topic: str, marks: Mapping[str, int]) -> int:
    """How many words of a statement show that it bears on a topic; 0 where it has only words with other uses."""
    found = marks.get(strong_mark(topic), 0)
    return found + marks.get(weak_mark(topic), 0) if found else 0


@functools.cache
def _weak_words() -> frozenset[str]:
    return frozenset(word for line in _read_lines("weak_words") for word in line.split())


def is_discriminative(word: str) -> bool:
    """Whether a word that a prompt shares with a fact shows by itself that the two have to do with each other."""
    return is_content_word(word) and word not in _weak_words() and not (word.isdigit() and len(word) < 3)


def needs_no_memory(prompt: str) -> bool:
    """Whether a prompt asks for what everybody knows or can do, and says nothing of the person before what is pasted."""
    if not begins_with("needs no memory", prompt):
        return False
    request = before_paste(prompt)
    return not (
        compiled_pattern("speaks of the person").search(request) or kinds_of_people(text_words(request))
    )


def states_preference(content: str) -> bool:
    """Whether a statement says how something is wanted."""
    return compiled_pattern("how it is wanted").search(content) is not None


def asks_for_one_thing(prompt: str) -> bool:
    """Whether a prompt asks for something that is in memory or is not, and not for work or advice."""
    return begins_with("asks for one thing", prompt) and not compiled_pattern("asks for work").search(prompt)


def before_paste(prompt: str) -> str:
    """A prompt up to what is pasted."""
    return re.split(r"[:\n]", prompt, maxsplit=1)[0]


def kinds_of_people(words: Collection[str]) -> frozenset[str]:
    """The kinds of people that some words speak of; those of a group with it."""
    found = {name for name, listed in words_for_people().items() if listed.listed_among(words)}
    for kinds, listed in words_for_groups().items():
        if listed.listed_among(words):
            found |= kinds
    return frozenset(found)


def _people_lines() -> list[tuple[str, str]]:
    parts = [line.partition(":") for line in _read_lines("people")]
    return [(name.strip(), listed) for name, _, listed in parts]


def _read_sections(name: str) -> dict[str, list[str]]:
    """The lines of a list below each [heading]."""
    return word_lists.read_sections(_FOLDER / f"{name}.txt")


def _word_list(listed: Iterable[str]) -> WordList:
    whole: set[str] = set()
    beginnings: set[str] = set()
    for one in listed:
        plain = one.removesuffix("*")
        pieces = [plain] if plain.isascii() and plain.isalnum() and plain.islower() else text_words(one)
        if one.endswith("*") and len(pieces) == 1:
            beginnings.add(pieces[0])
        else:
            whole.update(pieces if len(pieces) == 1 else ())
    return WordList(whole=frozenset(whole), beginnings=tuple(sorted(beginnings)))


def _read_lines(name: str) -> list[str]:
    return word_lists.read_lines(_FOLDER / f"{name}.txt")
