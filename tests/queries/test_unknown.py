"""Spans of frameworks that no dialect knows make runs where they are an agent's, and else none."""

import json
from collections.abc import Mapping

import pytest

from tracegrade_lake import Lake
from tracegrade_queries.build.build import build

from .traces import Row, land, line, message, model, request, request_of, rows, span, tool

QUESTION = '{"question": "What is the weather?"}'
PARIS = '{"city": "Paris"}'
ASKED = {"role": "user", "content": "What is the weather?"}
CALL = {"id": "c1", "function": {"name": "get_weather", "arguments": PARIS}}
REQUESTED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
TOLD = {"role": "tool", "tool_call_id": "c1", "content": "22C"}
CALLED = ['tool_call get_weather {"city":"Paris"} ok', "observation 22C"]
ANSWER = "answer It is 22C."
SAID = message("assistant", request("get_weather", "c1", city="Paris"))
HTTP: Row = {"http__request__method": "GET", "url__full": "http://svc/agent/tool/llm"}
SQL: Row = {"db__system": "postgresql", "db__query__text": "SELECT * FROM tool"}


def _given(*args: object, **kwargs: object) -> str:
    """Return the input of a decorated function."""
    return json.dumps({"args": args, "kwargs": kwargs})


def _by_kind(key: str, heard: str, said: str) -> list[Row]:
    """Return a run whose spans say their kind, one input and one output each under one key."""

    def told(kind: str, before: object, after: object) -> Row:
        texts = [each if isinstance(each, str) else json.dumps(each) for each in (before, after)]
        return {key: kind, heard: texts[0], said: texts[1]}

    answer = {"role": "assistant", "content": "It is 22C."}
    return [
        span(1, ms=50, name="weather", **told("agent", "What is the weather?", "It is 22C.")),
        span(
            2, 1, at=1, name="gpt", **told("LLM", [ASKED], {"choices": [{"message": REQUESTED}]})
        ),
        span(3, 1, at=5, name="get_weather", **told("tool", PARIS, '"22C"')),
        span(4, 1, at=9, name="gpt", **told("LLM", [ASKED, REQUESTED, TOLD], answer)),
    ]


