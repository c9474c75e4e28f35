"""What evaluators say of a run, in events of the GenAI conventions, becomes verdicts."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from tracegrade_lake import Lake
from tracegrade_queries.build.build import build

from .traces import (
    NOON_NS,
    Row,
    agent,
    land,
    land_logs,
    message,
    model,
    request,
    request_of,
    rows,
    span,
    story,
    tool,
)

RUN, CHILD = f"{1:016x}", f"{4:016x}"
RECEIVED = (
    "SELECT DISTINCT trace_records, trace_received_ns FROM trajectories "
    f"WHERE trace_id = '{1:032x}'"
)


def spans(trace: int) -> list[Row]:
    """Return a run that calls an agent as a tool."""
    return [
        agent(1, trace=trace),
        tool(2, 1, trace=trace, at=1, ms=50, tracegrade__sub_goal__id="find"),
        span(3, 2, trace=trace, at=2),
        agent(4, 3, trace=trace, at=3, gen_ai__response__id="r4"),
        span(5, 4, trace=trace, at=4, name="HTTP POST"),
    ]


def attributes(values: Mapping[str, object]) -> list[Row]:
    """Return the attributes of one evaluation result."""
    typed = {float: "doubleValue", str: "stringValue"}
    return [{"key": key, "value": {typed[type(value)]: value}} for key, value in values.items()]


def result(
    number: int | None,
    *,
    name: str = "success",
    at: int = 0,
    score: float | None = None,
    label: str | None = None,
    **more: object,
) -> Row:
    """Return the log record of an evaluation of a span of the trace."""
    said = {
        "gen_ai.evaluation.name": name,
        "gen_ai.evaluation.score.value": score,
        "gen_ai.evaluation.score.label": label,
        **{key.replace("__", "."): value for key, value in more.items()},
    }
    return {
        "eventName": "gen_ai.evaluation.result",
        "timeUnixNano": str(NOON_NS + at),
        "traceId": f"{1:032x}",
        "spanId": "" if number is None else f"{number:016x}",
        "attributes": attributes({k: v for k, v in said.items() if v is not None}),
    }


def land_results(lake: Lake, *records: Row, seq: int = 1) -> None:
    """Land evaluation results as log records."""
    body = {"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}
    land_logs(lake, json.dumps(body).encode(), seq=seq)


def verdicts(lake: Lake) -> dict[int, list[tuple[object, ...]]]:
    """Return the verdicts on each run of each trace; None is the trace as a whole."""
    told: dict[int, list[tuple[object, ...]]] = {}
    for row in rows(lake, "SELECT * FROM verdicts ORDER BY ALL"):
        trace, _, run = row["trajectory_id"].partition("-")
        said = [row[name] for name in ("subject", "sub_goal", "value", "label", "evidence")]
        told.setdefault(int(trace, 16), []).append((run or None, *said))
        assert row["source"] == "gen_ai.evaluation.result"
    return told


CASES: dict[str, tuple[Row, list[tuple[object, ...]]]] = {
    "of the run": (
        result(1, score=0.9, label="pass", gen_ai__evaluation__explanation="It did."),
        [(RUN, "success", None, 0.9, "pass", "It did.")],
    ),
    "of a called run, by a span without meaning": (
        result(5, name="Success", label="fail"),
        [(CHILD, "success", None, None, "fail", None)],
    ),
    "of no span": (result(None, score=1.0), [(None, "success", None, 1.0, None, None)]),
    "of a span that never came": (
        result(77, score=1.0),
        [(None, "success", None, 1.0, None, None)],
    ),
    "of a response, by its id": (
        result(None, label="pass", gen_ai__response__id="r4"),
        [(CHILD, "success", None, None, "pass", None)],
    ),
    "of a response that never came": (
        result(None, label="pass", gen_ai__response__id="r5"),
        [(None, "success", None, None, "pass", None)],
    ),
    "that failed": (
        result(1, error__type="timeout"),
        [(RUN, "success", None, None, "error", "timeout")],
    ),
    "of the sub-goal of a span": (
        result(2, name="sub_goal", score=1.0),
        [(RUN, "sub_goal", "find", 1.0, None, None)],
    ),
    "of a sub-goal that it names": (
        result(1, name="sub_goal", score=0.0, tracegrade__sub_goal__id="pay"),
        [(RUN, "sub_goal", "pay", 0.0, None, None)],
    ),
    "of a sub-goal that nothing names": (result(1, name="sub_goal", score=0.0), []),
    "of something else": (result(1, name="relevance", score=0.5), []),
    "that says nothing": (result(1), []),
}


EVENT = len(CASES) + 1
"""A trace with a result as an event."""
CAME_BACK = EVENT + 1
"""A trace with two scores of ours as log records, another as an event, and an evaluator's."""


