"""Classifies spans for the gate by the attributes of any of the supported conventions.

Texts are as the program gave them, before redaction. The harness is on this machine, trusted, and
compares arguments of one run with those of another.
"""

import hashlib
import json
from collections.abc import Mapping
from enum import Enum, auto
from typing import Final

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import StatusCode, format_span_id, format_trace_id

from tracegrade import names

MAX_TEXT_CHARS: Final = 16_384
"""Longest text of arguments and plans. Even with every character escaped it fits into a message.
"""
MAX_ATTRIBUTES_CHARS: Final = 20_000
"""Longest text of all attributes of a run's span together."""
MAX_NAME_CHARS: Final = 1000
MAX_ERROR_CHARS: Final = 1000
_CANONICAL: Final = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


class SpanKind(Enum):
    """Kinds of spans that the gate distinguishes."""

    AGENT = auto()
    """An agent, or a workflow or chain that agents run in."""
    TOOL = auto()
    MODEL = auto()
    PLAN = auto()
    OBSERVATION = auto()
    ANSWER = auto()


_KINDS: Final[Mapping[str, Mapping[object, SpanKind]]] = {
    names.STEP_KIND: {
        "tool_call": SpanKind.TOOL,
        "plan": SpanKind.PLAN,
        "observation": SpanKind.OBSERVATION,
        "answer": SpanKind.ANSWER,
    },
    "openinference.span.kind": {
        "AGENT": SpanKind.AGENT,
        "CHAIN": SpanKind.AGENT,
        "TOOL": SpanKind.TOOL,
        "LLM": SpanKind.MODEL,
    },
    "traceloop.span.kind": {
        "agent": SpanKind.AGENT,
        "workflow": SpanKind.AGENT,
        "tool": SpanKind.TOOL,
    },
    names.OPERATION_NAME: {
        names.INVOKE_AGENT: SpanKind.AGENT,
        "invoke_workflow": SpanKind.AGENT,
        names.EXECUTE_TOOL: SpanKind.TOOL,
        "chat": SpanKind.MODEL,
        "text_completion": SpanKind.MODEL,
        "generate_content": SpanKind.MODEL,
    },
    "llm.request.type": {"chat": SpanKind.MODEL, "completion": SpanKind.MODEL},
}
_TOOL_NAMES: Final = (names.TOOL_NAME, "tool.name", "traceloop.entity.name")
_ARGUMENTS: Final = (names.TOOL_CALL_ARGUMENTS, "input.value", "traceloop.entity.input")
_MODELS: Final = (
    "gen_ai.response.model",
    "gen_ai.request.model",
    "llm.response.model_name",
    "llm.model_name",
    "llm.request.model_name",
)
_INPUT_TOKENS: Final = (
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.token_count.prompt",
)
_OUTPUT_TOKENS: Final = (
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
)
_CACHE_READ: Final = (
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "gen_ai.usage.details.cache_read_tokens",
    "llm.token_count.prompt_details.cache_read",
)
_CACHE_WRITE: Final = (
    "gen_ai.usage.cache_write.input_tokens",
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_creation_input_tokens",
    "gen_ai.usage.cache_write_input_tokens",
    "llm.token_count.prompt_details.cache_write",
)
_REASONING: Final = (
    "gen_ai.usage.reasoning.output_tokens",
    "gen_ai.usage.reasoning_tokens",
    "gen_ai.usage.details.reasoning_tokens",
    "llm.token_count.completion_details.reasoning",
)


def kind_of(span: ReadableSpan) -> SpanKind | None:
    """Return the kind of a span; None if it is irrelevant or not known yet.

    Some instrumentations write the kind only at the span's end.
    """
    attributes = span.attributes or {}
    for key, kinds in _KINDS.items():
        value = attributes.get(key)
        if value is not None and (kind := kinds.get(value)) is not None:
            return kind
    return None


def tool_name(span: ReadableSpan) -> str:
    """Return the tool's name, or the span's if it has none."""
    return str(_first(span, _TOOL_NAMES) or span.name)[:MAX_NAME_CHARS]


