"""Which execution and which reply belong to a request, where ids are used again."""

import json
from collections.abc import Callable
from pathlib import Path

from tests.queries.together import Scene
from tests.queries.traces import (
    Row,
    agent,
    built_apart,
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

USER = message("user", "go")


def genai(at: float, number: int, said: list[Row], heard: list[Row]) -> Row:
    """Return a model call of the GenAI conventions."""
    return model(number, 1, at=at, said=said, heard=heard)


def openinference(at: float, number: int, said: list[Row], heard: list[Row]) -> Row:
    """Return the same model call as OpenInference writes it."""
    told: Row = {"openinference__span__kind": "LLM"}
    for direction, messages in (("input", heard), ("output", said)):
        for position, each in enumerate(messages):
            prefix = f"llm.{direction}_messages.{position}.message."
            told[prefix + "role"] = each["role"]
            for part in each["parts"]:
                if part["type"] == "tool_call":
                    call = prefix + "tool_calls.0.tool_call."
                    told[call + "id"] = part["id"]
                    told[call + "function.name"] = part["name"]
                    told[call + "function.arguments"] = json.dumps(part["arguments"])
                elif part["type"] == "tool_call_response":
                    told[prefix + "tool_call_id"] = part["id"]
                    told[prefix + "content"] = part["response"]
                else:
                    told[prefix + "content"] = part["content"]
    return span(number, 1, at=at, scope="openinference", **told)


def three_rounds(call: Callable[..., Row], replied: str | None) -> list[Row]:
    """Return three rounds with one id; the second call never ran, and was maybe answered."""
    asked = [message("assistant", request("run", "call_0", command=f"c{i}")) for i in range(3)]
    replies = [[message("tool", response(text, "call_0"))] for text in ("r0", replied, "r2")]
    replies[1] = replies[1] if replied else []
    heard = [[USER]]
    for said, reply in zip(asked, replies, strict=True):
        heard.append([*heard[-1], said, *reply])
    done = [message("assistant", "done")]
    return [
        agent(1),
        *(
            call(10 * i, 2 + i, [asked[i]] if i < 3 else done, heard[i])
            for i in range(4)
        ),
        *(
            tool(10 + i, 1, at=10 * i + 5, tool_name="run", gen_ai__tool__call__id="call_0",
                 gen_ai__tool__call__result=f"r{i}")
            for i in (0, 2)
        ),
    ]  # fmt: skip


CASES = [(call, replied) for call in (genai, openinference) for replied in ("denied", None)]


def test_an_id_that_each_round_uses_again_is_of_that_round(tmp_path: Path) -> None:
    """A call that was denied has neither execution nor result of another round."""
    lake = built_apart(tmp_path, [three_rounds(*case) for case in CASES])

    told = rows(
        lake,
        "SELECT trace_id, list((status, result) ORDER BY step_index) "
        "FILTER (WHERE kind = 'tool_call') AS calls, "
        "list(content ORDER BY step_index) FILTER (WHERE kind = 'observation') AS seen "
        "FROM steps GROUP BY trace_id ORDER BY trace_id",
    )
    calls = [("ok", "r0"), ("not_executed", None), ("ok", "r2")]
    assert [row["calls"] for row in told] == len(CASES) * [calls]
    assert [row["seen"] for row in told] == [
        [text for text in ("r0", replied, "r2") if text] for _, replied in CASES
    ]


@built_together
def test_requests_of_one_round_with_one_id_are_told_apart_by_tool_and_arguments() -> Scene:
    """Their replies are in the order of the requests."""
    said = [message("assistant", request("a", "call_0", n=1), request("b", "call_0", n=2))]
    heard = [USER, *said, *(message("tool", response(text, "call_0")) for text in ("ra", "rb"))]
    lake = yield [
        agent(1),
        genai(0, 2, said, [USER]),
        tool(3, 1, at=5, tool_name="b", gen_ai__tool__call__id="call_0",
             gen_ai__tool__call__arguments='{"n": 2}', gen_ai__tool__call__result="rb"),
        tool(4, 1, at=6, tool_name="a", gen_ai__tool__call__id="call_0",
             gen_ai__tool__call__arguments='{"n": 1}', gen_ai__tool__call__result="ra"),
        genai(10, 5, [message("assistant", "done")], heard),
    ]  # fmt: skip

    assert story(lake) == [
        'tool_call a {"n":1} ok', "observation ra", 'tool_call b {"n":2} ok', "observation rb",
        "answer done",
    ]  # fmt: skip


@built_together
def test_a_clock_that_is_behind_does_not_part_a_call_from_its_only_request() -> Scene:
    """An id that is used once needs no time."""
    said = [message("assistant", request("a", "c1", n=1))]
    lake = yield [
        agent(1),
        genai(10, 2, said, [USER]),
        tool(3, 1, at=5, tool_name="a", gen_ai__tool__call__id="c1",
             gen_ai__tool__call__result="ra"),
    ]  # fmt: skip

    assert story(lake) == ['tool_call a {"n":1} ok', "observation ra"]


OPENLLMETRY = "opentelemetry.instrumentation.openai.v1"


def of_responses(*, indexed: bool) -> list[Row]:
    """Return two rounds of OpenLLMetry of the Responses API, in its form of today or before."""
    first, second = request("look", "fc_1", at=1), request("look", "fc_2", at=2)
    replies = [
        message("tool", response("one", "call_1")),
        message("tool", response("two", "call_2")),
    ]
    heard = [message("user", "Look.")]
    then = [*heard, message("assistant", first), message("assistant", second), *replies]
    said = [message("assistant", first, second)]
    if indexed:
        return indexed_responses([first, second])
    return [
        model(1, None, heard=heard, said=said, scope=OPENLLMETRY),
        model(2, None, at=5, heard=then, said=[message("assistant", "Seen.")], scope=OPENLLMETRY),
    ]


def indexed_responses(requests: list[Row]) -> list[Row]:
    """Return the same rounds under the names that it gave parts of messages before."""
    calls = {
        f"tool_calls.{number}.{key}": text
        for number, part in enumerate(requests)
        for key, text in {
            "id": part["id"],
            "name": part["name"],
            "arguments": json.dumps(part["arguments"]),
        }.items()
    }
    told: Row = {"llm.request.type": "chat", "gen_ai.completion.0.role": "assistant"}
    asked: Row = {f"gen_ai.completion.0.{key}": text for key, text in calls.items()}
    turns: list[Row] = [
        {"role": "user", "content": "Look."},
        {"role": "assistant", **calls},
        {"role": "tool", "tool_call_id": "call_1", "content": "one"},
        {"role": "tool", "tool_call_id": "call_2", "content": "two"},
    ]
    answered: Row = {
        f"gen_ai.prompt.{number}.{key}": text
        for number, turn in enumerate(turns)
        for key, text in turn.items()
    }
    answered["gen_ai.completion.0.content"] = "Seen."
    return [
        span(
            number,
            None,
            at=at,
            scope=OPENLLMETRY,
            **{key.replace(".", "__"): text for key, text in each},
        )
        for number, at, each in ((1, 0, (told | asked).items()), (2, 5, (told | answered).items()))
    ]


SEEN = [
    'tool_call look {"at":1} ok',
    "observation one",
    'tool_call look {"at":2} ok',
    "observation two",
    "answer Seen.",
]


@built_together
def test_calls_that_go_by_the_id_of_their_item_have_results() -> Scene:
    """Results go by the id of the call, which only they tell: their order says whose they are."""
    lake = yield of_responses(indexed=False)
    assert story(lake) == SEEN


@built_together
def test_calls_that_go_by_the_id_of_their_item_in_indexed_keys() -> Scene:
    """The previous form was the same."""
    lake = yield of_responses(indexed=True)
    assert story(lake) == SEEN
