"""A program that ends without closing its memory does not wait for the maintenance job that runs in it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from memtui import Memory
from memtui.engine.jobs.job import Job, JobReport, Task
from memtui.engine.records import Options
from memtui.engine.store.jobs import INTERRUPTED
from night import make_scheduler

from clock import Clock

OPTIONS = Options(background=False, embedder="off", allow_unsafe_fs=True)
LONG = 300.0

PROGRAM = """
import sys, threading, time
from memtui import Memory
from memtui.engine.jobs import scheduler as module
from memtui.engine.jobs.job import Job, JobReport
from memtui.engine.records import Options
from night import make_scheduler

module.FIRST_SECONDS = 0.01
inside = threading.Event()

def stubborn(task):
    inside.set()
    time.sleep({long})

def patient(task):
    inside.set()
    while not task.cancelled():
        time.sleep(0.01)
    return JobReport(summary="a part")

job = Job(name="long", label="Long", about="", run={kind}, needed=lambda task: "slot:1")
options = Options(background=False, embedder="off", allow_unsafe_fs=True)
memory = Memory.open(sys.argv[1], options=options)
memory.remember("Ada lives in Oslo")
scheduler = make_scheduler(memory, time.time, timetable=(job,))
scheduler.start()
assert inside.wait(120)
print("inside", flush=True)
"""


@pytest.mark.parametrize("kind", ["stubborn", "patient"])
def test_a_program_ends_while_a_job_runs_and_the_run_counts_as_interrupted(kind: str, place: Path) -> None:
    here = Path(__file__).parent
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(long=LONG, kind=kind), str(place)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": str(here)},
    )  # fmt: skip
    assert program.stdout is not None
    said = program.stdout.readline()
    began = time.monotonic()
    try:
        _, complaint = program.communicate(timeout=60)
    finally:
        program.kill()
    took = time.monotonic() - began
    assert (said, program.returncode, complaint) == ("inside\n", 0, "")
    assert took < LONG / 10

    def quick(task: Task) -> JobReport:
        return JobReport(summary="all of it")

    job = Job(name="long", label="Long", about="", run=quick, needed=lambda task: "slot:1")
    with Memory.open(place, options=OPTIONS) as memory:
        scheduler = make_scheduler(memory, Clock(time.time()), timetable=(job,))
        assert scheduler.status().running is None
        assert [run.state for run in scheduler.run_due()] == ["done"], "it is made up for at once"
        _, broken = scheduler.runs()
        assert (broken.state, broken.error) == ("failed", INTERRUPTED)
        if kind == "patient":
            assert broken.report == JobReport(summary="a part"), "it was asked to stop, and could end"
        assert memory.files.check().ok
