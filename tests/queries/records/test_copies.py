"""Calls that several spans record: replays, exported copies, polls, a second instrumentation."""

from collections.abc import Iterator
from itertools import count
from typing import Any

from tests.queries.together import Scene
from tests.queries.traces import (
    Row,
    TraceRows,
    agent,
    message,
    model,
    request,
    response,
    rows,
    span,
    story,
    tool,
)
from tests.scenes import built_together

CALL = 'tool_call get_weather {"city":"x"} ok'
STORY = [CALL, "observation sunny", "answer Sunny."]
USED = {"llm_call_count": 2, "input_tokens": 20, "output_tokens": 10}
TOKENS: Row = {"gen_ai__usage__input_tokens": 10, "gen_ai__usage__output_tokens": 5}
ASKED = message("user", "weather")


def _used(lake: TraceRows) -> list[Row]:
    return rows(lake, f"SELECT {', '.join(USED)} FROM trajectories")


def _requested(numbers: Iterator[int], parent: int | None, at: float, **fields: Any) -> Row:
    """Return a model call that requests the weather, by the GenAI conventions."""
    said = [message("assistant", request("get_weather", "c1", city="x"))]
    return model(next(numbers), parent, at=at, said=said, heard=[ASKED], **TOKENS, **fields)


def _executed(numbers: Iterator[int], parent: int | None, at: float, **fields: Any) -> Row:
    told: Row = {
        "gen_ai__tool__call__id": "c1",
        "gen_ai__tool__call__arguments": '{"city": "x"}',
        "gen_ai__tool__call__result": "sunny",
        **fields,
    }
    return tool(next(numbers), parent, at=at, tool_name="get_weather", **told)


def _answered(numbers: Iterator[int], parent: int | None, at: float, **fields: Any) -> Row:
    heard = [
        ASKED,
        message("assistant", request("get_weather", "c1", city="x")),
        message("tool", response("sunny", "c1")),
    ]
    said = [message("assistant", "Sunny.")]
    return model(next(numbers), parent, at=at, said=said, heard=heard, **TOKENS, **fields)


@built_together
def test_replays_of_calls_inside_an_agent_are_one_call() -> Scene:
    """A workflow that goes on after a pause records again what it had done before."""
    numbers = count(2)
    spans = [agent(1)]
    for at in (1, 11, 21):
        spans += [_requested(numbers, 1, at), _executed(numbers, 1, at + 2)]
    lake = yield [*spans, _answered(numbers, 1, 31)]

    assert story(lake) == STORY
    assert _used(lake) == [USED]


@built_together
def test_replays_below_agents_that_never_came_are_one_call() -> Scene:
    """The run that arrived whole is the one that made it."""
    numbers = count(2)
    spans = [agent(1, at=100)]
    for at in (1, 11):
        lost = 900 + at
        spans += [_requested(numbers, lost, at), _executed(numbers, lost, at + 2)]
    whole = [_requested(numbers, 1, 101), _executed(numbers, 1, 103), _answered(numbers, 1, 105)]
    lake = yield [*spans, *whole]

    assert story(lake) == STORY
    assert _used(lake) == [USED]


@built_together
def test_runs_that_a_replay_records_are_one_run() -> Scene:
    """One conversation, one agent, one call id: the run that tells most stands for all."""
    numbers = count(1)
    spans = []
    for at in (0, 200, 400):
        number = next(numbers)
        run = agent(number, at=at, gen_ai__conversation__id="conversation")
        spans += [run, _requested(numbers, number, at + 1), _executed(numbers, number, at + 3)]
        if at:
            spans.append(_answered(numbers, number, at + 5))
    lake = yield spans

    assert story(lake) == STORY
    assert _used(lake) == [USED]


def _of_openinference(number: int, parent: int | None, kind: str, at: float, **told: Any) -> Row:
    return span(
        number,
        parent,
        at=at,
        scope="openinference.instrumentation.langchain",
        openinference__span__kind=kind,
        **told,
    )


