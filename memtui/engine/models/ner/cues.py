"""Cue words beside or within a name that tell its type; lower case, several languages."""

from __future__ import annotations

from pathlib import Path

from memtui.engine import word_lists

_LIST = Path(__file__).with_name("cues.txt")

TITLES = word_lists.read_words(_LIST, "titles")
PROJECT_WORDS = word_lists.read_words(_LIST, "project words")
# "The Nimbus rollout": what of a project's is spoken about.
PROJECT_AFTER = word_lists.read_words(_LIST, "project after")
PROJECT_BEFORE = word_lists.read_words(_LIST, "project before")
PROJECT_BEFORE_OF = word_lists.read_words(_LIST, "project before of")
PROJECT_STARTS = word_lists.read_words(_LIST, "project starts")
KIN = word_lists.read_words(_LIST, "kin")
# What people do, and other things as well.
COMMON_VERBS = word_lists.read_words(_LIST, "common verbs")
PERSON_VERBS = COMMON_VERBS | word_lists.read_words(_LIST, "person verbs")
# Between two names, these say that both are of a kind.
LIST_JOINTS = frozenset(
    [", ", " & ", "/", *(f" {word} " for word in word_lists.read_words(_LIST, "and, or")), ", and "]
)
ARTICLES = word_lists.read_words(_LIST, "articles")
PLACE_BEFORE = word_lists.read_words(_LIST, "place before")
PLACE_BEFORE_TO = word_lists.read_words(_LIST, "place before to")
# "Grew up in", "lives near" need no list: the preposition says it. A dealing has somebody at its other end.
EMPLOYER_BEFORE = word_lists.read_words(_LIST, "employer before")
EMPLOYER_JOINTS = word_lists.read_words(_LIST, "employer joints")
DEALINGS = word_lists.read_words(_LIST, "dealings")
# "Tidewatch is a small cooperative", "Mochi, our cat": what it is said to be.
SAID_TO_BE = {
    "organization": word_lists.read_words(_LIST, "said to be organization"),
    "location": word_lists.read_words(_LIST, "said to be location"),
    "project": word_lists.read_words(_LIST, "said to be project"),
    "other": word_lists.read_words(_LIST, "said to be other"),
    "person": KIN | word_lists.read_words(_LIST, "said to be person"),
}
# "Our team lead", "the bank manager": of whom a group is only the first word.
PERSON_AFTER_GROUP = word_lists.read_words(_LIST, "person after group")
ANIMALS = word_lists.read_words(_LIST, "animals")
ORGANISATION_WORDS = word_lists.read_words(_LIST, "organisation words")
PLACE_WORDS = word_lists.read_words(_LIST, "place words")
PLACE_STARTS = word_lists.read_words(_LIST, "place starts")
# Small words that may stand within a name.
PARTICLES = word_lists.read_words(_LIST, "particles")
TECHNOLOGY = word_lists.read_words(_LIST, "technology")
GERMAN = word_lists.read_words(_LIST, "german")
# One of these is enough in a short text: no other language has them.
GERMAN_ALONE = word_lists.read_words(_LIST, "german alone")
BEFORE_GERMAN_NAMES = word_lists.read_words(_LIST, "before german names")
