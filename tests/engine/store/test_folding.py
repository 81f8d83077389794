"""The index and the questions put to it fold every character alike."""

from __future__ import annotations

import unicodedata

import apsw
import pytest
from memtui.engine.store import migration
from memtui.engine.store.tokens import fold_spelling, text_stems, text_words, word_spans


@pytest.fixture
def connection() -> apsw.Connection:
    made = apsw.Connection(":memory:")
    migration.apply_pending(made)
    return made


def in_index(connection: apsw.Connection, text: str, role: str = "") -> tuple[str, str]:
    connection.execute(
        "INSERT INTO memories(rid, id, kind, content, content_hash, trust, event_time, created_at, source_role) "
        "VALUES (1, 'a', 'fact', ?, 'h', 'user', 1, 1, ?)",
        (text, role),
    )
    [(context, content)] = connection.execute("SELECT context, content FROM memories_text")
    connection.execute("DELETE FROM memories")
    return context.partition(" 01 ")[0], content


def test_the_view_folds_what_python_folds(connection: apsw.Connection) -> None:
    letters = [chr(code) for code in range(1, 0x3100) if unicodedata.category(chr(code))[0] in "LMN"]
    for start in range(0, len(letters), 200):
        text = "  ".join(letters[start : start + 200])
        assert in_index(connection, text, text) == (fold_spelling(text), fold_spelling(text))
    two_parts = unicodedata.normalize("NFD", "мой Її ЙЎ живёт Αθήνα Zoë") + "\U00010400\u0416"
    assert in_index(connection, two_parts)[1] == fold_spelling(two_parts)
    [(written, indexed)] = connection.execute(
        "SELECT group_concat(written, ''), group_concat(indexed, '') FROM folding"
    )
    assert fold_spelling(written) == fold_spelling(indexed) == indexed


def test_words_stand_where_they_are_written() -> None:
    text = "Ёлка 🍕 и שָׁלוֹם, ـ за\u0301мок don't"
    assert [(text[start:end], word) for start, end, word in word_spans(text)] == [
        ("Ёлка", "елка"), ("и", "и"), ("שָׁלוֹם", "שלום"), ("за\u0301мок", "замок"), ("don", "don"), ("t", "t"),
    ]  # fmt: skip
    assert [word for *_, word in word_spans(text)] == text_words(text) and len(text_stems(text)) == len(
        text_words(text)
    )


def test_an_older_file_is_indexed_anew() -> None:
    old = apsw.Connection(":memory:")
    for step in migration.load_migrations()[:7]:
        old.execute(step.sql)
    old.execute("PRAGMA user_version = 7")
    old.execute(
        "INSERT INTO memories(id, kind, content, content_hash, trust, event_time, created_at) "
        "VALUES ('a', 'fact', 'Анна живёт в Москве', 'h', 'user', 1, 1)"
    )
    migration.apply_pending(old)
    for table in ("memories_fts", "facts_fts"):
        assert old.execute(f"SELECT rowid FROM {table} WHERE {table} MATCH 'живет'").fetchall() == [(1,)]
        old.execute(f"INSERT INTO {table}({table}, rank) VALUES ('integrity-check', 1)")


def test_a_name_that_is_given_is_looked_for_however_it_is_written(connection: apsw.Connection) -> None:
    for rid, text in enumerate(("Алена пришла", "Алёна ушла", "Елена спит"), 1):
        connection.execute(
            "INSERT INTO memories(rid, id, kind, content, content_hash, trust, event_time, created_at) "
            "VALUES (?1, ?1, 'fact', ?2, 'h', 'user', 1, 1)",
            (rid, text),
        )
    connection.execute("DELETE FROM index_queue")
    connection.execute(
        "INSERT INTO entities(eid, id, canonical_name, type, created_at) VALUES (1, 'e', 'A', 'person', 1)"
    )
    connection.execute("INSERT INTO entity_aliases(key, entity_id, alias) VALUES ('алёна', 1, 'Алёна')")
    assert connection.execute("SELECT rid FROM index_queue ORDER BY rid").fetchall() == [(1,), (2,)]