@built_together
def test_replays_are_one_call_in_openinference() -> Scene:
    """The model's call and the tool's have indexed names there, and the id stands elsewhere."""
    requested = "llm__output_messages__0__message__tool_calls__0__tool_call__"
    asking: Row = {
        "llm__input_messages__0__message__role": "user",
        "llm__input_messages__0__message__content": "weather",
        "llm__output_messages__0__message__role": "assistant",
        f"{requested}id": "call_8d2f6a1c4e",
        f"{requested}function__name": "get_weather",
        f"{requested}function__arguments": '{"city": "x"}',
        "llm__token_count__prompt": 10,
        "llm__token_count__completion": 5,
    }
    doing: Row = {
        "tool__name": "get_weather",
        "tool_call__id": "call_8d2f6a1c4e",
        "input__value": '{"city": "x"}',
        "output__value": "sunny",
    }
    numbers = count(2)
    spans = [span(1, openinference__span__kind="AGENT", agent__name="a", ms=100)]
    for at in (1, 11, 21):
        spans.append(_of_openinference(next(numbers), 1, "LLM", at, **asking))
        spans.append(_of_openinference(next(numbers), 1, "TOOL", at + 2, **doing))
    lake = yield spans

    assert story(lake)[0] == CALL
    assert rows(lake, "SELECT tool_call_count, llm_call_count FROM trajectories") == [
        {"tool_call_count": 1, "llm_call_count": 1}
    ]


@built_together
def test_replays_without_content_are_told_by_the_id_of_the_answer() -> Scene:
    """Vercel's SDK names it in its own way; nothing else is known of what was said."""
    numbers = count(2)
    spans = [agent(1)]
    for at in (1, 11):
        told: Row = {"ai__operationId": "ai.generateText.doGenerate", "ai__response__id": "msg_1"}
        spans.append(span(next(numbers), 1, at=at, ai__usage__inputTokens=10, **told))
    lake = yield spans

    assert rows(lake, "SELECT llm_call_count, input_tokens FROM trajectories") == [
        {"llm_call_count": 1, "input_tokens": 10}
    ]


@built_together
def test_spans_that_were_exported_twice_are_one_call() -> Scene:
    """All but their span ids is equal, times too; another parent does not matter to models."""
    numbers = count(2)
    spans = [agent(1)]
    for record, at in ((_requested, 1), (_executed, 3), (_answered, 5)):
        told: Row = {} if record is _executed else {"gen_ai__response__id": f"answer {at}"}
        spans += [record(numbers, 1, at, **told), record(numbers, 1, at, **told)]
    lake = yield spans

    assert story(lake) == STORY
    assert _used(lake) == [USED]


@built_together
def test_polls_for_an_answer_are_one_call() -> Scene:
    """What was asked for in the background has no answer at first; polls have no question."""
    numbers = count(2)
    known: Row = {"gen_ai__response__id": "resp_1"}
    asked = model(next(numbers), 1, at=1, heard=[ASKED], gen_ai__request__model="m", **known)
    said = [message("assistant", request("get_weather", "c1", city="x"))]
    polls = [
        model(
            next(numbers),
            1,
            at=at,
            said=said,
            **TOKENS,
            **known,
            gen_ai__operation__name="fetch_response",
            gen_ai__response__model="m",
        )
        for at in (3, 5)
    ]
    rest = [_executed(numbers, 1, 7), _answered(numbers, 1, 9)]
    lake = yield [agent(1), asked, *polls, *rest]

    assert story(lake) == STORY
    assert _used(lake) == [USED]


@built_together
def test_calls_of_a_loop_stay_apart() -> Scene:
    """Ids that restart in each round are not copies: each call's input has the one before."""
    numbers = count(2)
    spans = [agent(1)]
    heard = [ASKED]
    for at in (1, 11, 21):
        said = message("assistant", request("get_weather", "c1", city="x"))
        spans += [model(next(numbers), 1, at=at, said=[said], heard=[*heard], **TOKENS)]
        spans += [_executed(numbers, 1, at + 2)]
        heard += [said, message("tool", response("sunny", "c1"))]
    lake = yield spans

    assert rows(lake, "SELECT tool_call_count, llm_call_count FROM trajectories") == [
        {"tool_call_count": 3, "llm_call_count": 3}
    ]


@built_together
def test_last_messages_of_a_loop_that_are_equal_stay_apart() -> Scene:
    """Where only what is new is recorded, a poll hears the same each time, of its own id."""
    numbers = count(2)
    spans = [agent(1)]
    for at in (1, 11, 21):
        said = [message("assistant", request("get_weather", "c1", city="x"))]
        heard = [message("tool", response("sunny", "c1"))]
        spans += [model(next(numbers), 1, at=at, said=said, heard=heard, **TOKENS)]
        spans += [_executed(numbers, 1, at + 2)]
    lake = yield spans

    assert rows(lake, "SELECT tool_call_count, llm_call_count FROM trajectories") == [
        {"tool_call_count": 3, "llm_call_count": 3}
    ]


@built_together
def test_equal_calls_with_ids_of_their_own_stay_apart() -> Scene:
    """Parallel ones at one time, too."""
    requests = [request("get_weather", f"c{number}", city="x") for number in (1, 2)]
    spans = [
        agent(1),
        model(2, 1, at=1, said=[message("assistant", *requests)], heard=[ASKED]),
        *(
            _executed(count(number), 1, 3, gen_ai__tool__call__id=f"c{number - 2}")
            for number in (3, 4)
        ),
    ]
    lake = yield spans

    assert story(lake) == [CALL, "observation sunny"] * 2


