"""`init`: makes spans leave this process, through our own TracerProvider or the host's."""

import atexit
import os
import time
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Final

from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter

from tracegrade import names
from tracegrade.guard import guarded, say
from tracegrade.host.endings import send_before_the_end
from tracegrade.host.patching import awaits_patching
from tracegrade.host.processes import carry_to_children
from tracegrade.host.threads import carry_context
from tracegrade.processor import OwnProcessor, ScopeProcessor
from tracegrade.sending.batches import ExportProcessor
from tracegrade.sending.export import CleanExporter
from tracegrade.settings import Redact, Settings
from tracegrade.state import SCOPE_NAME, VERSION, Given, state

# The SDK's 128 evicts the oldest: a long conversation in another instrumentation's indexed
# attributes would lose its beginning, and the span its name.
MAX_ATTRIBUTES: Final = 4096

GATE: Final = "TRACEGRADE_GATE"
"""Names the socket of the harness, where it runs this process to kill it between two calls."""

_HTTP: Final = "otlp_proto_http"
_GRPC: Final = "otlp_proto_grpc"
_PROTOCOLS: Final = {"grpc": _GRPC, "http/protobuf": _HTTP}


@guarded
def init(
    service: str | None = None,
    release: str | None = None,
    environment: str | None = None,
    *,
    redact: Redact | None = None,
    exporter: SpanExporter | None = None,
) -> None:
    """Start writing spans. Call it once, early; again, it only adds to the resource.

    Where spans go is said by `OTEL_*` variables, by default OTLP over HTTP to localhost:4318. A
    TracerProvider that the host has set keeps what it has and gets our processors beside.

    Args:
        service: The program's name (`service.name`).
        release: The program's version (`service.version`), by which scores are compared.
        environment: Where it runs (`deployment.environment.name`).
        redact: Your own rule for texts, (attribute key, text) -> text, after ours. Runs in the
            exporter's thread; a text for which it fails is not sent.
        exporter: Where spans go, instead of what `OTEL_*` says.
    """
    state.settings = Settings.from_environment(redact=redact or state.settings.redact)
    given = {
        names.SERVICE_NAME: service,
        names.SERVICE_VERSION: release,
        names.ENVIRONMENT: environment,
    }
    attributes = {key: value for key, value in given.items() if value is not None}
    found = trace.get_tracer_provider()
    if state.provider is not None and found is state.provider:
        _describe(state.provider, attributes)
    elif isinstance(found, TracerProvider):
        _join(found, attributes)
        _write_to(found, exporter)
    else:
        state.owns_provider = state.may_skip_start = True
        _write_to(_own_provider(attributes), exporter)
    state.given = _together(state.given, Given((service, release, environment), exporter is None))
    carry_context()
    carry_to_children()
    send_before_the_end()


def _together(before: Given, now: Given) -> Given:
    """Return what two calls have given; of each name, the last counts."""
    service, release, environment = (
        new if new is not None else old for old, new in zip(before.names, now.names, strict=True)
    )
    return Given((service, release, environment), before.can_be_sent and now.can_be_sent)


@guarded
def flush(timeout_secs: float = 10) -> None:
    """Send what is queued now, and wait for it; for `timeout_secs` at most."""
    end = time.monotonic() + timeout_secs
    for sending in state.sending:
        sending.force_flush(max(0, int((end - time.monotonic()) * 1000)))


class _OwnProvider(TracerProvider):
    """Ours, to which a host may still add processors of its own."""

    def add_span_processor(self, span_processor: SpanProcessor) -> None:
        """Add a processor; one that is not ours sees each span start and end."""
        state.may_skip_start &= isinstance(span_processor, OwnProcessor)
        super().add_span_processor(span_processor)


def _own_provider(attributes: dict[str, str]) -> TracerProvider:
    provider = _OwnProvider(resource=Resource.create(dict(attributes)), span_limits=_limits())
    trace.set_tracer_provider(provider)
    return provider


