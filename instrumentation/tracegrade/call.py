"""One tool call: its span, and the observation span that follows it.

This is the hot path (`make bench`): attributes known when the tool was wrapped are made there,
the rest goes into one dict at the span's start, and no context manager is built per call. Each
function is guarded by itself, so that a call whose bookkeeping failed still returns what the tool
returned.
"""

from contextvars import Token

from opentelemetry import context as otel_context
from opentelemetry.context import Context
from opentelemetry.trace import Link, Span, set_span_in_context

from tracegrade import names
from tracegrade.arguments import Parameters
from tracegrade.content import Text, json_of, text_of
from tracegrade.guard import guarded
from tracegrade.scope import Attribute, step_attributes
from tracegrade.settings import Content
from tracegrade.state import state
from tracegrade.steps import record_failure


class Tool:
    """What is known about a tool before it is called."""

    def __init__(
        self, name: str, parameters: Parameters, effect: str | None, cost: float | None
    ) -> None:
        self.name = name
        self.parameters = parameters
        self.span_name = f"{names.EXECUTE_TOOL} {name}"
        self.attributes: dict[str, Attribute] = {
            names.OPERATION_NAME: names.EXECUTE_TOOL,
            names.STEP_KIND: "tool_call",
            names.TOOL_NAME: name,
            names.TOOL_TYPE: "function",
        }
        if effect is not None:
            self.attributes[names.TOOL_EFFECT] = effect
        if cost is not None:
            self.attributes[names.TOOL_COST] = cost


class Call:
    """A tool call that has begun and is the current span between `enter` and `leave`."""

    __slots__ = ("_inside", "_token", "parent", "span", "truncated")

    def __init__(self, span: Span, parent: Context, truncated: tuple[str, ...]) -> None:
        self.span = span
        self.parent = parent
        self.truncated = truncated
        self._inside = set_span_in_context(span, parent)
        self._token: Token[Context] | None = None

    def enter(self) -> None:
        """Make the tool's span the current one."""
        self._token = otel_context.attach(self._inside)

    def leave(self) -> None:
        """Make current again what was current before."""
        if self._token is not None:
            otel_context.detach(self._token)
            self._token = None


@guarded
def begin(tool: Tool, args: tuple[object, ...], kwargs: dict[str, object]) -> Call:
    """Start the tool's span, with its arguments as they are now, and make it current."""
    parent = otel_context.get_current()
    attributes = {**tool.attributes, **step_attributes(parent)}
    truncated: tuple[str, ...] = ()
    if state.settings.content is not Content.NONE:
        named = tool.parameters.by_name(args, kwargs)
        text, cut = json_of(named, state.settings.max_content_chars)
        attributes[names.TOOL_CALL_ARGUMENTS] = text
        if cut:
            truncated = (names.TOOL_CALL_ARGUMENTS,)
    span = state.tracer.start_span(tool.span_name, parent, attributes=attributes)
    call = Call(span, parent, truncated)
    call.enter()
    return call


@guarded
def finish(call: Call | None, result: object) -> None:
    """End the call with what the tool returned, and write down that the agent saw it."""
    if call is not None:
        call.leave()
        if state.settings.content is not Content.NONE and call.span.is_recording():
            write_result(call, text_of(result, state.settings.max_content_chars))
        close(call)


@guarded
def fail(call: Call | None, error: BaseException) -> None:
    """End the call with the exception that the tool raised."""
    if call is not None:
        call.leave()
        record_failure(call.span, error)
        close(call)


def write_result(call: Call, result: Text) -> None:
    """Put the result on the tool's span."""
    call.span.set_attribute(names.TOOL_CALL_RESULT, result.text)
    if result.truncated:
        call.truncated += (names.TOOL_CALL_RESULT,)


def close(call: Call) -> None:
    """End the tool's span and follow it by its observation, which links to it."""
    if call.truncated:
        call.span.set_attribute(names.TRUNCATED, call.truncated)
    call.span.end()
    attributes = {names.STEP_KIND: "observation", **step_attributes(call.parent)}
    seen = (Link(call.span.get_span_context()),)
    observation = state.tracer.start_span(
        names.OBSERVATION, call.parent, attributes=attributes, links=seen
    )
    observation.end()
