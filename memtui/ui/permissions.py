"""What an app may do beside showing its memory.

A served app and one that only reads do nothing but show; a demo keeps to its own folder. The record is asked where the
effect happens (the file is written, the program started, the endpoint asked), so that no key, dialog or command of the
palette goes round it; keys and help ask it too and say why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from memtui.engine.errors import InputError

if TYPE_CHECKING:
    from memtui.engine.records import Options

Effect = Literal["settings", "export", "editor", "network", "own_files"]

_REFUSED: dict[Effect, str] = {
    "settings": "settings are not changed",
    "export": "nothing is exported",
    "editor": "no editor is started",
    "network": "no endpoint is asked",
    "own_files": "nothing is written",
}


class Permissions(NamedTuple):
    """``own_files``: where the app was left, the log, crash reports. ``because``: why the rest is not permitted."""

    settings: bool = True
    export: bool = True
    editor: bool = True
    network: bool = True
    own_files: bool = True
    because: str = ""
    hint: str = ""

    def why_not(self, effect: Effect) -> str:
        """Why it is not permitted, as a sentence; empty when it is."""
        return "" if getattr(self, effect) else f"{self.because}: {_REFUSED[effect]}."

    def require(self, effect: Effect) -> None:
        """Raise InputError for what is not permitted."""
        if reason := self.why_not(effect):
            raise InputError(reason, self.hint)

    def options(self, options: Options) -> Options:
        """What the memory is opened with: without a network no model of an endpoint takes part."""
        if self.network:
            return options
        from msgspec.structs import replace

        from memtui.engine.records import LlmOptions

        return replace(options, network=False, llm=LlmOptions())


EVERYTHING = Permissions()
READING = Permissions(
    settings=False,
    export=False,
    editor=False,
    network=False,
    own_files=False,
    because="This app is open for reading only",
    hint="Open it without --readonly, in a terminal of yours.",
)
# Its memory may be changed: it is a copy in a folder that goes with it.
DEMO = Permissions(
    settings=False,
    export=False,
    editor=False,
    own_files=False,
    because="This is the demo",
    hint="Open a memory of your own: memtui.",
)


def permitted(*, readonly: bool, demo: bool) -> Permissions:
    return READING if readonly else DEMO if demo else EVERYTHING