def _write_to(provider: TracerProvider, exporter: SpanExporter | None) -> None:
    provider.add_span_processor(ScopeProcessor())
    for make in _exporters() if exporter is None else [lambda: exporter]:
        exporting = CleanExporter(make)
        if not awaits_patching():
            exporting.open()  # here, since modules are better not imported in two threads at once
        sending = ExportProcessor(exporting)
        provider.add_span_processor(sending)
        state.sending.append(sending)
        atexit.register(sending.shutdown)  # a host's provider need not be shut down
    if address := os.environ.get(GATE):
        from tracegrade.gate import stand_at_gate  # noqa: PLC0415 - only where a harness asks

        stand_at_gate(provider, address)
    state.provider = provider
    state.tracer = provider.get_tracer(SCOPE_NAME, VERSION)
    known = all(hasattr(state.tracer, part) for part in ("span_processor", "id_generator"))
    state.may_skip_start &= known  # an SDK that is built otherwise


def _limits() -> SpanLimits:
    asked = {"OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "OTEL_ATTRIBUTE_COUNT_LIMIT"} & os.environ.keys()
    return SpanLimits() if asked else SpanLimits(max_span_attributes=MAX_ATTRIBUTES)


def _describe(provider: TracerProvider, attributes: dict[str, str]) -> None:
    """Add to the resource of our own provider, as `tracegrade run` made it before the program."""
    if not attributes or not state.owns_provider:
        return
    update = getattr(provider, "_update_resource", None)  # the SDK has no public way
    if update is None:
        say(
            "init: resource",
            "this SDK cannot change a resource; say it in OTEL_RESOURCE_ATTRIBUTES",
        )
    else:
        update(Resource.create(dict(attributes)))


def _join(provider: TracerProvider, attributes: dict[str, str]) -> None:
    """Say once what a host's provider decides and we cannot change."""
    has = provider.resource.attributes
    missing = [f"{key}={value}" for key, value in attributes.items() if has.get(key) != value]
    if missing:
        text = (
            f"the program's own TracerProvider decides the resource, without {', '.join(missing)}"
        )
        say("init: resource", f"{text}; say it in OTEL_RESOURCE_ATTRIBUTES")
    limits = getattr(provider, "_span_limits", None)  # the SDK does not tell otherwise
    limit = getattr(limits, "max_span_attributes", None)
    if isinstance(limit, int) and limit < MAX_ATTRIBUTES:
        text = f"the program's TracerProvider keeps the last {limit} attributes of a span"
        say("init: limit", f"{text}; set OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT={MAX_ATTRIBUTES}")


def _exporters() -> list[Callable[[], SpanExporter]]:
    """Return how to make each exporter that `OTEL_TRACES_EXPORTER` names."""
    asked = os.environ.get("OTEL_TRACES_EXPORTER", "").strip() or "otlp"
    named = [name.strip() for name in asked.split(",")]
    found = [_find_exporter(name) for name in named if name and name != "none"]
    return [make for make in found if make is not None]


def _find_exporter(name: str) -> Callable[[], SpanExporter] | None:
    if name == "otlp":
        protocol = (
            os.environ.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL")
            or os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL")
            or "http/protobuf"
        )
        name = _PROTOCOLS.get(protocol, protocol)
    if name in _OURS:
        return _OURS[name]
    found = entry_points(group="opentelemetry_traces_exporter", name=name)
    if not found:
        say("init: exporter", f"no exporter '{name}' is installed; spans do not go there")
        return None
    exporter: SpanExporter = next(iter(found)).load()()
    return lambda: exporter


def _http_exporter() -> SpanExporter:
    from tracegrade.sending.otlp import HttpExporter  # noqa: PLC0415 - see that module

    return HttpExporter()


def _grpc_exporter() -> SpanExporter:
    from tracegrade.sending.otlp_grpc import GrpcExporter  # noqa: PLC0415 - see that module

    return GrpcExporter()


_OURS: Final = {_HTTP: _http_exporter, _GRPC: _grpc_exporter}
