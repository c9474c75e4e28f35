"""Starts and ends spans so that a span that a signal interrupts is still sent or counted.

Python raises a signal's exception between any two instructions, also in OpenTelemetry's SDK. A
span that has just ended there would silently never reach the queue.
"""

import contextlib
from collections.abc import Mapping
from typing import Final

from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Tracer
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.trace import Span, get_current_span

from tracegrade.guard import LOST, guarded, note
from tracegrade.scope import Attribute
from tracegrade.state import state

NOT_STARTED: Final = "interrupted or failed at the start"


def start_span(
    name: str, context: Context, attributes: Mapping[str, Attribute] | None = None
) -> Span:
    """Return a started span; if it should be sent but cannot start, count it as lost."""
    try:
        return state.tracer.start_span(name, context, attributes=attributes)
    except BaseException:
        is_lost = True
        try:
            is_lost = not _is_dropped(name, context, attributes)
        finally:
            if is_lost:
                note(LOST + NOT_STARTED)
        raise


def _is_dropped(name: str, context: Context, attributes: Mapping[str, Attribute] | None) -> bool:
    """Return whether the host's sampler leaves a span out; False if it does not say.

    Under parent-based samplers the parent's decision applies to all spans below. The trace id of a
    span without a parent is not known; if the sampler depends on it, another id is used.
    """
    tracer = getattr(state.tracer, "_tracer", state.tracer)  # behind the API's proxy
    if not isinstance(tracer, Tracer):
        return False
    parent = get_current_span(context).get_span_context()
    with contextlib.suppress(Exception):  # of the host's own sampler: the start has failed by it
        trace_id = parent.trace_id if parent.is_valid else tracer.id_generator.generate_trace_id()
        found = tracer.sampler.should_sample(context, trace_id, name, attributes=attributes)
        return found.decision is not Decision.RECORD_AND_SAMPLE
    return False


def end_span(span: Span) -> None:
    """End a span; a signal that interrupts this reaches the program after the span is queued.

    If the signal comes before the first instruction, the end has not begun: the span is still
    recording.
    """
    try:
        span.end()
    except BaseException:
        end_again(span)
        raise


@guarded
def end_again(span: Span) -> None:
    """Make sure that a span whose end was interrupted ends and is queued."""
    if span.is_recording():
        span.end()
    elif isinstance(span, ReadableSpan):
        queue_again(span)


@guarded
def queue_again(span: ReadableSpan) -> None:
    """Queue a span that has ended, wherever it is not queued yet."""
    for sending in state.sending:
        sending.make_sure(span)
