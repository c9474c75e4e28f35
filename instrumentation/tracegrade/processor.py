"""Puts tracegrade's context onto other libraries' spans: task, trial, sub-goal, step index, ...

tracegrade's own spans carry it from their start.
"""

from opentelemetry.context import Context
from opentelemetry.sdk.trace import Span, SpanProcessor

from tracegrade.attachment import current
from tracegrade.guard import guarded
from tracegrade.scope import OUTSIDE, Attribute, scope_of, step_attributes
from tracegrade.state import SCOPE_NAME


class TracegradeProcessor(SpanProcessor):
    """A processor of tracegrade, which accepts spans that end as they begin."""


class ScopeProcessor(TracegradeProcessor):
    """Writes the scope onto each span of another instrumentation that starts inside a run."""

    @guarded
    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Copy the scope of the span's context, or of the current one if that has none."""
        scope = span.instrumentation_scope
        if scope is not None and scope.name == SCOPE_NAME:
            return
        attributes = attributes_in_run(parent_context)
        if attributes:
            span.set_attributes(attributes)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Return that nothing is held; some SDKs skip the next processors for less."""
        return True


def attributes_in_run(parent_context: Context | None) -> dict[str, Attribute]:
    """Return the attributes for a span that starts in a context; {} outside of any run."""
    context = current() if parent_context is None else parent_context
    if scope_of(context) is OUTSIDE:
        context = current()
    return {} if scope_of(context) is OUTSIDE else step_attributes(context)
