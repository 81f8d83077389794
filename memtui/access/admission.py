"""Whether a request may come in: the same checks for MCP over HTTP and for the app in a browser.

A refusal about a token says the same whatever the reason, and tells nothing of the memory. Each is counted. Whoever
asks with a wrong token too often waits; a right one is let in all the same, so that nobody can lock another out.
Guessing is hopeless without that limit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from memtui.engine.errors import MemtuiError

from .counts import AdmissionCounts, Reason
from .headers import Listening, is_named, is_same_place
from .tokens import Token, TokenFile, TokenKind, resolved_path

MOST_FAILURES = 20
"""Wrong tokens a minute from one address, before it is told to wait."""

MINUTE = 60.0
_MOST_KEYS = 10_000

Headers = Mapping[str, Sequence[str]]
"""The values of each header by its name in small letters."""


class Refused(Exception):  # noqa: N818 - it is an answer
    """A request that is not answered. ``reason`` is counted, if there is one; ``message`` is sent.

    ``wait``: seconds before another try makes sense, else 0.
    """

    def __init__(self, status: int, message: str, reason: Reason | None = None, *, wait: int = 0) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.reason: Reason | None = reason
        self.wait = wait


class RateLimit:
    """At most ``most`` in a minute for each key; 0: no limit. Not for several threads.

    It remembers 10,000 keys: an attacker with many addresses does not fill the memory.
    """

    def __init__(self, most: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._begun: dict[str, tuple[float, int]] = {}

    def seconds_to_wait(self, key: str) -> int:
        """Count one; the seconds to wait if it is one too many, else 0."""
        if not self._most:
            return 0
        now = self._clock()
        begun, count = self._begun.pop(key, (now, 0))
        if now - begun >= MINUTE:
            begun, count = now, 0
        if len(self._begun) >= _MOST_KEYS:
            del self._begun[next(iter(self._begun))]  # the one that was not seen for longest
        self._begun[key] = (begun, count + 1)
        return 0 if count < self._most else max(1, int(begun + MINUTE - now) + 1)


class Admission:
    """The checks of one server. ``memory``: the path of the memory that a token must be for; ``kind``: of token.

    ``behind_proxy``: the proxy in front says who asks, and whether its own connection is encrypted.
    ``per_minute``: requests for each token; 0: no limit.
    """

    def __init__(
        self, listening: Listening, tokens: TokenFile, memory: Path, counts: AdmissionCounts, *, kind: TokenKind,
        behind_proxy: bool = False, per_minute: int = 0,
    ) -> None:  # fmt: skip
        self.counts = counts
        self.tokens = tokens
        self._listening = listening
        self._place = resolved_path(memory)
        self._kind: TokenKind = kind
        self._behind_proxy = behind_proxy
        self._requests = RateLimit(per_minute)
        self._failures = RateLimit(MOST_FAILURES)

    def caller_address(self, headers: Headers, peer: str) -> str:
        """Who asks; behind a proxy as that has it. Only counts and the limit for failures go by it."""
        forwarded = headers.get("x-forwarded-for", ()) if self._behind_proxy else ()
        return forwarded[-1].rpartition(",")[2].strip()[:64] if forwarded else peer

    def check_headers(self, headers: Headers) -> None:
        """Raise Refused for a request that was meant for another server, or sent by a page of another site."""
        hosts, origins = headers.get("host", ()), headers.get("origin", ())
        if len(hosts) != 1 or not is_named(hosts[0], self._listening):
            raise Refused(421, "This server does not go by that name.", "foreign host")
        if origins and not (len(origins) == 1 and is_same_place(origins[0], hosts[0])):
            raise Refused(403, "Pages of other sites may not ask.", "foreign origin")
        if self._behind_proxy and headers.get("x-forwarded-proto", ("https",))[-1].strip().lower() == "http":
            raise Refused(403, "Only encrypted connections are answered.", "not encrypted")

    def admit(self, given: str, address: str) -> Token:
        """The token that was given, if it opens this memory now. Raises Refused."""
        try:
            token = self.tokens.check_token(given, self._place, self._kind)
        except MemtuiError:
            raise Refused(503, "Nobody is let in now.", "tokens cannot be read") from None
        if not isinstance(token, Token):
            wait = self._failures.seconds_to_wait(address)
            if wait:
                raise Refused(429, "Too many failed attempts.", "too many failures", wait=wait)
            raise Refused(401, "A token of this memory is needed.", token)
        wait = self._requests.seconds_to_wait(token.id)
        if wait:
            raise Refused(429, "Too many requests in this minute.", "too many requests", wait=wait)
        return token
