"""Calls and runs that wait for an approval, an answer or a result: interrupted, and no failure."""

import json
from typing import Any

from tests.scenes import built_together

from ..together import Scene
from ..traces import (
    Row,
    agent,
    message,
    model,
    request,
    response,
    rows,
    span,
    story,
    tool,
    with_events,
)

OFFERED = json.dumps([{"type": "function", "name": name} for name in ("look", "send", "ask")])
ASKED = [message("user", "Write to Bob.")]
GIVEN = json.dumps({"messages": [{"role": "user", "content": "Write to Bob."}]})


def asking(number: int, parent: int, *requests: Row, at: float = 1, **fields: Any) -> Row:
    """Return a model call that requests tools; all of them were offered."""
    offered: dict[str, Any] = {"gen_ai__tool__definitions": OFFERED}
    said = [message("assistant", *requests)]
    return model(number, parent, at=at, heard=ASKED, said=said, **offered, **fields)


def raised(tool_span: Row, error_type: str, text: str = "") -> Row:
    """Return the span of a tool that ended with an exception."""
    told = {"exception.type": error_type, "exception.message": text}
    return with_events(tool_span, ("exception", told)) | {"status": {"code": 2}}


def statuses(lake: Any) -> list[tuple[str, str]]:
    """Return each call's tool and status."""
    found = rows(lake, "SELECT tool_name, status FROM steps WHERE status IS NOT NULL ORDER BY ALL")
    return [(row["tool_name"], row["status"]) for row in found]


def ended(lake: Any) -> list[dict[str, Any]]:
    """Return of each run whether it is interrupted, whether its root failed, and its failures."""
    failed = "coalesce(root_failed, false) AS root_failed"
    found = f"SELECT interrupted, {failed}, error_count FROM trajectories ORDER BY trajectory_id"
    return rows(lake, found)


INTERRUPTED = [{"interrupted": True, "root_failed": False, "error_count": 0}]
OVER = [{"interrupted": False, "root_failed": False, "error_count": 0}]


@built_together
def test_langgraph_interrupt_in_a_tool() -> Scene:
    """The exception passes through the tool and its node; the root ends well."""
    chain: dict[str, Any] = {"openinference__span__kind": "CHAIN"}
    called: dict[str, Any] = {"openinference__span__kind": "TOOL", "tool__name": "send"}
    pause = "langgraph.errors.GraphInterrupt"
    scope = "openinference.instrumentation.langchain"
    lake = yield [
        span(1, name="LangGraph", ms=100, scope=scope, **chain, input__value=GIVEN),
        asking(2, 1, request("send", "c1", to="bob")),
        raised(span(3, 1, name="tools", at=2, ms=5, **chain), pause),
        raised(span(4, 3, name="send", at=3, **called, tool_call__id="c1"), pause),
    ]
    assert statuses(lake) == [("send", "interrupted")]
    assert ended(lake) == INTERRUPTED


@built_together
def test_langgraph_interrupt_that_is_recorded_as_well() -> Scene:
    """Newer instrumentation keeps the exception to itself: the output of the root tells of it."""
    chain: dict[str, Any] = {"openinference__span__kind": "CHAIN"}
    called: dict[str, Any] = {"openinference__span__kind": "TOOL", "tool__name": "send"}
    told = json.dumps({"messages": [], "__interrupt__": [{"value": "ok?", "id": "i1"}]})
    scope = "openinference.instrumentation.langchain"
    lake = yield [
        span(
            1,
            name="LangGraph",
            ms=100,
            scope=scope,
            **chain,
            input__value=GIVEN,
            output__value=told,
        ),
        asking(2, 1, request("send", "c1", to="bob")),
        span(4, 1, name="send", at=3, **called, tool_call__id="c1"),
    ]
    assert statuses(lake) == [("send", "interrupted")]
    assert ended(lake) == INTERRUPTED


