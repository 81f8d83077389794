"""What each key would do to a card, in words: nobody has to guess before pressing it."""

from __future__ import annotations

from .review_cards import Card

_LATER = "ask again in 7 days"


def consequences(card: Card, pick: int | None) -> list[tuple[str, str]]:
    """Action ids of the table, and what they do to what is picked."""
    match card.item.kind:
        case "conflict":
            return _conflict(new=pick == 1)
        case "duplicate":
            return [
                ("keep", f"keep the {'new' if pick == 1 else 'old'} wording; sources and tags of both stay"),
                ("merge", "make one of both, in words of your own"),
                ("both", "they are not the same: keep both"),
                ("later", _LATER),
            ]
        case "held":
            return [
                ("keep", "it is fine: remember it"),
                ("forget", "do not remember it"),
                ("correct", "remember it in other words"),
                ("later", _LATER),
            ]
        case "suspicious":
            return [("keep", "it is fine as it is"), *_usual()]
        case "fading":
            many = "all of them" if len(card.item.memories) > 1 and pick is None else "it"
            return [("keep", f"keep {many} for good"), ("forget", f"let {many} go now"), *_usual()[1:]]
        case _:
            many = (
                f"all {len(card.item.memories)} are"
                if len(card.item.memories) > 1 and pick is None
                else "it is"
            )
            return [("keep", f"{many} right"), *_usual()]


def _conflict(*, new: bool) -> list[tuple[str, str]]:
    if new:
        keep, forget = (
            "the new one is true; the old one stays, unsure, and fades",
            "the new one is wrong: to the Trash",
        )
    else:
        keep, forget = (
            "the old one is true; the new one goes to the Trash",
            "the old one is wrong: the new one stands",
        )
    return [
        ("keep", keep),
        ("forget", forget),
        ("both", "both are true"),
        ("merge", "make one of both, in words of your own"),
        ("later", _LATER),
    ]


def _usual() -> list[tuple[str, str]]:
    return [("forget", "forget it: to the Trash"), ("correct", "correct it"), ("later", _LATER)]