def call_of(span: ReadableSpan) -> dict[str, object]:
    """Return the message about a call that has returned."""
    arguments = _first(span, _ARGUMENTS)
    return {
        "span_id": _span_id(span),
        "name": tool_name(span),
        "ok": span.status.status_code is not StatusCode.ERROR,
        "arguments": None if arguments is None else bounded(_canonical(str(arguments))),
        "effect": _text((span.attributes or {}).get(names.TOOL_EFFECT)),
    }


def run_of(span: ReadableSpan) -> dict[str, object]:
    """Return the message about a run that starts; the harness can write the root span from it."""
    context = span.get_span_context()
    trace_id = format_trace_id(context.trace_id) if context else None
    attributes, cut = _bounded_attributes(span.attributes or {})
    return {
        "trace_id": trace_id,
        "span_id": _span_id(span),
        "parent_id": format_span_id(span.parent.span_id) if span.parent else None,
        "name": span.name[:MAX_NAME_CHARS],
        "start_ns": span.start_time,
        "attributes": attributes,
        "attributes_cut": cut,
    }


def plan_of(span: ReadableSpan) -> dict[str, object]:
    """Return a plan and its number of steps; None where content stays in or was cut."""
    text = (span.attributes or {}).get(names.PLAN_STEPS)
    if not isinstance(text, str):
        return {"steps": None, "plan": None}
    return {"steps": _length(text), "plan": bounded(text)}


def end_of(span: ReadableSpan) -> dict[str, object]:
    """Return the message about a run that has ended, with the error if it failed."""
    if span.status.status_code is not StatusCode.ERROR:
        return {"span_id": _span_id(span), "ok": True}
    texts = (_text((span.attributes or {}).get(names.ERROR_TYPE)), span.status.description)
    error = ": ".join(text for text in texts if text)[:MAX_ERROR_CHARS]
    return {"span_id": _span_id(span), "ok": False, "error": error or None}


def usage_of(span: ReadableSpan) -> dict[str, object]:
    """Return the tokens of a model's answer; None where the span does not say them."""
    return {
        "model": _text(_first(span, _MODELS)),
        "input_tokens": _count(_first(span, _INPUT_TOKENS)),
        "output_tokens": _count(_first(span, _OUTPUT_TOKENS)),
        "cache_read_tokens": _count(_first(span, _CACHE_READ)),
        "cache_write_tokens": _count(_first(span, _CACHE_WRITE)),
        "reasoning_tokens": _count(_first(span, _REASONING)),
        "ok": span.status.status_code is not StatusCode.ERROR,
    }


def _span_id(span: ReadableSpan) -> str | None:
    context = span.get_span_context()
    return format_span_id(context.span_id) if context else None


def _first(span: ReadableSpan, keys: tuple[str, ...]) -> object:
    attributes = span.attributes or {}
    return next((value for key in keys if (value := attributes.get(key)) is not None), None)


def _text(value: object) -> str | None:
    return value[:MAX_NAME_CHARS] if isinstance(value, str) else None


def _count(value: object) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _canonical(text: str) -> str:
    """Return JSON with sorted keys and without blanks; any other text unchanged."""
    try:
        return _CANONICAL.encode(json.loads(text))
    except (ValueError, RecursionError):
        return text


def bounded(text: str) -> str:
    """Return a text, or the beginning of a long one with the digest of all of it."""
    if len(text) <= MAX_TEXT_CHARS:
        return text
    digest = hashlib.sha256(text.encode(errors="replace")).hexdigest()
    return f"{text[: MAX_TEXT_CHARS - 80]}… sha256:{digest}"


def _length(text: str) -> int | None:
    try:
        steps = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(steps, str):
        return len([line for line in steps.splitlines() if line.strip()])
    return len(steps) if isinstance(steps, list) else None


def _bounded_attributes(attributes: Mapping[str, object]) -> tuple[dict[str, object], bool]:
    """Return the attributes that fit, and whether any were left out."""
    bounded: dict[str, object] = {}
    left = MAX_ATTRIBUTES_CHARS
    for key, value in attributes.items():
        size = len(json.dumps([key, value], ensure_ascii=False, default=str))
        if size <= left:
            bounded[key] = value
            left -= size
    return bounded, len(bounded) < len(attributes)
