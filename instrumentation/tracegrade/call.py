"""One tool call: its span, and the observation span that follows it.

This is the hot path (`make bench`). Attributes that are known when the tool is wrapped are made
then; the others go into one dict at the span's start. No context manager is built per call. Each
function has its own guard, so a call whose bookkeeping failed still returns the tool's result.
"""

import time
from typing import Any, NamedTuple

from opentelemetry.attributes import BoundedAttributes
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Tracer
from opentelemetry.sdk.trace import Span as SdkSpan
from opentelemetry.trace import INVALID_SPAN, Link, Span, SpanContext, set_span_in_context

from tracegrade import names
from tracegrade.arguments import Parameters
from tracegrade.attachment import Attachment, below_framework, current
from tracegrade.content import Render, SpanText, attribute_of, json_of, text_of, write_text
from tracegrade.ends import end_again, end_span, queue_again, start_span
from tracegrade.guard import guarded
from tracegrade.scope import Attribute, has_ended, own_attributes
from tracegrade.settings import Content
from tracegrade.state import state
from tracegrade.steps import record_failure


class Description(NamedTuple):
    """The program's description of a tool."""

    name: str
    effect: str | None = None
    cost: float | None = None
    render: Render | None = None
    """The tool's function for writing objects among its arguments and results."""


class WrappedTool:
    """Facts about a tool, collected before it is called."""

    def __init__(self, described: Description, parameters: Parameters) -> None:
        self.name = str(attribute_of(described.name))
        self.parameters = parameters
        self.render = described.render
        self.span_name = f"{names.EXECUTE_TOOL} {self.name}"
        self.attributes: dict[str, Attribute] = {
            names.OPERATION_NAME: names.EXECUTE_TOOL,
            names.STEP_KIND: "tool_call",
            names.TOOL_NAME: self.name,
            names.TOOL_TYPE: "function",
        }
        if described.effect is not None:
            self.attributes[names.TOOL_EFFECT] = attribute_of(described.effect)
        if described.cost is not None:
            self.attributes[names.TOOL_COST] = attribute_of(described.cost)


class Call(Attachment):
    """One call of a tool; its span is current from `begin` to its end.

    A call is made before anything else happens. Every holder of a call can end it, even if a
    signal interrupts this module.
    """

    __slots__ = ("attributes", "is_ending", "is_over", "parent", "span", "tool")

    def __init__(self, tool: WrappedTool) -> None:
        super().__init__()
        self.tool = tool
        self.attributes: dict[str, Attribute] = {}
        self.parent = Context()
        self.span: Span = INVALID_SPAN
        self.is_ending = self.is_over = False

    def close(self) -> None:
        """Make sure that the call is over, where a signal may have interrupted its end."""
        self.detach()
        if not self.is_over:
            _close(self)


@guarded
def begin(call: Call, args: tuple[object, ...], kwargs: dict[str, object]) -> None:
    """Start the tool's span, with its arguments as they are now, and make it current."""
    tool = call.tool
    outside = current()
    call.parent = parent = below_framework(outside)
    settings = state.settings
    call.attributes = attributes = {**tool.attributes, **own_attributes(parent)}
    if settings.content is not Content.NONE:
        named = tool.parameters.by_name(args, kwargs)
        arguments = json_of(named, settings, tool.render)
        write_text(attributes, names.TOOL_CALL_ARGUMENTS, arguments)
    call.span = span = _start(tool.span_name, parent, attributes)
    call.inside = set_span_in_context(span, parent)
    call.attach(outside)


_SPAN_ATTRIBUTES: Any = BoundedAttributes
"""The SDK's class for the attributes of a span."""