class EvaluationRun(NamedTuple):
    """What became of all cases, each a trace of its own."""

    lake: Lake
    verdicts: dict[int, list[tuple[object, ...]]]

    def copied(self, folder: Path) -> Lake:
        """Return a copy of the lake."""
        return Lake.open(shutil.copytree(self.lake.root, folder / "copy"))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> EvaluationRun:
    """All of them, built at once; a test that changes anything uses a copy."""
    lake = Lake.create(tmp_path_factory.mktemp("evaluations") / "lake")
    success = {"gen_ai.evaluation.name": "success"}
    passed = event_of({**success, "gen_ai.evaluation.score.label": "pass"})
    ours = {**success, "tracegrade.evaluation.id": "7f", "gen_ai.evaluation.score.value": 1.0}
    land(
        lake,
        *(request_of(spans(trace)) for trace, _ in enumerate(CASES, 1)),
        request_of([agent(1, trace=EVENT) | {"events": [passed]}]),
        request_of([agent(1, trace=CAME_BACK) | {"events": [event_of(ours, at=9)]}]),
    )
    records = [record for record, _ in CASES.values()]
    land_results(lake, *(r | {"traceId": f"{trace:032x}"} for trace, r in enumerate(records, 1)))
    sent_out = result(1, at=9, score=1.0)
    known = [result(None, at=9, score=1.0, tracegrade__evaluation__id="7f"), result(1, score=0.5)]
    of_trace = {"traceId": f"{CAME_BACK:032x}"}
    scoped = {"scope": {"name": "tracegrade.scoring"}, "logRecords": [sent_out | of_trace]}
    others = {"logRecords": [each | of_trace for each in known]}
    body = {"resourceLogs": [{"scopeLogs": [scoped, others]}]}
    land_logs(lake, json.dumps(body).encode(), seq=1)
    build(lake)
    return EvaluationRun(lake, verdicts(lake))


def event_of(said: Mapping[str, object], *, at: int = 0) -> Row:
    """Return an evaluation result as an event of a span."""
    return {
        "name": "gen_ai.evaluation.result",
        "timeUnixNano": str(NOON_NS + at),
        "attributes": attributes(said),
    }


@pytest.mark.parametrize("case", CASES)
def test_result_is_a_verdict(told: EvaluationRun, case: str) -> None:
    """An evaluation of success or of a sub-goal is about the run that its span belongs to."""
    assert told.verdicts.get(1 + list(CASES).index(case), []) == CASES[case][1]


def test_result_may_be_an_event_of_the_span(told: EvaluationRun) -> None:
    """A span event says the same as a log record."""
    assert told.verdicts[EVENT] == [(RUN, "success", None, None, "pass", None)]


def test_later_result_replaces_the_earlier(told: EvaluationRun, tmp_path: Path) -> None:
    """The last evaluation of the agent counts, in any order of arrival; a build adds it once."""
    lake = told.copied(tmp_path)
    late = [result(1, at=7, score=0.5), result(1, at=6, score=0.75), result(2, at=9, score=0.25)]
    land_results(lake, *late, seq=2)
    build(lake)

    assert told.verdicts[1] == [(RUN, "success", None, 0.9, "pass", "It did.")]
    assert verdicts(lake) == told.verdicts | {1: [(RUN, "success", None, 0.5, None, None)]}


def test_score_that_was_sent_out_and_came_back_is_no_verdict(told: EvaluationRun) -> None:
    """By its scope or its id, as log record and as event; an evaluator's beside it counts."""
    assert told.verdicts[CAME_BACK] == [(RUN, "success", None, 0.5, None, None)]


def test_score_that_came_back_makes_no_trace_be_built_again(
    told: EvaluationRun, tmp_path: Path
) -> None:
    """It does not count as new for its trace; an evaluator's result does; each lands once."""
    lake = told.copied(tmp_path)
    (before,) = rows(lake, RECEIVED)
    scoped = {"scope": {"name": "tracegrade.scoring"}, "logRecords": [result(1, at=9, score=1.0)]}
    body = {"resourceLogs": [{"scopeLogs": [scoped]}]}
    land_logs(lake, json.dumps(body).encode(), seq=2)
    came_back = build(lake)

    assert (came_back.traces, came_back.new_spans) == (0, 0)
    land_results(lake, result(1, at=9, score=0.5), seq=3)
    heard = build(lake)
    assert (heard.traces, heard.new_spans) == (1, 1)
    (after,) = rows(lake, RECEIVED)
    assert after["trace_records"] == before["trace_records"] + 1
    build(lake, full=True)
    assert rows(lake, RECEIVED) == [after]


def test_what_an_evaluator_does_is_no_work_of_the_agent(lake: Lake) -> None:
    """Its model calls are not steps of the run around it, and not a run if it is alone."""
    said = [message("assistant", "It is 22C.")]
    judge = [message("assistant", "hallucinated", request("lookup", "c1"))]
    by_kind: Row = {"openinference__span__kind": "EVALUATOR"}
    by_operation: Row = {"gen_ai__operation__name": "evaluation"}
    for within, alone, judging in ((1, 2, by_kind), (3, 4, by_operation)):
        spans = [
            agent(
                1,
                trace=within,
                evaluations__0__evaluation__name="success",
                evaluations__0__evaluation__score=1,
            ),
            model(2, 1, trace=within, at=1, said=said),
            span(3, 1, trace=within, at=5, ms=20, **judging),
            span(4, 3, trace=within, at=6),
            model(5, 4, trace=within, at=7, said=judge),
            tool(6, 4, trace=within, at=9, tool_name="lookup"),
            span(7, trace=alone, at=200, ms=20, links=[2], **judging),
            model(8, 7, trace=alone, at=201, said=judge),
        ]
        land(lake, request_of(spans), seq=within)
    build(lake)

    assert story(lake) == ["answer It is 22C."] * 2
    assert rows(lake, "SELECT trace_id FROM trajectories ORDER BY 1") == [
        {"trace_id": f"{trace:032x}"} for trace in (1, 3)
    ]
