"""Results, and messages about them, that say that a call failed."""

import json
from pathlib import Path
from typing import Any

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
    tool,
)


def of_each(folder: Path, runs: list[list[Row]], columns: str) -> list[Row]:
    """Return these columns of the call of each run."""
    lake = built_apart(folder, runs)
    order = "FROM steps WHERE kind = 'tool_call' ORDER BY trace_id, step_index"
    return rows(lake, f"SELECT {columns} {order}")


USER = {"role": "user", "content": "go"}
TEXT = {"type": "text", "text": "Illegal header"}

FAILED = [
    {"content": [TEXT], "is_error": True},
    {"result": {"isError": True}},
    {"result": json.dumps({"content": [TEXT], "isError": True})},
    {"result": {"result": {"error": "boom"}}},
    {"response": {"error": "boom"}},
    {"type": "tool_result", "is_error": True, "content": "boom"},
    {"content": [{"type": "tool_result", "is_error": True, "content": "boom"}]},
    [{"type": "tool_result", "is_error": True, "content": "boom"}],
    [{"toolResult": {"toolUseId": "c1", "status": "error", "content": [{"text": "boom"}]}}],
    {"status": "error", "message": "Illegal header"},
    {"content": "boom", "type": "tool", "tool_call_id": "c1", "status": "error", "id": None},
    {"type": "error-text", "value": "boom"},
    {"output": "boom", "metadata": {"exit_code": 1, "duration_seconds": 0.1}},
    {"lc": 1, "kwargs": {"content": "boom", "status": "error", "tool_call_id": "c1"}},
    {"output": {"lc": 1, "kwargs": {"content": "", "status": "error", "tool_call_id": "c1"}}},
    {"type": "tool", "data": {"content": "boom", "status": "error", "tool_call_id": "c1"}},
    [{"call_id": "c1", "name": "get", "content": "boom", "is_error": True}],
    "<tool_use_error>File has not been read yet.</tool_use_error>",
    "Chunk ID: ab12\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\n",
    "Exit code 1\nls: cannot access",
    "Exit code: 2\nWall time: 0.1 seconds\nOutput:\n",
]
WENT_WELL = [
    {"error": None},
    {"is_error": False, "content": [{"type": "text", "text": "an error was found and mended"}]},
    {"result": {"isError": False, "error": None}},
    {"results": [{"title": "Errors in Python", "is_error": True}]},
    {"result": [{"call": 1, "is_error": True}]},
    {"result": {"error": 0.05}},
    {"id": 7, "status": "error", "printer": "p1", "message": "paper jam"},
    [{"status": "error", "message": "a line of a log"}],
    {"output": "ok", "metadata": {"exit_code": 0}},
    {"lc": 1, "kwargs": {"content": "boom", "status": "success", "tool_call_id": "c1"}},
    {"kwargs": {"status": "error", "host": "a"}},
    {"data": {"error": "a line of a log"}},
    [{"name": "get", "content": "boom", "is_error": True}],
    "Chunk ID: ab12\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n",
    "Exit code: 0\nWall time: 0.1 seconds",
    "Exit code 1 means that nothing was found",
    "How errors are handled",
]


def executed(result: object, **told: Any) -> list[Row]:
    """Return a run with one execution of a tool."""
    text = result if isinstance(result, str) else json.dumps(result)
    return [agent(1), tool(2, 1, gen_ai__tool__call__result=text, **told)]


def test_a_result_that_says_it_failed_is_an_error(tmp_path: Path) -> None:
    """At any wrapper, in blocks, by a status or an exit code."""
    found = of_each(tmp_path, [executed(result) for result in FAILED], "status")

    assert [row["status"] for row in found] == len(FAILED) * ["error"]


def test_a_result_that_tells_of_errors_is_none(tmp_path: Path) -> None:
    """What was found may speak of errors."""
    found = of_each(tmp_path, [executed(result) for result in WENT_WELL], "status")

    assert [row["status"] for row in found] == len(WENT_WELL) * ["ok"]


