"""OpenHands' spans, which Laminar's library sends, written as their sources write them.

`openhands-sdk` 1.43.1 and `lmnr` 0.7.60, August 2026: `sdk/observability`, `sdk/agent` with
`acp_tracing.py`; `opentelemetry_lib/decorators` and `instrumentation/litellm`.
"""

import json
from typing import Any, Final

from tests.scenes import built_together

from ..together import Scene
from ..traces import Row, rows, span, story

LAMINAR: Final = "lmnr.tracer"
SESSION: Final = "0b1e-session"
QUESTION: Final = "List the files."
ANSWER: Final = "There is one file."
ASKED: Final[list[Row]] = [
    {"role": "system", "content": "You are an agent."},
    {"role": "user", "content": [{"type": "text", "text": QUESTION}]},
]
TOOLS: Final[list[Row]] = [{"type": "function", "function": {"name": "terminal"}}]
RUNS: Final = (
    "SELECT agent_name, conversation_id, user_input, final_answer, llm_call_count, input_tokens, "
    "error_count FROM trajectories WHERE NOT is_fragment ORDER BY start_time"
)


def _runs(lake: Any) -> list[list[Any]]:
    return [list(row.values()) for row in rows(lake, RUNS)]


def _lmnr(number: int, parent: int | None, at: float, name: str, **more: Any) -> Row:
    """Return a span as the decorator `observe` makes it; `input` and `output` become JSON."""
    metadata = {
        f"lmnr.association.properties.metadata.{key}": value
        for key, value in more.pop("metadata", {}).items()
    }
    attributes = {
        "lmnr.span.type": more.pop("span_type", "DEFAULT"),
        "lmnr.span.path": json.dumps(more.pop("path", ["conversation", name])),
        "lmnr.association.properties.session_id": SESSION,
        **metadata,
        **more.pop("attributes", {}),
    }
    for side in ("input", "output"):
        if side in more:
            attributes[f"lmnr.span.{side}"] = json.dumps(more.pop(side))
    given = {key.replace(".", "__"): value for key, value in attributes.items()}
    scope = more.pop("scope", LAMINAR)
    return span(number, parent, at=at, name=name, scope=scope, **more, **given)


def _model(
    number: int, parent: int, at: float, heard: list[Row], said: Row | None, **more: Any
) -> Row:
    attributes: Row = {
        "gen_ai.system": "anthropic",
        "gen_ai.request.model": "m",
        "gen_ai.input.messages": json.dumps(heard),
        "gen_ai.tool.definitions": json.dumps(TOOLS),
    }
    if said is not None:
        attributes |= {
            "gen_ai.output.messages": json.dumps([said]),
            "gen_ai.usage.input_tokens": 100,
            "gen_ai.usage.output_tokens": 10,
            "gen_ai.usage.cache_read_input_tokens": 40,
            "llm.usage.total_tokens": 110,
        }
    named: Row = {"span_type": "LLM", "scope": "litellm", "ms": 8}
    return _lmnr(number, parent, at, "litellm.completion", attributes=attributes, **named, **more)


def _call(call_id: str, name: str, **arguments: str) -> Row:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": call_id, "type": "function", "function": function}


def _requested(*calls: Row, thought: str | None = None) -> Row:
    said: Row = {"role": "assistant", "content": "", "tool_calls": list(calls)}
    return said if thought is None else said | {"reasoning_content": thought}


def _observed(text: str, kind: str = "TerminalObservation", **more: Any) -> Row:
    content = [{"type": "text", "text": text}]
    return {"content": content, "is_error": False, "kind": kind, **more}


def _tool(
    number: int, parent: int, at: float, call_id: str, output: Row | None, **more: Any
) -> Row:
    action = {"command": "ls", "kind": "TerminalAction"} | more.pop("action", {})
    texts: Row = {"input": {"action": action}}
    if output is not None:
        texts["output"] = output
    named: Row = {"span_type": "TOOL", "metadata": {"tool_call_id": call_id}, "ms": 5}
    return _lmnr(number, parent, at, action["kind"], **named, **texts, **more)


def _reply(call_id: str, text: str) -> Row:
    return {"role": "tool", "tool_call_id": call_id, "content": [{"type": "text", "text": text}]}


def _conversation() -> list[Row]:
    calls = _requested(
        _call("c1", "terminal", command="ls"),
        _call("c2", "terminal", command="ls x"),
        thought="I look.",
    )
    finish = _requested(_call("c3", "finish", message=ANSWER))
    failed = _observed("no such file", exit_code=2)
    finished = {"message": ANSWER, "kind": "FinishAction"}
    replies = [_reply("c1", "a.txt"), _reply("c2", "no such file")]
    sent = {"message": QUESTION, "sender": None}
    return [
        _lmnr(1, None, 0, "conversation", ms=500),
        _lmnr(2, 1, 1, "conversation.send_message", input=sent),
        _lmnr(3, 1, 3, "conversation.run", input={}, ms=200),
        _lmnr(4, 3, 4, "agent.step", input={"conversation": "<…>"}, ms=60),
        _model(5, 4, 5, ASKED, calls),
        _tool(6, 4, 20, "c1", _observed("a.txt", exit_code=0)),
        _tool(7, 4, 21, "c2", failed, action={"command": "ls x"}),
        _lmnr(8, 3, 80, "agent.step", input={"conversation": "<…>"}, ms=60),
        _model(9, 8, 81, [*ASKED, calls, *replies], finish),
        _tool(10, 8, 95, "c3", _observed(ANSWER, "FinishObservation"), action=finished),
    ]


