"""The same runs as Weave, Opik, Braintrust and Datadog would export them, made by hand."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True)
class Step:
    """A span of a run, in no tool's own form."""

    kind: str
    """run | agent | model | tool | scorer."""

    id: str
    parent: str | None
    name: str
    given: Any = None
    result: Any = None
    error: str | None = None
    second: int = 0
    tokens: tuple[int, int] | None = None
    is_open: bool = False
    """Whether it had not ended when it was exported."""


def asks(*calls: tuple[str, str, str]) -> Row:
    """Return an answer of a model that asks for tools: (id, name, arguments)."""
    return {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {"id": call, "type": "function", "function": {"name": name, "arguments": arguments}}
            for call, name, arguments in calls
        ],
    }


def says(text: str) -> Row:
    """Return an answer of a model."""
    return {"role": "assistant", "content": text}


def user(text: str) -> list[Row]:
    """Return an input of a model."""
    return [{"role": "user", "content": text}]


QUESTION = "Weather in Paris and Rome?"
PLAIN: Sequence[Step] = (
    Step("run", "r", None, "weather", QUESTION, "22C in Paris."),
    Step(
        "model",
        "m1",
        "r",
        "ask",
        user(QUESTION),
        asks(("c1", "get_weather", '{"city":"Paris"}'), ("c2", "get_weather", '{"city":"Rome"}')),
        second=1,
        tokens=(10, 5),
    ),
    Step("tool", "t1", "r", "get_weather", {"city": "Paris"}, "22C", second=2),
    Step("tool", "t2", "r", "get_weather", {"city": "Rome"}, None, "no such city", second=3),
    Step(
        "model", "m2", "r", "ask", user(QUESTION), says("22C in Paris."), second=4, tokens=(20, 6)
    ),
)
"""Two calls at once; one fails."""

STEPS = [
    ("tool_call", "get_weather", '{"city":"Paris"}', "ok"),
    ("observation", "get_weather", None, None),
    ("tool_call", "get_weather", '{"city":"Rome"}', "error"),
    ("answer", None, None, None),
]


def time(second: int) -> str:
    """Return a time as the tools write it."""
    return f"2026-03-01T10:{second // 60:02}:{second % 60:02}+00:00"


def weave(steps: Sequence[Step], trace: str = "w1") -> list[Row]:
    """Return calls; the op of a tool declares no kind, as most do."""
    kinds = {"agent": "agent", "model": "llm"}
    return [
        {
            "id": f"{trace}-{step.id}",
            "project_id": "team/weather",
            "op_name": f"weave:///team/weather/op/{step.name}:v1",
            "trace_id": trace,
            "parent_id": step.parent and f"{trace}-{step.parent}",
            "started_at": time(step.second),
            "ended_at": None if step.is_open else time(step.second + 1),
            "inputs": {"messages": step.given} if isinstance(step.given, list) else step.given,
            "output": {"choices": [{"message": step.result}]}
            if step.kind == "model"
            else step.result,
            "exception": step.error,
            "attributes": {"weave": {"kind": kinds.get(step.kind)}},
            "summary": {"usage": {"model-a": _openai(step)}} if step.tokens else {},
            "thread_id": "chat-1",
        }
        for step in _with_given(steps)
        if step.kind != "scorer"
    ]


def opik(steps: Sequence[Step], trace: str = "o1") -> list[Row]:
    """Return one trace with its spans; its run is the trace."""
    root, *spans = steps
    types = {"model": "llm", "tool": "tool"}
    common = {"created_at": time(0), "feedback_scores": None}
    return [
        {
            "trace": {
                "id": trace,
                "project_id": "p1",
                "name": root.name,
                "start_time": time(0),
                "end_time": time(9),
                "input": {"input": root.given},
                "output": {"output": root.result},
                "thread_id": "chat-1",
                "feedback_scores": [
                    {"name": "correctness", "value": 1.0, "source": "online_scoring"},
                    {"name": "tone", "value": 0.5, "source": "ui"},
                ],
            },
            "spans": [
                {
                    **common,
                    "id": f"{trace}-{step.id}",
                    "trace_id": trace,
                    "parent_span_id": None if step.parent == root.id else f"{trace}-{step.parent}",
                    "name": step.name,
                    "type": types.get(step.kind, "general"),
                    "start_time": time(step.second),
                    "end_time": None if step.is_open else time(step.second + 1),
                    "input": {"messages": step.given}
                    if isinstance(step.given, list)
                    else step.given,
                    "output": {"choices": [{"message": step.result}]}
                    if step.kind == "model"
                    else step.result and {"output": step.result},
                    "error_info": step.error
                    and {"exception_type": "KeyError", "message": step.error},
                    "model": "model-a" if step.kind == "model" else None,
                    "usage": step.tokens and _openai(step),
                }
                for step in spans
                if step.kind != "scorer"
            ],
            "attachments": [],
            "project_name": "weather",
        }
    ]


