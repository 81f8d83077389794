"""A turn cut into pieces that can be read by themselves: a sentence, a clause of a long one, two short ones.

What is pasted between quotation marks or as code is somebody else's, and left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from memtui.engine import word_lists
from memtui.engine.records import Record
from memtui.engine.word_lists import load_abbreviations

from .lexicon import begins_with

MAX_CHARACTERS = 4_000
"""Characters of a turn that are read."""
PASTED = 600
"""Characters: few people type a longer turn."""
SHORT, LONG = 45, 200
"""A piece that is shorter is put to the one before it; a sentence that is longer is cut between its clauses."""

_LIST = Path(__file__).parent / "words" / "phrases.txt"
_fence = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_quote = re.compile(r"“[^”]{30,}”?|„[^“”]{30,}[“”]?|«[^»]{30,}»?|\"[^\"\n]{30,}\"?")
# Somebody's speech, however short; a name between quotation marks is none.
_speech = re.compile(
    r"“[^”\n]+”|„[^“”\n]+[“”]|«[^»\n]+»|\"[^\"\n]+\"|(?<![\w'’])['‘](?=\w)(?:(?<=\w)['’](?=\w)|[^'’\n]){1,300}['’](?!\w)"
)
_speaks = re.compile(
    r"\b(?:I|[Mm]y|[Ww]e|[Oo]ur|[Ii]ch|[Mm]eine?[nmrs]?|[Ww]ir|[Jj]e|[Jj]['’](?=\w)|[Mm]on|[Mm]a|[Yy]o|[Mm]is?|[Tt]engo|[Ss]oy)\b"
)
# A line of a quoted message, and what follows the head of a mail.
_quoted_line = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_mail = re.compile(
    r"^[ \t*_>-]*(?:from|von|de|subject|betreff|objet|asunto)[*_]*: ?\S.*\Z",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_begun = re.compile(r"^[^\n]{0,400}:[ \t]*\n", re.MULTILINE)
_heading = re.compile(r"^[ \t]*(?:#+|[-*+•])[ \t]+", re.MULTILINE)
_end = re.compile(r"(?<![.!?…])[.!?…]++[\"”»')\]]*+(?=\s)|[。！？]+|\n+")
_clause = re.compile(
    rf"(?:,|;|\s[–—-])\s+(?=(?:{word_lists.read_expression(_LIST, 'CLAUSE_START')})\b)|;\s+", re.IGNORECASE
)
_comma = re.compile(r",\s+")
# It speaks of what precedes it.
_hanging = re.compile(
    r"(?:and |but |so |also |und |aber |et |mais |y |pero )?"
    rf"(?:{word_lists.read_expression(_LIST, 'REFERRING')})\b(?:'s|’s|'d)?(?!\w)",
    re.IGNORECASE,
)


class Clause(Record):
    """A piece of a turn as written there, on one line. ``asks``: it is a question; ``requests``: it asks for something."""

    text: str
    asks: bool
    requests: bool = False


def split_clauses(text: str, *, apart: bool = False) -> list[Clause]:
    """The pieces of a turn in their order.

    ``apart``: every clause is one, and short ones stay by themselves unless they speak of the one before.
    """
    plain = _quote.sub("“…”", _speech.sub(_without_speech, _own_words(text[:MAX_CHARACTERS])))
    found: list[Clause] = []
    for sentence in _split_sentences(plain):
        for piece in _split_sentence(sentence, apart):
            if piece.endswith(":"):
                continue  # it says nothing without what follows
            read = Clause(
                text=piece, asks=piece.rstrip("\"”»') ").endswith("?"), requests=begins_with("request", piece)
            )
            before = found[-1] if found else None
            joins = (
                before is not None
                and not (_stands_apart(read) or _stands_apart(before))
                and ((not apart and min(len(piece), len(before.text)) < SHORT) or _hanging.match(piece))
            )
            if before is not None and joins and len(before.text) + len(piece) < LONG:
                found[-1] = Clause(text=f"{before.text} {piece}", asks=False)
            else:
                found.append(read)
    return found


def _own_words(text: str) -> str:
    """What is left when code, quoted lines, mails and what a request hands over are taken out."""
    plain = _mail.sub("", _quoted_line.sub("", _fence.sub("\n", text)))
    for head in _begun.finditer(plain):
        if begins_with("request", head[0]):
            plain = plain[: head.start()]
            break
    return _heading.sub("", plain)


def _without_speech(quoted: re.Match[str]) -> str:
    return "“…”" if " " in quoted[0] and _speaks.search(quoted[0]) else quoted[0]


def looks_pasted(text: str) -> bool:
    """Whether somebody else's words may stand in a turn."""
    return len(text) > PASTED or _own_words(text) != text


def _stands_apart(piece: Clause) -> bool:
    """A question, a request, or a word or two ("Thanks!"): what is beside it is not about the same."""
    return piece.asks or piece.requests or piece.text.count(" ") < 2


def _split_sentences(text: str) -> Iterator[str]:
    start = 0
    for match in _end.finditer(text):
        words = text[start : match.start()].split()
        if match[0] == "." and words and words[-1].strip("(").casefold() in load_abbreviations():
            continue
        if match[0] == "." and words and words[-1].isdigit() and len(words[-1]) < 3:
            continue  # "17. August"
        if sentence := " ".join(text[start : match.end()].split()):
            yield sentence
        start = match.end()
    if sentence := " ".join(text[start:].split()):
        yield sentence


def _split_sentence(sentence: str, apart: bool) -> Iterator[str]:
    """The clauses of a long sentence, and what is said before a question of the same one."""
    if not apart and len(sentence) <= LONG and not sentence.endswith("?"):
        yield sentence
        return
    parts = _split_at(sentence, _clause)
    if apart and not sentence.endswith("?"):
        yield from parts
        return
    if len(sentence) > LONG:
        parts = [
            piece for part in parts for piece in (_split_at(part, _comma) if len(part) > LONG else [part])
        ]
    asks = sentence.endswith("?")
    statements, question = (parts[:-1], parts[-1:]) if asks else (parts, [])
    clause = ""
    for part in statements:
        if (clause and len(clause) >= SHORT * 2) or len(clause) + len(part) > LONG:
            yield clause
            clause = ""
        clause = f"{clause} {part}".strip()
    if clause:
        yield clause
    yield from question


def _split_at(text: str, where: re.Pattern[str]) -> list[str]:
    found, start = [], 0
    for match in where.finditer(text):
        found.append(text[start : match.end()].strip())
        start = match.end()
    return [*found, text[start:].strip()]
