"""GitHub Copilot's spans, written as its sources write them.

Chat: `extensions/copilot` of https://github.com/microsoft/vscode, November 2026. CLI: the
reference of its commands in https://github.com/github/docs, November 2026.
"""

import json
from typing import Any, Final

from tests.scenes import built_together

from ..together import Scene
from ..traces import Row, agent, message, model, request, response, rows, span, story, with_events

QUESTION: Final = "Why does the test fail?"
ANSWER: Final = "The path is wrong."
CHAT: Final = "copilot-chat"
CLI: Final = "github.copilot"
SESSION: Final = "session-1"
TITLE: Final = f"{2:032x}"
CATEGORY: Final = f"{3:032x}"
ASKED: Final = [message("user", QUESTION)]
ANSWERED: Final = [message("assistant", ANSWER)]
SUB_ASKED: Final = [message("user", "Look.")]
SUB_ANSWERED: Final = [message("assistant", "Found.")]
RUNS: Final = (
    "SELECT agent_name, conversation_id, user_input, final_answer, llm_call_count, "
    "input_tokens, output_tokens FROM trajectories WHERE NOT is_fragment ORDER BY trajectory_id"
)


def _runs(lake: Any) -> list[list[Any]]:
    return [list(row.values()) for row in rows(lake, RUNS)]


def _keys(attributes: Row) -> Row:
    """Return attributes as `span` takes them; those without a value are left out."""
    return {
        key.replace(".", "__"): value for key, value in attributes.items() if value is not None
    }


def _texts(received: list[Row] | None, sent: list[Row] | None) -> Row:
    """Return the attributes with the content of a span."""
    return {
        "gen_ai.input.messages": json.dumps(received) if received is not None else None,
        "gen_ai.output.messages": json.dumps(sent) if sent is not None else None,
    }


def _called(call_id: str, arguments: Row, result: str) -> Row:
    """Return the attributes of a tool's span."""
    return {
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": call_id,
        "gen_ai.tool.call.arguments": json.dumps(arguments),
        "gen_ai.tool.call.result": result,
    }


def _turn(number: int, parent: int | None = None, at: float = 0, **more: Any) -> Row:
    """Return the span of an agent's turn in Chat; its tokens are sums."""
    attributes: Row = {
        "gen_ai.conversation.id": SESSION,
        "copilot_chat.session_id": SESSION,
        "gen_ai.usage.input_tokens": 2000,
        "gen_ai.usage.output_tokens": 40,
        **_texts(ASKED, ANSWERED),
        **more,
    }
    name = attributes.pop("name", "GitHub Copilot Chat")
    made = agent(number, parent, at=at, scope=CHAT, agent_name=name, **_keys(attributes))
    return with_events(made, ("user_message", {"content": QUESTION}))


def _chat(
    number: int,
    parent: int | None,
    at: float,
    texts: tuple[list[Row] | None, list[Row] | None],
    purpose: str = "panel/editAgent",
    **more: Any,
) -> Row:
    """Return the span of a model call in Chat: it names its purpose as its agent."""
    attributes: Row = {
        "gen_ai.agent.name": purpose,
        "gen_ai.request.model": "gpt-x",
        "gen_ai.conversation.id": f"request-{number}",
        "copilot_chat.request.max_prompt_tokens": 128000,
        "gen_ai.tool.definitions": json.dumps([{"type": "function", "name": "read_file"}]),
        "gen_ai.usage.input_tokens": 1000,
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.usage.cache_read.input_tokens": 600,
        "gen_ai.usage.reasoning_tokens": 5,
        "gen_ai.usage.reasoning.output_tokens": 5,
        "gen_ai.response.finish_reasons": '["stop"]',
        **_texts(*texts),
        **more,
    }
    return model(number, parent, at=at, ms=8, scope=CHAT, **_keys(attributes))


