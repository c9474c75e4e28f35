"""Steps that are not tool calls: plan, thought, observation and answer, each a span of no length.

They are written into the given context: the current one, or that of their run.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, Final

from opentelemetry.context import Context
from opentelemetry.trace import Span, StatusCode

from tracegrade import names
from tracegrade.content import (
    SpanText,
    error_texts,
    json_of,
    plain_of,
    text_of,
    write_text,
)
from tracegrade.ends import end_again, start_span
from tracegrade.guard import expect
from tracegrade.scope import Attribute, has_ended, own_attributes
from tracegrade.settings import Content
from tracegrade.state import state
from tracegrade.values.native_inspection import qualified_name
from tracegrade.whole_texts import whole_text

PlanStep = Mapping[str, Any] | str

EFFECTS: Final = ("read", "write", "destructive")
"""Possible effects of a call on the world."""

PLAN_KEYS: Final = (
    *("id", "text", "tool", "inputs", "outputs", "effect", "rollback", "on_failure", "status"),
    *("content", "step", "title", "description"),  # todo tools call a text so
)
"""Keys of a step of a plan."""

MAX_CHECKED: Final = 1000
"""Most steps of a plan whose keys are checked."""


def write_step(
    context: Context,
    name: str,
    attributes: Mapping[str, Attribute],
    content: tuple[str, SpanText] | None = None,
) -> None:
    """Write one step as a span: `content` is the attribute that holds its text."""
    written = {**attributes, **own_attributes(context)}
    if content is not None:
        write_content(written, *content)
    span = start_span(name, context, written)
    try:
        span.end()
    except BaseException:  # a signal
        end_again(span)
        raise
    has_ended(context)


def write_content(attributes: dict[str, Attribute], key: str, text: SpanText) -> None:
    """Put a text into a span's attributes, unless content must stay in the process."""
    if state.settings.content is not Content.NONE:
        write_text(attributes, key, text)


def write_plan(context: Context, steps: Sequence[PlanStep], agent: str | None) -> None:
    """Write a plan; a text step becomes `{"text": ...}`, and a text alone is a plan."""
    listed = plain_of(steps, state.settings)
    if type(listed) is list:
        listed = [{"text": step} if type(step) is str else step for step in listed]
        _check_plan(listed)
    name = f"{names.PLAN} {agent}" if agent else names.PLAN
    attributes: dict[str, Attribute] = {names.OPERATION_NAME: names.PLAN, names.STEP_KIND: "plan"}
    if agent:
        attributes[names.AGENT_NAME] = agent
    write_step(context, name, attributes, (names.PLAN_STEPS, as_json(listed)))


def _check_plan(steps: list[Any]) -> None:
    """Say which keys of steps nothing reads."""
    for step in steps[:MAX_CHECKED]:
        if type(step) is dict:
            expect("effect=", step.get("effect"), EFFECTS)
            for key in islice(step, MAX_CHECKED):
                expect("the plan's key", key, PLAN_KEYS)


def write_thought(context: Context, text: object) -> None:
    """Write a thought of the agent."""
    content = (names.THOUGHT_CONTENT, as_text(text))
    write_step(context, names.THOUGHT, {names.STEP_KIND: "thought"}, content)


def write_observation(context: Context, text: object) -> None:
    """Write an observation that no tool returned."""
    content = (names.OBSERVATION_CONTENT, as_text(text))
    write_step(context, names.OBSERVATION, {names.STEP_KIND: "observation"}, content)


def write_answer(context: Context, text: object) -> None:
    """Write the agent's final answer."""
    content = (names.OUTPUT_MESSAGES, output_messages(text))
    write_step(context, names.ANSWER, {names.STEP_KIND: "answer"}, content)


def as_text(value: object) -> SpanText:
    """Return a text unchanged, any other value as JSON, within the process's limit."""
    return text_of(value, state.settings)


def as_json(value: object) -> SpanText:
    """Return `value` as JSON, within the process's limit."""
    return json_of(value, state.settings)


def input_messages(text: object) -> SpanText:
    """Return the user's request as messages of the GenAI conventions."""
    return _messages("user", text, {})


def output_messages(text: object) -> SpanText:
    """Return the agent's answer as messages of the GenAI conventions."""
    return _messages("assistant", text, {"finish_reason": "stop"})


def _messages(role: str, value: object, more: Mapping[str, str]) -> SpanText:
    # The text is cut before it is wrapped, so that a long message is still valid JSON.
    text, marks = as_text(value)
    message = {"role": role, "parts": [{"type": "text", "content": text}], **more}
    return SpanText(json.dumps([message], ensure_ascii=False), marks)


def record_failure(span: Span, error: BaseException) -> None:
    """Mark a span as failed by a user's exception: status, `error.type` and an exception event."""
    name = whole_text(qualified_name(type(error)))
    span.set_attribute(names.ERROR_TYPE, name)
    event: dict[str, Attribute] = {names.EXCEPTION_TYPE: name}
    if state.settings.content is Content.NONE:
        span.set_status(StatusCode.ERROR)
    else:
        message, trace = error_texts(error, state.settings)
        write_text(event, names.EXCEPTION_MESSAGE, message)
        write_text(event, names.EXCEPTION_STACKTRACE, trace)
        span.set_status(StatusCode.ERROR, message.text)
    span.add_event("exception", event)
