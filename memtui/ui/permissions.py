"""What the app may do besides showing its memory.

A served app and a read-only app may only show; a demo writes only in its own folder. The check is made where the
effect happens (a file is written, a program started, an endpoint asked), so that no key, dialog or palette command
can avoid it. Keys and help use the same check and show the reason.
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
    """``own_files``: the saved state, the log, crash reports. ``because``: why the rest is not permitted."""

    settings: bool = True
    export: bool = True
    editor: bool = True
    network: bool = True
    own_files: bool = True
    because: str = ""
    hint: str = ""
    # Why nothing of the memory can be changed, where it is open for reading only.
    unchangeable: str = "This memory is open for reading only."

    def unavailable_reason(self, effect: Effect) -> str:
        """Why an effect is not permitted, as a sentence. Empty if it is."""
        return "" if getattr(self, effect) else f"{self.because}: {_REFUSED[effect]}."

    def require(self, effect: Effect) -> None:
        """Raise InputError if the effect is not permitted."""
        if reason := self.unavailable_reason(effect):
            raise InputError(reason, self.hint)

    def limit_options(self, options: Options) -> Options:
        """The options to open the memory with. Without the network permission, no endpoint is used."""
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
# The memory of a demo may be changed: it is a copy in a temporary folder.
DEMO = Permissions(
    settings=False,
    export=False,
    editor=False,
    own_files=False,
    because="This is the demo",
    hint="Open a memory of your own: memtui.",
)


def permissions_of_copy(because: str, way: str) -> Permissions:
    """Those of a read-only copy of another program's store. ``way``: the command that imports it for good."""
    return READING._replace(
        because=because, hint=f"To keep it: {way}", unchangeable=f"{because}. To keep it: {way}"
    )


def permissions_of_app(*, readonly: bool, demo: bool) -> Permissions:
    return READING if readonly else DEMO if demo else EVERYTHING
