"""Find out whether a text quotes another one: the same words in any spacing, or a long run of them.

Labels shorten what they quote and summaries take a part, so the whole text is not what to look for. All of it
works on bytes: one rule for every script.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from unicodedata import normalize

from memtui.engine.store import tokens

WINDOW = 12
LONG_ENOUGH = 32
"""Bytes that two texts have in common when one carries the other."""
LEAST = 8
"""Shorter texts ("ok, yes") are in everything: elsewhere only what is such a text as a whole goes with it."""
# What is between two quotations of a label of ours.
_JOINT = re.compile("(”(?: to | into | and | of | off | as | is also called | is not called |: )“)")
QUOTE_LEFT = "“…”"
CENSORED = "(erased)"
"""What stands where a word was, in a row that stays."""


def normalise_for_matching(text: str) -> bytes:
    """The text with its spaces made one each, in one case of its letters and one form of writing them."""
    # Folding the case may take a letter apart, and composing it again may make one that has a case.
    plain = normalize("NFKC", normalize("NFKC", text).casefold())
    return " ".join(plain.split()).encode("utf-8", "surrogatepass")


class ErasedTexts:
    """The texts that are to go."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._whole: set[bytes] = set()
        self._tiny: set[bytes] = set()
        self._short: list[bytes] = []
        self._windows: set[bytes] = set()
        self._stems: set[str] = set()
        self._names: tuple[str, ...] = ()
        for text in texts:
            self.add(text)

    def __bool__(self) -> bool:
        return bool(self._whole)

    def add(self, text: str) -> None:
        whole = normalise_for_matching(text)
        if len(whole) < LEAST:
            self._tiny.add(whole)
            return
        if whole in self._whole:
            return
        self._whole.add(whole)
        if len(whole) < LONG_ENOUGH:
            self._short.append(whole)
        else:
            self._windows.update(whole[i : i + WINDOW] for i in range(len(whole) - WINDOW + 1))

    def carried_by(self, text: str) -> bool:
        """Whether ``text`` has one of them in it, or a long run of one."""
        plain = normalise_for_matching(text)
        if len(plain) < LEAST:
            return False
        return any(short in plain for short in self._short) or self._shares_run(plain)

    def contains_sentence(self, text: str) -> bool:
        """Whether ``text`` stands in one of them: a sentence that was drawn from it, a shortened title."""
        plain = normalise_for_matching(text.strip("…"))
        return len(plain) >= LEAST and any(plain in whole for whole in self._whole)

    def equals_short_text(self, text: str) -> bool:
        """Whether ``text`` is one of the short ones, and nothing else."""
        return normalise_for_matching(text) in self._tiny

    def add_words(self, rare: Iterable[str]) -> None:
        """Add distinctive words: no kept row contains them, so they reveal the text."""
        self._stems.update(stem for word in rare for stem in tokens.text_stems(word))

    def add_names(self, names: Iterable[str]) -> None:
        """Add distinctive names."""
        self._names = (*self._names, *(name for one in names if (name := tokens.padded_words(one)).strip()))

    def has_distinctive(self, text: str) -> bool:
        """Whether ``text`` contains a distinctive word (with any ending) or a distinctive name."""
        if self._stems and not self._stems.isdisjoint(tokens.text_stems(text)):
            return True
        if not self._names:
            return False
        plain = tokens.padded_words(text)
        return any(name in plain for name in self._names)

    def quotes_part(self, text: str) -> bool:
        """Whether ``text`` has a part of one of them in it that is no single word, or is one."""
        return self.contains_sentence(text) or self.carried_by(text) or self.equals_short_text(text)

    def mentions_any(self, text: str) -> bool:
        return self.contains_sentence(text) or self.carried_by(text) or self.has_distinctive(text)

    def censor(self, text: str) -> str:
        """The text without the words of the erased texts; replaced as a whole where it quotes them."""
        if self.quotes_part(text):
            return CENSORED
        return self.without_words(text)

    def without_words(self, text: str) -> str:
        """The text without those words and names."""
        names = {word for name in self._names if name in tokens.padded_words(text) for word in name.split()}
        left, end = [], 0
        for start, stop, word in tokens.word_spans(text):
            if word in names or not self._stems.isdisjoint(tokens.text_stems(word)):
                left += [text[end:start], CENSORED]
                end = stop
        shortened = "".join((*left, text[end:]))
        return CENSORED if self.has_distinctive(shortened) else shortened

    def without_quotations(self, label: str, *, all: bool = False) -> str:
        """A label without the quotations that touch them (``all``: without any).

        What is quoted may have quotation marks itself: then it ends at the last one.
        """
        clean = self._remove_quotations(label, all=all)
        return self.without_words(clean) if self.has_distinctive(clean) else clean

    def _remove_quotations(self, label: str, *, all: bool) -> str:
        start, end = label.find("“"), label.rfind("”")
        if start < 0:
            return label
        end = end if end > start else len(label)
        head, whole, tail = label[:start], label[start + 1 : end], label[end + 1 :]
        parts = _JOINT.split(whole)
        if any(mark in part for part in parts[::2] for mark in "“”"):
            parts = [whole]
        left = ["…" if all or self.mentions_any(part) else part for part in parts[::2]]
        if left == parts[::2] and self.mentions_any(whole):
            parts, left = [whole], ["…"]
        if self.mentions_any(tail):
            return head + QUOTE_LEFT
        if left == parts[::2]:
            return label
        parts[::2] = left
        return f"{head}“{''.join(parts)}”{tail}"

    def _shares_run(self, plain: bytes) -> bool:
        # A common run of 32 bytes covers a whole block of 12 that begins at a multiple of 12.
        start = 0
        while start + WINDOW <= len(plain):
            if plain[start : start + WINDOW] in self._windows:
                first = last = start
                while first > 0 and plain[first - 1 : first - 1 + WINDOW] in self._windows:
                    first -= 1
                while plain[last + 1 : last + 1 + WINDOW] in self._windows and last + 1 + WINDOW <= len(
                    plain
                ):
                    last += 1
                if last + WINDOW - first >= LONG_ENOUGH:
                    return True
                start += max(WINDOW, (last - start) // WINDOW * WINDOW)
            else:
                start += WINDOW
        return False
