"""The tokens of a short question, as the packaged embedder's tokenizer gives them, without loading that.

The tokenizer takes 60 ms to load, half of what a process may take for its first search. Its vocabulary alone takes a
sixth of that, and is enough for a short question whose letters it all has. Everything else is left to the tokenizer.
A token grows by joining the two neighbours whose joined token comes first in the vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import msgspec

_KNOWN = (1_842_795, 0x1534AD8A)
"""Bytes and CRC-32 of the tokenizer that this gives the same tokens as; with another one it is not used.

A SHA-256 would take 4 ms, most of it to load OpenSSL.
"""
_MOST_LETTERS = 60
_BLANK = "▁"
_NO_TOKEN = 1 << 30


class QuestionTokens(NamedTuple):
    """``ids``: rows of the embedder's table; ``end_offsets``: where in the text each of them ends, in characters."""

    ids: list[int]
    end_offsets: list[int]


def load_vocabulary(tokenizer: Path) -> dict[str, int] | None:
    """The tokens and their numbers; None for a tokenizer that is not known."""
    data = tokenizer.read_bytes()
    if (len(data), crc32(data)) != _KNOWN:
        return None
    end = data.rindex(b"}", 0, data.index(b'"merges"')) + 1
    return msgspec.json.decode(data[data.index(b"{", data.index(b'"vocab"')) : end], type=dict[str, int])


def word_beginnings(vocabulary: dict[str, int]) -> frozenset[int]:
    """The numbers of the tokens with which a word begins."""
    return frozenset([number for token, number in vocabulary.items() if token.startswith(_BLANK)])


def split_question(vocabulary: dict[str, int], text: str) -> QuestionTokens | None:
    """The tokens of a text; None where the tokenizer has to be asked.

    That is for letters that are not in the vocabulary, names of special tokens (``</s>``), blanks in a row, and words of
    more than 60 letters.
    """
    if "  " in text or not _are_letters_known(vocabulary, set(text) - {" "}):
        return None
    ids: list[int] = []
    end_offsets: list[int] = []
    end_offset = -1  # the blank before the first word is not in the text
    for word in text.split(" ") if text else ():
        if len(word) > _MOST_LETTERS:
            return None
        for token in _tokens_of_word(vocabulary, word):
            ids.append(vocabulary[token])
            end_offset += len(token)
            end_offsets.append(max(end_offset, 1))
    return QuestionTokens(ids, end_offsets)


def split_words(vocabulary: dict[str, int], words: Sequence[str]) -> list[list[int]] | None:
    """The tokens (rows of the embedder's table) of each of some words; None where the tokenizer has to be asked."""
    if max(map(len, words), default=0) > _MOST_LETTERS or not _are_letters_known(
        vocabulary, set().union(*words)
    ):
        return None
    return [[vocabulary[token] for token in _tokens_of_word(vocabulary, word)] for word in words]


def _are_letters_known(vocabulary: dict[str, int], letters: set[str]) -> bool:
    return letters.isdisjoint({"<", _BLANK}) and letters <= vocabulary.keys()


def _tokens_of_word(vocabulary: dict[str, int], word: str) -> list[str]:
    """A word that is a token is joined to that token, whichever way it is joined."""
    whole = _BLANK + word
    return [whole] if whole in vocabulary else join_tokens(vocabulary, list(whole))


def join_tokens(vocabulary: dict[str, int], tokens: list[str]) -> list[str]:
    """Letters joined as long as any two neighbours make a token."""
    number = vocabulary.get
    joined = [number(left + right, _NO_TOKEN) for left, right in pairwise(tokens)]
    while joined and (best := min(joined)) != _NO_TOKEN:
        place = joined.index(best)
        tokens[place : place + 2] = [tokens[place] + tokens[place + 1]]
        del joined[place]
        if place:
            joined[place - 1] = number(tokens[place - 1] + tokens[place], _NO_TOKEN)
        if place < len(joined):
            joined[place] = number(tokens[place] + tokens[place + 1], _NO_TOKEN)
    return tokens
