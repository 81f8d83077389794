"""How likely a new statement puts something else in the place of what an older one says: a small network of our own.

"Sold Morven, smaller boat, the Wren" follows on "Boat's called Morven" and says little in the same words. It is judged by what
both name, by what stands in the place of what (times, days, dates, amounts, names), by the meaning of their words and of
what was said around them, by how people say that something changed (``change_cues.txt``), and by whether another
fact is closer. The weights are made by ``tests/benchmarks/updates_train.py``.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine import word_lists
from memtui.engine.models import ordinary_words
from memtui.engine.models.embedders import OfflineEmbedder
from memtui.engine.models.ner import gazetteer
from memtui.engine.records import MemoryRecord
from memtui.engine.store import words as index_words

from ..extract.sentences import sentences
from .similarity import plain_weight, tokens, word_shape
from .vocabulary import ENDINGS, FUNCTION_WORDS, NEGATIONS, NUMBER_WORDS, SYNONYMS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

WEIGHTS = Path(__file__).parent / "updates.npz"
_LONGEST = 400  # characters of a statement that are looked at
_LONGEST_AROUND = 200
_LONGEST_BEFORE = 150
_NEAR = 4  # words that "no longer" is said of
_CUES = (
    "now", "instead", "correction", "moved", "replaced", "ended", "again", "amount",
    "also", "temporary", "maybe", "past", "asks", "other", "reminder",
)  # fmt: skip
_CHANGES = 8  # so many of them say that something changed
_UNSEEN = 20
_LITTLE_ELSE = 3
_BEFORE, _AFTER = 4, 3  # telling words next to a value
_MOST_PLACES = 12
_said = re.compile(r" \(said [^)]*\)$")
_elided = re.compile(r"^(?:[ldjmnstc]|qu)'(?=\w{2})")
_taken_back = re.compile(
    r"\b(?:not|from|instead of|rather than|nicht|statt|von|pas|au lieu d[eu]|no(?: era| es)?|en vez de|earlier)"
    r"(?: the| den| le| el| \w+)? ((?:\w+[:.]?\w* ?){1,2})"
)
_money = re.compile(
    r"[€$£] ?(?P<a>\d[\d.,]*)|\b(?P<b>\d[\d.,]*) ?(?:€|\$|£|euros?|dollars?|pounds?|quid|k\b|lakhs?|lpa|grand|cents|pesos|mil\b)"
)
_number = re.compile(r"\d+(?:[.,]\d+)*")


class Told(NamedTuple):
    """A statement, what its message says right ``before`` it (``around``), and the messages ``before`` that.

    ``talk``: the session, "" where it is not known; ``at``: when it was said there.
    """

    text: str
    around: str = ""
    before: str = ""
    talk: str = ""
    at: float = 0.0


class Values(NamedTuple):
    """What a statement sets something to, by sort, in one spelling."""

    times: frozenset[str]
    days: frozenset[str]
    dates: frozenset[str]
    amounts: frozenset[str]
    numbers: frozenset[str]


class Place(NamedTuple):
    """A value in a statement: its ``sort``, the value, the word after it (what is counted), and the stems next to it with
    their mean vector."""

    sort: str
    value: str
    unit: str
    stems: frozenset[str]
    mean: Floats


class Profile(NamedTuple):
    """What comparing needs of one statement. ``content``: stems that say something; ``rows``: vectors of these words;
    ``gone``, ``gone_values``: what it says is no longer so; ``names``: also rare words, for people type names in small letters.
    """

    length: int
    content: tuple[str, ...]
    names: frozenset[str]
    people: frozenset[str]
    personal: bool
    values: Values
    gone: frozenset[str]
    gone_values: frozenset[str]
    cues: tuple[float, ...]
    denials: int
    rows: Floats
    weights: Floats
    mean: Floats
    places: tuple[Place, ...]


class Among(NamedTuple):
    """How a pair stands among those of the same new statement. ``weight``: how rare a stem is among the facts; ``closeness``,
    ``overlap``: one by the place of the pair; ``meaning``, ``words``: how close the surroundings are; ``spoken_of``,
    ``spoken_of_words``: how close what was said before the new one is to the older one, ``spoken_of_most`` by its place;
    ``same_talk``, ``lately``: whether they are of one conversation, one for the last thing said there; ``crowd``: nothing for
    one pair, one for fifty and more."""

    weight: Callable[[str], float]
    closeness: float
    overlap: float
    meaning: float
    words: float
    spoken_of: float
    spoken_of_words: float
    spoken_of_most: float
    same_talk: float
    lately: float
    crowd: float


class UpdateModel:
    """Judges pairs. Raises DegradedError where the vectors are missing."""

    def __init__(self, embedder: OfflineEmbedder | None = None) -> None:
        self.embedder = embedder or OfflineEmbedder()

    def available(self) -> bool:
        """Whether the vectors are installed; without them only the rules compare."""
        return self.embedder.available() is None

    def nearest(self, new: Told, known: Sequence[str], limit: int) -> list[int]:
        """The places of those of the known that mean most like it, or like it and what was said around it."""
        import numpy as np

        if not known:
            return []
        rows = np.stack([profile(text, self.embedder).mean for text in known])
        mine = [profile(text, self.embedder).mean for text in (new.text, _with_around(new))]
        closeness = np.max(rows @ np.stack(mine).T, axis=1)
        return [int(place) for place in np.argsort(-closeness, kind="stable")[:limit]]

    def judge(self, new: Told, known: Sequence[Told]) -> list[float]:
        """For each of the known the log-odds that the new one puts something else in its place; about 0.1 ms each."""
        if not known:
            return []
        import numpy as np

        table = np.asarray(pair_features(new, known, self.embedder), np.float32)
        weights = _weights()
        hidden = np.tanh(((table - weights.mean) / weights.spread).clip(-4, 4) @ weights.inner + weights.bias)
        return [float(score) for score in hidden @ weights.outer + weights.shift]


@functools.cache
def model() -> UpdateModel:
    """The one of this process: its vectors are read once, and what was compared lately is at hand."""
    return UpdateModel()


def takes_back(new: str, old: str) -> bool:
    """Whether it says of the very thing that it is no longer so ("off warfarin"), and the older one says little else."""
    embedder = model().embedder
    mine, theirs = profile(new, embedder), profile(old, embedder)
    if mine.people != theirs.people:
        return False
    shared = set(mine.content).intersection(theirs.content)
    # "No ladders" and "I can't do ladders" both deny it.
    said = bool((mine.gone - theirs.gone).intersection(theirs.content)) or any(
        mine.gone_values & sort for sort in theirs.values
    )
    return said and len(set(theirs.content) - shared) <= _LITTLE_ELSE


def people_named(text: str) -> frozenset[str]:
    """The given names and the words for people ("sister") in a statement, by stem."""
    listed = _words()["people"]
    bare = (token.casefold().removesuffix("'s") for token in tokens(text.replace("’", "'")))
    return frozenset(
        SYNONYMS.get(word, word) for word in bare if word in listed or gazetteer.is_given_name(word)
    )


def takes_all_back(new: str, old: str) -> bool:
    """Whether that is all that the older one says, and the new one speaks of it once ("sqlite stays for the cli")."""
    embedder = model().embedder
    mine, theirs = profile(new, embedder), profile(old, embedder)
    return set(theirs.content) <= set(mine.content) and all(
        mine.content.count(stem) == 1 for stem in mine.gone
    )


def changes_hands(new: str) -> bool:
    """Whether it says that somebody has what another one had ("Aisha took over deploys")."""
    return bool(profile(new, model().embedder).cues[_CUES.index("replaced")])


def listed(heading: str) -> frozenset[str]:
    """The words under a heading of change_words.txt."""
    return _words()[heading]


def surroundings(text: str, turn: str) -> str:
    """What a turn says right before the sentence that the statement is drawn from."""
    words = set(tokens(text.casefold()))
    said = [sentence.text for sentence in sentences(turn[:20_000])]
    if not said:
        return ""
    best = max(range(len(said)), key=lambda place: len(words.intersection(tokens(said[place].casefold()))))
    return " ".join(said[max(0, best - 2) : best])[-_LONGEST_AROUND:]


def said_before(turn: MemoryRecord, turns: Iterable[MemoryRecord]) -> str:
    """What the two messages before a turn say, of those that are at hand."""
    order = (turn.event_time, turn.rid)
    earlier = sorted(
        (one for one in turns if one.session_id == turn.session_id and (one.event_time, one.rid) < order),
        key=lambda one: (one.event_time, one.rid),
    )
    return " ".join(one.content[-_LONGEST_BEFORE:] for one in earlier[-2:])


def pair_features(new: Told, known: Sequence[Told], embedder: OfflineEmbedder) -> list[list[float]]:
    """The signs of the pairs of one new statement with each of the known."""
    mine = profile(new.text, embedder)
    theirs = [profile(one.text, embedder) for one in known]
    counts = Counter(stem for one in theirs for stem in set(one.content))
    facts = len(theirs) + _UNSEEN

    def weight(stem: str) -> float:
        return math.log(facts / max(counts[stem], 0.5)) / math.log(2 * facts)

    cosines = [float(mine.mean @ one.mean) for one in theirs]
    overlaps = [_overlap(mine, one, weight) for one in theirs]
    around = profile(_with_around(new), embedder)
    context = f"{new.before} {new.around}".strip()[-_LONGEST:]
    talk = profile(context, embedder) if context else None
    spoken = [_overlap(talk, one, weight) if talk else 0.0 for one in theirs]
    found = []
    for one, profiled, cosine, overlap, words in zip(known, theirs, cosines, overlaps, spoken, strict=True):
        other = profile(_with_around(one), embedder)
        among = Among(
            weight=weight,
            closeness=1 / (1 + sum(another > cosine for another in cosines)),
            overlap=1 / (1 + sum(another > overlap for another in overlaps)) if overlap else 0.0,
            meaning=float(around.mean @ other.mean),
            words=min(1.0, _overlap(around, other, weight) / 6),
            spoken_of=float(talk.mean @ profiled.mean) if talk else 0.0,
            spoken_of_words=min(1.0, words / 4),
            spoken_of_most=1 / (1 + sum(another > words for another in spoken)) if words else 0.0,
            same_talk=float(bool(new.talk) and new.talk == one.talk),
            lately=_lately(new, one, known),
            crowd=min(1.0, math.log(len(known)) / 4),
        )
        found.append(_features(mine, profiled, among))
    return found


def _lately(new: Told, old: Told, known: Sequence[Told]) -> float:
    """One for what the conversation said last, less for what it said before."""
    if not new.talk or new.talk != old.talk:
        return 0.0
    return 1 / (1 + len({one.at for one in known if one.talk == new.talk and old.at < one.at <= new.at}))


def _with_around(told: Told) -> str:
    return f"{told.around} {told.text}"[-_LONGEST_AROUND * 2 :] if told.around else told.text


def _overlap(new: Profile, old: Profile, weight: Callable[[str], float]) -> float:
    return sum(weight(stem) * plain_weight(stem) for stem in set(new.content).intersection(old.content))


@functools.lru_cache(maxsize=4096)
def profile(text: str, embedder: OfflineEmbedder) -> Profile:
    """What comparing needs of a statement; about 0.3 ms."""
    import numpy as np

    text = _said.sub("", text[:_LONGEST].replace("’", "'"))
    plain = " ".join(text.casefold().split())
    found = tokens(text)
    lowered = [token.casefold() for token in found]
    listed = _words()
    values, taken, spans = _values(plain, lowered)
    content: list[str] = []
    words: list[str] = []
    stems: list[str] = []
    names, people = set(), set()
    for place, (token, word) in enumerate(zip(found, lowered, strict=True)):
        bare, stem = _bare(word), _stem(word)
        stems.append(stem)
        if bare in listed["people"]:
            people.add(stem)
        if (
            word in taken
            or len(bare) < 2
            or bare in FUNCTION_WORDS
            or bare in NEGATIONS
            or bare in listed["small"]
            or word in listed["self"]
        ):
            continue
        content.append(stem)
        words.append(bare)
        given = gazetteer.is_given_name(bare)
        if given:
            people.add(stem)
        if given or (place and token[0].isupper()) or not (bare.isalpha() and ordinary_words.among([bare])):
            names.add(stem)
    rows = (
        np.stack([_vector(embedder, word) for word in words])
        if words
        else np.zeros((0, embedder.dims), np.float32)
    )
    return Profile(
        length=len(found),
        content=tuple(content),
        names=frozenset(names),
        people=frozenset(people),
        personal=not listed["self"].isdisjoint(lowered),
        values=values,
        gone=frozenset(_gone(lowered, stems)).intersection(content),
        gone_values=frozenset(
            value
            for match in _taken_back.finditer(plain)
            for sort in _values(match[1], tokens(match[1])).values
            for value in sort
        ),
        cues=tuple(float(shape.search(plain) is not None) for shape in _cues()),
        denials=sum(map(_denies, lowered)),
        rows=rows,
        weights=np.array([plain_weight(word) for word in words], np.float32),
        mean=embedder.embed([text])[0],
        places=_places(plain, spans, names, embedder),
    )


def _places(
    plain: str, spans: Sequence[tuple[str, str, int, int]], names: Iterable[str], embedder: OfflineEmbedder
) -> tuple[Place, ...]:
    """The values of a statement, names among them, each with the words that stand next to it."""
    import numpy as np

    found = [(match[0], match.start(), match.end()) for match in word_shape.finditer(plain)]
    said = [(word, _stem(word), start, end) for word, start, end in found]
    named = set(names)
    spans = [*spans, *(("name", stem, start, end) for _, stem, start, end in said if stem in named)]
    places = []
    for sort, value, start, end in spans:
        telling = [
            (word, stem, at)
            for word, stem, at, to in said
            if (to <= start or at >= end) and _tells(word) and stem != value
        ]
        near = [one for one in telling if one[2] < start][-_BEFORE:] + [
            one for one in telling if one[2] >= end
        ][:_AFTER]
        after = next((stem for _, stem, at, _ in said if end <= at <= end + 2), "")
        rows = [_vector(embedder, _bare(word)) for word, _, _ in near]
        total = np.sum(rows, axis=0) if rows else np.zeros(embedder.dims, np.float32)
        length = float((total @ total) ** 0.5)
        places.append(
            Place(
                sort,
                value,
                after,
                frozenset(stem for _, stem, _ in near),
                total / length if length else total,
            )
        )
    return tuple(places[:_MOST_PLACES])


def _bare(word: str) -> str:
    bare = _elided.sub("", word.casefold().removesuffix("'s"))
    return SYNONYMS.get(bare, bare)


@functools.lru_cache(maxsize=8192)
def _stem(word: str) -> str:
    bare = _bare(word)
    stem = next(iter(index_words.stems(bare)), bare)
    return SYNONYMS.get(stem, stem)


def _tells(word: str) -> bool:
    """Whether it says something by itself, and is no value."""
    bare, listed = _bare(word), _words()
    return not (
        len(bare) < 2
        or bare[0].isdigit()
        or bare in FUNCTION_WORDS
        or bare in NEGATIONS
        or bare in NUMBER_WORDS
        or bare in listed["small"]
        or word in listed["self"]
        or bare in _days()
        or bare in _months()
    )


def _denies(word: str) -> bool:
    return word in NEGATIONS or word in ENDINGS or word.endswith("n't") or word in _words()["not"]


def _gone(lowered: Sequence[str], stems: Sequence[str]) -> Iterable[str]:
    """Stems of what is said to be no longer so."""
    listed = _words()
    for place, word in enumerate(lowered):
        if word in listed["takes back"] or word in NEGATIONS or word.endswith("n't"):
            yield from stems[place + 1 : place + 1 + _NEAR]
        if word in listed["ends"]:
            yield from stems[max(0, place - 3) : place]


@functools.lru_cache(maxsize=8192)
def _vector(embedder: OfflineEmbedder, word: str) -> Floats:
    row: Floats = embedder.embed([word])[0]
    return row


class _Read(NamedTuple):
    """The values of a text, the words that are no more than that, and where each value stands (sort, value, from, to)."""

    values: Values
    taken: set[str]
    spans: list[tuple[str, str, int, int]]


def _values(plain: str, lowered: Sequence[str]) -> _Read:
    spans: list[tuple[str, str, int, int]] = []
    months, hours, days = _months(), _words()["hours"], _days()
    date, time = _moment_shapes()
    rest = plain

    def note(sort: str, value: str, match: re.Match[str]) -> None:
        spans.append((sort, value, *match.span()))

    for match in _money.finditer(rest):
        note("amounts", (match["a"] or match["b"]).strip(".,").replace(",", ""), match)
        rest = _blanked(rest, match)
    for match in date.finditer(rest):
        month = next((match[name] for name in ("mo", "mo2", "mo6") if match[name]), "")
        number = str(months[month]) if month else match["mo4"] or ""
        for name in ("d", "d0", "d2", "d3", "d4", "d5"):
            if match[name]:
                note("dates", f"{int(match[name])}/{number}", match)
        if match["mo6"]:
            note("dates", f"/{number}", match)
        rest = _blanked(rest, match)
    for match in time.finditer(rest):
        hour = next((match[name] for name in ("h", "h2", "h3", "h4") if match[name]), "")
        if hour:
            later = "p" in (match["half"], match["half2"]) and int(hour) < 12
            note("times", f"{int(hour) + 12 * later}:{match['m'] or '00'}", match)
        elif match["word"] and not (match["word"] in hours or match["word"].isdigit()):
            continue
        else:
            note("times", _spoken(match["part"], match["word"]) if match["word"] else "12:00", match)
        rest = _blanked(rest, match)
    for match in _number.finditer(rest):
        note("numbers", match[0].replace(",", ""), match)
    for match in word_shape.finditer(rest):
        if match[0] in NUMBER_WORDS:
            note("numbers", NUMBER_WORDS[match[0]], match)
        elif match[0] in days:
            note("days", days[match[0]], match)
    taken = {
        word
        for word in lowered
        if word[0].isdigit() or word in days or word in months or word in NUMBER_WORDS
    }
    return _Read(
        Values(*(frozenset(value for sort, value, _, _ in spans if sort == name) for name in Values._fields)),
        taken,
        spans,
    )


def _spoken(part: str, word: str) -> str:
    """ "half past nine" as 9:30, "quarter to seven" as 6:45, "halb neun" as 8:30."""
    said = word if word.isdigit() else NUMBER_WORDS.get(word) or _words_of_hours().get(word, "")
    if not said:
        return f"{part}{word}"
    hour = int(said) - (part.endswith(("to ", "vor ")) or part == "halb ")
    minute = "30" if part.startswith("hal") else "45" if part.endswith(("to ", "vor ")) else "15"
    return f"{hour or 12}:{minute}"


@functools.cache
def _words_of_hours() -> dict[str, str]:
    lines = _lines("change_words.txt")["hours in order"]
    return {word: str(number) for number, words in enumerate(lines, start=1) for word in words.split()}


def _blanked(text: str, match: re.Match[str]) -> str:
    start, end = match.span()
    return text[:start] + " " * (end - start) + text[end:]


def _lines(name: str) -> dict[str, list[str]]:
    """The lines of a word list, by heading."""
    return word_lists.sections(Path(__file__).with_name(name))


@functools.cache
def _words() -> dict[str, frozenset[str]]:
    return {
        heading: frozenset(" ".join(lines).split()) for heading, lines in _lines("change_words.txt").items()
    }


@functools.cache
def _days() -> dict[str, str]:
    lines = _lines("change_words.txt")["days"]
    return {name: str(number) for number, names in enumerate(lines) for name in names.split()}


@functools.cache
def _months() -> dict[str, int]:
    lines = _lines("change_words.txt")["months"]
    return {name: number for number, names in enumerate(lines, start=1) for name in names.split()}


@functools.cache
def _cues() -> tuple[re.Pattern[str], ...]:
    lines = _lines("change_cues.txt")
    return tuple(re.compile(rf"(?<!\w)(?:{'|'.join(lines[name])})(?!\w)") for name in _CUES)


@functools.cache
def _moment_shapes() -> tuple[re.Pattern[str], re.Pattern[str]]:
    month = "|".join(sorted(_months(), key=len, reverse=True))
    day = r"(?:st|nd|rd|th|er)?\.?"
    date = re.compile(
        rf"\b(?:(?P<d0>\d{{1,2}}){day} ?(?:to|bis|-|–|au|al|and|und|et|y) ?)?"
        rf"(?P<d>\d{{1,2}}){day}(?: (?:of|de))? (?P<mo>{month})\b|"
        rf"\b(?P<mo2>{month})\.? (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?![:.]\d)|\b(?P<d3>\d{{1,2}})(?:st|nd|rd|th)\b|"
        rf"\b(?P<d4>\d{{1,2}})\.(?P<mo4>\d{{1,2}})\.|\b(?:am|den|bis|zum) (?P<d5>\d{{1,2}})\.(?!\d| (?:{month})\b)|"
        rf"\b(?:in|until|by|im|en|bis|hasta|till|next) (?P<mo6>{month})\b(?! \d)"
    )
    time = re.compile(
        r"\b(?P<h>\d{1,2})[:.h](?P<m>\d\d)(?!\d|\.\d)(?: ?(?P<half>[ap])\.?m\b)?|\b(?P<h2>\d{1,2}) ?(?P<half2>[ap])\.?m\b|"
        r"\b(?:um|at|à|a las|las) (?P<h3>\d{1,2})(?: (?:uhr|h))?\b(?![.\d])|\b(?P<h4>\d{1,2}) ?(?:uhr|h|o'clock)\b|"
        r"\b(?P<part>half (?:past )?|quarter (?:past|to|after) |viertel (?:nach|vor) |halb )(?P<word>\w+)\b|"
        r"\b(?:noon|midday|midi)\b"
    )
    return date, time


def _features(new: Profile, old: Profile, among: Among) -> list[float]:
    """The signs of a pair, each about between -1 and 1."""
    ours, theirs = set(new.content), set(old.content)
    shared = ours & theirs
    both = _total(shared)
    share_new, share_old = both / (_total(ours) or 1), both / (_total(theirs) or 1)
    cosine = float(new.mean @ old.mean)
    best_new, best_old, near, rest = _alignment(new, old, shared)
    linked = min(1.0, _overlap(new, old, among.weight) / 6)
    value_words, value_meaning, value_size, value_unit, value_share = _side_by_side(new, old, among.weight)
    name_words, name_meaning = _swapped_names(new, old, among.weight)
    rarest = max(map(among.weight, shared), default=0.0)
    differ = [float(bool(a and b and not a & b)) for a, b in zip(new.values, old.values, strict=True)]
    same = [float(bool(a & b)) for a, b in zip(new.values, old.values, strict=True)]
    differs, equals = max(differ), max(same)
    further = float(any(a and not b for a, b in zip(new.values, old.values, strict=True)))
    more = float(any(len(a) > 1 and a & b for a, b in zip(new.values, old.values, strict=True)))
    named = float(bool(new.names & old.names))
    new_names, old_names = float(bool(new.names - old.names)), float(bool(old.names - new.names))
    swap = new_names * old_names
    gone = float(bool(new.gone & theirs))
    flipped = float(bool((new.gone ^ old.gone) & shared))
    agreed = float(bool(new.gone & old.gone))
    taken_back = float(any(new.gone_values & sort for sort in old.values))
    now, instead, correction, moved, replaced, ended, again, amount = new.cues[:_CHANGES]
    also, temporary, maybe, _, asks, other, reminder = new.cues[_CHANGES:]
    change, changes = max(new.cues[:_CHANGES]), sum(new.cues[:_CHANGES])
    newcomers = float(bool(new.people - old.people))
    strangers = float(bool(old.people) and bool(new.people - old.people) and not new.people & old.people)
    denies = float(new.denials != old.denials)
    base = [
        cosine, best_new, best_old, near, rest, share_new, share_old, linked, named, new_names, old_names, swap,
        *differ, *same, differs, equals, further, gone, min(1.0, _total(new.gone & theirs) / 5), *new.cues,
        change, min(changes, 4) / 4, strangers, newcomers, float(new.personal), float(old.personal), denies,
        min(new.length, 30) / 30, min(old.length, 30) / 30, float(bool(new.people & old.people)), float(not shared), rarest,
        among.closeness, among.overlap, among.closeness * among.overlap, among.meaning, among.words, taken_back, more,
        *(old.cues[_CUES.index(name)] for name in ("now", "also", "temporary", "maybe", "past", "asks", "other")),
        value_words, value_meaning, value_size, value_unit, value_share, name_words, name_meaning,
        among.spoken_of, among.spoken_of_words, among.spoken_of_most, among.same_talk, among.lately, among.crowd,
    ]  # fmt: skip
    together = [
        change * cosine, change * linked, change * share_old, change * differs, change * swap, change * best_old,
        change * rest, linked * differs, linked * swap, cosine * differs, linked * change * differs, linked * change * swap,
        gone * swap, gone * change, named * ended, named * replaced, linked * ended, linked * replaced, linked * moved,
        linked * now, linked * again, linked * amount, differs * moved, differs * amount, differs * correction, differs * now,
        other * linked, other * change, also * change, temporary * change, maybe * change, asks * change, equals * linked,
        further * linked, linked * denies, change * cosine * differs, change * near, change * gone * linked,
        strangers * change, linked * share_old, cosine * cosine, best_old * differs, rarest * change, rarest * differs,
        rarest * swap, among.closeness * change, among.overlap * change, among.closeness * differs, among.overlap * differs,
        among.words * change, among.words * differs, among.meaning * change, among.meaning * differs, rarest * change * differs,
        among.overlap * rarest * change, equals * change, equals * swap, gone * rarest, instead * swap,
        flipped, agreed, flipped * again, flipped * change, agreed * change, reminder * linked, again * linked * flipped,
        change * float(new.personal == old.personal),
        value_words * change, value_meaning * change, value_unit * value_size, value_size * value_meaning, value_unit * change,
        name_words * change, name_meaning * change, among.lately * differs, among.lately * correction, among.lately * change,
        among.spoken_of_words * differs, among.spoken_of_words * change, among.spoken_of_most * differs,
        among.same_talk * correction, value_share * among.overlap, value_share * change, more * change, taken_back * differs,
    ]  # fmt: skip
    return base + together


def _side_by_side(new: Profile, old: Profile, weight: Callable[[str], float]) -> tuple[float, ...]:
    """Of two values of one sort that differ: the words that both stand next to, how close these words are in meaning, how
    near the values are, whether the same is counted, and how much of what the new one stands next to the older one does, too.
    The best of each among all such pairs."""
    words = meaning = size = unit = share = 0.0
    for mine in new.places:
        for theirs in old.places:
            if mine.sort != theirs.sort or mine.value == theirs.value or mine.sort == "name":
                continue
            shared = mine.stems & theirs.stems
            words = max(words, min(1.0, sum(weight(stem) * plain_weight(stem) for stem in shared) / 4))
            meaning = max(meaning, float(mine.mean @ theirs.mean))
            size = max(size, _near_in_size(mine.sort, mine.value, theirs.value))
            unit = max(unit, float(bool(mine.unit) and mine.unit == theirs.unit))
            share = max(share, _total(shared) / (_total(mine.stems) or 1))
    return words, meaning, size, unit, share


def _swapped_names(new: Profile, old: Profile, weight: Callable[[str], float]) -> tuple[float, float]:
    """The same of names, where each has one that the other has not."""
    words = meaning = 0.0
    for mine in new.places:
        if mine.sort != "name" or mine.value in old.content:
            continue
        for theirs in old.places:
            if theirs.sort != "name" or theirs.value in new.content:
                continue
            shared = mine.stems & theirs.stems
            words = max(words, min(1.0, sum(weight(stem) * plain_weight(stem) for stem in shared) / 4))
            meaning = max(meaning, float(mine.mean @ theirs.mean))
    return words, meaning


def _near_in_size(sort: str, mine: str, theirs: str) -> float:
    """One for values that are close, zero for those that are far apart."""
    if sort == "days":
        return 0.5
    if sort == "dates":
        (day, month), (other, of) = mine.split("/"), theirs.split("/")
        if not (day and other):
            return 0.3
        return 1.0 if month and month == of else 0.6 if not (month and of) else 0.4
    if sort == "times":
        one, another = (_hours(value) for value in (mine, theirs))
        return 0.3 if one is None or another is None else 1 / (1 + abs(one - another) / 2)
    one, another = (float(value) if value.replace(".", "", 1).isdigit() else 0.0 for value in (mine, theirs))
    return min(one, another) / max(one, another) if one > 0 and another > 0 else 0.0


def _hours(value: str) -> float | None:
    hour, _, minute = value.partition(":")
    return int(hour) + int(minute) / 60 if hour.isdigit() and minute.isdigit() else None


def _total(stems: Iterable[str]) -> float:
    return sum(map(plain_weight, stems))


def _alignment(new: Profile, old: Profile, shared: set[str]) -> tuple[float, float, float, float]:
    """How well the words of each find one like them in the other; of those not shared the closest two, and all together."""
    if not (len(new.rows) and len(old.rows)):
        return 0.0, 0.0, 0.0, 0.0
    table = new.rows @ old.rows.T
    best_new = float(table.max(axis=1) @ new.weights / new.weights.sum())
    best_old = float(table.max(axis=0) @ old.weights / old.weights.sum())
    mine = [place for place, stem in enumerate(new.content) if stem not in shared]
    theirs = [place for place, stem in enumerate(old.content) if stem not in shared]
    if not (mine and theirs):
        return best_new, best_old, 0.0, 0.0
    ours, yours = new.rows[mine].sum(axis=0), old.rows[theirs].sum(axis=0)
    lengths = float((ours @ ours) ** 0.5 * (yours @ yours) ** 0.5)
    return best_new, best_old, float(table[mine][:, theirs].max()), float(ours @ yours) / (lengths + 1e-6)


class _Weights(NamedTuple):
    mean: Floats
    spread: Floats
    inner: Floats
    bias: Floats
    outer: Floats
    shift: Floats


@functools.cache
def _weights() -> _Weights:
    import numpy as np

    with np.load(WEIGHTS) as file:
        return _Weights(*(file[name].astype(np.float32) for name in _Weights._fields))
