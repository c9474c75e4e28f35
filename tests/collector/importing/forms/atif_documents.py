"""ATIF trajectories made by hand, which tests of several formats import."""

from collections.abc import Sequence
from typing import Any

Row = dict[str, Any]
VERSION = "ATIF-v1.7"


def document(*steps: Row, session: str = "session-1", **fields: Any) -> Row:
    """Return a trajectory; steps are numbered."""
    return {
        "schema_version": VERSION,
        "session_id": session,
        "agent": {"name": "coder", "version": "3.1", "model_name": "model-a"},
        "steps": [{"step_id": number, **step} for number, step in enumerate(steps, start=1)],
        **fields,
    }


def user(message: Any, **fields: Any) -> Row:
    """Return a step of the user."""
    return {"source": "user", "message": message, **fields}


def agent(
    message: Any = "", *calls: Row, results: Sequence[Any] | None = None, **fields: Any
) -> Row:
    """Return a step of the agent, with its calls and their results."""
    step: Row = {"source": "agent", "message": message, **fields}
    if calls:
        step["tool_calls"] = list(calls)
    if results is not None:
        step["observation"] = {"results": list(results)}
    return step


def call(number: int, name: str = "bash", **arguments: Any) -> Row:
    """Return a call."""
    return {"tool_call_id": f"c{number}", "function_name": name, "arguments": arguments}


def result(number: int | None, content: Any = None, **fields: Any) -> Row:
    """Return the result of a call, or of no call."""
    found: Row = {} if number is None else {"source_call_id": f"c{number}"}
    return found | ({} if content is None else {"content": content}) | fields


def at(second: int) -> str:
    """Return a time."""
    return f"2026-04-01T09:00:{second:02}Z"


def plain() -> Row:
    """Return a run with a thought, a call, its result and an answer."""
    return document(
        {"source": "system", "message": "Be brief.", "timestamp": at(0)},
        user("Count the files.", timestamp=at(1)),
        agent(
            "I look.",
            call(1, command="ls"),
            results=[result(1, "a b")],
            reasoning_content="List them.",
            timestamp=at(3),
            metrics={"prompt_tokens": 10, "completion_tokens": 5, "cached_tokens": 4}
            | {"cost_usd": 0.5, "logprobs": [-0.1], "extra": {"reasoning_tokens": 2}},
        ),
        agent("Two.", timestamp=at(5), metrics={"prompt_tokens": 20, "completion_tokens": 1}),
    )