KINDS: list[Row] = [
    {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__name": "t"},
    {"openinference__span__kind": "TOOL", "tool__name": "t"},
    {"traceloop__span__kind": "tool", "traceloop__entity__name": "t"},
]


def test_a_tool_whose_process_exits_with_a_code_failed(tmp_path: Path) -> None:
    """By the conventions of processes, on spans of any dialect."""
    runs = [
        [agent(1), span(2, 1, **kind, process__exit__code=code)]
        for kind in KINDS
        for code in (1, 0)
    ]
    found = of_each(tmp_path, runs, "status")

    assert [row["status"] for row in found] == len(KINDS) * ["error", "ok"]


def anthropic(failed: bool) -> list[Row]:
    """Return a reply as Anthropic's messages have it."""
    block = {"type": "tool_result", "tool_use_id": "c1", "content": "no", "is_error": failed}
    return [{"role": "user", "content": [block]}]


def bedrock(failed: bool) -> list[Row]:
    """Return a reply as Bedrock's messages have it."""
    status = "error" if failed else "success"
    block = {"toolUseId": "c1", "content": [{"text": "no"}], "status": status}
    return [{"role": "user", "content": [{"toolResult": block}]}]


def langchain(failed: bool) -> list[Row]:
    """Return a reply as LangChain's messages have it."""
    status = "error" if failed else "success"
    return [{"role": "tool", "tool_call_id": "c1", "content": "no", "status": status}]


def vercel(failed: bool) -> list[Row]:
    """Return a reply as the AI SDK's messages have it."""
    output = {"type": "error-text" if failed else "text", "value": "no"}
    part = {"type": "tool-result", "toolCallId": "c1", "toolName": "t", "output": output}
    return [{"role": "tool", "content": [part]}]


def gemini(failed: bool) -> list[Row]:
    """Return a reply as Gemini's contents have it."""
    told = {"error": "no"} if failed else {"output": "no"}
    part = {"functionResponse": {"id": "c1", "name": "t", "response": told}}
    return [{"role": "user", "content": [part]}]


def replied(reply: list[Row]) -> list[Row]:
    """Return a run in which the second model call hears a reply."""
    call = {"id": "c1", "function": {"name": "t", "arguments": "{}"}}
    asked = {"role": "assistant", "tool_calls": [call]}
    return [
        agent(1),
        span(2, 1, **_plain("gen_ai.output.messages", [asked])),
        span(3, 1, at=5, **_plain("gen_ai.input.messages", [USER, asked, *reply])),
    ]


def _plain(name: str, messages: list[Row]) -> Row:
    return {"gen_ai__operation__name": "chat", name: json.dumps(messages)}


REPLIES = [anthropic, bedrock, langchain, vercel, gemini]


def test_a_reply_that_says_so_beside_its_text_makes_the_call_an_error(tmp_path: Path) -> None:
    """Each provider has a key of its own for it."""
    runs = [replied(reply(failed)) for reply in REPLIES for failed in (True, False)]
    found = of_each(tmp_path, runs, "status")

    assert [row["status"] for row in found] == len(REPLIES) * ["error", "ok"]


FLAGS: list[Row] = [{"is_error": True}, {"isError": True}, {"status": "error"}]


def test_a_part_of_the_conventions_that_says_so_makes_the_call_an_error(tmp_path: Path) -> None:
    """Though its execution ended well."""
    asked = message("assistant", request("t", "c1"))
    runs = [
        [
            agent(1),
            model(2, 1, said=[asked]),
            tool(3, 1, at=1, tool_name="t", gen_ai__tool__call__id="c1"),
            model(4, 1, at=5, heard=[asked, message("tool", response("no", "c1") | flag)]),
        ]
        for flag in FLAGS
    ]
    found = of_each(tmp_path, runs, "status, status_source")

    assert found == len(FLAGS) * [{"status": "error", "status_source": "response"}]


def haystack(failed: bool) -> list[Row]:
    """Return a run of Haystack in OpenInference, which prints the messages that a model hears."""
    call = "ToolCall(tool_name='t', arguments={}, id='c1', extra=None)"
    reply = f"ToolCallResult(result='no', origin={call}, error={failed})"
    heard = [
        f"ChatMessage(_role=<ChatRole.TOOL: 'tool'>, _content=[{reply}], _name=None, _meta={{}})"
    ]
    stem = "tool_calls.0.tool_call."
    said = {f"{stem}id": "c1", f"{stem}function.name": "t", f"{stem}function.arguments": "{}"}
    scope = "openinference.instrumentation.haystack"
    kind: Row = {"scope": scope, "openinference__span__kind": "LLM"}
    indexed: Row = {f"llm.output_messages.0.message.{key}": value for key, value in said.items()}
    told: Row = {f"llm.input_messages.0.message.{key}": value for key, value in said.items()}
    role = "llm.input_messages.1.message."
    again: Row = told | {
        f"{role}role": "tool",
        "input.value": json.dumps({"messages": ["", *heard]}),
    }
    return [agent(1), span(2, 1, **kind, **indexed), span(3, 1, at=5, **kind, **again)]


def test_a_printed_reply_that_says_so_makes_the_call_an_error(tmp_path: Path) -> None:
    """What Python prints of Haystack's message ends with it."""
    found = of_each(tmp_path, [haystack(failed) for failed in (True, False)], "status")

    assert [row["status"] for row in found] == ["error", "ok"]
