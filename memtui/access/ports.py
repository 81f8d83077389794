"""The socket that a server listens on."""

from __future__ import annotations

import socket

from memtui.engine.errors import InputError


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 is any free one. Raises InputError where that cannot be."""
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.create_server(address[:2], family=family, backlog=2_048)
    except (OSError, UnicodeError) as error:
        raise InputError(
            f"Nothing can listen on {host} at port {port}: {getattr(error, 'strerror', None) or error}.",
            "Is another server running there? Choose a port with --port, or an address of this machine.",
        ) from None
    # An answer is two packets. Connections inherit this; without it the second waits 40 ms for the first's receipt.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening
