"""Fields that some instrumentation writes in a place of its own are found there."""

import json
from typing import Any

import pytest

from tracegrade_lake import Lake
from tracegrade_queries.build.build import build

from .traces import (
    NOON_NS,
    Row,
    agent,
    built_apart,
    land,
    land_logs,
    message,
    model,
    request_of,
    rows,
    span,
    tool,
)

WEATHER = {"type": "function", "function": {"name": "get_weather", "parameters": {}}}
SAID = "llm__output_messages__0__message__"
AMONG_CONTENTS: dict[str, Any] = {
    f"{SAID}role": "assistant",
    f"{SAID}contents__0__message_content__type": "tool_use",
    f"{SAID}contents__0__tool_call__id": "c1",
    f"{SAID}contents__0__tool_call__function__name": "w",
    f"{SAID}contents__0__tool_call__function__arguments": '{"city": "Paris"}',
}
LINES = 'Is it warm?\nSay "no".'
ASKS = [{"role": "assistant", "parts": [{"type": "text", "content": "Hm."}]}]


def error_record(number: int, name: str, trace: int) -> Row:
    """Return the log record of an exception that ended a span."""
    said = {"exception.type": "TimeoutError", "exception.message": "backend down"}
    return {
        "eventName": name,
        "timeUnixNano": str(NOON_NS),
        "traceId": f"{trace:032x}",
        "spanId": f"{number:016x}",
        "attributes": [{"key": key, "value": {"stringValue": said[key]}} for key in said],
    }


