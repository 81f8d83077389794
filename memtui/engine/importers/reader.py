"""Read all sources of an import one after another, and count what was left out."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set

import msgspec

from memtui.engine.clock import EARLIEST, LATEST
from memtui.engine.errors import InputError
from memtui.engine.records import Refused, Skip, Turn
from memtui.engine.store.export_rows import AnyLine

from . import base, refusals, registry
from .base import Item, Note
from .detect import DetectionResult
from .registry import get_format
from .stream import SourceOpener, Stream

_RECORDS_PER_LOOK = 2_000
_MAX_PLACES = 20
_MAX_NAMES = 3
_MAX_REASONS = 5
UNTIMED = "turn without a time: it has that of the turn before, or of its file"
# Records whose places are kept; all are counted.
_MOST_NAMED = 10_000
_log = logging.getLogger("memtui.imports")


class ReadTally:
    """What an import has seen so far: bytes and files read, and what was passed over or mended.

    ``logged``: what is passed over is in the log, too.
    """

    def __init__(self, detected: DetectionResult, *, logged: bool = False) -> None:
        self._logged = logged
        self.reasons: Counter[str] = Counter()
        self.named: list[Skip] = []
        # Sources that gave nothing, though they hold records that should have.
        self.empty: list[Refused] = []
        self._here = False
        self._before: Counter[str] = Counter()
        self._named_before = 0
        self.files_done = 0
        self.place = ""
        self._finished = 0
        self._stream: Stream | None = None
        self._mended: Counter[str] = Counter()
        self._left_out = detected.left_out
        self._labels = {one.source.place: registry.get_format(one.format).label for one in detected.sources}
        self._places: list[str] = []
        self._noted = 0

    @property
    def bytes_done(self) -> int:
        return self._finished + (self._stream.position if self._stream else 0)

    def count_skip(self, skip: Skip) -> None:
        self.reasons[skip.reason] += 1
        if skip.place:
            if len(self.named) < _MOST_NAMED:
                self.named.append(skip)
            if self._logged:
                # Not the place: what is wrong with a record may be said in its own words.
                _log.info("left out of an import: %s", skip.reason)
            self.add_example(f"{skip.place}: {skip.reason}")

    def mark_importable(self) -> None:
        """The source in hand has something to import, be it new or not."""
        self._here = True

    def add_example(self, what: str) -> None:
        """Keep one of the first things that went wrong, to be shown in full."""
        self._noted += 1
        if len(self._places) < _MAX_PLACES:
            self._places.append(what)

    def start(self, stream: Stream) -> None:
        self._stream = stream
        self.place = stream.source.place

    def end(self, size: int) -> None:
        if self._stream:
            self._mended += self._stream.warnings
            if not self._here and len(self.named) > self._named_before:
                named = (
                    f"{self.place}, in {self._labels[self.place]} format"
                    if self.place in self._labels
                    else self.place
                )
                self.empty.append(nothing_read_error(named, self.reasons - self._before))
        self._here = False
        self._before, self._named_before = self.reasons.copy(), len(self.named)
        self._stream = None
        self._finished += size
        self.files_done += 1

    def error_if_nothing(self, expected: Set[str]) -> InputError | None:
        """What to raise if nothing came of any source: None if nothing was in them, or only what is ``expected``."""
        if self.reasons.keys() <= expected:
            return None
        if len(self.empty) == self.files_done:
            return refusals.none_usable_error(self.empty)
        what = nothing_read_error(
            self.place if self.files_done == 1 else f"{self.files_done:,} files",
            self.reasons,
            sound=not self.named,
        )
        return InputError(what.message, what.hint)

    def warnings(self) -> tuple[str, ...]:
        names: dict[str, list[str]] = {}
        for one in self._left_out:
            names.setdefault(one.reason, []).append(one.name)
        left_out = [
            f"{_describe_files(some)} left out: {reason} ({some_names(some)})"
            for reason, some in names.items()
        ]
        mended = [f"{count:,} × {what}" for what, count in self._mended.items()]
        more = self._noted - len(self._places)
        rest = [f"{more:,} more like these: --json and the log name each"] if more else []
        return (*map(str, registry.broken_formats()), *left_out, *mended, *self._places, *rest)


def _describe_files(some: Sequence[str]) -> str:
    """Files are counted apart from the records that are skipped."""
    return "1 file" if len(some) == 1 else f"{len(some):,} files"


def nothing_read_error(place: str, reasons: Counter[str], *, sound: bool = False) -> Refused:
    """The error of a source that has content but gives no records. ``sound``: each record is as its format says."""
    counts = ", ".join(f"{count:,} × {reason}" for reason, count in reasons.most_common(_MAX_REASONS))
    hints = (
        refusals.RECORD_HINTS[reason]
        for reason, _ in reasons.most_common()
        if reason in refusals.RECORD_HINTS
    )
    nothing_said = sound and base.NOTHING_SAID.issuperset(reasons)
    return Refused(
        message=f"Nothing could be imported from {place}: {counts}.",
        hint=next(hints, refusals.NOTHING_SAID if nothing_said else refusals.DAMAGED),
    )


def some_names(names: Sequence[str]) -> str:
    """The first few of some names, and how many more there are."""
    more = len(names) - _MAX_NAMES
    return ", ".join(names[:_MAX_NAMES]) + (f" and {more:,} more" if more > 0 else "")


def read_all(detected: DetectionResult, tally: ReadTally) -> Iterator[Turn | Item | AnyLine | None]:
    """Every turn and item of every source, ``with_times``; None now and then where there is nothing but skips.

    A source that is gone by now is noted, and the next one is read.
    """
    with SourceOpener() as opener:
        for recognised in detected.sources:
            try:
                with opener.open(recognised.source) as stream:
                    tally.start(stream)
                    yield from _read_stream(stream, recognised.format, tally)
            except InputError as error:
                tally.add_example(error.message)
            finally:
                tally.end(recognised.source.size)


def _read_stream(stream: Stream, format: str, tally: ReadTally) -> Iterator[Turn | Item | AnyLine | None]:
    gave = False
    for number, record in enumerate(with_times(get_format(format).read(stream), stream)):
        if not isinstance(record, Skip):
            if not gave:
                gave = True
                tally.mark_importable()
            yield record
        else:
            tally.count_skip(record)
            if number % _RECORDS_PER_LOOK == 0:
                yield None


def with_times(
    records: Iterable[Turn | Item | AnyLine | Skip], stream: Stream
) -> Iterator[Turn | Item | AnyLine | Skip]:
    """A turn without a time gets that of the turn before it, the first one that of its file, and it is said: the order stays."""
    latest = min(max(stream.source.modified, EARLIEST), LATEST)
    for record in records:
        if isinstance(record, (Turn, Note)):
            if record.event_time is None:
                if isinstance(record, Turn):
                    stream.warn(UNTIMED)
                record = msgspec.structs.replace(record, event_time=latest)
            else:
                latest = record.event_time
        yield record
