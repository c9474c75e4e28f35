"""Hands each span and log record of this process to the captures that it belongs to.

A span belongs to the capture that is current where it starts: `contextvars` follow tasks of
asyncio and anyio. In a thread without that context it belongs to its parent's capture, else to
every open one. One recorder serves the whole process, since OpenTelemetry has no way to remove a
processor; it does nothing while no capture is open.
"""

import re
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final
from weakref import WeakSet

from opentelemetry import _logs, trace
from opentelemetry.context import Context
from opentelemetry.sdk._logs import LoggerProvider, LogRecordProcessor, ReadWriteLogRecord
from opentelemetry.sdk.trace import ReadableSpan, Span, TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    SimpleSpanProcessor,
    SpanExporter,
    SpanExportResult,
)

from tracegrade.processor import TracegradeProcessor
from tracegrade.provider import init_beside
from tracegrade.sending.batches import ExportProcessor
from tracegrade.state import state
from tracegrade_testing.errors import CannotCapture

_SAMPLES: Final = re.compile(r"TraceIdRatioBased\{(?P<share>[^}]*)\}")
_DROPS: Final = re.compile(r"(?:^|root:)AlwaysOffSampler")


@dataclass
class Captured:
    """The spans and log records of a block; more may arrive until it ends."""

    spans: list[ReadableSpan] = field(default_factory=list)
    logs: list[Any] = field(default_factory=list)
    """Log records, as the SDK has them."""
    late: int = 0
    """Spans that began in the block and had not ended when it did; they are left out."""


class SpanRecorder(TracegradeProcessor):
    """A processor of spans that keeps what open captures need."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: list[Captured] = []
        self._running: dict[int, Sequence[Captured]] = {}
        """By the id of a span that has not ended, its captures."""
        self._seen: set[int] = set()
        """Ids of spans that ended; two providers may report one span."""

    @property
    def is_idle(self) -> bool:
        """Whether no capture is open."""
        return not self._open

    def begin(self, captured: Captured) -> None:
        """Record for a capture from here on."""
        with self._lock:
            self._open.append(captured)

    def end(self, captured: Captured) -> None:
        """Record no more for a capture, and count the spans that it will not get."""
        with self._lock:
            self._open.remove(captured)
            captured.late = sum(captured in each for each in self._running.values())
            if not self._open:
                self._running.clear()
                self._seen.clear()

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Remember which captures a span belongs to."""
        if self.is_idle:
            return
        parent = span.parent.span_id if span.parent else 0
        with self._lock:
            captures = self._running.get(parent) if current.get() is None else None
            self._running[span.context.span_id] = captures or self.captures_here()
        bind_logs()

    def on_end(self, span: ReadableSpan) -> None:
        """Hand a span to its captures."""
        if self.is_idle or span.context is None:
            return
        span_id = span.context.span_id
        with self._lock:
            captures = self._running.pop(span_id, ())
            if span_id not in self._seen:
                self._seen.add(span_id)
                for captured in captures:
                    if captured in self._open:
                        captured.spans.append(span)

    def captures_here(self) -> Sequence[Captured]:
        """Return the captures of what happens in this context."""
        here = current.get()
        return (here,) if here is not None and here in self._open else tuple(self._open)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Return that nothing waits."""
        return True


class _LogRecorder(LogRecordProcessor):
    """A processor of log records that keeps what open captures need."""

    def on_emit(self, log_record: ReadWriteLogRecord) -> None:
        """Hand a log record to the captures of its context."""
        for captured in () if recorder.is_idle else recorder.captures_here():
            captured.logs.append(log_record)

    def shutdown(self) -> None:
        """Do nothing: nothing is held."""

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Return that nothing waits."""
        return True


class _NoExport(SpanExporter):
    """Sends spans nowhere."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Return that the spans were sent."""
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        """Do nothing."""


recorder: Final = SpanRecorder()
current: Final[ContextVar[Captured | None]] = ContextVar("tracegrade-capture", default=None)
_log_recorder: Final = _LogRecorder()
_bound: Final[WeakSet[TracerProvider]] = WeakSet()
_bound_logs: Final[WeakSet[LoggerProvider]] = WeakSet()


def bind() -> None:
    """Let the recorder see the spans of this process, also of a provider that is set later.

    Raises:
        CannotCapture: The provider leaves out spans, or accepts no processor.
    """
    found = trace.get_tracer_provider()
    if isinstance(found, trace.ProxyTracerProvider) and state.provider is None:
        init_beside(_NoExport())
    providers = [each for each in (found, state.provider) if isinstance(each, TracerProvider)]
    if not providers and not isinstance(found, trace.ProxyTracerProvider):
        kind = f"{type(found).__module__}.{type(found).__qualname__}"
        msg = (
            f"the TracerProvider {kind} accepts no span processors; use one of OpenTelemetry's SDK"
        )
        raise CannotCapture(msg)
    for provider in providers:
        _check_sampler(provider)
        if provider not in _bound:
            provider.add_span_processor(recorder)
            _bound.add(provider)
    bind_logs()


def bind_logs() -> None:
    """Let the recorder see the log records of this process, if its provider can."""
    provider = _logs.get_logger_provider()
    if isinstance(provider, LoggerProvider) and provider not in _bound_logs:
        provider.add_log_record_processor(_log_recorder)
        _bound_logs.add(provider)


def _check_sampler(provider: TracerProvider) -> None:
    sampler = provider.sampler.get_description()
    found = _SAMPLES.search(sampler)
    if _DROPS.search(sampler) or (found and float(found["share"]) < 1):
        msg = (
            f"the sampler {sampler} leaves out spans, so a run would be incomplete; set "
            "OTEL_TRACES_SAMPLER=always_on in tests"
        )
        raise CannotCapture(msg)


@contextmanager
def without_export() -> Iterator[None]:
    """Keep spans from the processors that export them.

    Raises:
        CannotCapture: This version of the SDK has no list of processors.
    """
    lists: list[Any] = [getattr(provider, "_active_span_processor", None) for provider in _bound]
    if not all(hasattr(each, "_span_processors") for each in lists):
        msg = "this version of OpenTelemetry's SDK cannot pause exporters; use capture() alone"
        raise CannotCapture(msg)
    before: list[tuple[Any, Collection[Any]]] = [(each, each._span_processors) for each in lists]
    for each, processors in before:
        each._span_processors = tuple(p for p in processors if not isinstance(p, _EXPORTING))
    try:
        yield
    finally:
        for each, processors in before:
            each._span_processors = processors


_EXPORTING: Final = (BatchSpanProcessor, ExportProcessor, SimpleSpanProcessor)
