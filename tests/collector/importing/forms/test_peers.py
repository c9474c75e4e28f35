"""Exports of Weave, Opik, Braintrust and Datadog give the same steps for the same run."""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest
from tests.collector.importing.forms.peers import (
    PLAIN,
    QUESTION,
    STEPS,
    WRITERS,
    Step,
    asks,
    braintrust,
    datadog,
    opik,
    says,
    user,
    weave,
)
from tests.collector.importing.imports import Outcome, imported, written, written_lines
from tests.collector.importing.raw_counts.lake import lake_counts
from tests.collector.importing.together import Scene
from tests.scenes import built_together

SUB_AGENT = (
    Step("run", "r", None, "travel", QUESTION, "Done."),
    Step("model", "m1", "r", "ask", user(QUESTION), asks(("c1", "book", "{}")), second=1),
    Step("agent", "a", "r", "booker", "Book it.", "Booked.", second=2),
    Step("tool", "t", "a", "book", {}, "ok", second=3),
    Step("model", "m2", "r", "ask", user(QUESTION), says("Done."), second=5),
)


def steps_of(outcome: Outcome) -> list[Any]:
    """Return (kind, tool, arguments, status) of every step."""
    return [(kind, tool, args, status) for kind, tool, args, _, status in outcome.steps()]


@pytest.mark.parametrize("name", WRITERS)
@built_together
def test_run_gives_its_steps(folder: Path, name: str) -> Scene:
    """Parallel calls, a failed one, tokens and model are read; a second import adds nothing."""
    file = written_lines(folder, WRITERS[name](PLAIN))
    outcome = yield imported(folder, file)

    assert outcome.again(file) == 0
    assert steps_of(outcome) == STEPS
    assert outcome.rows("SELECT sum(input_tokens), sum(output_tokens) FROM steps") == [(30, 11)]
    assert outcome.rows("SELECT DISTINCT model FROM steps WHERE model IS NOT NULL") == [
        ("model-a",)
    ]
    found = outcome.rows("SELECT conversation_id, user_input FROM trajectories")
    assert found == [("chat-1", QUESTION)]
    assert next(iter(outcome.imported.recognized)).startswith(f"{name} (it has ")


@pytest.mark.parametrize("name", ["weave", "braintrust"])
@built_together
def test_a_record_that_is_too_deep_costs_itself(folder: Path, name: str) -> Scene:
    """The other records of its file and the other files are imported."""
    deep: Any = "x"
    for _ in range(700):
        deep = [deep]
    run = Step("run", "d", None, "deep", deep, "Done.")
    file = written_lines(folder, [*WRITERS[name]((run,)), *WRITERS[name](PLAIN)])
    outcome = yield imported(folder, file)

    assert steps_of(outcome) == STEPS
    assert any("nested too deeply" in note for note in outcome.notes)


@pytest.mark.parametrize("name", WRITERS)
def test_list_of_records_gives_the_same_spans(tmp_path: Path, name: str) -> None:
    """A list in one document, in any order, is what lines are."""
    outcome = imported(tmp_path, written_lines(tmp_path, WRITERS[name](PLAIN)))
    document = written(tmp_path, [*reversed(WRITERS[name](PLAIN))])

    assert outcome.again(document) == 0


@pytest.mark.parametrize("name", WRITERS)
@built_together
def test_call_of_a_sub_agent_is_found(folder: Path, name: str) -> Scene:
    """The call below an agent's or a function's span belongs to the trace."""
    outcome = yield imported(folder, written_lines(folder, WRITERS[name](SUB_AGENT)))

    assert ("tool_call", "book", "{}", "ok") in steps_of(outcome)
    assert outcome.rows("SELECT count(DISTINCT trace_id) FROM trajectories") == [(1,)]


@pytest.mark.parametrize("name", WRITERS)
@built_together
def test_interrupted_run_is_read_as_far_as_it_went(folder: Path, name: str) -> Scene:
    """A span that had not ended ends when it began."""
    open_call = Step("tool", "t1", "r", "get_weather", {"city": "Paris"}, second=2, is_open=True)
    outcome = yield imported(folder, written_lines(folder, WRITERS[name]([*PLAIN[:2], open_call])))

    assert ("get_weather", '{"city":"Paris"}') in [call[:2] for call in outcome.calls()]
    assert outcome.rows(
        "SELECT duration_ms FROM steps WHERE kind = 'tool_call' AND status = 'ok'"
    ) == [(0.0,)]


@pytest.mark.parametrize("name", WRITERS)
@built_together
def test_long_run_and_many_traces_are_whole(folder: Path, name: str) -> Scene:
    """Every call of 30 traces is there once, with a result of 100,000 characters."""
    long = (*PLAIN[:2], Step("tool", "t1", "r", "get_weather", {"city": "Paris"}, "x" * 100_000))
    records = [row for number in range(30) for row in WRITERS[name](long, f"t{number}")]
    outcome = yield imported(folder, written_lines(folder, records))

    assert outcome.rows(
        "SELECT count(*), min(length(result)) FROM steps "
        "WHERE kind = 'tool_call' AND status = 'ok'"
    ) == [(30, 100_000)]