def _tool(number: int, parent: int, at: float, *, name: str = "read_file", **more: Any) -> Row:
    error = more.pop("error", None)
    made = {"tool__name": name, **_keys(more)}
    made["gen_ai__tool__name"] = made.pop("tool__name")
    operation: Row = {"gen_ai__operation__name": "execute_tool"}
    return span(number, parent, at=at, ms=30, scope=CHAT, error=error, **operation, **made)


def _file(path: str) -> Row:
    """Return the request for a file, as Chat writes it: the arguments are a text."""
    arguments = json.dumps({"path": path})
    return {"type": "tool_call", "id": path, "name": "read_file", "arguments": arguments}


@built_together
def test_turn_of_chat_with_parallel_calls() -> Scene:
    """One call failed. Thoughts are an attribute; an image and a hook are not steps."""
    image = {"type": "uri", "uri": "https://x/1.png", "modality": "image", "mime_type": None}
    calls = message("assistant", _file("c1"), _file("c2"))
    asked = [message("user", QUESTION, image)]
    replies = [message("tool", response("ok", "c1")), message("tool", response("none", "c2"))]
    hook = {"copilot_chat.hook_type": "Stop", "copilot_chat.hook_input": '{"a": 1}'}
    thought = {"copilot_chat.reasoning_content": "I look."}
    encrypted = {"copilot_chat.reasoning_content": "[encrypted]"}
    failed = {"error": "none", "error.type": "Error"}
    lake = yield [
        _turn(1),
        _chat(2, 1, 1, (asked, [calls]), **thought),
        _tool(3, 1, 10, **_called("c1", {"path": "c1"}, "ok")),
        _tool(4, 1, 11, **_called("c2", {"path": "c2"}, "ERROR: none"), **failed),
        _chat(5, 1, 50, ([*asked, calls, *replies], ANSWERED), **encrypted),
        span(6, 1, at=60, scope=CHAT, gen_ai__operation__name="execute_hook", **_keys(hook)),
    ]

    assert story(lake) == [
        "thought I look.",
        'tool_call read_file {"path":"c1"} ok',
        "observation ok",
        'tool_call read_file {"path":"c2"} error',
        "observation none",
        f"answer {ANSWER}",
    ]
    assert _runs(lake) == [["GitHub Copilot Chat", SESSION, QUESTION, ANSWER, 2, 2000, 40]]
    assert rows(lake, "SELECT DISTINCT agent_name FROM steps") == [
        {"agent_name": "GitHub Copilot Chat"}
    ]
    assert rows(lake, "SELECT DISTINCT offered FROM steps WHERE kind = 'tool_call'") == [
        {"offered": True}
    ]


@built_together
def test_sub_agent_of_chat_is_a_run() -> Scene:
    """Its agent is below the call that started it."""
    call = message("assistant", request("runSubagent", "r1", prompt="Look."))
    called = message("assistant", _file("c1"))
    replies = [message("tool", response("Found.", "r1"))]
    purpose = "tool/runSubagent"
    lake = yield [
        _turn(1),
        _chat(2, 1, 1, (ASKED, [call])),
        _tool(3, 1, 10, name="runSubagent", **_called("r1", {"prompt": "Look."}, "Found.")),
        _turn(4, 3, 11, name="Explore", **_texts(SUB_ASKED, SUB_ANSWERED)),
        _chat(5, 4, 12, (SUB_ASKED, [called]), purpose),
        _tool(6, 4, 21, **_called("c1", {"path": "c1"}, "ok")),
        _chat(7, 4, 52, ([*SUB_ASKED, called], SUB_ANSWERED), purpose),
        _chat(8, 1, 70, ([*ASKED, call, *replies], ANSWERED)),
    ]

    assert _runs(lake) == [
        ["GitHub Copilot Chat", SESSION, QUESTION, ANSWER, 2, 2000, 40],
        ["Explore", SESSION, "Look.", "Found.", 2, 2000, 40],
    ]
    assert rows(lake, "SELECT DISTINCT agent_name FROM steps ORDER BY agent_name") == [
        {"agent_name": "Explore"},
        {"agent_name": "GitHub Copilot Chat"},
    ]


