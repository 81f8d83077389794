"""The signs on screen, each one cell wide, and ASCII ones for terminals that lack them.

Colour is never the only signal: a sign always says the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from memtui.engine.records import Kind


class Glyphs(NamedTuple):
    """``on`` and ``off`` belong to a job, ``folder`` to a topic that opens.

    ``bar`` and ``empty`` draw a level; ``bars`` are columns of rising height, ``nothing`` is one of none.
    ``retrievers`` fill the score bar, one for each retriever. ``types`` are those of entities. ``ties``: lines between
    them, thin to thick; Braille ones are drawn dot by dot.
    """

    kinds: Mapping[Kind, str]
    types: Mapping[str, str]
    ties: str
    protected: str
    unconfirmed: str
    done: str
    ended: str
    replaced: str
    conflict: str
    fading: str
    marked: str
    pending: str
    busy: str
    on: str
    off: str
    folder: str
    pinned: str
    cursor: str
    bar: str
    empty: str
    curve: str
    bars: str
    nothing: str
    retrievers: Mapping[str, str]
    rising: str
    falling: str
    dot: str
    rule: str
    skeleton: str
    spinner: str
    ascending: str
    descending: str


UNICODE = Glyphs(
    kinds={"fact": "◆", "episode": "◇", "reflection": "✦", "observation": "▸"},
    types={
        "person": "●",
        "project": "▲",
        "organization": "■",
        "location": "◈",
        "email": "@",
        "url": "#",
        "date": "□",
        "other": "○",
    },
    ties="⠒⠶⣶",
    protected="✓",
    unconfirmed="·",
    done="✓",
    ended="⌫",
    replaced="→",
    conflict="!",
    fading="◔",
    marked="●",
    pending="●",
    busy="●",
    on="●",
    off="◇",
    folder="▸",
    pinned="★",
    cursor="▌",
    bar="━",
    empty="╌",
    curve="▁▂▃▄▅▆▇",
    bars="▁▂▃▄▅▆▇█",
    nothing="·",
    retrievers={"keyword": "█", "vector": "▓", "word_vector": "▚", "entity": "▒", "context": "░"},
    rising="▲",
    falling="▼",
    dot="·",
    rule="─",
    skeleton="░",
    spinner="⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏",
    ascending="↑",
    descending="↓",
)

ASCII = Glyphs(
    kinds={"fact": "F", "episode": "T", "reflection": "R", "observation": "O"},
    types={
        "person": "P",
        "project": "J",
        "organization": "G",
        "location": "L",
        "email": "@",
        "url": "#",
        "date": "D",
        "other": "X",
    },
    ties=".:#",
    protected="+",
    unconfirmed=".",
    done="+",
    ended="x",
    replaced="s",
    conflict="!",
    fading="%",
    marked="#",
    pending="?",
    busy="&",
    on="Y",
    off="N",
    folder=":",
    pinned="*",
    cursor=">",
    bar="=",
    empty="-",
    curve="_.-=^",
    bars=".:-=+*%#",
    nothing=" ",
    retrievers={"keyword": "K", "vector": "V", "word_vector": "W", "entity": "E", "context": "C"},
    rising="^",
    falling="v",
    dot="|",
    rule="-",
    skeleton=".",
    spinner="|/-\\",
    ascending="^",
    descending="v",
)
