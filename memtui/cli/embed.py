"""``memtui embed``: switch to the embedding model of the settings."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from memtui.engine.errors import UsageError
from memtui.present.format import format_count, plural
from memtui.present.reembedding import better_ranking_note, plan_rows, reembed_result
from memtui.present.text import visible_text

from .errors import CANCELLED, NEGATIVE, OK
from .output import out, paint, print_json, print_note, table
from .progress import ProgressMeter, cancelled_by_signal
from .root import Command, json_option, pass_invocation

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.records import Stats
    from memtui.engine.records.embedding import ReembedPlan, ReembedResult

    from .invocation import Invocation

_RANKING = "search.profile"


@click.command("embed", cls=Command)
@click.option("--plan", "only_plan", is_flag=True, help="Only show the work and its cost.")
@click.option("--yes", "-y", is_flag=True, help="Send texts to the endpoint without asking.")
@click.option("--late", is_flag=True, help="Also set the ranking late, for MiniLM (search.profile).")
@json_option
@pass_invocation
def embed_command(invocation: Invocation, only_plan: bool, yes: bool, late: bool, json: bool) -> int:
    """Switch to the embedding model of the settings ([embedder]), and make all vectors with it.

    The old vectors are used until the new ones are complete. Ctrl+C stops and keeps what is done; the next
    call continues. If texts would leave this machine, memtui asks first. The ranking "late" works only with
    MiniLM, and finds most. memtui asks whether to set it; --late sets it. Other models rank with "default".
    """
    if only_plan and late:
        raise UsageError("--plan and --late exclude each other.", "Leave one out.")
    with invocation.open_existing(must_write=not only_plan) as memory:
        plan = memory.models.reembedding.plan()
        if late and not plan.words:
            raise UsageError(
                'The ranking "late" needs vectors of words, which this model does not make.',
                "Set embedder.kind to minilm, or leave --late out.",
            )
        if only_plan or not plan.needed:
            if not only_plan:
                memory.models.reembedding.run()  # what an earlier run may have left is cleared away
            code = _print_plan(plan, memory.options.endpoint.price, json)
            if not only_plan:
                _offer_ranking(invocation, memory.stats(), late=late, json=json)
            return code
        if not json:
            _print_plan(plan, memory.options.endpoint.price, json)
        if plan.sends_to and not yes and not _ask_to_embed(plan, json):
            print_note("nothing was sent")
            return NEGATIVE
        done, stopped = _run_reembedding(memory)
        stats = memory.stats()
    if json:
        print_json(
            {"plan": plan, "embedded": done.embedded, "switched": done.switched, "refused": done.refused}
        )
    else:
        out(reembed_result(done, plan.after.model_id))
        if not done.switched:
            print_note("To continue where it stopped: memtui embed")
    if done.switched:
        _offer_ranking(invocation, stats, late=late, json=json)
    return CANCELLED if stopped and not done.switched else OK


def _print_plan(plan: ReembedPlan, a_million: float, json: bool) -> int:
    if json:
        print_json({"plan": plan, "needed": plan.needed})
    elif not plan.needed:
        out(f"Nothing to do: the vectors already match the settings ({plan.after.model_id}).")
    else:
        for line in table([(paint(label, "dim"), text) for label, text in plan_rows(plan, a_million)]):
            out(line)
    return OK


def _offer_ranking(invocation: Invocation, stats: Stats, *, late: bool, json: bool) -> None:
    """Say which ranking fits the model, and set it if the person agrees."""
    if stats.ranking_note:
        print_note(stats.ranking_note)
    name = stats.better_ranking
    if not name or invocation.leaves_no_trace:
        return
    configuration = invocation.configuration
    if variable := configuration.variable_of(_RANKING):
        print_note(f"{better_ranking_note(stats)}, which {variable} in the environment decides")
    elif late or (
        not json
        and sys.stdin.isatty()
        and click.confirm(visible_text(f'Rank by "{name}" from now on?'), default=True, err=True)
    ):
        from memtui import config

        config.write_setting(configuration.file, _RANKING, name)
        print_note(
            f'searches here and agents rank by "{name}" now ({_RANKING}); programs that run do from their next start'
        )
    else:
        print_note(f'{better_ranking_note(stats)}; "memtui embed --{name}" chooses it')


def _ask_to_embed(plan: ReembedPlan, json: bool) -> bool:
    if json or not sys.stdin.isatty():
        raise UsageError(
            f"{plural(plan.texts, 'text')} would be sent to {plan.sends_to}, and there is no terminal to ask in.",
            "Add --yes to agree, or --plan to look only.",
        )
    return click.confirm("Send the texts there?", err=True)


def _run_reembedding(memory: Memory) -> tuple[ReembedResult, bool]:
    meter = ProgressMeter()

    def show_progress(done: int, all: int) -> None:
        share = done / all if all else 1.0
        meter.show(
            f"{share:4.0%}  {format_count(done)} of {format_count(all)}  (Ctrl+C stops, and it can go on later)"
        )

    try:
        with cancelled_by_signal(memory.models.reembedding.interrupt) as cancelled:
            return memory.models.reembedding.run(show_progress, cancelled), cancelled()
    finally:
        meter.clear()
