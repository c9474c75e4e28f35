"""Inspect's logs become a run for each sample and epoch, from a document and an archive."""

import json
import zipfile
from pathlib import Path
from typing import Any

from tests.collector.importing.imports import Outcome, imported, written
from tests.collector.importing.raw_counts.inspect import raw_counts
from tests.collector.importing.raw_counts.lake import lake_counts
from tests.collector.importing.together import Scene
from tests.scenes import built_together

EVAL = {"eval_id": "e1", "task": "weather", "created": "2026-01-05T10:00:00+00:00"}
STEPS = [
    ("tool_call", "get_weather", '{"city":"Paris"}', "22C", "ok"),
    ("observation", "get_weather", None, "22C", None),
    ("answer", None, None, "It is 22C.", None),
]


def sample(epoch: int = 1, **fields: Any) -> dict[str, Any]:
    """Return a sample with one call, its result as an attachment, and a model call's event."""
    call = {"id": "c1", "function": "get_weather", "arguments": {"city": "Paris"}}
    output = {
        "choices": [{"message": {"id": "m2"}}],
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }
    event = {"event": "model", "timestamp": "2026-01-05T10:00:01+00:00", "output": output}
    tool = {"role": "tool", "tool_call_id": "c1", "function": "get_weather"}
    return {
        "id": "paris",
        "epoch": epoch,
        "messages": [
            {"id": "m1", "role": "user", "content": "Weather in Paris?"},
            {"id": "m2", "role": "assistant", "content": "", "tool_calls": [call]},
            {"id": "m3", "content": "attachment://a1", **tool},
            {"id": "m4", "role": "assistant", "content": [{"type": "text", "text": "It is 22C."}]},
        ],
        "events": [event],
        "attachments": {"a1": "22C"},
        "scores": {"match": {"value": "C"}},
        **fields,
    }


def archive(folder: Path, **members: Any) -> Path:
    """Write an archive: a header and these samples; texts as they are."""
    path = folder / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, value in members.items():
            text = value if isinstance(value, str) else json.dumps(value)
            file.writestr(f"samples/{name}.json", text)
        file.writestr("header.json", json.dumps({"version": 2, "eval": EVAL}))
    return path


@built_together
def test_document_gives_its_steps(folder: Path) -> Scene:
    """Task, epoch and score are the run's; tokens and times those of the events."""
    file = written(folder, {"status": "success", "eval": EVAL, "samples": [sample()]})
    outcome = yield imported(folder, file)
    assert outcome.again(file) == 0
    assert outcome.steps() == STEPS
    assert lake_counts(outcome) == raw_counts(file)
    found = outcome.rows("SELECT task_id, task_category, trial, outcome FROM trajectories")
    assert found == [("weather/paris", "weather", 1, "success")]
    assert outcome.rows("SELECT sum(input_tokens), sum(output_tokens) FROM steps") == [(10, 5)]


def test_archive_holds_the_same_runs(tmp_path: Path) -> None:
    """Its samples have the ids that a document of the same log gives."""
    file = archive(tmp_path, paris_epoch_1=sample(), paris_epoch_2=sample(2), broken="{")
    outcome = imported(tmp_path, file)
    document = written(tmp_path, {"eval": EVAL, "plan": {}, "samples": [sample()]})
    assert outcome.imported.understood["trajectories"] == 2
    assert outcome.again(document) == 0
    assert [note.split("/")[-1].partition(":")[0] for note in outcome.notes] == ["broken.json"]


@built_together
def test_sample_that_was_retried_says_so(folder: Path) -> Scene:
    """The log has the errors of its first attempts; the sample is reported once, as it ended."""
    errors = [{"message": "timeout", "traceback": "", "traceback_ansi": ""}]
    samples = [sample(error_retries=errors), sample(2, error_retries=[]), sample(3)]
    log = {"eval": EVAL, "plan": {}, "samples": samples}
    outcome = yield imported(folder, written(folder, log))

    assert outcome.rows("SELECT trial, flags FROM trajectories ORDER BY trial") == [
        (1, ["retried"]),
        (2, []),
        (3, []),
    ]


