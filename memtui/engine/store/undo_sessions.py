"""Sessions in an undo: they follow their turns.

A session lives as long as it has turns: the last one that goes takes it away, the first one that comes back
brings it back. So it makes no difference in which order, and by whom, the turns are taken back.
"""

from __future__ import annotations

from typing import Any

import apsw
import msgspec

from . import row_images
from .sql import scalar

_TABLE = "sessions_consolidations"


class TouchedSessions:
    """The sessions whose turns come or go in one transaction."""

    def __init__(self) -> None:
        self._images: dict[str, dict[str, Any] | None] = {}

    def note(self, connection: apsw.Connection, table: str, key: int, image: dict[str, Any] | None) -> bool:
        """Remember the session that a row concerns, before the row is put back; ``image`` None: it is to go.

        Returns whether the row is itself a session that came or went: ``settle`` does all there is to do.
        """
        if table == "memories":
            talk = image.get("session_id") if image is not None else self._find(connection, table, "rid", key)
            if talk is not None:
                self._images.setdefault(talk, None)
            return False
        if table != _TABLE or (image is not None and "sid" not in image):
            return False
        if image is not None:
            self._images[image["session_id"]] = image
        elif talk := self._find(connection, table, "sid", key):
            self._images.setdefault(talk, None)
        return True

    def settle(self, connection: apsw.Connection) -> int:
        """Returns how many sessions came or went."""
        settled = 0
        for talk, image in self._images.items():
            known = scalar(connection, f"SELECT 1 FROM {_TABLE} WHERE session_id = ?", (talk,))
            used = scalar(connection, "SELECT 1 FROM memories WHERE session_id = ? LIMIT 1", (talk,))
            if known and not used:
                connection.execute(f"DELETE FROM {_TABLE} WHERE session_id = ?", (talk,))
            elif used and not known:
                row_images.insert_row(connection, _TABLE, image or _last_image(connection, talk))
            settled += known != used
        return settled

    def _find(self, connection: apsw.Connection, table: str, column: str, key: int) -> str | None:
        found: str | None = scalar(connection, f"SELECT session_id FROM {table} WHERE {column} = ?", (key,))
        return found


def _last_image(connection: apsw.Connection, session_id: str) -> dict[str, Any]:
    """A session as it was when it went."""
    image = scalar(
        connection,
        f"""
        SELECT before FROM changes WHERE tbl = '{_TABLE}' AND act = 'delete'
        AND before ->> 'session_id' = ? ORDER BY seq DESC LIMIT 1
        """,
        (session_id,),
    )
    if image is not None:
        return msgspec.json.decode(image, type=dict[str, Any])
    # It went longer ago than history is kept.
    [(first, last)] = connection.execute(
        "SELECT min(event_time), max(event_time) FROM memories WHERE session_id = ?", (session_id,)
    )
    return {"session_id": session_id, "first_seen_at": first, "last_seen_at": last}