def _start(name: str, context: Context, attributes: dict[str, Attribute]) -> Span:
    """Return a span that has started, with attributes that are plain already.

    The SDK copies and checks each attribute, which costs a sixth of a call. If no processor of the
    host's sees the start, the attributes are not read before the end.
    """
    plain_span: Any = state.plain_span
    if plain_span is None or not state.may_skip_start:
        return start_span(name, context, attributes)
    span: Any = start_span(name, context)
    attributes_of_span: Any = getattr(span, "_attributes", None)
    if span.__class__ is plain_span and attributes_of_span.__class__ is _SPAN_ATTRIBUTES:
        attributes_of_span._dict = (
            attributes  # no call, in which a signal would find it without them
        )
    else:
        span.set_attributes(attributes)
    return span  # type: ignore[no-any-return]


@guarded
def finish(call: Call, result: object) -> None:
    """End the call with the tool's result, and write the observation that the agent saw it."""
    call.detach()
    try:
        if state.settings.content is not Content.NONE and call.span.is_recording():
            _write_result(call, _text_of_result(result, call.tool.render))
    finally:
        _close(call)


@guarded
def fail(call: Call, error: BaseException) -> None:
    """End the call with the exception that the tool raised, unless it has ended."""
    call.detach()
    try:
        if call.span.is_recording():
            record_failure(call.span, error)
    finally:
        _close(call)


def refuse(
    tool: WrappedTool, args: tuple[object, ...], kwargs: dict[str, object], error: BaseException
) -> None:
    """Write down a call that the tool does not take."""
    call = Call(tool)
    try:
        begin(call, args, kwargs)
        fail(call, error)
    finally:
        call.close()


def _text_of_result(result: object, render: Render | None) -> SpanText:
    """Return the tool's result as text; the values of a generator are text already."""
    is_text = type(result) is SpanText
    return result if is_text else text_of(result, state.settings, render)  # type: ignore[return-value]


def _write_result(call: Call, result: SpanText) -> None:
    call.span.set_attribute(names.TOOL_CALL_RESULT, result.text)
    if result.marks:
        write_text(call.attributes, names.TOOL_CALL_RESULT, result)
        for mark in result.marks:
            call.span.set_attribute(mark, call.attributes[mark])


@guarded
def _close(call: Call) -> None:
    """End the tool's span, and write its observation, which links to it.

    If a signal interrupted it, calling it again continues from there.
    """
    tool_span = call.span
    if call.is_over:
        return
    if tool_span.is_recording():
        call.is_ending = True
        end_span(tool_span)
    elif not call.is_ending:
        call.is_over = True
        return
    has_ended(call.parent)
    _write_observation(call, tool_span)


def _write_observation(call: Call, tool_span: Span) -> None:
    attributes = {names.STEP_KIND: "observation", **own_attributes(call.parent)}
    seen = (Link(tool_span.get_span_context()),)
    tracer = state.tracer
    if state.may_skip_start and isinstance(tracer, Tracer) and isinstance(tool_span, SdkSpan):
        ended = _ended_span(tracer, tool_span, attributes, seen)
        call.is_over = True  # before it is: an interrupt may come between
        try:
            tracer.span_processor.on_end(ended)
        except BaseException:
            queue_again(ended)
            raise
    else:
        start = tracer.start_span
        span = start(names.OBSERVATION, call.parent, attributes=attributes, links=seen)
        call.is_over = True
        try:
            span.end()
        except BaseException:
            end_again(span)
            raise


def _ended_span(
    tracer: Tracer,
    beside: SdkSpan,
    attributes: dict[str, Attribute],
    links: tuple[Link, ...],
) -> ReadableSpan:
    """Return a span that ends as it begins, in the trace of another span.

    Nothing runs inside an observation, so it needs no lock, limits or start hooks, which cost as
    much as all else in a call. Not for a host with its own processor, which may need a start.
    """
    sibling = beside.get_span_context()
    now = time.time_ns()
    return ReadableSpan(
        name=names.OBSERVATION,
        context=SpanContext(
            sibling.trace_id,
            tracer.id_generator.generate_span_id(),
            is_remote=False,
            trace_flags=sibling.trace_flags,
            trace_state=sibling.trace_state,
        ),
        parent=beside.parent,
        resource=beside.resource,
        attributes=attributes,
        links=links,
        instrumentation_scope=beside.instrumentation_scope,
        start_time=now,
        end_time=now,
    )