@built_together
def test_calls_of_chat_for_itself_give_no_answers() -> Scene:
    """It summarizes in the turn, with tools offered, and writes titles in traces of their own."""
    summarize = [*ASKED, message("user", "Write down what happened.")]
    summary = [message("assistant", "It looked.")]
    purpose = "retry-error-summarizeConversationHistory-full"
    lake = yield [
        _turn(1, **_texts(ASKED, None)),
        _chat(2, 1, 1, (ASKED, ANSWERED)),
        _chat(3, 1, 20, (summarize, summary), purpose),
        _chat(4, None, 2, (ASKED, [message("assistant", "Tests")]), "title") | {"traceId": TITLE},
        _chat(5, None, 2, (None, None), "promptCategorization") | {"traceId": CATEGORY},
    ]

    assert _runs(lake) == [["GitHub Copilot Chat", SESSION, QUESTION, ANSWER, 2, 2000, 40]]
    assert rows(lake, "SELECT count(*) AS runs FROM trajectories") == [{"runs": 3}]


@built_together
def test_cancelled_turn_of_chat_has_no_answer() -> Scene:
    """The model call says so, and holds no output."""
    cancelled: Row = {
        "gen_ai.response.finish_reasons": '["cancelled"]',
        "copilot_chat.canceled": True,
    }
    lake = yield [
        _turn(1, **_texts(ASKED, None)),
        _chat(2, 1, 1, (ASKED, None), **cancelled),
    ]

    assert story(lake) == []
    assert _runs(lake) == [["GitHub Copilot Chat", SESSION, QUESTION, None, 1, 1000, 20]]


@built_together
def test_cut_messages_of_chat_are_read_to_the_cut() -> Scene:
    """With a greatest size, a list of messages ends in a note instead of a bracket."""
    called = message("assistant", _file("c1"))
    reply = message("tool", response("x" * 500, "c1"))
    whole = json.dumps([*ASKED, called, reply])
    cut = {"gen_ai.input.messages": f"{whole[:400]}...[truncated, original {len(whole)} chars]"}
    lake = yield [
        _turn(1),
        _chat(2, 1, 1, (ASKED, [called])),
        _tool(3, 1, 10, **_called("c1", {"path": "c1"}, "ok")),
        _chat(4, 1, 50, (None, ANSWERED), **cut),
    ]

    assert story(lake) == [
        'tool_call read_file {"path":"c1"} ok',
        "observation ok",
        f"answer {ANSWER}",
    ]


@built_together
def test_chat_without_content_keeps_calls_and_tokens() -> Scene:
    """Content is off unless the user captures it."""
    bare: Row = {"gen_ai.tool.definitions": None}
    lake = yield [
        _turn(1, **_texts(None, None)) | {"events": []},
        _chat(2, 1, 1, (None, None), **bare),
        _tool(3, 1, 10, **{"gen_ai.tool.call.id": "c1"}),
        _chat(4, 1, 50, (None, None), **bare),
    ]

    assert story(lake) == ["tool_call read_file ok"]
    assert _runs(lake) == [["GitHub Copilot Chat", SESSION, None, None, 2, 2000, 40]]


def _of_cli(number: int, parent: int | None, operation: str, at: float, **more: Any) -> Row:
    """Return a span of the CLI."""
    attributes = {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": "github",
        "gen_ai.conversation.id": SESSION,
        **more,
    }
    return span(number, parent, at=at, ms=8, scope=CLI, **_keys(attributes))


COUNTED: Final = {
    "gen_ai.usage.input_tokens": 100,
    "gen_ai.usage.output_tokens": 10,
    "gen_ai.usage.cache_read.input_tokens": 60,
    "gen_ai.usage.cache_creation.input_tokens": 20,
    "github.copilot.cost": 1,
    "gen_ai.response.model": "gpt-x",
}


