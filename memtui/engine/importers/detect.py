"""Detect what can be imported in files, folders and zip archives.

Of names only that of a Markdown note counts: prose alone is a note where the file says so.

Of what the person named, each that cannot be used is named with the reason, and the others are read all the same. What
lies beside them in a folder or an archive and is something else is named, counted and left alone.
"""

from __future__ import annotations

import io
import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from msgspec.structs import replace

from memtui.engine.errors import InputError
from memtui.engine.records import LeftOut, Record, Refused, Skip
from memtui.engine.store.file import OWN_TABLES

from . import compression, databases, refusals
from .base import Format, StreamHead
from .formats import markdown, opencode, vault
from .limits import LIMITS, BrokenSourceError, ImportLimits, LimitError
from .refusals import (
    ANOTHER_MEMORY,
    ASIDE,
    BINARY,
    BROKEN,
    EMPTY,
    FOREIGN,
    LINKS,
    NESTED,
    NO_FILE,
    NO_TABLES,
    OTHER,
    OWN,
    PACKED,
    PLAIN,
    PROGRAMS,
    PROPERTIES,
    RECORDS,
    UNREADABLE,
    no_records_error,
    none_usable_error,
)
from .registry import all_formats, get_format
from .stream import Source

# What lies in these is not what the person keeps in the folder above them.
_ASIDE_FOLDERS = frozenset({".obsidian", ".trash", ".git"})
_RECORDS_NAMED = (".json", ".jsonl", ".ndjson")
# Formats of programs that keep settings and state of their own beside their sessions.
_WITH_STATE = frozenset({
    "claude-code", "claude-history", "claude-mem", "claude-memory", "codex", "engram", "gemini-cli",
    "mcp-memory-service", "mempalace", "opencode",
})  # fmt: skip
# Folders of notes, where other notes belong to them.
_OF_NOTES = frozenset({"basic-memory", vault.FORMAT.name})
# Text in two bytes a character would have shown by then.
_START_BYTES = 64


class DetectedSource(Record):
    """A stream and the name of the format it is in."""

    format: str
    source: Source


class DetectionResult(Record):
    """``sources`` from the oldest file to the newest; what is ``left_out`` of folders and archives; what was named and
    is ``refused`` as a whole.
    """

    sources: tuple[DetectedSource, ...]
    left_out: tuple[LeftOut, ...] = ()
    refused: tuple[Refused, ...] = ()

    @property
    def size(self) -> int:
        """Bytes to read."""
        return sum(detected.source.size for detected in self.sources)


def find_sources(
    paths: Sequence[Path], format: str | None = None, limits: ImportLimits = LIMITS, own: Path | None = None
) -> DetectionResult:
    """Look into every path. ``format`` narrows to one; for a named file that fits no other it is trusted.

    ``own`` is the memory that is open in this process: its files are never opened, as closing one would drop
    the locks on it.

    A path is refused if it is missing, unreadable, empty or binary, if nothing in it is recognised, or if the content
    contradicts ``format``. Raises InputError if all of them are, or if ``format`` is unknown.
    """
    wanted = get_format(format) if format is not None else None
    if not paths:
        raise InputError("Nothing to import was named.", "Name a file, a folder or a zip archive.")
    left_out: list[LeftOut] = []
    refused: list[Refused] = []
    sources: dict[tuple[str, str | None], tuple[float, DetectedSource]] = {}
    for path in dict.fromkeys(path.expanduser() for path in paths):
        search = _SourceSearch(path, wanted, limits, identify_memory_files(own))
        try:
            pairs = search.run()
        except InputError as error:
            if len(paths) == 1:
                raise
            refused.append(Refused(message=error.message, hint=error.hint))
            continue
        for age, detected in pairs:
            sources.setdefault(
                (os.path.realpath(detected.source.path), detected.source.member), (age, detected)
            )
        left_out += search.left_out
        if len(sources) > limits.files:
            raise InputError(f"There are more than {limits.files:,} files.", "Import a folder at a time.")
    if not sources:
        raise none_usable_error(refused)
    ordered = sorted(sources.values(), key=lambda pair: (pair[0], pair[1].source.place))
    return DetectionResult(
        sources=tuple(detected for _, detected in ordered),
        left_out=tuple(left_out),
        refused=tuple(refused),
    )