# What is written, and what is read: columns of the first step and of the trajectory.
CASES: dict[str, tuple[list[Row], Row]] = {
    "tools that OpenLIT names on the span of a model call": (
        [
            agent(1),
            model(
                2,
                1,
                gen_ai__tool__name="w",
                gen_ai__tool__call__id="c1",
                said=[message("assistant", "Hm.")],
            ),
        ],
        {"content": "Hm.", "tool_name": None, "tool_call_id": None},
    ),
    "arguments that are JSON twice": (
        [agent(1), tool(2, 1, gen_ai__tool__call__arguments=json.dumps('{"city": "Paris"}'))],
        {"arguments": '{"city":"Paris"}'},
    ),
    "an argument that is a text": (
        [agent(1), tool(2, 1, gen_ai__tool__call__arguments='"Paris"')],
        {"arguments": '"Paris"'},
    ),
    "messages that are JSON twice": (
        [
            agent(1),
            model(
                2,
                1,
                gen_ai__input__messages=json.dumps(json.dumps([message("user", "Why?")])),
                gen_ai__output__messages=json.dumps(json.dumps(ASKS)),
            ),
        ],
        {"content": "Hm.", "user_input": "Why?"},
    ),
    "a session that the user names": (
        [agent(1, session__id="s1"), tool(2, 1)],
        {"conversation_id": "s1"},
    ),
    "a result as blocks of Anthropic's": (
        [agent(1), tool(2, 1, anthropic__tool_result__content='[{"type":"text","text":"22C"}]')],
        {"result": "22C", "flags": []},
    ),
    "a result as LangChain prints a tool's message": (
        [
            agent(1),
            tool(
                2, 1, gen_ai__tool__call__result="content='It\\'s 22C' name='w' tool_call_id='c'"
            ),
        ],
        {"result": "It\\'s 22C"},
    ),
    "content that Anthropic's client cut": (
        [
            agent(1),
            tool(
                2,
                1,
                anthropic__tool_result__content='[{"type":"text","text":"22',
                anthropic__content__truncated=True,
            ),
        ],
        {"flags": ["result_truncated", "truncated"]},
    ),
    "a result that AG2 cut": (
        [
            agent(1),
            tool(
                2,
                1,
                gen_ai__tool__call__result="22C...[truncated]",
                ag2__tool__call__result__truncated=True,
            ),
        ],
        {"flags": ["result_truncated"]},
    ),
    "thoughts that Google's client tells in the total alone": (
        [
            agent(1),
            model(
                2,
                1,
                gen_ai__provider__name="gcp.gen_ai",
                gen_ai__usage__input_tokens=50,
                gen_ai__usage__output_tokens=6,
                gen_ai__usage__total_tokens=60,
                gen_ai__output__messages=json.dumps(ASKS),
            ),
        ],
        {"output_tokens": 10},
    ),
    "a tool's status of its own": (
        [agent(1), tool(2, 1, gen_ai__tool__status="error")],
        {"status": "error"},
    ),
    "an exception of a tool in a log record": (
        [agent(1), tool(2, 1)],
        {"status": "error", "error_type": "TimeoutError", "error_message": "backend down"},
    ),
    "tokens in details": (
        [
            agent(1),
            model(
                2,
                1,
                said=ASKS,
                gen_ai__usage__details__reasoning_tokens=3,
                gen_ai__usage__details__cache_read_tokens=4,
            ),
        ],
        {"reasoning_tokens": 3, "cache_read_tokens": 4},
    ),
    "names of functions on the agent": (
        [agent(1, sk__available_functions="Weather-get,Time-now"), model(2, 1, said=ASKS)],
        {"offered": ["Weather-get", "Time-now"]},
    ),
    "a model call by an unknown operation": (
        [
            agent(1),
            model(2, 1, said=ASKS, gen_ai__operation__name="aquery", gen_ai__request__model="m"),
        ],
        {"kind": "answer", "content": "Hm.", "model": "m"},
    ),
    "messages as two attributes": (
        [agent(1), model(2, 1, gen_ai__prompt="Why?", gen_ai__completion="Hm.")],
        {"content": "Hm.", "user_input": "Why?"},
    ),
    "messages as two attributes of JSON": (
        [agent(1), model(2, 1, gen_ai__completion='[{"role": "assistant", "content": "Hm."}]')],
        {"content": "Hm."},
    ),
    "a text that the user hides": (
        [
            agent(1),
            span(
                2,
                1,
                openinference__span__kind="LLM",
                llm__output_messages__0__message__content="__REDACTED__",
            ),
        ],
        {"content": "__REDACTED__", "flags": ["redacted"]},
    ),
    "events that the exporter dropped": (
        [agent(1), model(2, 1, said=ASKS) | {"droppedEventsCount": 2}],
        {"flags": ["dropped_attributes"]},
    ),
    "attributes that the exporter dropped": (
        [agent(1), tool(2, 1) | {"droppedAttributesCount": 2}],
        {"flags": ["dropped_attributes"]},
    ),
    "tools among the parameters of a call": (
        [
            agent(1),
            span(
                2,
                1,
                openinference__span__kind="LLM",
                llm__invocation_parameters=json.dumps({"tools": [WEATHER]}),
                llm__output_messages__0__message__content="Hm.",
            ),
        ],
        {"offered": ["get_weather"]},
    ),
    "a request among the contents of a message": (
        [
            agent(1),
            span(2, 1, openinference__span__kind="LLM", **AMONG_CONTENTS),
            tool(3, 1, tool_name="w", gen_ai__tool__call__id="c1"),
        ],
        {"tool_name": "w", "arguments": '{"city":"Paris"}', "request_span_id": f"{2:016x}"},
    ),
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Row]:
    """What is read of each case: its first step, with what its trajectory says."""
    lake = Lake.create(tmp_path_factory.mktemp("fields") / "lake")
    traces = {name: f"{number:032x}" for number, name in enumerate(CASES, 1)}
    spans = [one | {"traceId": traces[name]} for name in CASES for one in CASES[name][0]]
    land(lake, request_of(spans))
    failing = list(CASES).index("an exception of a tool in a log record") + 1
    record = error_record(2, "gen_ai.execute_tool.exception", failing)
    body = {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}
    land_logs(lake, json.dumps(body).encode())
    build(lake)
    steps = rows(
        lake,
        "SELECT steps.*, conversation_id, user_input, "
        "  offered_tools::JSON ->> '$[*].name' AS offered_names "
        "FROM trajectories INNER JOIN steps USING (trajectory_id) WHERE step_index = 0",
    )
    of_trace = {row["trace_id"]: row | {"offered": row["offered_names"]} for row in steps}
    return {name: of_trace.get(trace, {}) for name, trace in traces.items()}


@pytest.mark.parametrize("name", CASES)
def test_field_is_found_where_it_is_written(found: dict[str, Row], name: str) -> None:
    """Each in a trace of its own."""
    expected = CASES[name][1]
    assert {key: found[name].get(key) for key in expected} == expected


AGNO_OPENINFERENCE: dict[str, Any] = {
    "scope": "openinference.instrumentation.agno",
    "openinference__span__kind": "AGENT",
    "name": "helper.run",
}
AGNO_TRACELOOP: dict[str, Any] = {
    "scope": "opentelemetry.instrumentation.agno",
    "traceloop__span__kind": "agent",
}
DSPY = "opentelemetry.instrumentation.genai.dspy"
AGNO_BLOCKS = "[{'type': 'text', 'text': 'Is it warm?'}, {'type': 'text', 'text': 'Say \"no\".'}]"
AGNO_MESSAGE = f"id='1' role='user' content={AGNO_BLOCKS} compressed_content=None name=None"
AGNO_TEXT = "id='1' role='user' content=\"Isn't it warm?\" compressed_content=None"
DSPY_FIELDS = "{'question': 'Is it warm?', 'history': History(messages=[])}"


