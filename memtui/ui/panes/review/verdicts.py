"""What each key would do to a card, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .rows import Card

if TYPE_CHECKING:
    from memtui.engine.review.change_requests import ChangeRequest

_LATER = "ask again in 7 days"


def verdict_consequences(card: Card, pick: int | None) -> list[tuple[str, str]]:
    """Action ids, and what each does to the picked side."""
    many = len(card.parts) if pick is None else 1
    match card.item.kind:
        case "agent_change":
            return _agent_change_consequences(1 if pick is None else pick)
        case "conflict":
            return _conflict_consequences(card, 1 if pick is None else pick)
        case "choice":
            return _choice_consequences(card)
        case "devices":
            return _devices_consequences(card)
        case "duplicate":
            return [
                ("keep", f"use the {'new' if pick == 1 else 'old'} wording; sources and tags of both stay"),
                ("merge", "write one text of both"),
                ("both", "they are not the same: keep both"),
                ("later", _LATER),
            ]
        case "change_request" if card.item.change_request is not None:
            return _change_request_consequences(card.item.change_request)
        case "dependents":
            return _dependents_consequences(card, pick, many)
        case "quarantined":
            return _proposed_first(card, [
                ("keep", "remember it in these words"),
                ("forget", "do not remember it"),
                ("correct", "write it in other words, then remember it"),
                ("later", _LATER),
            ])  # fmt: skip
        case "entities":
            first, second = (one.canonical_name for one in card.item.entities)
            return [
                ("merge", f"they are one: “{first}”"),
                ("both", f"they are two: “{second}” stays by itself"),
                ("later", _LATER),
            ]
        case "suspicious":
            return [("keep", "it is fine as it is"), *_other_consequences()]
        case "fading":
            what = f"all {many}" if many > 1 else "it"
            return [
                ("keep", f"keep {what} for good"),
                ("forget", f"let {what} go now"),
                *_other_consequences(many)[1:],
            ]
        case _:
            right = (
                f"all {many} are right (they may still fade)"
                if many > 1
                else "it is right (it may still fade)"
            )
            return [("keep", right), *_other_consequences(many)]


def _dependents_consequences(card: Card, pick: int | None, many: int) -> list[tuple[str, str]]:
    # What only has the old name was told without a caution all the time.
    parts = card.parts if pick is None else card.parts[min(pick, len(card.parts) - 1) :][:1]
    plain = all(one.id in card.item.named for one in parts)
    if many > 1:
        kept = "still true, as they are" if plain else "still true: agents get them without the caution"
        return [("keep", kept), ("forget", f"forget all {many}"), ("later", _LATER)]
    forget = (
        "remove the summary" if pick is not None and pick >= len(card.sides) else "forget it: to the Trash"
    )
    return [
        ("keep", "still true, as it is" if plain else "still true: agents get it without the caution"),
        ("forget", forget), ("correct", "correct it"), ("later", _LATER),
    ]  # fmt: skip


def verdict_of_action(card: Card | None, action_id: str) -> str:
    """The verdict that an action gives on a card; without one, on all that are marked."""
    if action_id == "later":
        return "snooze"
    return "replace" if action_id == "keep" and card is not None and card.is_choice else action_id


def action_of_verdict(verdict: str) -> str:
    """The id of the action that gives a verdict."""
    return {"snooze": "later", "replace": "keep"}.get(verdict, verdict)


def _proposed_first(card: Card, verdicts: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The proposed verdict first."""
    return sorted(verdicts, key=lambda one: one[0] != action_of_verdict(card.item.proposed))


def _choice_consequences(card: Card) -> list[tuple[str, str]]:
    return _proposed_first(card, [
        ("keep", "the new one replaces the picked one"),
        ("both", "it is none of these: all stay as they are"),
        ("merge", "write one text of the new one and the picked one"),
        ("forget", "the new one is wrong: to the Trash"),
        ("later", _LATER),
    ])  # fmt: skip


def _agent_change_consequences(pick: int) -> list[tuple[str, str]]:
    if pick == 1:
        return [
            ("forget", "the agent is wrong: the old one stands again"),
            ("keep", "the agent is right: the new one stays"),
            ("correct", "neither: write what is right"),
            ("later", _LATER),
        ]
    return [
        ("keep", "the old one stands again; the agent's text goes to the Trash"),
        ("forget", "the old one is over: the new one stays"),
        ("correct", "neither: write what is right"),
        ("later", _LATER),
    ]


def _conflict_consequences(card: Card, pick: int) -> list[tuple[str, str]]:
    name, other = ("new", "old") if pick == 1 else ("old", "new")
    # The one that was known first decides what happens to the other one. It may be the one that was said later.
    if card.sides[pick] is card.item.memories[0]:
        keep = f"the {other} one {'stays, marked as replaced' if card.item.old_lasts else 'fades out'}"
        forget = "it goes to the Trash"
    else:
        keep, forget = f"the {other} one goes to the Trash", f"the {other} one replaces it"
    return _proposed_first(card, [
        ("keep", f"use the {name} one; {keep}"),
        ("forget", f"the {name} one is wrong; {forget}"),
        ("both", "both are true: keep both"),
        ("merge", "write one text of both"),
        ("later", _LATER),
    ])  # fmt: skip


def _devices_consequences(card: Card) -> list[tuple[str, str]]:
    if "merge" in card.item.offered:
        return [("keep", "as it is here"), ("merge", "as it is on the other device"), ("later", _LATER)]
    if card.is_pair:
        return [
            ("keep", "this one is true; the other one goes to the Trash"),
            ("forget", "this one is wrong: to the Trash; the other one stays"),
            ("both", "both are true"),
            ("later", _LATER),
        ]
    return [("keep", "it is true: it stays, or comes back"), ("forget", "to the Trash"), ("later", _LATER)]


def _change_request_consequences(request: ChangeRequest) -> list[tuple[str, str]]:
    """The verdict that grants the request, then those that decline it."""
    stays = "no: it stays as it is"
    match request.verb:
        case "forget":
            return [
                ("forget", "yes: to the Trash"), ("keep", stays), ("correct", "no: correct it"), ("later", _LATER),
            ]  # fmt: skip
        case "correct":
            return [
                ("correct", "yes: in these words, or your own"), ("keep", stays),
                ("forget", "neither is true: to the Trash"), ("later", _LATER),
            ]  # fmt: skip
        case _:
            return [("keep", "yes: it is true"), *_other_consequences()]


def _other_consequences(many: int = 1) -> list[tuple[str, str]]:
    """``many``: how many facts the verdict is about."""
    if many > 1:
        return [("forget", f"forget all {many}: to the Trash"), ("later", _LATER)]
    return [("forget", "forget it: to the Trash"), ("correct", "correct it"), ("later", _LATER)]
