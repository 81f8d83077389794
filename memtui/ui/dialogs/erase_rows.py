"""Everything that has a text, as rows of the list before an erase; and the proof as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from memtui.present.dependents import FATES, lines
from memtui.present.format import file_size, plural
from memtui.present.text import Labelled, Role, Visible, one_line, visible
from memtui.ui.safe import assemble, content, drawn
from memtui.ui.widgets.columns import Column, Piece

if TYPE_CHECKING:
    from memtui.engine.records import Dependents
    from memtui.engine.records.erase import BackupState, Carrier, ErasePlan, EraseProof, Fate
    from memtui.present.glyphs import Glyphs

_ROLES: Mapping[Fate, Role] = {"erased": "error", "cleared": "warning", "kept": "success"}
_PLACES = {
    "card": "review card", "question": "question", "recall": "recall log", "run": "job report",
    "entity": "name", "history": "history only",
}  # fmt: skip
_MOST_FILES = 40
_BESIDE = {
    "told": "an agent that got it", "same turns": "drawn from the same turns", "summary": "its summary says it",
    "question": "should find it",
}  # fmt: skip


class CarrierRow(NamedTuple):
    """A row or a backup, by its index in the list. ``doomed``: a damaged backup that will be deleted.

    ``beside``: for rows that are only for information, their relation to the erased ones (``told``, ``same turns``).
    """

    place: int
    carrier: Carrier | None
    backup: BackupState | None
    doomed: bool = False
    beside: Labelled | None = None

    @property
    def damaged(self) -> bool:
        return self.backup is not None and self.backup.problem != ""


def carrier_rows(
    plan: ErasePlan, depends: Dependents, now: float, *, delete_damaged: bool
) -> list[CarrierRow]:
    """Everything that has the text; below it what depends on it: agents that got it, facts of the same turns."""
    rows = [(carrier, None) for carrier in plan.carriers]
    both: list[tuple[Carrier | None, BackupState | None]] = [*rows, *((None, one) for one in plan.backups)]
    listed = [
        CarrierRow(number, carrier, backup, delete_damaged and backup is not None and bool(backup.problem))
        for number, (carrier, backup) in enumerate(both)
    ]
    label = ""
    for number, one in enumerate(
        lines(depends, now, without={one.key for one in plan.carriers}), len(listed)
    ):
        label = one.label or label
        listed.append(CarrierRow(number, None, None, beside=one._replace(label=label)))
    return listed


def carrier_columns(glyphs: Glyphs) -> Sequence[Column[CarrierRow]]:
    """What happens to it, its kind, its text, and why it is listed."""

    def fate(row: CarrierRow, width: int) -> Iterator[Piece]:
        if row.carrier is not None:
            yield Piece(one_line(FATES[row.carrier.fate], width), _ROLES[row.carrier.fate])
        elif row.beside is not None:
            yield Piece(visible("knows it" if row.beside.label == "told" else "stays"), "dim")
        elif row.damaged:
            yield Piece(visible("deleted" if row.doomed else "damaged"), "error")
        else:
            yield Piece(visible("rewritten"), "warning")

    def place(row: CarrierRow, width: int) -> Iterator[Piece]:
        carrier = row.carrier
        if row.beside is not None:
            label = "agent" if row.beside.label == "told" else row.beside.label
        else:
            label = "backup" if carrier is None else carrier.kind or _PLACES.get(carrier.place, carrier.place)
        yield Piece(one_line(label, width), "dim")

    def text(row: CarrierRow, width: int) -> Iterator[Piece]:
        if row.carrier is not None:
            strong: Role = "strong" if row.carrier.chosen else "text"
            yield Piece(one_line(row.carrier.title, width), strong)
        elif row.backup is not None:
            yield Piece(one_line(row.backup.path.name, width))
        elif row.beside is not None:
            yield Piece(one_line("".join(text for text, _ in row.beside.line), width))

    def why(row: CarrierRow, width: int) -> Iterator[Piece]:
        yield Piece(one_line(_why(row), width), "dim")

    def choice(row: CarrierRow, width: int) -> Iterator[Piece]:
        free = row.damaged or (row.carrier is not None and row.carrier.choice)
        yield Piece(visible(glyphs.marked) if free else Visible(" "), "accent")

    return (
        Column("choice", "", choice, width=1, gap=1),
        Column("fate", "", fate, width=9),
        Column("what", "what", place, width=12, drop=2),
        Column("text", "text", text, least=20),
        Column("why", "why", why, width=28, drop=1),
    )


def _why(row: CarrierRow) -> str:
    if row.carrier is not None:
        return row.carrier.why
    if row.beside is not None:
        return _BESIDE.get(row.beside.label, "it depends on it")
    if row.backup is None:
        return ""
    return row.backup.problem or f"holds {plural(row.backup.holds, 'memory')} of it"


def row_hint(row: CarrierRow, key: str) -> Content:
    """One line about the selected row: why it is listed, and whether the person can decide otherwise."""
    carrier = row.carrier
    if row.damaged:
        choice = "keep it" if row.doomed else "delete it, as it may hold the text"
        return assemble((f"{_why(row)}; ", "$text-muted"), (key, "bold $accent"), (f" {choice}", "$text"))
    if row.beside is not None:
        return assemble(drawn(row.beside.line), (f"; {_why(row)}", "$text-muted"))
    if carrier is None or not carrier.choice:
        return content(_why(row), "$text-muted", limit=200)
    otherwise = "erase it as well" if carrier.fate == "kept" else "keep it"
    return assemble((f"{carrier.why}; ", "$text-muted"), (key, "bold $accent"), (f" {otherwise}", "$text"))


def plan_summary(plan: ErasePlan, glyphs: Glyphs) -> Content:
    """How much will be erased, in one or two lines."""
    others = sum(plan.counts.values())
    parts = [plural(plan.memories, "memory")]
    parts += [plural(others, "other place")] if others else []
    parts += [plural(len(plan.backups), "backup")] if plan.backups else []
    staying = sum(carrier.fate == "kept" for carrier in plan.carriers)
    counts = f" {glyphs.dot} ".join(parts)
    beside = f" {glyphs.dot} {plural(staying, 'more', 'more')} that could go" if staying else ""
    damaged = f"\n! {plural(len(plan.damaged), 'backup')} cannot be opened" if plan.damaged else ""
    return assemble(
        (counts, "bold"),
        (beside, "$text-muted"),
        ("\nThere is no undo.", "$error"),
        (damaged, "$warning"),
        *((f"\n{note}", "$text-muted") for note in plan.notes),
    )


def proof_text(proof: EraseProof, glyphs: Glyphs) -> Content:
    """Which files were searched, and what was found."""
    gone = plural(proof.memories, "memory")
    parts: list[Content | str | tuple[str, str]] = (
        [(f"{glyphs.done} {gone} erased for good\n\n", "bold $success")]
        if proof.complete
        else [(f"! {gone}: the erase is not finished\n\n", "bold $error")]
    )
    for problem in proof.problems:
        parts.append((f"{problem}\n", "$error"))
    if proof.problems:
        parts.append("\n")
    if proof.files:
        parts += [
            "Another process looked for ", (plural(proof.pieces, "piece"), "bold"), " of it in every byte of ",
            (f"{plural(len(proof.files), 'file')} ({file_size(proof.bytes)})", "bold"), " and asked ",
            (plural(proof.questions, "question"), "bold"), ": ", (f"{proof.found:,} found", "bold"), ".\n\n",
        ]  # fmt: skip
    for file in proof.files[:_MOST_FILES]:
        style = "$error" if file.found else "$text-muted"
        parts += [
            (f"{file.found:>7,} found  ", style),
            file.path.name,
            (f"  {file.bytes:,} bytes\n", "$text-muted"),
        ]
    if len(proof.files) > _MOST_FILES:
        parts.append((f"        and {len(proof.files) - _MOST_FILES} files more\n", "$text-muted"))
    for still in proof.kept:
        parts.append((f"\n{still.where} says the same words, and stays ({still.file.name})", "$warning"))
    for note in proof.notes:
        parts.append((f"\n{note}", "$text-muted"))
    return assemble(*parts)
