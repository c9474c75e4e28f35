"""Runs of agents that send their model the whole conversation with each call, as live ones do.

A call of a tool asks for more than the last one did, and no two results say the same. Of each
instrumentation the benchmark has what its captures have: the names of the attributes, and the form
of the messages.
"""

import json
import random
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

MESSAGE_CHARS: Final = (80, 560)
"""Least and most characters of a result; of tau-bench's messages the mean is 330."""

WORDS: Final = (
    *("order", "refund", "customer", "shipped", "delivered", "reservation", "flight", "gift"),
    *("card", "payment", "status", "pending", "cancelled", "baggage", "economy", "total"),
)
START_NS: Final = 1_763_700_000_000_000_000
CALL_NS: Final = 1_000_000_000


class Call(NamedTuple):
    """One call of the model, what it asked for, and what came of it."""

    heard: list[dict[str, Any]]
    """All messages so far."""
    said: dict[str, Any]
    result: str = ""
    """What the tool returned that it asked for."""


def message(
    role: str, text: str, call: tuple[str, dict[str, Any]] | None = None
) -> dict[str, Any]:
    """Return a message of a conversation; one of a tool answers the call, others ask for it."""
    return {"role": role, "text": text, "call": call}


def conversation(number: int, calls: int) -> Iterator[Call]:
    """Yield the calls of one run: each but the last asks for a tool."""
    chance = random.Random(number)  # noqa: S311 - the same run each time
    heard = [message("system", text(chance, 1_200)), message("user", text(chance, 300))]
    for index in range(calls - 1):
        asked = f"call_{number}_{index}", {"id": f"o-{number}-{index}", "limit": index}
        said = message("assistant", text(chance, 90), asked)
        result = text(chance, chance.randint(*MESSAGE_CHARS))
        yield Call([*heard], said, result)
        heard += [said, message("tool", result, asked)]
    yield Call([*heard], message("assistant", text(chance, 200)))