@built_together
def test_langgraph_interrupt_between_tools() -> Scene:
    """A node of the graph pauses, and no call; OpenLLMetry tells what the workflow returned."""
    workflow: dict[str, Any] = {
        "traceloop__span__kind": "workflow",
        "traceloop__entity__name": "LangGraph",
        "traceloop__entity__output": json.dumps({"__interrupt__": ["Interrupt(value='ok?')"]}),
    }
    lake = yield [
        span(1, name="LangGraph.workflow", ms=100, **workflow),
        asking(2, 1, request("look", "c1")),
        tool(3, 1, at=2, tool_name="look", gen_ai__tool__call__result="r"),
    ]
    assert statuses(lake) == [("look", "ok")]
    assert ended(lake) == INTERRUPTED


@built_together
def test_tool_that_paused_and_went_on_in_its_run() -> Scene:
    """One call: its first execution waited, its second did it."""
    lake = yield [
        agent(1),
        asking(2, 1, request("send", "c1", to="bob")),
        raised(tool(3, 1, at=2, tool_name="send", gen_ai__tool__call__id="c1"), "NodeInterrupt"),
        tool(
            4, 1, at=9, tool_name="send", gen_ai__tool__call__id="c1",
            gen_ai__tool__call__result="sent",
        ),
        model(
            5, 1, at=11,
            heard=[
                *ASKED,
                message("assistant", request("send", "c1", to="bob")),
                message("tool", response("sent", "c1")),
            ],
            said=[message("assistant", "Done.")],
        ),
    ]  # fmt: skip
    assert story(lake) == [
        'tool_call send {"to":"bob"} ok',
        "observation sent",
        "answer Done.",
    ]
    assert ended(lake) == OVER


@built_together
def test_pydantic_ai_approval_is_no_error() -> Scene:
    """Before version 5 of its instrumentation the tool's span ends in error, and names it."""
    wanted = "pydantic_ai.exceptions.ApprovalRequired"
    waiting = tool(3, 1, at=2, tool_name="send", gen_ai__tool__call__id="c1", error__type=wanted)
    lake = yield [
        agent(1, scope="pydantic-ai"),
        asking(2, 1, request("send", "c1", to="bob")),
        waiting | {"status": {"code": 2, "message": "ApprovalRequired: "}},
    ]
    assert statuses(lake) == [("send", "interrupted")]
    assert ended(lake) == INTERRUPTED


@built_together
def test_pydantic_ai_deferral_is_no_success() -> Scene:
    """Since version 5 the span ends well, and an attribute says that the call was deferred."""
    deferred: dict[str, Any] = {"pydantic_ai__tool__deferral__name": "CallDeferred"}
    lake = yield [
        agent(1, scope="pydantic-ai", final_result='{"calls":[{"tool_name":"send"}]}'),
        asking(2, 1, request("look", "c1"), request("send", "c2", to="bob")),
        tool(3, 1, at=2, tool_name="look", gen_ai__tool__call__id="c1"),
        tool(4, 1, at=2, tool_name="send", gen_ai__tool__call__id="c2", **deferred),
    ]
    assert statuses(lake) == [("look", "ok"), ("send", "interrupted")]
    assert [run["interrupted"] for run in ended(lake)] == [True]


@built_together
def test_own_tool_that_pauses() -> Scene:
    """Our span of the tool tells the exception, and what the agent saw is not that."""
    own: dict[str, Any] = {"scope": "tracegrade", "tracegrade__step__kind": "tool_call"}
    seen: dict[str, Any] = {"scope": "tracegrade", "tracegrade__step__kind": "observation"}
    lake = yield [
        agent(1, scope="tracegrade"),
        raised(tool(2, 1, at=1, tool_name="send", **own), "strands.interrupt.InterruptException"),
        span(3, 1, at=3, links=[2], **seen),
    ]
    assert story(lake) == ["tool_call send interrupted"]
    assert ended(lake) == INTERRUPTED


def vercel(operation: str, number: int, parent: int | None = None, **told: Any) -> Row:
    """Return a span of the Vercel AI SDK."""
    return span(number, parent, name=operation, scope="ai", ai__operationId=operation, **told)


