"""What the command line says where people used to be left guessing."""

from __future__ import annotations

import os
from pathlib import Path

import apsw
from cli_kit import Cli


def remembered(cli: Cli, text: str) -> str:
    return str(cli("remember", text, "--json").json["memory"]["id"])


def test_the_doctor_counts_one_table_and_ends_a_sentence_once(cli: Cli, home: Path) -> None:
    connection = apsw.Connection(os.environ["MEMTUI_DB"])
    connection.execute("CREATE TABLE t(x)")
    connection.close()
    told = cli("doctor").out
    assert "(1 table). " in told
    assert ".. " not in told