def identify_memory_files(own: Path | None) -> frozenset[tuple[int, int]]:
    """The device and inode of the open memory's files, which must not be opened once more."""
    memory_files = set()
    for suffix in ("", "-wal", "-shm") if own else ():
        try:
            status = Path(f"{own}{suffix}").stat()
        except OSError:
            continue
        memory_files.add((status.st_dev, status.st_ino))
    return frozenset(memory_files)


def _is_text(raw: bytes, whole: bool) -> bool:
    """Whether NUL bytes stand in single records of JSON, which are passed over like other bad ones."""
    start = raw.lstrip()[:_START_BYTES]
    return (start[:1] in (b"{", b"[") and b"\0" not in start) or bool(
        StreamHead.from_bytes(raw, whole=whole).objects
    )


def _reason_by_name(reason: str, name: str) -> str:
    """The reason to leave a file out: what its name says it is, where its content says nothing."""
    return refusals.named_kind(name) or reason if reason in (OTHER, PLAIN) else reason


def _is_note(name: str) -> bool:
    return name.casefold().endswith((".md", ".markdown"))


class _UnknownError(Exception):
    """A stream is in no format that is wanted; its text is the reason."""


class _SourceSearch:
    """Looking into one path that the person named; finds come with the time of their file or archive."""

    def __init__(
        self, path: Path, wanted: Format | None, limits: ImportLimits, own: frozenset[tuple[int, int]]
    ) -> None:
        self.path = path
        self.wanted = wanted
        self.limits = limits
        self.own = own
        self.folder = self.archive = False
        self.left_out: list[LeftOut] = []

    def _add_left_out(self, reason: str, path: Path, member: str | None = None) -> None:
        within = path.relative_to(self.path) if self.folder else None
        name = ": ".join(str(part) for part in (within, member) if part is not None)
        place = str(path) if member is None else f"{path}: {member}"
        self.left_out.append(LeftOut(reason=reason, name=name or path.name, place=place))

    def run(self) -> list[tuple[float, DetectedSource]]:
        path = self.path
        try:
            self.folder = stat.S_ISDIR(path.stat().st_mode)
            detected = list(self._walk_folder() if self.folder else self._detect_file(path))
        except FileNotFoundError:
            raise InputError(
                f"There is no file or folder {path}.", "Check the spelling of the path."
            ) from None
        except OSError as error:
            cause = error.strerror or error
            raise InputError(f"{path} cannot be read: {cause}.", "Check its permissions.") from None
        except ValueError as error:
            raise InputError(f"{str(path)!r} is not a path: {error}.", "Check the spelling.") from None
        if not detected:
            reasons = Counter(one.reason for one in self.left_out)
            raise no_records_error(path, self.wanted, reasons, folder=self.folder, archive=self.archive)
        if self.wanted or any(one.format in _WITH_STATE for _, one in detected):
            self.left_out = [
                replace(one, reason=OTHER) if one.reason == RECORDS else one for one in self.left_out
            ]
        return detected if self.wanted else self._drop_subagent_texts(detected)

    def _drop_subagent_texts(
        self, dated_sources: list[tuple[float, DetectedSource]]
    ) -> list[tuple[float, DetectedSource]]:
        """Texts that lie beside sessions are about something else: the instructions to a program, say."""
        kept = [pair for pair in dated_sources if pair[1].format != markdown.FORMAT.name]
        if len(kept) == len(dated_sources) or all(pair[1].format in _OF_NOTES for pair in kept):
            return dated_sources
        for _, aside in dated_sources:
            if aside.format == markdown.FORMAT.name:
                self._add_left_out(ASIDE, aside.source.path, aside.source.member)
        return kept

    def _walk_folder(self) -> Iterator[tuple[float, DetectedSource]]:
        count = 0

        def unreadable(error: OSError) -> None:
            self._add_left_out(UNREADABLE, Path(error.filename))

        for place, folders, names in os.walk(self.path, onerror=unreadable):
            for aside in _ASIDE_FOLDERS.intersection(folders):
                folders.remove(aside)
                self._add_left_out(PROGRAMS, Path(place, aside))
            for together in opencode.known_sibling_folders(folders):
                folders.remove(together)
            for name in names:
                count += 1
                if count > self.limits.files:
                    raise InputError(
                        f"{self.path} holds more than {self.limits.files:,} files.",
                        "Import a folder within it.",
                    )
                path = Path(place, name)
                try:
                    yield from self._detect_file(path)
                except compression.UnpackerMissingError:
                    self._add_left_out(compression.NEEDS, path)
                except refusals.NewerSchemaError:
                    self._add_left_out(refusals.NEWER, path)
                except (OSError, InputError):
                    self._add_left_out(UNREADABLE, path)

    def _detect_file(self, path: Path) -> Iterator[tuple[float, DetectedSource]]:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            self._add_left_out(NO_FILE, path)
            return
        if (status.st_dev, status.st_ino) in self.own:
            self._add_left_out(OWN, path)
            return
        with path.open("rb") as file:
            head = self._read_head(file, status.st_size)
        if head.startswith(compression.ARCHIVE_MAGICS):
            self.archive = not self.folder
            yield from self._detect_members(path, status)
            return
        unpack = head.startswith(compression.MAGICS)
        if unpack and self.folder and compression.has_plain_copy(path):
            self._add_left_out(compression.BESIDE, path)
            return
        try:
            if unpack:
                name = self._detect_unpacked(path)
            elif head.startswith(databases.MAGIC):
                name = self._sqlite_format(path)
                self._refuse_newer(path, get_format(name))
            else:
                name = self._recognise_format(
                    head, len(head) >= status.st_size, insist=not self.folder, note=_is_note(path.name)
                )
        except _UnknownError as unknown:
            reason = _reason_by_name(str(unknown), path.name)
            records = reason == OTHER and path.name.casefold().endswith(_RECORDS_NAMED)
            self._add_left_out(RECORDS if records else reason, path)
            return
        source = Source(path=path, size=status.st_size, modified=status.st_mtime, packed=unpack)
        yield status.st_mtime, DetectedSource(format=name, source=source)

    def _sqlite_format(self, path: Path) -> str:
        """The format of an SQLite file."""
        tables = databases.read_tables(path, self.limits)
        if not tables:
            raise _UnknownError(NO_TABLES)
        if tables.keys() >= OWN_TABLES and self.folder:
            raise _UnknownError(ANOTHER_MEMORY)  # this one's backups, mostly: one that is meant is named
        try:
            collections: tuple[str, ...] = ()
            if "name" in tables.get("collections", ()):
                collections = databases.read_names(path, "collections", "name", self.limits)
            return self._choose_format(
                StreamHead(raw=b"", tables=tables, collections=collections), insist=False
            )
        except _UnknownError as unknown:
            reason = refusals.database_kind(tables) or FOREIGN
            raise _UnknownError(reason if str(unknown) == OTHER else str(unknown)) from None

    def _refuse_newer(self, path: Path, format: Format) -> None:
        """Raises NewerSchemaError for a store whose program is newer than memtui, unless the person named the format."""
        if format.schema is None or self.wanted is not None:
            return
        known, table, column = format.schema
        if (version := databases.largest_number(path, table, column, self.limits)) > known:
            raise refusals.NewerSchemaError(
                f"{path} was written by a newer {format.label} (schema {version}; memtui knows it up to {known}).",
                f"Update memtui. To import what it knows of it all the same: --format {format.name}",
            )

    def _detect_unpacked(self, path: Path) -> str:
        try:
            with io.BufferedReader(compression.UnpackedStream(path, self.limits)) as file:
                head = self._read_head(file, self.limits.source)
                whole = not file.read(1)
        except (BrokenSourceError, LimitError):
            raise _UnknownError(UNREADABLE) from None
        return self._recognise_format(head, whole, insist=not self.folder)

    def _detect_members(self, path: Path, status: os.stat_result) -> Iterator[tuple[float, DetectedSource]]:
        with compression.open_archive(path, self.limits) as archive:
            if kind := refusals.document_kind(archive.NameToInfo):
                self.archive = False
                self._add_left_out(kind, path)
                return
            for member in compression.archive_members(archive, status.st_size, self.limits):
                if isinstance(member, Skip):
                    self._add_left_out(member.reason, path, member.place or None)
                    continue
                size = member.file_size
                try:
                    with archive.open(member) as file:
                        head = self._read_head(file, size)
                    if head.startswith((*compression.ARCHIVE_MAGICS, *compression.MAGICS)):
                        raise _UnknownError(PACKED)
                    name = self._recognise_format(
                        head, len(head) >= size, insist=False, note=_is_note(member.filename)
                    )
                except compression.ARCHIVE_ERRORS:
                    self._add_left_out(UNREADABLE, path, member.filename)
                except _UnknownError as unknown:
                    self._add_left_out(_reason_by_name(str(unknown), member.filename), path, member.filename)
                else:
                    modified = compression.member_time(member)
                    source = Source(path=path, size=size, modified=modified, member=member.filename)
                    yield status.st_mtime, DetectedSource(format=name, source=source)

    def _read_head(self, file: IO[bytes], size: int) -> bytes:
        """The first bytes: more of them when they hold no whole line of JSON."""
        head = file.read(self.limits.head)
        if len(head) < size and b"\n" not in head and head.lstrip().startswith(b"{"):
            head += file.read(self.limits.long_head - len(head))
        return head

    def _recognise_format(self, raw: bytes, whole: bool, *, insist: bool, note: bool = False) -> str:
        """The name of the format; ``note``: it is named as Markdown, which may be prose alone. Raises _UnknownError."""
        if not raw.strip():
            raise _UnknownError(EMPTY)
        if raw.startswith(databases.MAGIC):
            raise _UnknownError(NESTED)
        if kind := refusals.foreign_kind(raw):
            raise _UnknownError(kind)
        if b"\0" in raw and not _is_text(raw, whole):
            raise _UnknownError(BINARY)
        text = self.wanted is markdown.FORMAT
        insist = insist and (text or raw.lstrip()[:1] in (b"{", b"["))
        head = StreamHead.from_bytes(raw, whole=whole)
        if note and markdown.is_only_frontmatter(head):
            raise _UnknownError(PROPERTIES)
        if note and not text and markdown.has_only_links(head) and self._unknown_reason(head):
            raise _UnknownError(LINKS)
        try:
            return self._choose_format(head, insist=insist, note=note)
        except _UnknownError as unknown:
            broken = str(unknown) == OTHER and whole and head.is_broken_json
            raise _UnknownError(BROKEN if broken else str(unknown)) from None

    @staticmethod
    def _unknown_reason(head: StreamHead) -> bool:
        return not any(one.sniff(head) for one in all_formats())

    def _choose_format(self, head: StreamHead, *, insist: bool, note: bool = False) -> str:
        """The name of the format. Raises _UnknownError."""
        wanted = self.wanted
        if wanted and wanted.sniff(head):
            return wanted.name
        first = next((one for one in all_formats() if one.sniff(head)), None)
        if wanted is None and first in (None, markdown.FORMAT) and (kind := refusals.text_kind(head.raw)):
            raise _UnknownError(kind)
        if first is None and note and markdown.has_words(head):
            first = markdown.FORMAT
        if first is None and insist:
            first = wanted
        if first and wanted in (None, first):
            return first.name
        if first:
            raise _UnknownError(f"{first.label} format")
        raise _UnknownError(PLAIN if wanted is None and markdown.has_prose(head) else OTHER)
