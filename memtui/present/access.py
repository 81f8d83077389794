"""Tokens, their use, and what was refused at a port, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .format import format_count, local_time, plural, relative_time

if TYPE_CHECKING:
    from memtui.access.counts import Refusals, TokenUse
    from memtui.access.tokens import Token


def token_scope_line(token: Token, now: float) -> str:
    """What a token lets its holder do: "reads and writes project boat, until 3 March"."""
    if token.kind == "browser":
        text = "shows the app in a browser, for reading"
    else:
        text = "reads" if token.readonly else "reads and writes"
        if token.project is None and token.filter is None:
            text += " all of the memory"
        if token.project is not None:
            text += f" project {token.project}"
        if token.filter is not None:
            text += f" what passes {token.filter}"
    if token.revoked_at is not None:
        return f"{text}; revoked {relative_time(token.revoked_at, now)}"
    return f"{text}, until {local_time(token.expires_at, now)}" if token.expires_at is not None else text


def token_use_text(use: TokenUse | None, now: float) -> str:
    """How often a token was used, and when last."""
    if use is None:
        return "never used"
    where = f" from {use.last_address}" if use.last_address else ""
    return f"{plural(use.requests, 'request')}, the last {relative_time(use.last_at, now)}{where}"


def refusals_line(refused: Refusals, now: float) -> str:
    """What was refused for one reason on one day."""
    where = f" from {refused.last_address}" if refused.last_address else ""
    times = "once" if refused.count == 1 else f"{format_count(refused.count)} times"
    return f"refused {times}: {refused.reason}, the last {relative_time(refused.last_at, now)}{where}"
