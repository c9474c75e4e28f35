"""`init`: makes spans leave this process, through our own TracerProvider or the host's."""

import os
from typing import Final

from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter

from tracegrade import names
from tracegrade.guard import guarded
from tracegrade.settings import Redact, Settings
from tracegrade.state import SCOPE_NAME, VERSION, state

MAX_ATTRIBUTES: Final = 4096


@guarded
def init(
    service: str | None = None,
    release: str | None = None,
    environment: str | None = None,
    *,
    redact: Redact | None = None,
    exporter: SpanExporter | None = None,
) -> None:
    """Start writing spans."""
    state.settings = Settings.from_environment(redact=redact)
    given = {
        names.SERVICE_NAME: service,
        names.SERVICE_VERSION: release,
        names.ENVIRONMENT: environment,
    }
    attributes = {key: value for key, value in given.items() if value is not None}
    provider = TracerProvider(
        resource=Resource.create(attributes),
        span_limits=SpanLimits(max_span_attributes=MAX_ATTRIBUTES),
    )
    provider.add_span_processor(BatchSpanProcessor(exporter or _otlp_exporter()))
    trace.set_tracer_provider(provider)
    state.tracer = trace.get_tracer(SCOPE_NAME, VERSION)


def _otlp_exporter() -> SpanExporter:
    os.environ.setdefault("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter()


@guarded
def flush(timeout_secs: float = 10) -> None:
    """Send what is queued now, and wait for it."""
    provider = trace.get_tracer_provider()
    if isinstance(provider, TracerProvider):
        provider.force_flush(int(timeout_secs * 1000))
