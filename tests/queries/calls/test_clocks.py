"""Matching executions to requests does not depend on the clocks of two services."""

import json
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.queries.stories import ANSWER
from tests.queries.test_captures import CASES, STORIES
from tests.queries.together import Scene
from tests.queries.traces import (
    Row,
    agent,
    capture,
    land,
    land_logs,
    line,
    logs_of,
    message,
    model,
    request,
    rows,
    span,
    story,
    take_all,
    tool,
)
from tests.scenes import built_together

from tracegrade_lake import Lake
from tracegrade_queries.build.build import build
from tracegrade_queries.build.split import split_into_steps
from tracegrade_queries.engine.connection import connect

NAMES = [name + variant for name, variant in CASES]
UNREQUESTED = ("agno_traceloop", "claude-code", "google-adk_openinference")
"""What the model requested is not told there, so the clocks alone say when a tool ran."""

_SECOND = 1_000_000_000


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Ids of the spans of tools in all captures."""
    lake = Lake.create(tmp_path_factory.mktemp("tools") / "lake")
    land(lake, *map(capture, NAMES))
    with connect(lake) as con:
        take_all(con)
        split_into_steps(con, ["operations"])
        found = con.sql("SELECT span_id FROM operations WHERE operation = 'tool'").fetchall()
    return {span_id for (span_id,) in found}


def _spans(body: Row) -> Iterator[Row]:
    for resource in body["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            yield from scope["spans"]


def _hex(span_id: str) -> str:
    return span_id.lower() if len(span_id) == 16 else b64decode(span_id).hex()


def _shifted(body: Row, tools: set[str], by_ns: int) -> bytes:
    """Return the request with tools, and what is below them, on another clock."""
    parents = {_hex(each["spanId"]): each.get("parentSpanId") for each in _spans(body)}
    for each in _spans(body):
        above: str | None = _hex(each["spanId"])
        while above in parents and above not in tools:
            parent = parents[above]
            above = _hex(parent) if parent else None
        if above in tools:
            for key in ("startTimeUnixNano", "endTimeUnixNano"):
                each[key] = str(int(each[key]) + by_ns)
    return json.dumps(body).encode()


@pytest.mark.parametrize(
    "seconds",
    [-3, *(pytest.param(each, marks=pytest.mark.slow) for each in (3, -3600, 3600))],
)
def test_captures_tell_their_story_with_tools_on_another_clock(
    tmp_path: Path, tools: set[str], seconds: int
) -> None:
    """A service of tools may be seconds off, or set to another hour."""
    lake = Lake.create(tmp_path / "lake")
    bodies = [_shifted(json.loads(capture(name)), tools, seconds * _SECOND) for name in NAMES]
    land(lake, *bodies, seq=0)
    land_logs(lake, *(log for name in NAMES for log in logs_of(name)))
    build(lake)
    ids = rows(lake, "SELECT wal_seq, list(DISTINCT trace_id) AS ids FROM spans GROUP BY 1")
    names = {trace_id: NAMES[row["wal_seq"]] for row in ids for trace_id in row["ids"]}
    told: dict[str, list[str]] = {name: [] for name in NAMES}
    for step in rows(lake, "SELECT * FROM steps ORDER BY trajectory_id, step_index"):
        told[names[step["trace_id"]]].append(line(step))

    for name, variant in CASES:
        given, expected = told[name + variant], STORIES[name][variant]
        if name in UNREQUESTED:
            given, expected = sorted(given), sorted(expected)
        assert given == expected, name + variant


def _openinference(number: int, *, at: float, **told: Any) -> Row:
    return span(number, 1, at=at, scope="openinference", **told)


def _asking(number: int, at: float, arguments: str) -> Row:
    """Return a model call in OpenInference that requests a tool, without an id."""
    call = "llm__output_messages__0__message__tool_calls__0__tool_call__function__"
    told = {f"{call}name": "look", f"{call}arguments": arguments}
    return _openinference(number, at=at, openinference__span__kind="LLM", **told)


def _looking(number: int, at: float, arguments: str, result: str) -> Row:
    told = {"tool__name": "look", "input__value": arguments, "output__value": result}
    return _openinference(number, at=at, openinference__span__kind="TOOL", **told)


@built_together
def test_equal_calls_of_two_rounds_pair_up_in_order() -> Scene:
    """OpenInference, without ids: by its clock the second ran before the first request."""
    lake = yield [
        agent(1),
        _asking(2, 40, '{"at": 1}'),
        _looking(3, 10, '{"at": 1}', "one"),
        _asking(4, 60, '{"at": 1}'),
        _looking(5, 30, '{"at": 1}', "two"),
    ]
    call = 'tool_call look {"at":1} ok'
    assert story(lake) == [call, "observation one", call, "observation two"]


@built_together
def test_ids_of_rounds_pair_up_in_order() -> Scene:
    """Each round has a call `0`; the clock of the tools is behind by a round and more."""
    lake = yield [
        agent(1),
        model(2, 1, at=40, said=[message("assistant", request("t", "0", n=1))]),
        tool(3, 1, at=10, gen_ai__tool__call__id="0", gen_ai__tool__call__result="one"),
        model(4, 1, at=60, said=[message("assistant", request("t", "0", n=2))]),
        tool(5, 1, at=45, gen_ai__tool__call__id="0", gen_ai__tool__call__result="two"),
    ]
    assert story(lake) == [
        'tool_call t {"n":1} ok',
        "observation one",
        'tool_call t {"n":2} ok',
        "observation two",
    ]


@built_together
def test_calls_without_arguments_pair_up_in_order() -> Scene:
    """Where the content of tools is not recorded, their name is all that there is."""
    lake = yield [
        agent(1),
        model(2, 1, at=40, said=[message("assistant", request("t", n=1))]),
        tool(3, 1, at=10, gen_ai__tool__call__result="one"),
        model(4, 1, at=60, said=[message("assistant", request("t", n=2))]),
        tool(5, 1, at=30, gen_ai__tool__call__result="two"),
        model(6, 1, at=80, said=[message("assistant", "It is 22C in Paris.")]),
    ]
    assert story(lake) == [
        'tool_call t {"n":1} ok',
        "observation one",
        'tool_call t {"n":2} ok',
        "observation two",
        ANSWER,
    ]


@built_together
def test_arguments_that_an_executor_fills_up_are_the_requests() -> Scene:
    """The tool's own span has the defaults, too."""
    lake = yield [
        agent(1),
        model(2, 1, at=40, said=[message("assistant", request("t", n=1))]),
        tool(3, 1, at=10, gen_ai__tool__call__arguments='{"n": 1, "unit": "C"}'),
    ]
    assert story(lake) == ['tool_call t {"n":1} ok']


@built_together
def test_other_arguments_before_any_request_are_another_call() -> Scene:
    """What the program called itself is not what the model asks for later."""
    lake = yield [
        agent(1),
        tool(2, 1, at=10, gen_ai__tool__call__arguments='{"n": 2}'),
        model(3, 1, at=40, said=[message("assistant", request("t", n=1))]),
    ]
    assert story(lake) == ['tool_call t {"n":2} ok', 'tool_call t {"n":1} not_executed']