def verdicts(outcome: Outcome) -> list[tuple[Any, ...]]:
    """Return (value, label, source, evidence) of all verdicts."""
    return outcome.imported_rows(
        "SELECT value, label, source, evidence FROM verdicts ORDER BY ALL"
    )


@built_together
def test_scores_are_verdicts_on_success(folder: Path) -> Scene:
    """Of each scorer one; a model's is a judge's. Together they are the outcome if they agree."""
    scores = {
        "match": {"value": "C"},
        "model_graded_qa": {"value": "P", "explanation": "half"},
        "all_of_it": {"value": {"a": 1}},
        "seconds": {"value": 12.5},
    }
    samples = [
        sample(scores=scores),
        sample(2, scores={"match": {"value": "N"}, "f1": {"value": 0}}),
        sample(3, error={"message": "x"}, scores=None),
        {"id": 3},
    ]
    file = written(folder, {"eval": EVAL, "status": "error", "samples": samples})
    outcome = yield imported(folder, file)
    assert outcome.imported.understood["scores"] == 4
    assert outcome.imported.ignored == {"scores that are not a number from 0 to 1": 2}
    assert outcome.notes == [f"{file}:samples[3]: no sample of Inspect: it has no messages"]
    assert verdicts(outcome) == [
        (0.0, "N", "inspect match", None),
        (0.0, None, "inspect f1", None),
        (0.5, "P", "judge:inspect model_graded_qa", "half"),
        (1.0, "C", "inspect match", None),
    ]
    runs = "FROM trajectories JOIN verdicts USING (trajectory_id) WHERE trial = 1"
    assert outcome.rows(f"SELECT count(*) {runs}") == [(2,)]
    found = outcome.rows("SELECT outcome FROM trajectories ORDER BY trial")
    assert found == [(None,), ("failure",), ("invalid",)]


def test_one_scorer_can_be_named(tmp_path: Path) -> None:
    """The scores of the others are counted; so is what stood in logs before scorers had names."""
    samples = [sample(scores={"a": {"value": 0.3}, "b": {"value": "C"}})]
    old = {"id": "old", "score": {"value": True}}
    file = written(tmp_path, {"eval": EVAL, "plan": {}, "samples": [*samples, sample() | old]})
    outcome = imported(tmp_path, file, paths={"success": "b"})
    assert outcome.imported.ignored == {"scores of scorers other than 'b'": 2}
    assert verdicts(outcome) == [(1.0, "C", "inspect b", None)]


def test_other_archives_are_told(tmp_path: Path) -> None:
    """A zip that is not a log, and one that is cut."""
    whole = archive(tmp_path, paris_epoch_1=sample())
    (tmp_path / "cut.eval").write_bytes(whole.read_bytes()[:100])
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as file:
        file.writestr("a.txt", "a")
    outcome = imported(tmp_path, tmp_path / "cut.eval", tmp_path / "other.zip")
    assert [note.partition(": ")[2] for note in outcome.notes] == [
        "cannot be read: File is not a zip file",
        "no log of Inspect: it has no header.json",
    ]


def test_real_logs_give_their_calls(tmp_path: Path, shared_data: Path) -> None:
    """A browsing agent, and one with a shell from an archive."""
    logs = shared_data / "otlp-fixtures" / "inspect-logs" / "tests"
    browser = logs / "analysis" / "test_logs" / "2025-05-12T20-27-36-04-00_browser.json"
    shell = logs / "log" / "test_eval_log" / "log_message_deduplication.eval"
    outcome = imported(tmp_path, browser, shell)
    assert lake_counts(outcome) == raw_counts(browser).plus(raw_counts(shell))
    assert sorted(tool for tool, *_ in outcome.calls()) == [
        *["bash"] * 5,
        *["web_browser_click"] * 3,
        "web_browser_go",
    ]
