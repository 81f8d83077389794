"""Why a file is left out, and what a person is told whose file, folder or archive gives nothing to import."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from memtui.engine.errors import InputError
from memtui.engine.records import Refused

from . import compression
from .base import Format
from .registry import formats

EMPTY = "empty"
UNREADABLE = "cannot be read"
BINARY = "not text"
OTHER = "in no known format"
RECORDS = "JSON in no known format"
NO_FILE = "not a file"
PROPERTIES = "properties without text"
LINKS = "headings and links without text"
PROGRAMS = "settings or deleted notes of another program"
ASIDE = "notes beside something else"
OWN = "this memory"
NESTED = "database in an archive"
PACKED = "packed file in an archive"
FOREIGN = "SQLite file of another program"
ANOTHER_MEMORY = "a memory of memtui"
NO_TABLES = "SQLite file without a table that can be read"
# Where no format that somebody names could help: what does.
_HELP = {
    NESTED: "Unpack the archive, and import what is in it.",
    PACKED: "Unpack the archive, and import what is in it.",
    UNREADABLE: "It may be an incomplete download or copy: fetch it again.",
    PROPERTIES: "A note needs words below its properties.",
    LINKS: "A note needs words of its own beside its links.",
    NO_TABLES: "It may be empty, or an incomplete copy: copy it again while no program writes it.",
    ANOTHER_MEMORY: "Name the file itself to merge it into this memory; memtui restore FILE goes back to a backup.",
    FOREIGN: "Read are memory.db files, and those of the OpenAI Agents SDK, LangChain and mem0 (history.db).",
}
# What may hold conversations and could not be read: an import that left such a file out was no full success.
MISSED = frozenset({UNREADABLE, RECORDS, compression.NEEDS, PACKED, NESTED})
# What is not recognised by itself, as much is text or a JSON object.
_ALSO = {"markdown": " (any plain text)", "scratchpad": " (a JSON object of keys and texts)"}


def nothing_in(
    path: Path, wanted: Format | None, reasons: Counter[str], *, folder: bool, archive: bool
) -> InputError:
    """What to raise for a path in which nothing is in the ``wanted`` format, or in any; ``reasons`` counts what is left out."""
    known = ", ".join(format.label for format in formats())
    what = f"is not in {wanted.label} format" if wanted else "is in no format that can be imported"
    some = f"is in {wanted.label} format" if wanted else "is in a format that can be imported"
    help = next((_HELP[reason] for reason, _ in reasons.most_common() if reason in _HELP), "")
    if folder and not reasons:
        return InputError(f"{path} is an empty folder.", "Name the folder that holds the session files.")
    if folder or (archive and reasons):
        seen = ", ".join(f"{count:,} {reason}" for reason, count in reasons.most_common(5))
        archived = help if archive else ""
        return InputError(f"Nothing in {path} {some} ({seen}).", archived or f"Formats: {known}.")
    reason = reasons.most_common(1)[0][0] if reasons else EMPTY
    if reason == EMPTY:
        return InputError(f"{path} is empty.", "Check that it was written or downloaded completely.")
    if reason == BINARY:
        return InputError(
            f"{path} is not text in UTF-8, so it is in no format that can be imported.",
            "Unpack it if it is packed; save it as UTF-8 if it is text.",
        )
    if reason == NO_FILE:
        return InputError(
            f"{path} is neither a file nor a folder.", "Name a file, a folder or a zip archive."
        )
    seen = "" if reason in (OTHER, RECORDS) else f" ({reason})"
    if help:
        return InputError(f"{path} {what}{seen}.", help)
    names = ", ".join(f"{format.name}{_ALSO.get(format.name, '')}" for format in formats())
    return InputError(f"{path} {what}{seen}.", f"If you know better, say so with --format: {names}.")


def none_usable(refused: Sequence[Refused]) -> InputError:
    """What to raise when everything that was named is refused: all the reasons, each next step once."""
    return InputError(
        "\n".join(one.message for one in refused), "\n".join(dict.fromkeys(one.hint for one in refused))
    )
