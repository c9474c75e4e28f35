"""Spans that a second processor or exporter recorded once more, under ids of its own."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.queries.together import Scene
from tests.queries.traces import (
    NOON_NS,
    Row,
    agent,
    land,
    land_logs,
    message,
    model,
    request,
    request_of,
    response,
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

FINE = 0.000123
"""In milliseconds: what a clock of nanoseconds tells beyond them."""
STORY = ['tool_call get_weather {"city":"x"} ok', "observation sunny", "answer Sunny."]
USED = {"llm_call_count": 2, "input_tokens": 20, "output_tokens": 10}
TOKENS: Row = {"gen_ai__usage__input_tokens": 10, "gen_ai__usage__output_tokens": 5}
ASKED = message("user", "weather")


def _called(number: int, parent: int, **fields: Any) -> Row:
    told: Row = {
        "gen_ai__tool__call__arguments": '{"city": "x"}',
        "gen_ai__tool__call__result": "sunny",
    }
    return tool(number, parent, tool_name="get_weather", **told, **fields)


def _inside(fine: float = FINE, **fields: Any) -> list[Row]:
    """Return what is inside of agent 1: a loop around two model calls, and a tool below it."""
    requested = [message("assistant", request("get_weather", city="x"))]
    heard = [ASKED, *requested, message("tool", response("sunny"))]
    said = [message("assistant", "Sunny.")]
    return [
        span(2, 1, name="loop", at=1 + fine, ms=50, **fields),
        model(3, 2, at=2 + fine, said=requested, heard=[ASKED], **TOKENS, **fields),
        _called(4, 2, at=6 + fine, ms=2, **fields),
        model(5, 2, at=9 + fine, said=said, heard=heard, **TOKENS, **fields),
    ]


def _copied(spans: Iterable[Row], by: int) -> list[Row]:
    """Return the spans with other ids, below the copies of their parents but for the outermost."""
    copies = [*spans]
    ids = {each["spanId"] for each in copies}

    def renamed(span_id: str) -> str:
        return f"{int(span_id, 16) + by:016x}" if span_id in ids else span_id

    return [
        each | {"spanId": renamed(each["spanId"]), "parentSpanId": renamed(each["parentSpanId"])}
        for each in copies
    ]


def _used(lake: Any) -> list[Row]:
    return rows(lake, f"SELECT {', '.join(USED)} FROM trajectories")


@built_together
def test_a_run_whose_inside_came_twice_is_one() -> Scene:
    """The calls bear no ids, and each is below the copy of its own parent."""
    inside = _inside()
    lake = yield [agent(1, at=FINE), *inside, *_copied(inside, 100)]

    assert story(lake) == STORY
    assert _used(lake) == [USED]


@built_together
def test_what_came_three_times_is_one() -> Scene:
    """In any order, the copies first."""
    inside = _inside()
    lake = yield [*_copied(inside, 200), *_copied(inside, 100), *inside[::-1], agent(1, at=FINE)]

    assert story(lake) == STORY
    assert _used(lake) == [USED]


@built_together
def test_the_copy_with_the_lowest_id_counts() -> Scene:
    """Whichever came first."""
    inside = _inside()
    lake = yield [agent(1, at=FINE), *_copied(inside, 100), *inside]

    called = "SELECT span_id, request_span_id FROM steps WHERE kind = 'tool_call'"
    assert rows(lake, called) == [{"span_id": f"{4:016x}", "request_span_id": f"{3:016x}"}]


@built_together
def test_a_run_that_came_twice_with_its_agent_is_one() -> Scene:
    """The outermost span is a copy as well."""
    run = [agent(1, at=FINE), *_inside()]
    lake = yield [*run, *_copied(run, 100)]

    assert story(lake) == STORY
    assert _used(lake) == [USED]


@built_together
def test_copies_of_other_conventions_are_one() -> Scene:
    """OpenInference's, of a tool without an id, and the agent's own record."""
    inside = [
        span(
            2,
            1,
            at=2 + FINE,
            openinference__span__kind="LLM",
            llm__token_count__prompt=10,
            llm__output_messages__0__message__role="assistant",
            llm__output_messages__0__message__content="I look.",
        ),
        span(
            3,
            1,
            at=4 + FINE,
            openinference__span__kind="TOOL",
            tool__name="t",
            input__value='{"city": "x"}',
            output__value="sunny",
        ),
    ]
    above = span(1, at=FINE, ms=100, openinference__span__kind="AGENT", agent__name="a")
    lake = yield [above, *inside, *_copied(inside, 100)]

    found = rows(lake, "SELECT llm_call_count, input_tokens, tool_call_count FROM trajectories")
    assert found == [{"llm_call_count": 1, "input_tokens": 10, "tool_call_count": 1}]


@built_together
def test_copies_by_a_clock_of_milliseconds_are_one_where_all_came_twice() -> Scene:
    """Nothing but a second record makes every span equal another."""
    inside = _inside(fine=0)
    lake = yield [agent(1), *inside, *_copied(inside, 100)]

    assert story(lake) == STORY
    assert _used(lake) == [USED]


@built_together
def test_equal_calls_in_parallel_are_two_by_a_clock_of_milliseconds() -> Scene:
    """Two calls of a tool may take as long as each other, and have no ids."""
    inside = _inside(fine=0)
    lake = yield [agent(1), *inside, _called(6, 2, at=6, ms=2)]

    assert rows(lake, "SELECT tool_call_count FROM trajectories") == [{"tool_call_count": 2}]


@built_together
def test_two_calls_that_are_all_that_came_are_two() -> Scene:
    """A pair of one kind is not a second record of a run."""
    lake = yield [agent(1), _called(2, 1, at=6), _called(3, 1, at=6)]

    assert rows(lake, "SELECT tool_call_count FROM trajectories") == [{"tool_call_count": 2}]


@pytest.mark.parametrize("other", ["status", "attributes", "events"])
def test_what_differs_in_anything_but_ids_is_no_copy(tmp_path: Path, other: str) -> None:
    """Equal times and names alone say nothing."""
    first = _called(2, 1, at=6 + FINE)
    second = first | {"spanId": f"{3:016x}"}
    match other:
        case "status":
            second |= {"status": {"code": 2, "message": "no"}}
        case "attributes":
            second |= {
                "attributes": [*first["attributes"], {"key": "n", "value": {"intValue": 1}}]
            }
        case _:
            told = [{"key": "exception.message", "value": {"stringValue": "no"}}]
            second |= {"events": [{"name": "exception", "timeUnixNano": 1, "attributes": told}]}
    lake = Lake.create(tmp_path / "lake")
    land(lake, request_of([agent(1, at=FINE), first, second]))
    build(lake)

    assert rows(lake, "SELECT tool_call_count FROM trajectories") == [{"tool_call_count": 2}]


def test_the_copy_that_log_records_name_counts(tmp_path: Path) -> None:
    """What was said stands in them, by the id of the span alone."""
    heard = model(2, 1, at=2 + FINE, gen_ai__system="openai", **TOKENS)
    lake = Lake.create(tmp_path / "lake")
    land(lake, request_of([agent(1, at=FINE), *_copied([heard], -1 + 2**32), heard]))
    named = _copied([heard], -1 + 2**32)[0]["spanId"]
    land_logs(lake, _said_in_a_log(named, "Sunny."))
    build(lake)

    assert story(lake) == ["answer Sunny."]
    assert rows(lake, "SELECT llm_call_count FROM trajectories") == [{"llm_call_count": 1}]


def test_copies_are_counted(tmp_path: Path) -> None:
    """By what they record: two model calls and a tool's; the loop around them is none."""
    inside = _inside()
    lake = Lake.create(tmp_path / "lake")
    land(lake, request_of([agent(1, at=FINE), *inside, *_copied(inside, 100)]))
    with connect(lake) as con:
        take_all(con)
        split_into_steps(con)
        assert con.table("copies").fetchall() == [("exported_twice", 3)]


def _said_in_a_log(span_id: str, text: str) -> bytes:
    record = {
        "timeUnixNano": str(NOON_NS),
        "traceId": f"{1:032x}",
        "spanId": span_id,
        "eventName": "gen_ai.choice",
        "body": {
            "kvlistValue": {
                "values": [
                    {"key": "index", "value": {"intValue": "0"}},
                    {
                        "key": "message",
                        "value": {
                            "kvlistValue": {
                                "values": [
                                    {"key": "role", "value": {"stringValue": "assistant"}},
                                    {"key": "content", "value": {"stringValue": text}},
                                ]
                            }
                        },
                    },
                ]
            }
        },
    }
    scope = {"scope": {"name": "test"}, "logRecords": [record]}
    return json.dumps({"resourceLogs": [{"resource": {}, "scopeLogs": [scope]}]}).encode()