def text(chance: random.Random, chars: int) -> str:
    """Return words and numbers of about so many characters."""
    words = (chance.choice((*WORDS, str(chance.randrange(10**6)))) for _ in range(chars // 6))
    return " ".join(words)


def otel_genai(call: Call) -> dict[str, str]:
    """Return a call's messages as OpenTelemetry's GenAI conventions have them."""

    def parts(told: dict[str, Any]) -> dict[str, Any]:
        spoken = [{"type": "text", "content": told["text"]}]
        if told["call"] is None:
            return {"role": told["role"], "parts": spoken}
        call_id, arguments = told["call"]
        if told["role"] == "tool":
            answer = {"type": "tool_call_response", "id": call_id, "response": told["text"]}
            return {"role": "tool", "parts": [answer]}
        asks = {"type": "tool_call", "id": call_id, "name": "look_up", "arguments": arguments}
        return {"role": told["role"], "parts": [*spoken, asks]}

    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "rules",
        "gen_ai.input.messages": json.dumps([parts(each) for each in call.heard]),
        "gen_ai.output.messages": json.dumps([{**parts(call.said), "finish_reason": "stop"}]),
    }


def openinference(call: Call) -> dict[str, str]:
    """Return a call's messages as OpenInference's indexed names have them."""
    made = {"openinference.span.kind": "LLM", "llm.model_name": "rules"}
    told = [("input", each) for each in call.heard] + [("output", call.said)]
    for index, (side, each) in enumerate(told):
        number = 0 if side == "output" else index
        before = f"llm.{side}_messages.{number}.message."
        made[f"{before}role"] = each["role"]
        made[f"{before}content"] = each["text"]
        if each["call"] is not None and each["role"] == "tool":
            made[f"{before}tool_call_id"] = each["call"][0]
        elif each["call"] is not None:
            asked = f"{before}tool_calls.0.tool_call."
            made[f"{asked}id"] = each["call"][0]
            made[f"{asked}function.name"] = "look_up"
            made[f"{asked}function.arguments"] = json.dumps(each["call"][1])
    return made


def traceloop(call: Call) -> dict[str, str]:
    """Return a call's messages as OpenLLMetry's indexed names have them."""
    made = {"llm.request.type": "chat", "gen_ai.request.model": "rules", "gen_ai.system": "OpenAI"}
    for index, each in enumerate(call.heard):
        made |= _indexed(f"gen_ai.prompt.{index}.", each)
    return made | _indexed("gen_ai.completion.0.", call.said)


def _indexed(before: str, told: dict[str, Any]) -> dict[str, str]:
    made = {f"{before}role": told["role"], f"{before}content": told["text"]}
    if told["call"] is not None and told["role"] == "tool":
        made[f"{before}tool_call_id"] = told["call"][0]
    elif told["call"] is not None:
        made[f"{before}tool_calls.0.id"] = told["call"][0]
        made[f"{before}tool_calls.0.name"] = "look_up"
        made[f"{before}tool_calls.0.arguments"] = json.dumps(told["call"][1])
    return made


class Form(NamedTuple):
    """How an instrumentation writes spans."""

    scope: str
    model: Callable[[Call], dict[str, str]]
    agent: dict[str, str]
    tool: Callable[[str, dict[str, Any], str], dict[str, str]]


FORMS: Final = {
    "otel_genai": Form(
        "opentelemetry.instrumentation.openai_agents",
        otel_genai,
        {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "desk"},
        lambda call_id, arguments, result: {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "look_up",
            "gen_ai.tool.call.id": call_id,
            "gen_ai.tool.call.arguments": json.dumps(arguments),
            "gen_ai.tool.call.result": result,
        },
    ),
    "openinference": Form(
        "openinference.instrumentation.langchain",
        openinference,
        {"openinference.span.kind": "AGENT"},
        lambda _, arguments, result: {
            "openinference.span.kind": "TOOL",
            "tool.name": "look_up",
            "input.value": json.dumps(arguments),
            "output.value": result,
        },
    ),
    "traceloop": Form(
        "opentelemetry.instrumentation.langchain",
        traceloop,
        {"traceloop.span.kind": "agent", "traceloop.entity.name": "desk"},
        lambda _, arguments, result: {
            "traceloop.span.kind": "tool",
            "traceloop.entity.name": "look_up",
            "traceloop.entity.input": json.dumps(arguments),
            "traceloop.entity.output": result,
        },
    ),
}


def request(form: str, number: int, calls: int) -> bytes:
    """Return one run as a request of OTLP in JSON."""
    written = FORMS[form]
    spans = [_span(number, 0, written.agent, START_NS, START_NS + 2 * calls * CALL_NS)]
    for index, call in enumerate(conversation(number, calls)):
        at = START_NS + 2 * index * CALL_NS
        spans.append(_span(number, 2 * index + 1, written.model(call), at, at + CALL_NS))
        if call.said["call"] is not None:
            call_id, arguments = call.said["call"]
            ran = written.tool(call_id, arguments, call.result)
            spans.append(_span(number, 2 * index + 2, ran, at + CALL_NS, at + 2 * CALL_NS))
    scoped = {"scope": {"name": written.scope}, "spans": spans}
    return json.dumps({"resourceSpans": [{"scopeSpans": [scoped]}]}).encode()


def _span(
    run: int, number: int, told: dict[str, str], start_ns: int, end_ns: int
) -> dict[str, Any]:
    """Return a span of a run; the first is the root of the others."""
    attributes = [{"key": key, "value": {"stringValue": text}} for key, text in told.items()]
    parent = {"parentSpanId": _span_id(run, 0)} if number else {}
    return {
        "traceId": f"{run + 1:032x}",
        "spanId": _span_id(run, number),
        **parent,
        "name": "step",
        "startTimeUnixNano": str(start_ns),
        "endTimeUnixNano": str(end_ns),
        "attributes": attributes,
    }


def _span_id(run: int, number: int) -> str:
    return f"{run:08x}{number + 1:08x}"