@built_together
def test_run_of_openhands_is_a_run() -> Scene:
    """Parallel calls, one with an exit code; the action `finish` gives the answer."""
    lake = yield _conversation()

    assert story(lake) == [
        "thought I look.",
        'tool_call terminal {"command":"ls"} ok',
        "observation a.txt",
        'tool_call terminal {"command":"ls x"} error',
        "observation no such file",
        f'tool_call finish {{"message":"{ANSWER}"}} ok',
        f"observation {ANSWER}",
        f"answer {ANSWER}",
    ]
    assert _runs(lake) == [["OpenHands", SESSION, QUESTION, ANSWER, 2, 200, 1]]


@built_together
def test_titles_and_condensed_histories_are_not_answers() -> Scene:
    """The first names its operation; the second is below a span that condenses. Both cost."""
    title = [{"role": "user", "content": "Files?"}]
    titled: Row = {"role": "assistant", "content": "Files"}
    condensing = ["conversation", "conversation.run", "agent.step", "get_condensation"]
    summary: Row = {"role": "assistant", "content": "USER_CONTEXT: files."}
    spans = _conversation()
    lake = yield [
        *spans,
        _lmnr(11, 8, 80, "get_condensation", path=condensing),
        _model(12, 11, 80.5, title, summary, path=[*condensing, "litellm.completion"]),
        _lmnr(13, 1, 300, "conversation.generate_title", metadata=_named("title_generation")),
        _model(14, 13, 301, title, titled, metadata=_named("title_generation")),
    ]

    assert [line for line in story(lake) if line.startswith("answer")] == [f"answer {ANSWER}"]
    assert _runs(lake) == [["OpenHands", SESSION, QUESTION, ANSWER, 4, 400, 1]]


def _named(operation: str) -> Row:
    return {"openhands.operation": operation}


@built_together
def test_interrupted_run_of_openhands_has_no_answer() -> Scene:
    """A tool that failed has a status; a model call that was cancelled has no output."""
    call = _requested(_call("c1", "terminal", command="ls"))
    cancelled: Row = {
        "role": "tool",
        "content": [{"type": "text", "text": "Tool call cancelled by interrupt."}],
        "is_error": True,
    }
    lake = yield [
        _lmnr(1, None, 0, "conversation", ms=500),
        _lmnr(3, 1, 3, "conversation.run", input={}, ms=200),
        _lmnr(4, 3, 4, "agent.step", ms=60),
        _model(5, 4, 5, ASKED, call),
        _tool(6, 4, 20, "c1", cancelled),
        _lmnr(7, 3, 80, "agent.step", ms=60),
        _model(8, 7, 81, ASKED, None, error="cancelled"),
    ]

    assert story(lake)[0] == 'tool_call terminal {"command":"ls"} error'
    assert _runs(lake) == [["OpenHands", SESSION, QUESTION, None, 2, 100, 1]]


@built_together
def test_turn_of_an_agent_over_acp_is_a_run() -> Scene:
    """One span holds its texts; tools have titles, and their names are in its output."""
    metadata = {"agent_kind": "acp", "acp_server": "codex", "acp_model": "gpt-x"}
    call = _call("t1", "execute", command="ls")
    said = _requested(call, thought="I look.") | {"content": ANSWER}
    ran: Row = {"span_type": "TOOL", "metadata": metadata | {"tool_call_id": "t1"}}
    turn: Row = {"span_type": "LLM", "metadata": metadata, "ms": 100}
    prompt = [{"type": "text", "text": QUESTION}]
    output = {"content": [{"type": "text", "text": "a.txt"}]}
    lake = yield [
        _lmnr(1, None, 0, "conversation", ms=500),
        _lmnr(2, 1, 3, "conversation.run", input={}, ms=200),
        _lmnr(3, 2, 4, "acp_agent.step", ms=150),
        _lmnr(4, 3, 5, "acp.completion", input=prompt, output=[said], **turn),
        _lmnr(5, 4, 9, "Run ls", input={"command": "ls"}, output=output, **ran),
    ]

    assert story(lake) == [
        "thought I look.",
        'tool_call execute {"command":"ls"} ok',
        "observation a.txt",
        f"answer {ANSWER}",
    ]
    assert [run[:4] for run in _runs(lake)] == [["codex", SESSION, QUESTION, ANSWER]]
