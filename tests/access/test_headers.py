"""Which Host and Origin headers are ours."""

from __future__ import annotations

import pytest
from memtui.access.headers import Listening, is_loopback, is_named, is_same_place

LOCAL = Listening("127.0.0.1")
ANYWHERE = Listening("0.0.0.0", ("Memory.example.net",))


@pytest.mark.parametrize(
    ("host", "listening", "ours"),
    [
        ("127.0.0.1:6368", LOCAL, True),
        ("localhost:6368", LOCAL, True),
        ("LOCALHOST.", LOCAL, True),
        ("[::1]:9000", LOCAL, True),
        ("127.0.0.1", Listening("localhost"), True),
        ("evil.example:6368", LOCAL, False),
        ("localhost.evil.example", LOCAL, False),
        ("evil.localhost", LOCAL, False),
        ("127.0.0.1.evil.example", LOCAL, False),
        ("192.168.1.5:6368", LOCAL, False),
        ("2130706433", LOCAL, False),
        ("", LOCAL, False),
        ("evil.example@127.0.0.1", LOCAL, False),
        ("127.0.0.1/x", LOCAL, False),
        ("127.0.0.1:port", LOCAL, False),
        ("[::1", LOCAL, False),
        ("proxied.example", Listening("127.0.0.1", ("proxied.example",)), True),
        ("192.168.1.5:6368", ANYWHERE, True),
        ("memory.example.net", ANYWHERE, True),
        ("evil.example", ANYWHERE, False),
        ("localhost:6368", ANYWHERE, True),
        ("[fe80::1]:6368", Listening("::"), True),
        ("10.0.0.7:1", Listening("10.0.0.7"), True),
        ("10.0.0.8:1", Listening("10.0.0.7"), False),
        ("box", Listening("box"), True),
    ],
)
def test_a_host_that_is_ours(host: str, listening: Listening, ours: bool) -> None:
    assert is_named(host, listening) is ours


@pytest.mark.parametrize(
    ("origin", "host", "same"),
    [
        ("http://127.0.0.1:6368", "127.0.0.1:6368", True),
        ("http://LOCALHOST:6368", "localhost:6368", True),
        ("https://memory.example.net", "memory.example.net", True),
        ("https://memory.example.net", "memory.example.net:443", True),
        ("http://localhost:3000", "localhost:6368", False),
        ("http://localhost", "127.0.0.1", False),
        ("http://evil.example", "127.0.0.1:6368", False),
        ("null", "127.0.0.1:6368", False),
        ("", "127.0.0.1:6368", False),
        ("file://", "127.0.0.1:6368", False),
        ("http://[::1", "127.0.0.1:6368", False),
        ("http://127.0.0.1:x", "127.0.0.1:6368", False),
    ],
)
def test_a_page_of_the_same_server(origin: str, host: str, same: bool) -> None:
    assert is_same_place(origin, host) is same


def test_loopback_is_every_address_of_it_and_no_other() -> None:
    assert all(map(is_loopback, ("localhost", "127.0.0.1", "127.8.8.8", "::1", "[::1]")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "", "10.0.0.1", "example.com", "localhost.example")))