@pytest.mark.parametrize("name", WRITERS)
@built_together
def test_counts_of_the_raw_file_are_those_of_the_lake(folder: Path, name: str) -> Scene:
    """Plain counts of the file are those of the lake, over three traces."""
    records = [row for number in range(3) for row in WRITERS[name](PLAIN, f"t{number}")]
    for record in records:
        if name == "weave" and "/op/get_weather" in record["op_name"]:
            record["attributes"] = {"weave": {"kind": "tool"}}
    file = written_lines(folder, records)
    counter = importlib.import_module(f"tests.collector.importing.raw_counts.{name}")
    found = lake_counts((yield imported(folder, file)))

    assert counter.raw_counts(file)._replace(successes=0) == found._replace(successes=0)
    assert found[:6] == (3, 6, 3, 3, 90, 33)


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("value", [{}, {"data": []}, {"events": []}, {"trace": {}, "spans": []}])
def test_empty_export_is_a_fault(tmp_path: Path, name: str, value: Any) -> None:
    """A file without a span says so."""
    outcome = imported(tmp_path, written(tmp_path, value), format_=name)

    assert outcome.imported.faults == 1
    assert outcome.spans() == []


@pytest.mark.parametrize("name", WRITERS)
@built_together
def test_broken_line_costs_itself(folder: Path, name: str) -> Scene:
    """The other lines are imported, and a field that is not known is counted."""
    first, *rest = WRITERS[name](PLAIN)
    odd = json.loads(json.dumps(first))
    target = odd["data"][0]["attributes"] if "data" in odd else odd.get("trace", odd)
    target["surprise"] = 1
    file = written_lines(folder, [odd, '{"id": ', {"id": 1}, *rest])
    outcome = yield imported(folder, file)

    assert steps_of(outcome) == STEPS
    assert outcome.imported.faults == 2
    assert outcome.imported.ignored["fields 'surprise'"] == 1


@built_together
def test_calls_of_scorers_are_no_steps(folder: Path) -> Scene:
    """A model that a scorer asks is below its span; both are left out."""
    scored = (
        *PLAIN,
        Step("scorer", "s", "r", "correctness", None, 1, second=6),
        Step("model", "sm", "s", "judge", user("Right?"), says("Yes."), second=7, tokens=(9, 9)),
    )
    outcome = yield imported(folder, written_lines(folder, [*reversed(braintrust(scored))]))

    assert steps_of(outcome) == STEPS
    assert outcome.imported.ignored["spans of scorers"] == 2


@pytest.mark.parametrize(
    ("records", "source"),
    [(opik(PLAIN), "judge:opik correctness"), (braintrust(PLAIN), "braintrust correctness")],
)
@built_together
def test_scores_on_success_are_verdicts(folder: Path, records: Any, source: str) -> Scene:
    """Others are counted by name."""
    outcome = yield imported(folder, written_lines(folder, records))

    assert outcome.imported_rows("SELECT source, value FROM verdicts") == [(source, 1.0)]
    assert outcome.imported.ignored["scores named 'tone'"] == 1
    assert outcome.rows(
        "SELECT count(*) FROM trajectories AS t SEMI JOIN verdicts AS v "
        "ON v.trajectory_id IN (t.trajectory_id, t.trace_id)"
    ) == [(1,)]


@built_together
def test_client_that_weave_patches_is_a_model(folder: Path) -> Scene:
    """Its op has no kind; usage that is summed up in the run is not the run's."""
    calls = weave(PLAIN)
    for call in calls:
        call["attributes"] = {}
        call["op_name"] = call["op_name"].replace("/op/ask", "/op/openai.chat.completions.create")
    calls[0]["summary"] = {"usage": {"model-a": {"prompt_tokens": 30, "completion_tokens": 11}}}
    outcome = yield imported(folder, written_lines(folder, calls))

    assert steps_of(outcome) == STEPS
    assert outcome.rows("SELECT sum(input_tokens), sum(output_tokens) FROM steps") == [(30, 11)]


@built_together
def test_tokens_from_a_cache_are_part_of_the_input(folder: Path) -> Scene:
    """Datadog and Braintrust count them in the input, and name them again."""
    (answer,) = datadog(PLAIN)
    answer["data"][1]["attributes"]["metrics"]["cache_read_input_tokens"] = 4.0
    events = braintrust(PLAIN)
    events[1]["metrics"]["prompt_cached_tokens"] = 4
    files = [
        written_lines(folder, [answer], "datadog.jsonl"),
        written_lines(folder, events, "braintrust.jsonl"),
    ]
    outcome = yield imported(folder, *files)

    assert outcome.rows(
        "SELECT sum(input_tokens), sum(cache_read_tokens) FROM steps GROUP BY trace_id"
    ) == [(30, 4), (30, 4)]


@built_together
def test_version_of_an_app_is_its_release(folder: Path) -> Scene:
    """Datadog's spans name the app, and its version by a tag."""
    outcome = yield imported(folder, written_lines(folder, datadog(PLAIN)))

    assert outcome.rows("SELECT release FROM trajectories") == [("1.0",)]