@built_together
def test_vercel_asks_for_an_approval() -> Scene:
    """Its spans say nothing of that: the call is requested beside others, and not executed."""
    over: dict[str, Any] = {"ai__response__finishReason": "tool-calls"}
    rounds = [
        over
        | {
            "ai__prompt__tools": json.dumps([{"name": "look"}, {"name": "send"}]),
            "ai__response__toolCalls": json.dumps([{"toolCallId": name, "toolName": name}]),
        }
        for name in ("look", "send")
    ]
    looked = {"ai__toolCall__name": "look", "ai__toolCall__id": "look"}
    lake = yield [
        vercel("ai.generateText", 1, ms=100, **over),
        vercel("ai.generateText.doGenerate", 2, 1, at=1, **rounds[0]),
        vercel("ai.toolCall", 3, 1, at=2, ai__toolCall__result="1", **looked),
        vercel("ai.generateText.doGenerate", 4, 1, at=3, **rounds[1]),
    ]
    assert statuses(lake) == [("look", "ok"), ("send", "interrupted")]
    assert ended(lake) == INTERRUPTED


@built_together
def test_result_of_the_vercel_sdk_asks_for_an_approval() -> Scene:
    """As the function around it returned it, to Langfuse."""
    asked = {"type": "tool-approval-request", "approvalId": "a1", "toolCall": {"toolName": "send"}}
    returned: dict[str, Any] = {
        "langfuse__observation__type": "agent",
        "langfuse__observation__output": json.dumps({"content": [asked]}),
    }
    lake = yield [
        span(1, ms=100, scope="langfuse-sdk", **returned),
        asking(2, 1, request("send", "c1", to="bob")),
    ]
    assert statuses(lake) == [("send", "interrupted")]
    assert ended(lake) == INTERRUPTED