def heard_by_agent(asked: str, scope: str = "test") -> Row:
    """Return an agent's span that tells what a user asked as the conventions have it."""
    heard = json.dumps([message("user", asked)])
    return agent(1, scope=scope, gen_ai__input__messages=heard)


ASKING: list[tuple[Row, str]] = [
    (
        heard_by_agent(
            '[{"type":"text","text":"Is it warm?"},{"type":"text","text":"Say \\"no\\"."}]'
        ),
        LINES,
    ),
    (span(1, input__value=AGNO_BLOCKS, **AGNO_OPENINFERENCE), LINES),
    (
        span(1, input__value="[{'type': 'text', 'text': \"It's\\nwarm.\"}]", **AGNO_OPENINFERENCE),
        "It's\nwarm.",
    ),
    (span(1, traceloop__entity__input=AGNO_MESSAGE, **AGNO_TRACELOOP), LINES),
    (span(1, traceloop__entity__input=AGNO_TEXT, **AGNO_TRACELOOP), "Isn't it warm?"),
    (heard_by_agent(DSPY_FIELDS, DSPY), "Is it warm?"),
    (heard_by_agent("{'question': \"Isn't it?\\nSay so.\"}", DSPY), "Isn't it?\nSay so."),
    (heard_by_agent("{'question': 7}", DSPY), "{'question': 7}"),
]
PRINTED = [
    AGNO_BLOCKS,
    AGNO_MESSAGE,
    AGNO_TEXT,
    DSPY_FIELDS,
    '"Is it warm?"',
    "['Is it warm?']",
]


@pytest.fixture(scope="module")
def user_inputs(tmp_path_factory: pytest.TempPathFactory) -> list[str | None]:
    """What users are found to have asked: of ASKING, then of PRINTED by another framework."""
    answer = model(2, 1, said=[message("assistant", "No.")])
    asked = [*([asking, answer] for asking, _ in ASKING), *([heard_by_agent(p)] for p in PRINTED)]
    lake = built_apart(tmp_path_factory.mktemp("asked"), asked)
    found = rows(lake, "SELECT user_input FROM trajectories ORDER BY trace_id")
    return [row["user_input"] for row in found]


@pytest.mark.parametrize("number", range(len(ASKING)))
def test_blocks_that_a_user_asked_in_are_lines(user_inputs: list[str | None], number: int) -> None:
    """A framework may write or print the content blocks of a message in place of its text."""
    assert user_inputs[number] == ASKING[number][1]


@pytest.mark.parametrize("number", range(len(PRINTED)))
def test_user_of_another_framework_may_ask_of_what_python_prints(
    user_inputs: list[str | None], number: int
) -> None:
    """Only Agno and DSPy print what they are asked: elsewhere a user wrote it so."""
    assert user_inputs[len(ASKING) :][number] == PRINTED[number]


RESOURCE = {
    "tracegrade.task.id": "clean-uploads",
    "tracegrade.task.category": "files",
    "tracegrade.trial": "3",
    "tracegrade.run.mode": "mocked",
}


@pytest.fixture(scope="module")
def declared(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    """What runs of three resources declare; the second says more in its span."""
    lake = Lake.create(tmp_path_factory.mktemp("declared") / "lake")
    land(
        lake,
        request_of([agent(1), tool(2, 1)], RESOURCE),
        request_of([agent(1, trace=2, tracegrade__task__id="another")], RESOURCE),
        request_of([agent(1, trace=3)], {"tracegrade.trial": "third"}),
    )
    build(lake)
    columns = "task_id, task_category, trial, run_mode"
    return rows(lake, f"SELECT {columns} FROM trajectories ORDER BY trace_id")


def test_the_resource_names_task_trial_and_mode_of_spans_that_do_not(declared: list[Row]) -> None:
    """Agents in any language get their context from the environment."""
    assert declared[0] == {
        "task_id": "clean-uploads",
        "task_category": "files",
        "trial": 3,
        "run_mode": "mocked",
    }


def test_what_a_span_says_comes_before_what_its_resource_says(declared: list[Row]) -> None:
    """A program may work on several tasks."""
    assert (declared[1]["task_id"], declared[1]["trial"]) == ("another", 3)


def test_a_trial_that_is_no_number_is_not_known(declared: list[Row]) -> None:
    """Nothing is guessed."""
    assert declared[2]["trial"] is None
