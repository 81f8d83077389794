"""Why a file is left out, and what a person is told whose file, folder or archive gives nothing to import."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from memtui.engine.errors import InputError
from memtui.engine.records import Refused

from . import compression, foreign_files
from .base import Format
from .json_items import CUT_OFF
from .stream import REST

EMPTY = "empty"
UNREADABLE = "cannot be read"
BINARY = "not text"
OTHER = "in no known format"
RECORDS = "JSON in no known format"
PLAIN = "plain text"
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
    PLAIN: "To read it as a note, rename it to .md. On the command line, --format markdown does the same.",
    LINKS: "A note needs words of its own beside its links.",
    NO_TABLES: "It may be empty, or an incomplete copy: copy it again while no program writes it.",
    ANOTHER_MEMORY: "Name the file itself to merge it into this memory; memtui restore FILE goes back to a backup.",
    FOREIGN: "Read are memory.db files, and those of the OpenAI Agents SDK, LangChain and mem0 (history.db).",
}
# What may hold conversations and could not be read: an import that left such a file out was no full success.
MISSED = frozenset({UNREADABLE, RECORDS, compression.NEEDS, PACKED, NESTED}) | foreign_files.CHATS
# Reasons of records: a part of their file is missing.
LOST_PART = frozenset({CUT_OFF, REST})
_FORMATS = (
    "memtui reads conversations, notes and other memories. The guide's page “import” lists the formats."
)


class UnknownFormatError(InputError):
    """Nothing was recognised; a format that the person names may help."""


def nothing_in(
    path: Path, wanted: Format | None, reasons: Counter[str], *, folder: bool, archive: bool
) -> InputError:
    """What to raise for a path in which nothing is in the ``wanted`` format, or in any; ``reasons`` counts what is left out."""
    what = f"is not in {wanted.label} format" if wanted else "is in no format that can be imported"
    some = f"is in {wanted.label} format" if wanted else "can be imported"
    help = next((_HELP[reason] for reason, _ in reasons.most_common() if reason in _HELP), "")
    if folder and not reasons:
        return InputError(f"{path} is an empty folder.", "Name the folder that holds the session files.")
    if not folder and len(reasons) == 1 and (kind := next(iter(reasons))) in foreign_files.HINTS:
        article = "an" if kind[0] in "AEeOo" else "a"
        return InputError(f"{path} is {article} {kind}. It cannot be imported.", foreign_files.HINTS[kind])
    if folder or (archive and reasons):
        seen = ", ".join(f"{count:,} × {reason}" for reason, count in reasons.most_common(5))
        useful = help if archive or len(reasons) == 1 else ""
        return InputError(f"Nothing in {path} {some} ({seen}).", useful or _FORMATS)
    reason = reasons.most_common(1)[0][0] if reasons else EMPTY
    if reason == EMPTY:
        return InputError(f"{path} is empty.", "Check that it was written or downloaded completely.")
    if reason == BINARY:
        return InputError(
            f"{path} is not text in UTF-8. It cannot be imported.",
            "If it is packed, unpack it. If it is text, save it as UTF-8.",
        )
    if reason == NO_FILE:
        return InputError(
            f"{path} is neither a file nor a folder.", "Name a file, a folder or a zip archive."
        )
    if reason == PLAIN:
        return InputError(f"{path} is plain text in no known format.", help)
    seen = "" if reason in (OTHER, RECORDS) else f" ({reason})"
    if help:
        return InputError(f"{path} {what}{seen}.", help)
    return UnknownFormatError(f"{path} {what}{seen}.", _FORMATS)


def none_usable(refused: Sequence[Refused]) -> InputError:
    """What to raise when everything that was named is refused: all the reasons, each next step once."""
    return InputError(
        "\n".join(one.message for one in refused), "\n".join(dict.fromkeys(one.hint for one in refused))
    )