def waiting(dialect: str, result: str | None = None) -> list[Row]:
    """Return a run of OpenAI's Agents SDK whose tool returned this, nothing if it waits."""
    told: dict[str, Any] = {"scope": f"{dialect}.openai_agents", "name": "send"}
    keys = ["gen_ai__tool__call__arguments", "gen_ai__tool__call__result"]
    if dialect.startswith("openinference"):
        told |= {"openinference__span__kind": "TOOL", "tool__name": "send"}
        keys = ["input__value", "output__value"]
    elif dialect == "logfire":
        told |= {"logfire__msg_template": "Function: {name}", "name": "send"}
        keys = ["input", "output"]
    else:
        told |= {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__name": "send"}
    told |= {key: text for key, text in zip(keys, ["{}", result], strict=True) if text is not None}
    return [agent(1), asking(2, 1, request("send", "c1")), span(3, 1, at=3, **told)]


@built_together
def test_openai_agents_wait_for_an_approval() -> Scene:
    """The tool's span ends well and without an output."""
    lake = yield waiting("openinference.instrumentation")
    assert statuses(lake) == [("send", "interrupted")]
    assert ended(lake) == INTERRUPTED


@built_together
def test_openai_agents_wait_as_the_conventions_tell() -> Scene:
    """Versions before print there what waits."""
    printed = "FunctionToolResult(tool=send, output=None, run_item=ToolApprovalItem(agent=a))"
    lake = yield waiting("opentelemetry.instrumentation.genai", printed)
    assert statuses(lake) == [("send", "interrupted")]
    assert ended(lake) == INTERRUPTED


@built_together
def test_tool_of_openai_agents_that_returned_something() -> Scene:
    """It ran: what it returned is a result."""
    lake = yield waiting("openinference.instrumentation", "sent")
    assert statuses(lake) == [("send", "ok")]
    assert ended(lake) == OVER


@built_together
def test_tool_of_openai_agents_that_returned_nothing_and_went_on() -> Scene:
    """The model's input has it."""
    heard = [
        *ASKED,
        message("assistant", request("send", "c1")),
        message("tool", response("", "c1")),
    ]
    lake = yield [
        *waiting("openinference.instrumentation"),
        model(4, 1, at=6, heard=heard, said=[message("assistant", "Sent.")]),
    ]
    assert statuses(lake) == [("send", "ok")]
    assert ended(lake) == OVER


@built_together
def test_strands_stops_to_interrupt() -> Scene:
    """Its agent's messages say why it stopped; the tool's hook did, so that no tool ran."""
    stopped = json.dumps(
        [message("assistant", "May I?") | {"finish_reason": "interrupt"}], separators=(",", ":")
    )
    lake = yield [
        agent(1, scope="strands.telemetry.tracer", gen_ai__output__messages=stopped),
        asking(2, 1, request("send", "c1", to="bob")),
    ]
    assert statuses(lake) == [("send", "interrupted")]
    assert ended(lake) == INTERRUPTED


@built_together
def test_adk_asks_for_a_confirmation() -> Scene:
    """A request of its own goes out in place of the tool's result."""
    lake = yield [
        agent(1, scope="gcp.vertex.agent"),
        asking(2, 1, request("adk_request_confirmation", "c1")),
    ]
    assert statuses(lake) == [("adk_request_confirmation", "interrupted")]
    assert ended(lake) == INTERRUPTED


def mastra(number: int, parent: int | None, kind: str, output: object, **told: Any) -> Row:
    """Return a span of Mastra's; one without an output has none."""
    key = f"mastra__{kind}__output"
    written: dict[str, Any] = {key: json.dumps(output)} if output is not None else {}
    return span(number, parent, mastra__span__type=kind, **written, **told)


SUSPENDED = {"status": "suspended", "reason": "tool-call-suspended", "toolName": "send"}
STEP = {"text": "", "toolCalls": [{"toolCallId": "c1", "toolName": "send", "args": {"to": "bob"}}]}
SENDING: dict[str, Any] = {
    "gen_ai__operation__name": "execute_tool",
    "gen_ai__tool__name": "send",
    "gen_ai__tool__call__id": "c1",
}


@built_together
def test_mastra_suspends_in_a_tool() -> Scene:
    """Its span ends well and without an output, and the run says that it is suspended."""
    lake = yield [
        mastra(1, None, "agent_run", SUSPENDED | {"toolCallId": "c1"}, ms=100),
        mastra(2, 1, "model_step", STEP, at=1, ms=20),
        mastra(3, 2, "tool_call", None, at=3, **SENDING),
    ]
    assert statuses(lake) == [("send", "interrupted")]
    assert ended(lake) == INTERRUPTED


@built_together
def test_mastra_waits_for_an_approval() -> Scene:
    """The tool is not executed before."""
    told = SUSPENDED | {"reason": "tool-call-approval"}
    lake = yield [
        mastra(1, None, "agent_run", told, ms=100),
        mastra(2, 1, "model_step", STEP, at=1, ms=20),
    ]
    assert statuses(lake) == [("send", "interrupted")]
    assert ended(lake) == INTERRUPTED


@built_together
def test_tool_of_mastra_that_tells_of_something_suspended() -> Scene:
    """An account may be suspended, too."""
    lake = yield [
        mastra(1, None, "agent_run", {"text": "Suspended.", "files": []}, ms=100),
        mastra(2, 1, "model_step", STEP, at=1, ms=20),
        mastra(
            3, 2, "tool_call", {"status": "suspended", "reason": "tool abuse"}, at=3, **SENDING
        ),
    ]
    assert statuses(lake) == [("send", "ok")]
    assert ended(lake) == OVER


@built_together
def test_mastra_suspends_as_openinference_tells_it() -> Scene:
    """The output of the agent says so."""
    kinds: list[dict[str, Any]] = [
        {"openinference__span__kind": kind} for kind in ("AGENT", "TOOL")
    ]
    told = json.dumps(SUSPENDED | {"toolCallId": "c1"})
    lake = yield [
        span(1, ms=100, **kinds[0], output__value=told),
        asking(2, 1, request("send", "c1", to="bob")),
        span(3, 1, at=3, **kinds[1], tool__name="send", tool_call__id="c1"),
    ]
    assert statuses(lake) == [("send", "interrupted")]
    assert ended(lake) == INTERRUPTED


@built_together
def test_haystack_stops_at_a_breakpoint() -> Scene:
    """The exception passes through the component, the agent and the pipeline."""
    pause = "haystack.core.errors.BreakpointException"
    lake = yield [
        raised(agent(1), pause),
        asking(2, 1, request("send", "c1", to="bob")),
        raised(tool(3, 1, at=3, tool_name="send", gen_ai__tool__call__id="c1"), pause),
    ]
    assert statuses(lake) == [("send", "interrupted")]
    assert ended(lake) == INTERRUPTED


@built_together
def test_haystack_stops_before_its_tools() -> Scene:
    """No tool has a span then: what was requested waits."""
    pause = (
        "haystack_experimental.components.agents.human_in_the_loop.errors.HITLBreakpointException"
    )
    lake = yield [raised(agent(1), pause), asking(2, 1, request("send", "c1", to="bob"))]
    assert statuses(lake) == [("send", "interrupted")]
    assert ended(lake) == INTERRUPTED


@built_together
def test_agno_needs_a_confirmation() -> Scene:
    """Its agent says so in words of its own, and executes nothing."""
    lake = yield [
        span(
            1,
            ms=100,
            openinference__span__kind="AGENT",
            output__value="I have tools to execute, but I need confirmation or user input.",
        ),
        asking(2, 1, request("send", "c1", to="bob")),
    ]
    assert statuses(lake) == [("send", "interrupted")]
    assert ended(lake) == INTERRUPTED


@built_together
def test_request_that_nobody_answered_yet() -> Scene:
    """One of two calls was executed; the agent ended well, and without an answer."""
    lake = yield [
        agent(1),
        asking(2, 1, request("look", "c1"), request("ask", "c2")),
        tool(3, 1, at=2, tool_name="look", gen_ai__tool__call__id="c1"),
    ]
    assert statuses(lake) == [("ask", "interrupted"), ("look", "ok")]
    assert ended(lake) == INTERRUPTED


@built_together
def test_request_of_a_made_up_tool_is_not_executed() -> Scene:
    """Nobody will answer it: it was not offered."""
    lake = yield [
        agent(1),
        asking(2, 1, request("look", "c1"), request("nope", "c2")),
        tool(3, 1, at=2, tool_name="look", gen_ai__tool__call__id="c1"),
    ]
    assert statuses(lake) == [("look", "ok"), ("nope", "not_executed")]


@built_together
def test_request_that_the_run_went_on_without_is_not_executed() -> Scene:
    """The model was called again without its result."""
    lake = yield [
        agent(1),
        asking(2, 1, request("look", "c1"), request("ask", "c2")),
        tool(3, 1, at=2, tool_name="look", gen_ai__tool__call__id="c1"),
        model(4, 1, at=5, heard=ASKED, said=[message("assistant", "Never mind.")]),
    ]
    assert statuses(lake) == [("ask", "not_executed"), ("look", "ok")]
    assert [run["interrupted"] for run in ended(lake)] == [False]


@built_together
def test_run_that_failed_is_not_interrupted() -> Scene:
    """It was stopped by an error, and what it requested was not executed."""
    lake = yield [
        agent(1, error="too many turns"),
        asking(2, 1, request("look", "c1"), request("ask", "c2")),
        tool(3, 1, at=2, tool_name="look", gen_ai__tool__call__id="c1"),
    ]
    assert statuses(lake) == [("ask", "not_executed"), ("look", "ok")]
    assert [run["interrupted"] for run in ended(lake)] == [False]


@built_together
def test_answer_by_a_request_is_an_answer() -> Scene:
    """A model that answers by a tool, as structured output has it, leaves nothing open."""
    answer = json.dumps([message("assistant", '{"city": "Paris"}')])
    lake = yield [
        agent(1, gen_ai__output__messages=answer),
        asking(2, 1, request("send", "c1", city="Paris")),
    ]
    assert [run["interrupted"] for run in ended(lake)] == [False]


@built_together
def test_error_that_speaks_of_an_interrupt_is_an_error() -> Scene:
    """Other exceptions whose names end alike are failures: of an operating system's call."""
    lake = yield [
        agent(1),
        asking(2, 1, request("send", "c1")),
        raised(
            tool(3, 1, at=2, tool_name="send", gen_ai__tool__call__id="c1"), "InterruptedError"
        ),
    ]
    assert statuses(lake) == [("send", "error")]


@built_together
def test_request_of_a_run_that_was_killed_stays_unknown() -> Scene:
    """Its root never came: the process may have died in the tool."""
    lake = yield [asking(2, 1, request("send", "c1"))]
    assert statuses(lake) == [("send", "unknown")]
    assert [run["interrupted"] for run in ended(lake)] == [False]