@built_together
def test_retry_with_one_response_id_is_another_call() -> Scene:
    """The first failed: a gateway gave both one id."""
    numbers = count(2)
    known: Row = {"gen_ai__response__id": "r1"}
    failed = _requested(numbers, 1, 1, error="timeout", **known)
    lake = yield [agent(1), failed, _requested(numbers, 1, 5, **known)]

    assert rows(lake, "SELECT llm_call_count FROM trajectories") == [{"llm_call_count": 2}]


@built_together
def test_tool_that_failed_and_was_run_again_is_no_copy() -> Scene:
    """One request, two executions: the second went well."""
    numbers = count(2)
    spans = [
        agent(1),
        _requested(numbers, 1, 1),
        _executed(numbers, 1, 3, error="busy"),
        _executed(numbers, 1, 5),
    ]
    lake = yield spans

    assert rows(lake, "SELECT tool_call_count FROM trajectories") == [{"tool_call_count": 2}]


@built_together
def test_trials_of_one_trace_stay_runs_of_their_own() -> Scene:
    """A scripted model gives each trial the same ids, and no conversation joins them."""
    numbers = count(1)
    spans = []
    for at in (0, 200):
        number = next(numbers)
        spans += [agent(number, at=at), _requested(numbers, number, at + 1)]
        spans += [_executed(numbers, number, at + 3), _answered(numbers, number, at + 5)]
    lake = yield spans

    assert _used(lake) == [USED] * 2
    assert rows(lake, "SELECT tool_call_count FROM trajectories") == [{"tool_call_count": 1}] * 2


@built_together
def test_client_that_streams_after_its_framework_ended_records_the_same_call() -> Scene:
    """The framework's span ends when the stream is handed on, and the client's begins then."""
    said = [message("assistant", "Sunny.")]
    lake = yield [
        agent(1),
        span(2, 1, at=1, ms=50),
        model(3, 2, at=2, ms=1, scope="framework", said=said, **TOKENS),
        model(4, 2, at=5, ms=9, scope="client", said=said, **TOKENS),
    ]

    assert story(lake) == ["answer Sunny."]
    assert rows(lake, "SELECT llm_call_count FROM trajectories") == [{"llm_call_count": 1}]


def _apart(response_id: str, **fields: Any) -> list[Row]:
    """Return a call as OpenInference tells it, and a bare record of it in another trace."""
    bare: Row = {"gen_ai__response__id": response_id, "gen_ai__usage__input_tokens": 10}
    placed = {"at": 2, "ms": 28, "scope": "com.anthropic", **bare, **fields}
    said = "llm__output_messages__0__message__content"
    told: Row = {"openinference__span__kind": "LLM", said: "Sunny."}
    told |= {"output__value": f'{{"id":"{response_id}"}}', "llm__token_count__prompt": 10}
    whole = span(1, trace=1, at=1, ms=30, scope="openinference.anthropic", **told)
    return [whole, model(1, trace=2, **placed)]


@built_together
def test_call_that_two_instrumentations_record_in_two_traces_counts_once() -> Scene:
    """Nothing is around it, so each of them begins a trace; the one that tells more counts."""
    lake = yield _apart("apart-1")
    told = rows(lake, "SELECT llm_call_count AS calls, input_tokens FROM trajectories")
    assert told == [{"calls": 1, "input_tokens": 10}]
    assert story(lake) == ["answer Sunny."]


@built_together
def test_record_beside_an_agents_trace_counts_once() -> Scene:
    """A gateway's own trace of a call that an agent's trace has, too."""
    call = _apart("apart-2", scope="gateway", at=3, ms=20)
    lake = yield [agent(9, trace=1, ms=99), call[0] | {"parentSpanId": f"{9:016x}"}, call[1]]
    told = rows(lake, "SELECT llm_call_count AS calls, input_tokens FROM trajectories")
    assert told == [{"calls": 1, "input_tokens": 10}]


@built_together
def test_calls_of_other_times_with_one_response_id_are_two() -> Scene:
    """A stub answers each call with one id."""
    lake = yield _apart("apart-3", at=50)
    assert len(rows(lake, "SELECT 1 FROM trajectories")) == 2


@built_together
def test_calls_of_one_scope_in_two_traces_are_two() -> Scene:
    """One instrumentation records each call once."""
    lake = yield _apart("apart-4", scope="openinference.anthropic")
    assert len(rows(lake, "SELECT 1 FROM trajectories")) == 2
