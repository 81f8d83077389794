"""Model servers on this machine: found at their ports, told by what they answer; nothing else stands for one."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from memtui.engine.models import local_servers
from memtui.engine.models.local_servers import ServerPort

MODELS = {"object": "list", "data": [{"id": "qwen3:4b", "object": "model"}, {"id": "gemma3"}]}


@contextmanager
def serving(body: bytes, status: int = 200) -> Iterator[int]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/v1/models" else 404)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def test_a_server_is_told_with_its_address_and_its_models() -> None:
    with serving(json.dumps(MODELS).encode()) as port:
        (found,) = local_servers.find_servers([ServerPort("Ollama", port)], seconds=30)
    assert (found.program, found.base_url) == ("Ollama", f"http://127.0.0.1:{port}/v1")
    assert found.models == ("qwen3:4b", "gemma3")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"<html>a router</html>", 200),
        (b"[]", 200),
        (b"", 200),
        (b"{}", 500),
        (b'{"data": [{"id": 7}]}', 200),
    ],
)
def test_something_else_at_the_port_is_no_model_server(body: bytes, status: int) -> None:
    with serving(body, status) as port:
        assert local_servers.find_servers([ServerPort("llama.cpp", port)], seconds=30) == []


def test_a_server_without_models_is_told_as_that() -> None:
    with serving(b'{"object": "list", "data": null}') as port:
        assert [
            one.models for one in local_servers.find_servers([ServerPort("Ollama", port)], seconds=30)
        ] == [()]


def test_a_port_where_nobody_is_and_one_that_says_nothing_are_left_soon() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        with socket.create_server(("127.0.0.1", 0)) as closed:
            free = closed.getsockname()[1]
        assert (
            local_servers.find_servers(
                [ServerPort("a", free), ServerPort("b", mute.getsockname()[1])], seconds=0.2
            )
            == []
        )


def test_only_this_machine_is_asked_at_the_ports_that_the_programs_have() -> None:
    assert {port.program: port.number for port in local_servers.PORTS} == {
        "Ollama": 11434, "llama.cpp": 8080, "LM Studio": 1234,
    }  # fmt: skip
