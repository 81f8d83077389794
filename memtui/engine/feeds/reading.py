"""Reads all sources of an import one after another, and keeps the account of what was passed over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from memtui.engine.clock import EARLIEST, LATEST
from memtui.engine.errors import InputError
from memtui.engine.records import Skip, Turn
from memtui.engine.store.portable import AnyLine

from .detect import Found
from .formats import feed_named
from .items import Item, Note
from .source import Opener, Source, Stream

_RECORDS_PER_LOOK = 2_000
_PLACES = 20
_NAMES = 3


class Tally:
    """What an import has seen so far: bytes and files read, and what was passed over or mended."""

    def __init__(self, found: Found) -> None:
        self.reasons: Counter[str] = Counter()
        self.files_done = 0
        self.place = ""
        self._finished = 0
        self._stream: Stream | None = None
        self._mended: Counter[str] = Counter()
        self._left_out = found.left_out
        self._places: list[str] = []

    @property
    def bytes_done(self) -> int:
        return self._finished + (self._stream.position if self._stream else 0)

    def skip(self, skip: Skip) -> None:
        self.reasons[skip.reason] += 1
        if skip.place:
            self.note(f"{skip.place}: {skip.reason}")

    def note(self, what: str) -> None:
        """Keep one of the first things that went wrong, to be shown in full."""
        if len(self._places) < _PLACES:
            self._places.append(what)

    def start(self, stream: Stream) -> None:
        self._stream = stream
        self.place = stream.source.place

    def end(self, size: int) -> None:
        if self._stream:
            self._mended += self._stream.warnings
        self._stream = None
        self._finished += size
        self.files_done += 1

    def warnings(self) -> tuple[str, ...]:
        names: dict[str, list[str]] = {}
        for one in self._left_out:
            names.setdefault(one.reason, []).append(one.name)
        left_out = [f"{len(some):,} × left out: {reason} ({some_of(some)})" for reason, some in names.items()]
        mended = [f"{count:,} × {what}" for what, count in self._mended.items()]
        return (*left_out, *mended, *self._places)


def some_of(names: Sequence[str]) -> str:
    """The first few of some names, and how many more there are."""
    more = len(names) - _NAMES
    return ", ".join(names[:_NAMES]) + (f" and {more:,} more" if more > 0 else "")


def read_all(found: Found, tally: Tally) -> Iterator[Turn | Item | AnyLine | None]:
    """Every turn and item of every source, ``dated``; None now and then where there is nothing but skips.

    A source that is gone by now is noted, and the next one is read.
    """
    with Opener() as opener:
        for recognised in found.sources:
            try:
                with opener.open(recognised.source) as stream:
                    tally.start(stream)
                    yield from _read(stream, recognised.format, tally)
            except InputError as error:
                tally.note(error.message)
            finally:
                tally.end(recognised.source.size)


def _read(stream: Stream, format: str, tally: Tally) -> Iterator[Turn | Item | AnyLine | None]:
    for number, record in enumerate(dated(feed_named(format).read(stream), stream.source)):
        if not isinstance(record, Skip):
            yield record
        else:
            tally.skip(record)
            if number % _RECORDS_PER_LOOK == 0:
                yield None


def dated(
    records: Iterable[Turn | Item | AnyLine | Skip], source: Source
) -> Iterator[Turn | Item | AnyLine | Skip]:
    """A turn without a time gets that of the turn before it, the first one that of its file: the order stays."""
    latest = min(max(source.modified, EARLIEST), LATEST)
    for record in records:
        if isinstance(record, Turn | Note):
            if record.event_time is None:
                record = msgspec.structs.replace(record, event_time=latest)
            else:
                latest = record.event_time
        yield record
