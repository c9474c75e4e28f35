"""A span as it leaves, where that is not as it ended."""

from typing import Any

from opentelemetry.sdk.trace import ReadableSpan


class RewrittenSpan(ReadableSpan):
    """A span with other texts; the SDK's counts of dropped parts are preserved."""

    def __init__(self, span: ReadableSpan, **changed: Any) -> None:
        """Make it of a span, but for the arguments of `ReadableSpan` that are given."""
        fields: dict[str, Any] = {
            "name": span.name,
            "resource": span.resource,
            "attributes": span.attributes,
            "events": span.events,
            "links": span.links,
            "status": span.status,
            "instrumentation_scope": span.instrumentation_scope,
        }
        super().__init__(
            context=span.get_span_context(),
            parent=span.parent,
            kind=span.kind,
            start_time=span.start_time,
            end_time=span.end_time,
            **{**fields, **changed},
        )
        self._original = span

    @property
    def dropped_attributes(self) -> int:
        """Number of attributes that the original lost to a limit."""
        return self._original.dropped_attributes

    @property
    def dropped_events(self) -> int:
        """Number of events that the original lost to a limit."""
        return self._original.dropped_events

    @property
    def dropped_links(self) -> int:
        """Number of links that the original lost to a limit."""
        return self._original.dropped_links