def _cli_session() -> list[Row]:
    """Return two messages to the CLI inside VS Code, the first with a sub-agent and a skill."""
    thought = {"type": "reasoning", "content": "I look."}
    called = message("assistant", thought, request("task", "t1", prompt="Look."))
    replied = [*ASKED, called, message("tool", response("Found.", "t1"))]
    tool = {"gen_ai.tool.name": "task", **_called("t1", {"prompt": "Look."}, "Found.")}
    thanks, bye = [message("user", "Thanks.")], [message("assistant", "Bye.")]
    anchor: Row = {"scope": "vscode-agent-host", "gen_ai__conversation__id": SESSION}
    named = {"gen_ai.agent.name": "explore", **_texts(SUB_ASKED, SUB_ANSWERED)}
    skill = ("github.copilot.skill.invoked", {"github.copilot.skill.name": "tests"})
    return [
        span(1, at=0, name="vscode.agent_host.session", **anchor),
        span(2, 1, at=9, name="vscode.agent_host.session.title_changed", **anchor),
        with_events(
            _of_cli(3, 1, "invoke_agent", 10, **COUNTED, **_texts(ASKED, ANSWERED)), skill
        ),
        _of_cli(4, 3, "chat", 11, **COUNTED, **_texts(ASKED, [called])),
        _of_cli(5, 3, "execute_tool", 20, **tool),
        _of_cli(6, 5, "invoke_agent", 21, **COUNTED, **named),
        _of_cli(7, 6, "chat", 22, **COUNTED, **_texts(SUB_ASKED, SUB_ANSWERED)),
        _of_cli(8, 3, "chat", 40, **COUNTED, **_texts(replied, ANSWERED)),
        _of_cli(9, 1, "invoke_agent", 60, **COUNTED, **_texts(thanks, bye)),
        _of_cli(10, 9, "chat", 61, **COUNTED, **_texts(thanks, bye)),
    ]


@built_together
def test_session_of_the_cli_is_a_run_for_each_message() -> Scene:
    """VS Code's anchor and titles are not runs; a multiplier is not a cost."""
    lake = yield _cli_session()

    assert story(lake, f"{1:032x}-{3:016x}") == [
        "thought I look.",
        'tool_call task {"prompt":"Look."} ok',
        "observation Found.",
        f"answer {ANSWER}",
    ]
    assert _runs(lake) == [
        ["GitHub Copilot", SESSION, QUESTION, ANSWER, 2, 200, 20],
        ["explore", SESSION, "Look.", "Found.", 1, 100, 10],
        ["GitHub Copilot", SESSION, "Thanks.", "Bye.", 1, 100, 10],
    ]
    (used,) = rows(
        lake,
        "SELECT DISTINCT unnest(model_usage, recursive := true) FROM trajectories "
        "WHERE llm_call_count = 1",
    )
    assert used["fresh_input_tokens"] == 20
    assert used["stated_usd"] is None


@built_together
def test_cli_in_vs_code_is_one_run() -> Scene:
    """Chat writes a span for the turn, and the CLI below it writes another."""
    outer = {**_texts(None, None), "gen_ai.usage.input_tokens": None}
    lake = yield [
        _turn(1, name="copilotcli", **outer),
        _of_cli(2, 1, "invoke_agent", 1, **COUNTED, **_texts(ASKED, ANSWERED)),
        _of_cli(3, 2, "chat", 2, **COUNTED, **_texts(ASKED, ANSWERED)),
    ]

    assert _runs(lake) == [["copilotcli", SESSION, QUESTION, ANSWER, 1, 100, 10]]


@built_together
def test_aborted_turn_of_the_cli_has_no_answer() -> Scene:
    """Its model call failed, and an event says that the user stopped it."""
    abort = ("github.copilot.session.abort", {"github.copilot.abort_reason": "user"})
    failed = {"error.type": "AbortError", **_texts(ASKED, None)}
    lake = yield [
        with_events(_of_cli(1, None, "invoke_agent", 0, **_texts(ASKED, None)), abort),
        _of_cli(2, 1, "chat", 1, **failed),
    ]

    assert _runs(lake) == [["GitHub Copilot", SESSION, QUESTION, None, 1, None, None]]