# Each a trace: its spans, and the steps that are read of them.
TRACES: Mapping[str, tuple[list[Row], list[str]]] = {
    "kinds": (_by_kind("acme__span__type", "acme__input", "acme__output"), [*CALLED, ANSWER]),
    "camel case": (_by_kind("spanKind", "inputValue", "outputValue"), [*CALLED, ANSWER]),
    "snake case": (_by_kind("run_type", "inputs_json", "outputs_json"), [*CALLED, ANSWER]),
    "names": (
        [
            span(1, ms=50, name="agent.run", input="What is the weather?", output="It is 22C."),
            span(2, 1, at=1, name="llm.call", prompt="What is the weather?", completion="Hm."),
            span(
                3, 1, at=5, name="tool.call", tool__name="get_weather", tool__args__city="Paris",
                tool__output="22C",
            ),
            span(4, 1, at=9, name="llm.call", prompt="…", completion="It is 22C."),
        ],
        ["message Hm.", *CALLED, ANSWER],
    ),
    "names alone": (
        [
            span(1, ms=50, name="WeatherAgent.run"),
            span(2, 1, at=1, name="ChatCompletion"),
            span(3, 1, at=5, name="execute_tool get_weather", error="boom"),
        ],
        ["tool_call get_weather error"],
    ),
    "calls beside the output": (
        [
            span(1, name="llm_request", llm__model="m", llm__tool_calls=json.dumps([CALL])),
            span(2, at=5, name="function_tool", lk__function_tool__name="get_weather",
                 lk__function_tool__is_error=True, lk__function_tool__output="no such city"),
        ],
        ['tool_call get_weather {"city":"Paris"} error', "observation no such city"],
    ),
    "counts alone": (
        [span(1, name="llm_request", gen_ai__usage__prompt_tokens=5,
              gen_ai__usage__completion_tokens=3)],
        [],
    ),
    "operations that no convention has": (
        [
            span(1, ms=50, name="agent.a", gen_ai__operation__name="agent.run", input=QUESTION),
            span(
                2, 1, at=5, name="get_weather", gen_ai__operation__name="call_tool",
                input=PARIS, output="22C",
            ),
            span(3, 1, at=9, name="llm_request", gen_ai__operation__name="embeddings"),
        ],
        CALLED,
    ),
    "decorated functions": (
        [
            span(1, ms=50, span__kind="agent", input=_given(question="What is the weather?")),
            span(2, 1, at=5, name="get_weather.tool", span__kind="tool",
                 input=_given(city="Paris"), output="22C"),
            span(3, 1, at=9, name="now.tool", span__kind="tool", input=_given("UTC"), output="9"),
        ],
        [*CALLED, 'tool_call now ["UTC"] ok', "observation 9"],
    ),
    "decorated as Python prints": (
        [
            span(1, ms=50, name="agent", function__args="('What\\'s up?',)", function__kwargs="{}",
                 gen_ai__output__messages="It is 22C."),
            model(2, 1, at=1, said=[message("assistant", "It is 22C.")]),
        ],
        [ANSWER],
    ),
    "a method without arguments": (
        [
            span(1, ms=50, span__kind="agent", input=_given()),
            model(2, 1, at=1, heard=[message("user", "Why?")], said=[message("assistant", "Hm.")]),
        ],
        ["answer Hm."],
    ),
    "beside a known dialect": (
        [
            span(1, ms=50, name="handle", input="What is the weather?"),
            model(2, 1, at=1, said=[SAID]),
            span(3, 1, at=5, name="tool:get_weather", args=PARIS, result="22C"),
        ],
        CALLED,
    ),
    # A dialect knows the tools of it: what else is called a tool is none.
    "tools that are known": (
        [
            tool(1, ms=50, tool_name="get_weather", gen_ai__tool__call__arguments=PARIS),
            span(2, 1, name="tool.call", tool__name="http_get"),
        ],
        [CALLED[0]],
    ),
    "web": (
        [
            span(1, ms=50, name="GET /agent/tool", **HTTP),
            span(2, 1, name="call_tool", **SQL),
            span(3, 1, name="llm.call", **HTTP),
            span(4, 1, name="render", input="a", output="b", user__type="agent"),
        ],
        [],
    ),
    "one word": ([span(1, name="tool.install", input="x"), span(2, 1, name="copy")], []),
    "embeddings": ([span(1, name="embedding llm", type="embedding"), span(2, 1, name="x")], []),
}  # fmt: skip
NUMBERS = {name: number for number, name in enumerate(TRACES, 1)}
RUNS = [name for name, (_, steps) in TRACES.items() if steps] + ["counts alone"]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake with every trace of TRACES, built."""
    lake = Lake.create(tmp_path_factory.mktemp("unknown") / "lake")
    all_spans = [
        each | {"traceId": f"{NUMBERS[name]:032x}"}
        for name, (spans, _) in TRACES.items()
        for each in spans
    ]
    land(lake, request_of(all_spans))
    build(lake)
    return lake


@pytest.fixture(scope="module")
def told(lake: Lake) -> dict[str, list[str]]:
    """The steps of each trace, by its name."""
    steps = rows(lake, "SELECT * FROM steps ORDER BY trajectory_id, step_index")
    return {
        name: [line(step) for step in steps if int(step["trace_id"], 16) == number]
        for name, number in NUMBERS.items()
    }


@pytest.mark.parametrize("name", TRACES)
def test_trace_tells_what_there_is(told: dict[str, list[str]], name: str) -> None:
    """Spans are read by their attributes, else by their names, and not at all elsewhere."""
    assert told[name] == TRACES[name][1]


def test_traces_of_agents_are_one_run_each(lake: Lake) -> None:
    """All others, of web and database spans or of one name alone, are none."""
    found = rows(lake, "SELECT trace_id FROM trajectories ORDER BY trace_id")
    assert [int(run["trace_id"], 16) for run in found] == sorted(NUMBERS[name] for name in RUNS)


def test_run_says_that_its_framework_is_unknown(lake: Lake) -> None:
    """Its dialect is `unknown`; the root tells who ran, what was asked and what was answered."""
    columns = "agent_name, user_input, final_answer, llm_call_count, dialects"
    found = rows(lake, f"SELECT trace_id, {columns} FROM trajectories")
    by_trace = {int(run.pop("trace_id"), 16): run for run in found}
    assert by_trace[NUMBERS["kinds"]] == {
        "agent_name": "weather",
        "user_input": "What is the weather?",
        "final_answer": "It is 22C.",
        "llm_call_count": 2,
        "dialects": ["unknown"],
    }
    assert by_trace[NUMBERS["beside a known dialect"]] == {
        "agent_name": None,
        "user_input": "What is the weather?",
        "final_answer": None,
        "llm_call_count": 1,
        "dialects": ["otel_genai", "unknown"],
    }


def test_one_argument_of_an_agent_is_what_was_asked(lake: Lake) -> None:
    """The name that the argument has in the code is not a part of it."""
    of_it = f"trace_id = '{NUMBERS['operations that no convention has']:032x}'"
    found = rows(lake, f"SELECT user_input, llm_call_count FROM trajectories WHERE {of_it}")
    assert found == [{"user_input": "What is the weather?", "llm_call_count": 0}]


def test_what_a_function_was_given_is_what_was_asked(lake: Lake) -> None:
    """A decorator's wrapping is not a part of it; its result is named `messages`, too."""
    found = rows(lake, "SELECT trace_id, user_input FROM trajectories")
    asked = {int(run["trace_id"], 16): run["user_input"] for run in found}
    assert asked[NUMBERS["decorated functions"]] == "What is the weather?"
    assert asked[NUMBERS["decorated as Python prints"]] == "What's up?"
    assert asked[NUMBERS["a method without arguments"]] == "Why?"


def test_counts_of_a_lone_model_call_are_told(lake: Lake) -> None:
    """A server of models that tells no content tells its tokens."""
    of_it = f"trace_id = '{NUMBERS['counts alone']:032x}'"
    found = rows(lake, f"SELECT input_tokens, output_tokens FROM trajectories WHERE {of_it}")
    assert found == [{"input_tokens": 5, "output_tokens": 3}]
