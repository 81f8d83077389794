"""The adjustable values of a ranking: the numbers of a profile, and the kinds that are searched.

A ``Tuning`` is a value; ranking controls make a changed one. ``AgentProfile`` gives agents the profile that is in use here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from memtui.engine.errors import InputError
from memtui.ui.panes import agent_ranking

if TYPE_CHECKING:
    from memtui.engine.records import Profile
    from memtui.ui.actions import Action
    from memtui.ui.panes.pane import Pane


KINDS: tuple[tuple[str, str], ...] = (
    ("everything", ""),
    ("facts", "kind:fact"),
    ("all but turns", "kind:fact,reflection,observation"),
    ("turns", "kind:episode"),
)
_K = (1, 2, 5, 10, 20, 30, 40, 60, 80, 100, 150, 200)


class Tuning(NamedTuple):
    """``base``: the saved profile. ``profile``: the changed one. ``kinds``: an index of ``KINDS``."""

    base: Profile
    profile: Profile
    kinds: int = 0

    @property
    def is_changed(self) -> bool:
        """Whether it differs from the saved profile."""
        return self.profile != self.base

    @property
    def kind_filter(self) -> str:
        return KINDS[self.kinds][1]

    @property
    def name(self) -> str:
        return f"{self.base.name}, changed" if self.is_changed else self.base.name


class RankingControl(NamedTuple):
    """One adjustable value. ``level``: its position from 0 to 1; None for a choice of words.

    ``turn(tuning, by, profiles)`` gives the tuning after ``by`` steps. ``idle``: why it has no effect now.
    """

    label: str
    shown: Callable[[Tuning], str]
    turn: Callable[[Tuning, int, Sequence[Profile]], Tuning]
    level: Callable[[Tuning], float | None] = lambda tuning: None
    idle: Callable[[Tuning], str] = lambda tuning: ""


def _with_values(tuning: Tuning, **values: Any) -> Tuning:
    return tuning._replace(profile=msgspec.structs.replace(tuning.profile, **values))


def _next_profile(tuning: Tuning, by: int, profiles: Sequence[Profile]) -> Tuning:
    names = [profile.name for profile in profiles]
    if not names:
        return tuning
    at = names.index(tuning.base.name) if tuning.base.name in names else -1
    chosen = profiles[(at + by) % len(profiles)]
    return Tuning(chosen, chosen, tuning.kinds)


def _next_fusion(tuning: Tuning, by: int, profiles: Sequence[Profile]) -> Tuning:
    return _with_values(tuning, fusion="rrf" if tuning.profile.fusion == "score" else "score")


def _next_k(tuning: Tuning, by: int, profiles: Sequence[Profile]) -> Tuning:
    higher = [value for value in _K if value > tuning.profile.k]
    lower = [value for value in _K if value < tuning.profile.k]
    k = (higher or [_K[-1]])[0] if by > 0 else (lower or [_K[0]])[-1]
    return _with_values(tuning, k=k)


def _next_kinds(tuning: Tuning, by: int, profiles: Sequence[Profile]) -> Tuning:
    return tuning._replace(kinds=(tuning.kinds + by) % len(KINDS))


def _number_control(
    field: str, most: float, step: float, idle: Callable[[Tuning], str] = lambda tuning: ""
) -> RankingControl:
    def value_text(tuning: Tuning) -> str:
        return f"{getattr(tuning.profile, field):.2f}"

    def turn_value(tuning: Tuning, by: int, profiles: Sequence[Profile]) -> Tuning:
        value = round(getattr(tuning.profile, field) / step) * step + by * step
        return _with_values(tuning, **{field: round(max(0.0, min(value, most)), 4)})

    def slider_level(tuning: Tuning) -> float:
        share: float = getattr(tuning.profile, field) / most
        return max(0.0, min(share, 1.0))

    return RankingControl(field.replace("_", " "), value_text, turn_value, slider_level, idle)


def _only_score(tuning: Tuning) -> str:
    return "" if tuning.profile.fusion == "score" else "only with score fusion"


RANKING_CONTROLS: tuple[RankingControl, ...] = (
    RankingControl("profile", lambda tuning: tuning.name, _next_profile),
    RankingControl("fusion", lambda tuning: tuning.profile.fusion, _next_fusion),
    RankingControl(
        "k", lambda tuning: str(tuning.profile.k), _next_k,
        lambda tuning: _K.index(min(_K, key=lambda value: abs(value - tuning.profile.k))) / (len(_K) - 1),
        lambda tuning: "" if tuning.profile.fusion == "rrf" else "only with rrf fusion",
    ),
    _number_control("keyword", 2.0, 0.05),
    _number_control("vector", 2.0, 0.05),
    _number_control("word_vector", 2.0, 0.05, _only_score),
    _number_control("entity", 2.0, 0.05),
    _number_control("neighbours", 1.0, 0.05, _only_score),
    _number_control("session", 1.0, 0.05, _only_score),
    _number_control("facts", 1.0, 0.05, _only_score),
    _number_control("floor", 1.0, 0.05),
    RankingControl("kinds", lambda tuning: KINDS[tuning.kinds][0], _next_kinds),
)  # fmt: skip


class AgentProfile:
    """Gives agents the profile that is in use here (``tuning``)."""

    def __init__(self, pane: Pane, tuning: Callable[[], Tuning | None]) -> None:
        self._pane = pane
        self._tuning = tuning

    @property
    def profile(self) -> str:
        """The name of the profile that agents rank by."""
        configuration = self._pane.shell.configuration
        if configuration is not None:
            return configuration.settings.search.profile
        return self._pane.shell.operations.require_memory().options.profile

    def unavailable_reason(self, action: Action) -> str:
        """Why agents cannot be given this profile; empty when they can."""
        tuning = self._tuning()
        if tuning is None:
            return "There are no settings here to write it to."
        if tuning.is_changed:
            return f"This way of ranking has no name yet: {self._pane.shell.keymap_shown('save_profile')} saves it."
        if fixed := agent_ranking.why_profile_fixed(self._pane.shell):
            return fixed
        if tuning.base.name == self.profile:
            return f"Agents use {self.profile} already."
        return ""

    async def do_agents_profile(self) -> None:
        tuning = self._tuning()
        if tuning is None:
            return
        name = tuning.base.name
        try:
            agent_ranking.choose_profile(self._pane.shell, name)
        except InputError as error:
            self._pane.show_message(f"{error.message} {error.hint}", "warning")
            return
        self._pane.show_message(f"Agents use the profile {name} from their next start on.")
        self._pane.reload()
