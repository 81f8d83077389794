"""What an operation changed in a row, in words."""

from __future__ import annotations

from memtui.present.changes import column_label, column_value

NOW = 1_700_000_000


def test_a_card_is_told_without_words_of_the_database() -> None:
    assert column_label("payload") == "about"
    assert column_value("payload", '{"verb":"forget","agent":"bot"}', NOW) == "verb forget, agent bot"


def test_a_long_value_ends_with_a_sign_that_it_was_cut() -> None:
    shown = column_value("payload", '{"why":"%s"}' % ("because " * 100), NOW)
    assert len(shown) <= 400 and shown.endswith("…")
    assert column_value("label", "short", NOW) == "short"
