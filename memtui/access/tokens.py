"""Tokens: each lets one agent, or one browser, reach one memory over HTTP.

They are kept in a file beside the settings and never in the memory: a copy, an export or a backup of the memory carries
no access, and a restored backup brings no revoked token back. The file has a hash of each token, never a token. A token has
256 random bits, so a hash without a salt cannot be guessed, and is quick enough for every request.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from memtui import operating_system, paths
from memtui.atomic_file import write_atomically
from memtui.engine.errors import InputError, NotFoundError
from memtui.engine.memories.validation import require_actor
from memtui.engine.records import Record
from memtui.engine.search.access_scope import scope_filter
from memtui.engine.search.filters.compiler import compile_filter as compile_filter

FILE_NAME = "tokens.json"
PREFIX = "memtui_"
SECRET_BYTES = 32
MAX_NAME = 64
_ID_BYTES = 5
_FORMAT = 1
_MOST_BYTES = 4 << 20
_KEPT_SECONDS = 90 * 86_400
_LOCK_SECONDS = 10.0
_WRITABLE_BY_OTHERS = 0o022
# What a token is compared with that names none: the comparison takes as long.
_NOBODY = sha256(secrets.token_bytes(SECRET_BYTES)).hexdigest()

TokenKind = Literal["agent", "browser"]
TokenState = Literal["active", "expired", "revoked"]
Fault = Literal["no token", "unknown token", "revoked token", "expired token", "token for something else"]


class Token(Record):
    """What is kept of a token. ``id`` is a part of it and names it in lists; ``digest`` is the SHA-256 of the whole.

    ``memory``: the absolute path of the memory that it is for. ``kind``: ``agent`` for MCP, ``browser`` for the app in a browser.
    ``project``, ``filter``, ``readonly``: what the agent may see and do. Times are Unix seconds.
    """

    id: str
    name: str
    memory: str
    digest: str
    created_at: int
    kind: TokenKind = "agent"
    project: str | None = None
    filter: str | None = None
    readonly: bool = False
    expires_at: int | None = None
    revoked_at: int | None = None

    def state_at(self, now: float) -> TokenState:
        """Whether it still opens anything."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "active"


class NewToken(NamedTuple):
    """A token and its text, which is shown once and kept nowhere."""

    token: Token
    text: str


class _TokenFileContent(Record):
    format: int = _FORMAT
    tokens: tuple[Token, ...] = ()


