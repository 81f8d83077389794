"""spaCy runs in a process of its own, is checked by hash, and takes nobody else's names away when it fails."""

import asyncio
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from memtui.engine.errors import DegradedError
from memtui.engine.models.ner import NameRecogniser, spacy_names, spacy_worker
from memtui.engine.models.ner.providers import SpacyProvider

TEXT = "My sister's friend Joanna Smith lives in the Netherlands and works for Microsoft since last year"


@pytest.fixture
def own_process() -> Iterator[None]:
    """The test starts a process of its own. The others take the one that is there: loading spaCy takes two seconds."""
    spacy_names.end_worker()
    yield
    spacy_names.end_worker()


@pytest.fixture(scope="module", autouse=True)
def no_process_stays() -> Iterator[None]:
    yield
    spacy_names.end_worker()


def found(text: str) -> dict[str, str]:
    (spans,) = spacy_names.find_names([text])
    return {span.name: span.type for span in spans}


def test_names_and_places_are_found_and_spacy_is_not_loaded_here() -> None:
    program = (
        "import sys\nfrom memtui.engine.models.ner import spacy_names\n"
        f"(spans,) = spacy_names.find_names([{TEXT!r}])\n"
        f"assert all({TEXT!r}[one.start : one.end] == one.text for one in spans)\n"
        "print({one.name: one.type for one in spans}, 'spacy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == (
        "{'Joanna Smith': 'person', 'Netherlands': 'location', 'Microsoft': 'organization'} False"
    )


def test_english_only_and_no_first_word_is_an_organisation() -> None:
    texts = [
        "Allergic to penicillin.",
        "Dad speaks polite French.",
        "Quedé con Íñigo en la plaza.",
        "我不吃香菜。",
    ]
    assert spacy_names.find_names(texts) == [[], [], [], []]


def test_a_process_that_was_killed_is_started_again() -> None:
    assert "Microsoft" in found(TEXT)
    first = spacy_names._worker
    assert first is not None
    first.kill()
    assert "Microsoft" in found(TEXT)
    assert spacy_names._worker is not first


@pytest.mark.usefixtures("own_process")
def test_nothing_is_imported_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("hashlib", "spacy"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(1)")
    monkeypatch.chdir(tmp_path)
    assert "Microsoft" in found(TEXT)


@pytest.mark.usefixtures("own_process")
async def test_a_run_that_is_cancelled_does_not_wait_for_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, starts = threading.Event(), []
    start, exchange = spacy_names._start_worker, spacy_names._exchange_line

    def counted() -> subprocess.Popen[str]:
        starts.append(1)
        return start()

    def waited(worker: subprocess.Popen[str], question: str) -> str:
        asked.set()
        return exchange(worker, question)

    monkeypatch.setattr(spacy_names, "_start_worker", counted)
    monkeypatch.setattr(spacy_names, "_exchange_line", waited)
    reading = asyncio.create_task(SpacyProvider().find_spans([TEXT * 50] * 400, None))
    assert await asyncio.to_thread(asked.wait, 60)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    with spacy_names._asking:  # the thread has come to its end
        assert len(starts) == 1


def test_the_process_ends_when_nothing_is_asked_or_its_parent_is_gone() -> None:
    command = [sys.executable, "-m", "memtui.engine.models.ner.spacy_worker"]
    started = time.monotonic()
    with subprocess.Popen([*command, "0.3"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as idle:
        assert idle.wait(60) == 0
    with subprocess.Popen([*command, "3600"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as orphan:
        assert orphan.stdin is not None
        orphan.stdin.close()
        assert orphan.wait(60) == 0
    assert time.monotonic() - started < 120


@pytest.mark.usefixtures("own_process")
def test_an_answer_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spacy_names, "SECONDS", 0.01)
    with pytest.raises(DegradedError, match="did not answer"):
        spacy_names.find_names([TEXT])
    monkeypatch.setattr(spacy_names, "SECONDS", 120.0)
    assert "Microsoft" in found(TEXT)


@pytest.mark.usefixtures("own_process")
async def test_a_changed_model_is_not_loaded_and_the_rules_names_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = spacy_worker.model_folder()
    assert real is not None
    shutil.copytree(real, tmp_path / spacy_worker.MODEL)
    tokenizer = next((tmp_path / spacy_worker.MODEL).glob("*/tokenizer"))
    tokenizer.write_bytes(tokenizer.read_bytes() + b"\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    with pytest.raises(DegradedError, match="another version, or was changed"):
        spacy_names.find_names([TEXT])
    recogniser = NameRecogniser()
    with pytest.raises(DegradedError, match="another version"):
        await recogniser.find_names([TEXT], "local")
    local = next(one for one in await recogniser.compare_strategies([TEXT]) if one.strategy == "local")
    assert local.spans > 0
    assert [one.provider for one in local.providers if one.failed] == ["spacy"]
