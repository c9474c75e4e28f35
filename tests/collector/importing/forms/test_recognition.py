"""An import says what it took a file for and why; of other JSON it names the keys."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.collector.importing import (
    test_inspect,
    test_jaeger,
    test_langfuse,
    test_langsmith,
    test_tempo,
)
from tests.collector.importing.forms import test_tau2
from tests.collector.importing.imports import imported, written, written_lines

from tracegrade_collector.commands import ImportOptions, run_import
from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.importing.formats.recognition import KEYS, MAX_KEYS
from tracegrade_collector.importing.known_formats import FORMATS

CHAT = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]}


@pytest.mark.parametrize(
    ("value", "recognized"),
    [
        (CHAT, "messages (it has messages, role, content)"),
        (
            {"eval": test_inspect.EVAL, "plan": {}, "samples": [test_inspect.sample()]},
            "inspect (it has eval, plan, samples, epoch)",
        ),
        (
            test_tau2.results(test_tau2.simulation()),
            "tau2 (it has simulations, agent_info, user_info, environment_info)",
        ),
    ],
)
def test_import_names_the_format_and_why(tmp_path: Path, value: Any, recognized: str) -> None:
    """The reason is the keys of the first record that tell the format."""
    file = written(tmp_path, value)

    assert dict(imported(tmp_path, file).imported.recognized) == {recognized: 1}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("jaeger", {"data": [test_jaeger.trace(*test_jaeger.weather())]}),
        ("langfuse", {"trace": {"id": "1"}, "observations": test_langfuse.observations()}),
        ("langsmith", {"runs": test_langsmith.runs()}),
        ("tempo", {"batches": [test_tempo.batch(base64=True, old=True)]}),
    ],
)
def test_each_format_has_keys_that_explain_it(tmp_path: Path, name: str, value: Any) -> None:
    """A file of it is never recognized without a reason."""
    (recognized,) = imported(tmp_path, written(tmp_path, value)).imported.recognized

    assert recognized.startswith(f"{name} (it has ")


def test_keys_are_those_of_formats() -> None:
    """Each entry explains a format that exists."""
    assert KEYS.keys() <= {format_.name for format_ in FORMATS}


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (
            {"runType": "llm", "traceId": "1", "x": {"dotted_order": 1}},
            "no format reads this; its keys are runType, traceId, x, dotted_order; "
            "the nearest format is langsmith, which also has runType, traceId, dotted_order",
        ),
        (
            {"alpha": 1, "be\nta": 2},
            "no format reads this; its keys are alpha; --format NAME says which format it is",
        ),
        (
            [{str(number): number for number in range(30)}],
            f"no format reads this; its keys are {', '.join(map(str, range(MAX_KEYS)))} and "
            "18 more; --format NAME says which format it is",
        ),
    ],
)
def test_unknown_json_is_named_by_its_keys(tmp_path: Path, value: Any, fault: str) -> None:
    """The nearest format is the one that shares most keys, in any spelling."""
    file = written(tmp_path, value)
    outcome = imported(tmp_path, file)

    assert [note.partition(": ")[2] for note in outcome.notes] == [fault]
    assert outcome.imported.recognized == {}


def test_lines_after_an_unknown_one_are_read(tmp_path: Path) -> None:
    """The first record decides what is said, not what is read."""
    spans = {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "0" * 31 + "1"}]}]}]}
    file = written_lines(tmp_path, [{"alpha": 1}, spans])
    outcome = imported(tmp_path, file)

    assert outcome.notes[0].endswith("--format NAME says which format it is")
    assert len(outcome.notes) == 2


def test_command_prints_the_formats(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Files of one kind are one entry; with `--format` nothing has to be explained."""
    files = [written(tmp_path, CHAT, f"{number}.json") for number in range(2)]
    options = ImportOptions(
        "auto", (), (), None, code_calls=False, code_languages=(), allow_partial=False
    )
    run_import(files, tmp_path / "lake", options, CollectorConfig())
    found = capsys.readouterr().err
    run_import(files, tmp_path / "lake", replace(options, format="messages"), CollectorConfig())

    assert "files: 2 messages (it has messages, role, content)\n" in found
    assert "files: " not in capsys.readouterr().err