class TokenFile:
    """The tokens of this user. Safe to share between threads; a change by another process is seen at the next check.

    ``path``: where the file is; the platform's folder for settings where none is given. ``clock`` returns Unix seconds.
    """

    def __init__(self, path: Path | None = None, *, clock: Callable[[], float] = time.time) -> None:
        self.path = path or paths.config_folder() / FILE_NAME
        self._clock = clock
        self._lock = threading.Lock()
        self._seen: tuple[int, int, int] | None = None
        self._tokens: dict[str, Token] = {}

    def list_tokens(self, memory: Path | None = None) -> list[Token]:
        """The tokens for a memory, or for all of them, the oldest first. Raises InputError for a file that cannot be used."""
        return [
            one
            for one in self._load_tokens().values()
            if memory is None or one.memory == resolved_path(memory)
        ]

    def add_token(
        self, name: str, memory: Path, *, kind: TokenKind = "agent", project: str | None = None, filter: str | None = None,
        readonly: bool = False, expires_at: int | None = None,
    ) -> NewToken:  # fmt: skip
        """Make a token. Raises InputError for a bad or used name, an empty scope or a time that is past; FilterError."""
        now = int(self._clock())
        _check_name(name)
        if kind == "browser" and (filter is not None or project is not None):
            raise InputError(
                "A token for the browser shows the whole app: it has no project and no filter.",
                "Leave --project and --filter out.",
            )
        compile_filter(scope_filter(filter, project), now=now)
        if expires_at is not None and expires_at <= now:
            raise InputError("This time is past.", "Give a later one, for example 30d.")
        text, id = _make_secret()
        made = Token(
            id=id, name=name, memory=resolved_path(memory), digest=_hash_token(text), created_at=now, kind=kind,
            project=project, filter=filter, readonly=readonly or kind == "browser", expires_at=expires_at,
        )  # fmt: skip
        with self._locked_tokens() as tokens:
            if any(
                one.name == name and one.memory == made.memory and one.state_at(now) == "active"
                for one in tokens.values()
            ):
                raise InputError(
                    f"There is a token {name} already.",
                    "Give another name, or revoke that one first: memtui tokens revoke " + name,
                )
            for old in list(tokens.values()):
                ended = old.revoked_at or old.expires_at
                if ended is not None and ended < now - _KEPT_SECONDS:
                    del tokens[old.id]
            tokens[made.id] = made
        return NewToken(made, text)

    def revoke(self, name: str, memory: Path) -> list[Token]:
        """Let the active tokens of this name (or id) open nothing from now on. Raises NotFoundError where there is none."""
        now, revoked = int(self._clock()), []
        with self._locked_tokens() as tokens:
            for one in tokens.values():
                if (
                    one.memory == resolved_path(memory)
                    and name in (one.name, one.id)
                    and one.state_at(now) == "active"
                ):
                    revoked.append(msgspec.structs.replace(one, revoked_at=now))
            if not revoked:
                raise NotFoundError(
                    f"There is no active token {name!r} for this memory.", "memtui tokens list"
                )
            tokens.update({one.id: one for one in revoked})
        return revoked

    def check_token(self, given: str, place: str, kind: TokenKind = "agent") -> Token | Fault:
        """The token that ``given`` is, if it opens the memory at ``place`` (``resolved_path``) now; else why not.

        Compared in constant time. Raises InputError for a file that cannot be used: then nobody is let in.
        """
        tokens = self._load_tokens()
        if not given:
            return "no token"
        token = tokens.get(given.removeprefix(PREFIX).partition("_")[0])
        same = compare_digest(_hash_token(given), token.digest if token else _NOBODY)
        if token is None or not same:
            return "unknown token"
        state = token.state_at(self._clock())
        if state != "active":
            return "revoked token" if state == "revoked" else "expired token"
        return token if token.memory == place and token.kind == kind else "token for something else"

    def still_opens(self, token: Token) -> bool:
        """Whether a token that was let in before would be let in now. Raises InputError as ``check`` does."""
        stored_token = self._load_tokens().get(token.id)
        return (
            stored_token is not None
            and stored_token.digest == token.digest
            and stored_token.state_at(self._clock()) == "active"
        )

    def _load_tokens(self) -> dict[str, Token]:
        """The tokens by id, read again when the file has changed."""
        with self._lock:
            try:
                status = self.path.stat()
            except FileNotFoundError:
                self._seen, self._tokens = None, {}
                return self._tokens
            except OSError as error:
                raise _unusable_error(self.path, error.strerror or str(error)) from None
            seen = (status.st_mtime_ns, status.st_ino, status.st_size)
            if seen != self._seen:
                self._tokens = {one.id: one for one in _read_file(self.path).tokens}
                self._seen = seen
            return self._tokens

    @contextmanager
    def _locked_tokens(self) -> Iterator[dict[str, Token]]:
        """The tokens by id, written back afterwards; one process at a time."""
        from filelock import FileLock, Timeout

        paths.make_private_folder(self.path.parent)
        lock = FileLock(f"{self.path}.lock", timeout=_LOCK_SECONDS, mode=0o600)
        try:
            with lock:
                tokens = dict(self._load_tokens())
                yield tokens
                content = msgspec.json.format(
                    msgspec.json.encode(_TokenFileContent(tokens=tuple(tokens.values()))), indent=1
                )
                with write_atomically(self.path, force=True) as file:
                    file.write(content + b"\n")
        except Timeout:
            raise InputError("Another program is changing the tokens.", "Try again in a moment.") from None


def resolved_path(memory: Path) -> str:
    """How a memory is named in the file: its path with links resolved."""
    return str(memory.expanduser().resolve())


def _make_secret() -> tuple[str, str]:
    id = secrets.token_hex(_ID_BYTES)
    return f"{PREFIX}{id}_{secrets.token_urlsafe(SECRET_BYTES)}", id


def _hash_token(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _check_name(name: str) -> None:
    if not name.strip() or len(name) > MAX_NAME or not name.isprintable() or name != name.strip():
        raise InputError(
            f"A token needs a name of 1 to {MAX_NAME} printable characters.",
            "The agent signs with it, for example laptop or claude-code.",
        )
    require_actor(f"agent:{name}")


def _read_file(path: Path) -> _TokenFileContent:
    loose = operating_system.loose_mode(path)
    if loose is not None and loose & _WRITABLE_BY_OTHERS:
        raise InputError(f"Others may write {path} (mode {loose:o}), so it is not used.", f"chmod 600 {path}")
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise _unusable_error(path, "it is too large")
        stored = msgspec.json.decode(content, type=_TokenFileContent)
    except OSError as error:
        raise _unusable_error(path, error.strerror or str(error)) from None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise _unusable_error(path, "it is not a file of tokens") from None
    if stored.format != _FORMAT:
        raise _unusable_error(path, "a newer memtui wrote it")
    return stored


def _unusable_error(path: Path, why: str) -> InputError:
    return InputError(
        f"The tokens in {path} cannot be used: {why}.",
        "Nobody is let in until it is mended. Move it away to begin anew with memtui tokens add.",
    )