def braintrust(steps: Sequence[Step], trace: str = "b1") -> list[Row]:
    """Return events, as the answer of the interface has them."""
    types = {"run": "task", "agent": "task", "model": "llm", "tool": "tool", "scorer": "score"}
    return [
        {
            "id": f"event-{trace}-{step.id}",
            "span_id": f"{trace}-{step.id}",
            "root_span_id": trace,
            "span_parents": [f"{trace}-{step.parent}"] if step.parent else None,
            "span_attributes": {"name": step.name, "type": types[step.kind]},
            "input": step.given,
            "output": [{"message": step.result}] if step.kind == "model" else step.result,
            "error": step.error,
            "scores": {"correctness": 1, "tone": 0.5} if step.parent is None else {},
            "metadata": {"model": "model-a", "session_id": "chat-1"},
            "metrics": {
                "start": 1_772_359_200.0 + step.second,
                **({} if step.is_open else {"end": 1_772_359_201.0 + step.second}),
                **(_openai(step) if step.tokens else {}),
            },
            "created": time(step.second),
            "project_id": "p1",
        }
        for step in steps
    ]


def datadog(steps: Sequence[Step], trace: str = "d1") -> list[Row]:
    """Return an answer of the Export API."""
    kinds = {"run": "workflow", "agent": "agent", "model": "llm", "tool": "tool"}
    return [
        {
            "data": [
                {
                    "id": step.id,
                    "type": "span",
                    "attributes": {
                        "span_id": f"{trace}-{step.id}",
                        "trace_id": trace,
                        "parent_id": f"{trace}-{step.parent}" if step.parent else "undefined",
                        "name": step.name,
                        "span_kind": kinds[step.kind],
                        "start_ns": 1_772_359_200_000_000_000 + step.second * 10**9,
                        "duration": None if step.is_open else 1e9,
                        "status": "error" if step.error else "ok",
                        "ml_app": "weather",
                        "model_name": "model-a" if step.kind == "model" else "",
                        "tags": ["version:1.0", "session_id:chat-1", "env:test"],
                        "input": _datadog_content(step.given),
                        "output": _datadog_content(step.result),
                        "metrics": {
                            "input_tokens": float(step.tokens[0]),
                            "output_tokens": float(step.tokens[1]),
                        }
                        if step.tokens
                        else {},
                    },
                }
                for step in steps
                if step.kind != "scorer"
            ],
            "meta": {"status": "done"},
        }
    ]


def _datadog_content(value: Any) -> Row:
    if isinstance(value, dict) and "role" in value:
        value = [value]
    if not isinstance(value, list):
        return {"value": value if isinstance(value, str | None) else str(value)}
    return {
        "messages": [
            {
                **message,
                "tool_calls": [
                    {
                        "tool_id": call["id"],
                        "name": call["function"]["name"],
                        "arguments": call["function"]["arguments"],
                    }
                    for call in message.get("tool_calls", ())
                ],
            }
            for message in value
        ]
    }


def _with_given(steps: Sequence[Step]) -> Sequence[Step]:
    """Return steps whose inputs are objects, as those of Weave's ops are."""
    return [
        Step(**{**vars(step), "given": {"question": step.given}})
        if isinstance(step.given, str)
        else step
        for step in steps
    ]


def _openai(step: Step) -> dict[str, int]:
    given, output = step.tokens or (0, 0)
    return {"prompt_tokens": given, "completion_tokens": output}


Writer = Callable[..., list[Row]]
WRITERS: dict[str, Writer] = {
    "weave": weave,
    "opik": opik,
    "braintrust": braintrust,
    "datadog": datadog,
}
