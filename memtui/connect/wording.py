"""How an agent and memtui are connected, in words for the command line, the doctor and the app."""

from __future__ import annotations

from .connection import Connection


def connection_state_text(one: Connection) -> str:
    """Whether it is here and connected, and as whom."""
    if one.problem:
        return "cannot be read"
    if one.launched is None:
        return "found, not connected" if one.found else "not found"
    if not one.launched.program:
        return f"connected to {one.launched.url}" if one.launched.url else "connected at an address"
    if one.program_gone:
        return f"connected, but {one.launched.program} is gone"
    return f"connected as {one.launched.agent or 'mcp'}"


def connection_scope_text(one: Connection) -> str:
    """What it sees and may do; "" if it is not connected."""
    if one.launched is None:
        return ""
    if one.launched.url:
        return "as its token says"
    parts = [
        f"project {one.launched.project}" if one.launched.project else "",
        one.launched.filter or "",
        "reads only" if one.launched.readonly else "",
        "consolidates" if one.launched.tools else "",
    ]
    return ", ".join(part for part in parts if part) or "sees everything"


def connection_hooks_text(one: Connection) -> str:
    """How its hooks are; "" if it is not connected, or has none that fit."""
    if one.launched is None and one.hooks not in ("on", "outdated"):
        return ""
    return {"on": "hooks on", "off": "hooks off", "outdated": "hooks of an older version", "none": ""}[
        one.hooks
    ]
