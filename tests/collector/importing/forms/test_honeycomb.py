"""Query results of Honeycomb give the steps that were sent to it, from JSON and CSV alike."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from tests.collector.importing.forms.peers import PLAIN, QUESTION, STEPS, Step, time
from tests.collector.importing.imports import Outcome, Row, imported, written, written_lines
from tests.collector.importing.raw_counts.honeycomb import raw_counts
from tests.collector.importing.raw_counts.lake import lake_counts

RUNS = 3
OPERATIONS = {"run": "invoke_agent", "model": "chat", "tool": "execute_tool"}


def parts(message: Row) -> Row:
    """Return a message as the conventions have it."""
    calls = [
        {
            "type": "tool_call",
            "id": call["id"],
            "name": call["function"]["name"],
            "arguments": json.loads(call["function"]["arguments"]),
        }
        for call in message.get("tool_calls", ())
    ]
    text = [{"type": "text", "content": message["content"]}] if message["content"] else []
    return {"role": message["role"], "parts": text + calls, "finish_reason": "stop"}


def event(step: Step, trace: str) -> Row:
    """Return a span as Honeycomb's row."""
    row: Row = {
        "Timestamp": time(step.second),
        "duration_ms": 1000.5,
        "trace.trace_id": trace,
        "trace.span_id": f"{trace}-{step.id}",
        "trace.parent_id": f"{trace}-{step.parent}" if step.parent else None,
        "name": f"{OPERATIONS[step.kind]} {step.name}",
        "status_code": 2 if step.error else 0,
        "status_message": step.error,
        "meta.signal_type": "trace",
        "service.name": "weather",
        "service.version": "1.0",
        "library.name": "by.hand",
        "gen_ai.operation.name": OPERATIONS[step.kind],
    }
    if step.kind == "run":
        message = {"role": "user", "content": QUESTION}
        row["gen_ai.input.messages"] = json.dumps([parts(message)])
        row["gen_ai.conversation.id"], row["gen_ai.agent.name"] = "chat-1", step.name
    if step.kind == "tool":
        row["gen_ai.tool.name"] = step.name
        row["gen_ai.tool.call.arguments"] = json.dumps(step.given)
        row["gen_ai.tool.call.result"] = step.result
    if step.tokens:
        row["gen_ai.request.model"] = "model-a"
        row["gen_ai.usage.input_tokens"], row["gen_ai.usage.output_tokens"] = step.tokens
        row["gen_ai.input.messages"] = json.dumps([parts(each) for each in step.given])
        row["gen_ai.output.messages"] = json.dumps([parts(step.result)])
    return row


def events(trace: str) -> list[Row]:
    """Return the rows of one run."""
    return [event(step, trace) for step in PLAIN]


def as_csv(path: Path, rows: list[Row]) -> Path:
    """Write the rows as a download in CSV, with a mark of the byte order."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)
    return path


class TestImport:
    """A download of three runs in JSON, with rows that are not spans, in one lake."""

    @pytest.fixture(scope="class")
    @staticmethod
    def rows() -> list[Row]:
        """The rows of all runs."""
        return [row for number in range(RUNS) for row in events(f"t{number}")]

    @pytest.fixture(scope="class")
    @staticmethod
    def outcome(rows: list[Row], tmp_path_factory: pytest.TempPathFactory) -> Outcome:
        """The lake."""
        others: list[Any] = [
            {"trace.trace_id": "t0", "meta.annotation_type": "span_event", "name": "note"},
            {"trace.trace_id": "t0", "name": "no id"},
        ]
        folder = tmp_path_factory.mktemp("honeycomb")
        return imported(folder, written(folder, [*rows, *others]))

    def test_each_run_has_its_steps(self, outcome: Outcome) -> None:
        """Calls, arguments, status, tokens, model, time and release are those that were sent."""
        found = [(kind, tool, args, status) for kind, tool, args, _, status in outcome.steps()]

        assert found == STEPS * RUNS
        assert outcome.rows("SELECT sum(input_tokens), sum(output_tokens) FROM steps") == [
            (30 * RUNS, 11 * RUNS)
        ]
        assert outcome.rows(
            "SELECT DISTINCT conversation_id, user_input, agent_name, release FROM trajectories"
        ) == [("chat-1", QUESTION, "weather", "1.0")]
        assert outcome.rows("SELECT DISTINCT duration_ms FROM steps WHERE status = 'ok'") == [
            (1000.5,)
        ]

    def test_rows_that_are_no_spans_are_named_or_counted(self, outcome: Outcome) -> None:
        """An event of a span is counted, a row without an id is a fault."""
        assert outcome.imported.faults == 1
        assert outcome.imported.ignored["events of kind 'span_event'"] == 1
        assert next(iter(outcome.imported.recognized)).startswith("honeycomb (it has ")

    def test_every_form_gives_the_same_spans(
        self, outcome: Outcome, rows: list[Row], tmp_path: Path
    ) -> None:
        """CSV, lines, answers of the Query Data API and records of events add nothing new."""
        results = {"complete": True, "data": {"results": [{"data": row} for row in rows]}}
        sent = [{"time": row["Timestamp"], "samplerate": 1, "data": {**row}} for row in rows]
        for each in sent:
            del each["data"]["Timestamp"]
        (tmp_path / "answer").mkdir()
        (tmp_path / "sent").mkdir()

        files = (
            as_csv(tmp_path / "events.csv", rows),
            written_lines(tmp_path, rows),
            written(tmp_path / "answer", results),
            written_lines(tmp_path / "sent", sent),
        )
        assert outcome.again(*files) == 0
        assert not [note for note in outcome.notes[2:] if "no format" in note]

    def test_counts_of_the_raw_files_are_those_of_the_lake(
        self, outcome: Outcome, rows: list[Row], tmp_path: Path
    ) -> None:
        """Plain counts of JSON and of CSV alike."""
        found = lake_counts(outcome)._replace(successes=0)

        for file in (written(tmp_path, rows), as_csv(tmp_path / "events.csv", rows)):
            assert raw_counts(file)._replace(successes=0) == found
        assert found[:6] == (3, 6, 3, 3, 90, 33)


def test_csv_alone_keeps_numbers_and_texts_apart(tmp_path: Path) -> None:
    """Tokens are numbers; a result of digits stays text; an odd duration is none."""
    rows = events("t")
    rows[2]["gen_ai.tool.call.result"], rows[2]["duration_ms"] = "22", "soon"
    outcome = imported(tmp_path, as_csv(tmp_path / "events.csv", rows))

    assert outcome.rows("SELECT sum(input_tokens) FROM steps") == [(30,)]
    assert [text for kind, _, _, text, _ in outcome.steps() if kind == "observation"] == ["22"]
    assert outcome.imported.faults == 0


@pytest.mark.parametrize("value", [{}, {"data": {"results": []}}, [1], {"data": {"x": 1}}])
def test_files_without_a_span_say_so(tmp_path: Path, value: Any) -> None:
    """Nothing is added."""
    outcome = imported(tmp_path, written(tmp_path, value), format_="honeycomb")

    assert outcome.imported.faults == 1
    assert outcome.spans() == []
