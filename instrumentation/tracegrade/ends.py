"""Spans start and end whatever interrupts them: what a signal stops halfway is sent or counted.

Python raises a signal's exception between any two instructions, in OpenTelemetry's SDK as well. A
span that has just ended there would never reach the queue, without a word.
"""

from collections.abc import Mapping
from typing import Final

from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import Span

from tracegrade.guard import LOST, guarded, note
from tracegrade.scope import Attribute
from tracegrade.state import state

NOT_STARTED: Final = "interrupted or failed at the start"


def start_span(
    name: str, context: Context, attributes: Mapping[str, Attribute] | None = None
) -> Span:
    """Return a span of ours that has started; one that could not is counted as lost."""
    try:
        return state.tracer.start_span(name, context, attributes=attributes)
    except BaseException:
        note(LOST + NOT_STARTED)
        raise


def end_span(span: Span) -> None:
    """End a span. If a signal interrupts that, the span is queued before the program hears it.

    Interrupted before its first instruction, it has not begun: the span is still recording.
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
