"""Parse values of foreign files: lenient JSON, times in any notation, ids of any type."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, TypeVar

import msgspec

from memtui.engine.clock import EARLIEST
from memtui.engine.memories import validation
from memtui.engine.records import EntityType, Skip
from memtui.engine.wording import text_beginning

from .stream import Stream

T = TypeVar("T")

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_NUMBER = re.compile(r"[+-]?\d{9,20}(\.\d*)?", re.ASCII)
# From these magnitudes on an epoch is in nano-, micro-, milliseconds (as seconds it would be past 5100).
_SCALES = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))

_ENTITY_TYPES: dict[str, EntityType] = {
    **dict.fromkeys(("person", "people", "user", "human", "contact"), "person"),
    **dict.fromkeys(("organization", "organisation", "company", "team", "org"), "organization"),
    **dict.fromkeys(("place", "location", "city", "country", "address"), "location"),
    "project": "project", "email": "email", "url": "url", "date": "date",
}  # fmt: skip

BAD_UTF8 = "invalid UTF-8 replaced"
BAD_ESCAPE = "half a character replaced"
LOOSE_JSON = "loose JSON read"
BAD_TIME = "unusable time ignored"
# 2100: a number that says so counts in another unit, and would head every list for good.
_LATEST = 4_102_444_800


class NotReadableError(ValueError):
    """A record that is not JSON of the expected shape; the message is a short phrase for the report."""


def decode(decoder: msgspec.json.Decoder[T], raw: bytes, stream: Stream) -> T:
    """Decode one record, mending what can be mended and counting it as a warning on the stream.

    Bytes that are not UTF-8 and lone surrogates become U+FFFD; raw control characters in strings and NaN
    (read as null) are let through. Raises NotReadableError for the rest.
    """
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError:
        # Also raised for a number that is out of range, which the second look does not help.
        raise NotReadableError("record of an unknown shape") from None
    except RecursionError:
        raise NotReadableError("nested too deeply") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    try:
        text, mended = raw.decode(), ""
    except UnicodeDecodeError:
        text, mended = raw.decode(errors="replace"), BAD_UTF8
    try:
        value = json.loads(text, strict=False, parse_constant=lambda _: None)
        again, halves = _LONE_SURROGATE.subn("\ufffd", json.dumps(value, ensure_ascii=False, allow_nan=False))
        result = decoder.decode(again.encode())
    except msgspec.ValidationError:
        raise NotReadableError("record of an unknown shape") from None
    except RecursionError:
        raise NotReadableError("nested too deeply") from None
    except ValueError:
        raise NotReadableError("not text in UTF-8" if mended else "not valid JSON") from None
    stream.warn(mended or (BAD_ESCAPE if halves else LOOSE_JSON))
    return result


def decode_each(
    decoder: msgspec.json.Decoder[T], records: Iterable[bytes | Skip], stream: Stream
) -> Iterator[T | Skip]:
    """Decode the records of a stream one by one; one that is not readable becomes a Skip with its place."""
    for raw in records:
        if isinstance(raw, Skip):
            yield raw
            continue
        try:
            record = decode(decoder, raw, stream)
        except NotReadableError as error:
            yield stream.skip(str(error))
        else:
            yield record


def event_time(value: Any, stream: Stream) -> float | None:
    """Unix seconds of an ISO 8601 text or an epoch in s, ms, us or ns (also as text); None if absent.

    A date alone is its midnight, a time without a zone is UTC. What cannot be used is None, with a warning:
    the words matter more than their time.
    """
    if value is None or value == "":
        return None
    seconds = _as_seconds(value)
    if seconds is None or not EARLIEST <= seconds <= _LATEST:
        stream.warn(BAD_TIME)
        return None
    return seconds


def _as_seconds(value: Any) -> float | None:
    if isinstance(value, str):
        value = value.strip()
        if not _NUMBER.fullmatch(value):
            try:
                moment = datetime.fromisoformat(value)
                return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
            except (ValueError, OverflowError):
                return None
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    for least, scale in _SCALES:
        if abs(value) >= least:
            return float(value / scale)
    return float(value)


# UUIDs, hashes and numbers: most ids are such, and none is a secret by itself.
_hexadecimal = re.compile(r"[0-9a-f-]{0,64}").fullmatch


def read_identifier(value: Any) -> str | None:
    """A foreign id as text: texts and whole numbers are ids; None if it is none. Long ones, and one with a secret, are hashed."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    text = str(value).strip()
    if len(text) > 200 or not (_hexadecimal(text) or validation.without_secrets(text) == text):
        return hash_parts(text)
    return text or None


def read_text(value: Any) -> str | None:
    """A column read as BLOB as text; what is not UTF-8 becomes U+FFFD. None for anything else."""
    return value.decode(errors="replace") if isinstance(value, bytes) else None


def hash_parts(*parts: object) -> str:
    """32 hexadecimal digits over the parts; None and "" differ, and so do ("a", "b") and ("ab", "")."""
    state = blake2b(digest_size=16)
    for part in parts:
        kind = b"s" if isinstance(part, str) else b"-"
        data = str(part).encode(errors="surrogatepass")
        state.update(b"%b%d:" % (kind, len(data)) + data)
    return state.hexdigest()


def title_line(value: Any, longest: int = 200) -> str | None:
    """A title: one line, cut at ``longest`` characters; None if there is nothing to show."""
    if not isinstance(value, str):
        return None
    return text_beginning(value, longest) or None


def read_folder(value: Any) -> str | None:
    """A path as it is written; None for anything else."""
    return value if isinstance(value, str) and value.strip() else None


def last_path_part(value: Any) -> str | None:
    """The project: the last folder of a path in either notation."""
    if not isinstance(value, str):
        return None
    return title_line(value.replace("\\", "/").rstrip("/").rpartition("/")[2])


def entity_type(word: Any) -> EntityType:
    """The type that a foreign word stands for."""
    return _ENTITY_TYPES.get(word.strip().casefold(), "other") if isinstance(word, str) else "other"
