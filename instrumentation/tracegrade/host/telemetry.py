"""The program's own telemetry, under `tracegrade run`, which starts before it.

OpenTelemetry allows one TracerProvider, which must be the program's. So tracegrade does not set
its own: a program finds the same state as without tracegrade, and may set a provider. Then its
spans go to that provider and also to tracegrade, with tracegrade's additions; tracegrade's own
spans go to tracegrade alone. Until then, or if the program never sets one, its spans go to
tracegrade.
"""

import functools
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, TracerProvider
from opentelemetry.trace import ProxyTracer, ProxyTracerProvider, Tracer

from tracegrade.guard import guarded, say
from tracegrade.processor import ScopeProcessor, TracegradeProcessor, attributes_in_run
from tracegrade.scope import Attribute

_MOST_OPEN: Final = 10_000
"""Most open spans of the program inside a run that are tracked; the oldest are forgotten."""


def stand_beside(own: TracerProvider) -> bool:
    """Take the place of a TracerProvider until the program sets one; False if that cannot be.

    Args:
        own: Ours, to which spans go.
    """
    set_provider = getattr(trace, "_set_tracer_provider", None)
    if set_provider is None or getattr(trace, "_TRACER_PROVIDER", own) is not None:
        return False  # an OpenTelemetry that is built otherwise, or has one

    @functools.wraps(set_provider)
    def set_and_join(provider: Any, *args: Any, **kwargs: Any) -> None:
        set_provider(provider, *args, **kwargs)
        if trace.get_tracer_provider() is provider:
            _join(provider, own)

    vars(trace).update(_set_tracer_provider=set_and_join, _TRACER_PROVIDER=_Standing(own))
    return True


class _Standing(ProxyTracerProvider):
    """Result of `get_tracer_provider` before a program sets one; like the API's default."""

    def __init__(self, own: TracerProvider) -> None:
        self._own = own

    def get_tracer(self, *args: Any, **kwargs: Any) -> Tracer:
        """Return a tracer of tracegrade, which will become one of the program's provider."""
        return _StandingTracer(self, self._own, *args, **kwargs)


class _StandingTracer(ProxyTracer):
    """Writes to tracegrade until the program sets a provider, and then to that provider."""

    def __init__(
        self, standing: _Standing, own: TracerProvider, *args: Any, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._standing = standing
        self._ours = own.get_tracer(*args, **kwargs)
        self._theirs: Tracer | None = None
        self._arguments = args, kwargs

    @property
    def _tracer(self) -> Tracer:
        if self._theirs is not None:
            return self._theirs
        found = trace.get_tracer_provider()
        if found is self._standing:
            return self._ours
        args, kwargs = self._arguments
        self._theirs = found.get_tracer(*args, **kwargs)
        return self._theirs


@guarded
def _join(provider: Any, own: TracerProvider) -> None:
    if provider is own:
        return
    add = getattr(provider, "add_span_processor", None)
    if add is None:
        kind = f"{type(provider).__module__}.{type(provider).__qualname__}"
        say(
            "run: provider",
            f"the program's own spans do not come, since its TracerProvider, {kind}, takes no "
            "span processors; those of tracegrade and of what it instruments do",
        )
    else:
        add(_Listener(own))


class _Listener(TracegradeProcessor):
    """Passes a program's spans to tracegrade's processors, and does not change them."""

    def __init__(self, own: TracerProvider) -> None:
        self._own = own
        self._inside: OrderedDict[int, dict[str, Attribute]] = OrderedDict()

    def _ours(self) -> tuple[TracegradeProcessor, ...]:
        return getattr(self._own, "listening", ())

    @guarded
    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Remember where in a run a span starts."""
        attributes = attributes_in_run(parent_context)
        if attributes:
            self._inside[span.get_span_context().span_id] = attributes
            if len(self._inside) > _MOST_OPEN:
                self._inside.popitem(last=False)
        for each in self._ours():
            if not isinstance(each, ScopeProcessor):
                each.on_start(span, parent_context)

    @guarded
    def on_end(self, span: ReadableSpan) -> None:
        """Hand a span on, with where it was."""
        attributes = self._inside.pop(span.context.span_id, None) if span.context else None
        ended = span if attributes is None else _SpanInRun(span, attributes)
        for each in self._ours():
            each.on_end(ended)

    def shutdown(self) -> None:
        """Do nothing: the program shuts down its own."""

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Return that nothing is held: the program waits for its own."""
        return True


class _SpanInRun(ReadableSpan):
    """A program's span with the attributes that tracegrade adds inside a run."""

    def __init__(self, span: ReadableSpan, attributes: Mapping[str, Attribute]) -> None:
        vars(self).update(vars(span))
        self._original = span
        self._attributes = {**(span.attributes or {}), **attributes}

    @property
    def dropped_attributes(self) -> int:
        return self._original.dropped_attributes
