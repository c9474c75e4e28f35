"""What `score` says at its end is short, and says of each metric why it has no value."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.queries.traces import agent, land, land_logs, request_of, span, tool
from tests.scoring.build import specification

from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.job.run_scoring import ScoreSummary, preview, score
from tracegrade_scoring.job.summary import summary_lines, summary_object
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.metrics import METRICS
from tracegrade_scoring.rendering.reasons import REASONS, reason_of
from tracegrade_scoring.report.missing import missing
from tracegrade_scoring.report.read import read_report
from tracegrade_scoring.sql import QUERIES
from tracegrade_scoring.tasks import Specification

from .lakes import run, values

TOOLS = "tools: {look: {effect: read}, pay: {effect: write}}"
SCOPES = ("", "web", "db", "queue")
FIRST = (
    "scored 2 ",
    "task files in force: none",
    "no trajectory",
    "tasks of ",
    "tool calls",
    "scored: ",
    "not scored",
)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> ScoreSummary:
    """The summary of a lake without task files: two runs, one failed at a call, and web traces."""
    lake = Lake.create(tmp_path_factory.mktemp("summary") / "lake")
    web = [span(1, trace=trace, scope=SCOPES[trace % 4], name="GET /") for trace in range(10, 17)]
    land(lake, run(1, "look", "pay", task=None), run(2, "look", task=None), request_of(web))
    return score(lake, Specification())


def test_summary_is_short(done: ScoreSummary) -> None:
    """Over fifty metrics take a line for each reason, not one each."""
    lines = list(summary_lines(done, why=True))

    assert [line for line in lines if not line.startswith("  ")] == [
        next(line for line in lines if line.startswith(first)) for first in FIRST
    ]
    assert len(lines) <= len(METRICS) / 3


def test_why_metrics_have_no_value_is_one_line_unless_asked(done: ScoreSummary) -> None:
    """It counts the metrics and reasons that `--why` lists; what failed is said in any case."""
    listed, folded = list(summary_lines(done, why=True)), list(summary_lines(done))

    (line,) = [line for line in folded if line not in listed]
    found = re.fullmatch(
        r"not scored: (\d+) metrics of some trajectories, for (\d+) reasons; --why lists them.+",
        line,
    )
    assert found
    metrics = summary_object(done)["metrics"].values()
    reasons = {
        reason for metric in metrics if metric["not_applicable"] for reason in metric["reasons"]
    }
    assert int(found[1]) == sum(metric["not_applicable"] > 0 for metric in metrics)
    assert int(found[2]) == len(reasons)
    assert listed[: listed.index("not scored:")] == folded[:-1]


def test_each_metric_is_counted_once_for_each_outcome(done: ScoreSummary) -> None:
    """What the JSON says of the metrics adds up to the trajectories that were scored."""
    for found in summary_object(done)["metrics"].values():
        assert found["scored"] + found["not_applicable"] + found["error"] == done.trajectories
        assert sum(found["reasons"].values()) == done.trajectories - found["scored"]


def test_traces_that_are_no_agents_are_counted(done: ScoreSummary) -> None:
    """Lines and JSON tell how many traces gave no trajectory, and what wrote them."""
    assert (
        "no trajectory: 7 of the traces have no agent, model or tool span (2 of no named scope, 2 "
        "of db, 2 of queue, the rest of 1 more scopes); see `tracegrade sql --saved unread_traces`"
    ) in summary_lines(done)
    said = summary_object(done)
    assert said["unread"] == {"": 2, "web": 1, "db": 2, "queue": 2}


def test_logs_without_spans_are_named_once(tmp_path: Path) -> None:
    """By their events, in a field or an attribute, with a trace or without; read ones are not."""
    lake = Lake.create(tmp_path / "lake")
    named = [{"key": "event.name", "value": {"stringValue": "codex.tool_result"}}]
    alone = [{"attributes": named}, {"attributes": named, "traceId": f"{9:032x}"}, {}]
    beside = {"eventName": "of_a_run", "traceId": f"{1:032x}"}
    land(lake, run(1, "look", task=None))
    land_logs(lake, logs_request(*alone, beside))
    done = score(lake, Specification())

    assert done.unread_logs == {"codex.tool_result": 2, "": 1}
    (line,) = [each for each in summary_lines(done) if each.startswith("not read")]
    assert line.startswith(
        "not read: 3 log records without any span of their trace (2 of codex.tool_result, 1 of no "
        "named event); "
    )
    assert summary_object(done)["unread_logs"] == done.unread_logs
    land_logs(lake, logs_request({"eventName": "later"}), seq=2)
    assert score(lake, Specification()).unread_logs == {"later": 1}


def test_a_lake_of_logs_alone_is_named(tmp_path: Path) -> None:
    """Nothing is scored, and the summary says what was sent instead of spans."""
    lake = Lake.create(tmp_path / "lake")
    land_logs(lake, logs_request({"eventName": "codex.user_prompt"}))

    assert preview(lake, Specification()).unread_logs == {"codex.user_prompt": 1}
    assert score(lake, Specification()).unread_logs == {"codex.user_prompt": 1}
    with connect(lake, layers=(SCORES,)) as con:
        (lacking,) = missing(read_report(con, "lake"))
    assert lacking.fact.startswith("1 log record landed and no span. ")


def test_an_empty_lake_has_no_log_records_either(tmp_path: Path) -> None:
    """Scores that came back as log records are none."""
    lake = Lake.create(tmp_path / "lake")
    scores = {"scope": {"name": "tracegrade.scoring"}, "logRecords": [{"timeUnixNano": "1"}]}
    land_logs(lake, json.dumps({"resourceLogs": [{"scopeLogs": [scores]}]}).encode())
    with connect(lake, layers=(SCORES,)) as con:
        (lacking,) = missing(read_report(con, "lake"))
    assert lacking.fact.startswith("The lake holds no spans yet. ")


def logs_request(*records: Any) -> bytes:
    """Return the OTLP/JSON request that exports the log records."""
    timed = [{"timeUnixNano": "1", **record} for record in records]
    return json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": timed}]}]}).encode()


def test_model_calls_of_no_agent_are_counted() -> None:
    """Lines and JSON tell how many there are for each reason; without any, no line does."""
    some = ScoreSummary(3, 2, apart={"alone": 2_000, "outside": 1})
    (line,) = [each for each in summary_lines(some) if each.startswith("model calls of no agent")]

    assert line.startswith("model calls of no agent: 1 outside of every agent of their trace")
    assert "2,000 alone in their trace, each a trajectory (`tracegrade.agent_run`" in line
    assert summary_object(some)["model_calls_apart"] == {"alone": 2_000, "outside": 1}
    assert not any("of no agent" in each for each in summary_lines(ScoreSummary(3, 2)))


def test_calls_of_unknown_effect_are_said(done: ScoreSummary) -> None:
    """A user without declared effects gets a note on the scores that are missing."""
    assert any(
        "3 calls are to tools without a declared effect" in line for line in summary_lines(done)
    )


@pytest.mark.slow
def test_who_declares_effects_is_told_nothing(lake: Lake) -> None:
    """Calls of made-up tools need none: they changed nothing, so they hide no redundant call."""
    look = {"tool_name": "look", "gen_ai__tool__call__arguments": "{}"}
    made_up = tool(3, 1, tool_name="teleport", at=2, error="no such tool")
    land(lake, request_of([agent(1), tool(2, 1, at=1, **look), made_up, tool(4, 1, at=3, **look)]))
    told = score(lake, specification(TOOLS))

    assert values(lake, "SELECT redundant_calls.value FROM trajectory_scores") == [(1,)]
    assert not any("a declared effect" in line for line in summary_lines(told))
    assert (told.counts.calls.of_known_effect, told.counts.calls.of_made_up_tools) == (2, 1)


def test_every_reason_has_words() -> None:
    """No code that a query or a scorer gives as reason stands without a meaning."""
    scores = [path for name, path in QUERIES.paths.items() if name.endswith("_scores")]
    text = "".join(path.read_text() for path in scores)
    codes = set(re.findall(r"'((?:no|not|two|empty|length)_[a-z_]+)'", text))

    assert codes - {"not_applicable", "no_writes", "not_executed"} <= REASONS.keys()
    assert reason_of("specification_error: a needs b").meaning.endswith("error: a needs b")
