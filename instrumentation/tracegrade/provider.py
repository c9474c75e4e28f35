"""`init`: makes spans leave this process, through tracegrade's TracerProvider or the host's."""

import atexit
import os
import threading
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any, Final, Literal

from opentelemetry import trace
from opentelemetry.attributes import BoundedAttributes
from opentelemetry.sdk import trace as sdk
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import ParentBased, StaticSampler, TraceIdRatioBased

from tracegrade import names
from tracegrade.content import attribute_of
from tracegrade.environment import (
    endpoint_is_usable,
    shortened,
    usable_environment,
    usable_environment_again,
)
from tracegrade.guard import guarded, say
from tracegrade.host.endings import send_before_the_end
from tracegrade.host.patching import awaits_patching
from tracegrade.host.processes import carry_to_children
from tracegrade.host.telemetry import stand_beside
from tracegrade.host.threads import carry_context
from tracegrade.processor import ScopeProcessor, TracegradeProcessor
from tracegrade.sending.batches import ExportProcessor
from tracegrade.sending.export import RedactingExporter
from tracegrade.sending.flush import unsent_after
from tracegrade.settings import Redact, Settings
from tracegrade.state import SCOPE_NAME, VERSION, Given, state

# The SDK's 128 evicts the oldest: a long conversation in another instrumentation's indexed
# attributes would lose its beginning, and the span its name.
MAX_ATTRIBUTES: Final = 4096

GATE: Final = "TRACEGRADE_GATE"
"""Names the harness's socket, if the harness runs this process to kill it between two calls."""

_HTTP: Final = "otlp_proto_http"
_GRPC: Final = "otlp_proto_grpc"
_BY_TRACE: Final = {ParentBased, TraceIdRatioBased, StaticSampler}
"""Samplers that look at no attribute."""
_PROTOCOLS: Final = {"grpc": _GRPC, "http/protobuf": _HTTP}


@guarded
def init(
    service: str | None = None,
    release: str | None = None,
    environment: str | None = None,
    *,
    redact: Redact | None = None,
    objects: Literal["name", "str"] | None = None,
    exporter: SpanExporter | None = None,
) -> None:
    """Start writing spans. Call it once, early; a second call only adds to the resource.

    `OTEL_*` variables say where spans go; the default is OTLP over HTTP to localhost:4318. A
    TracerProvider that the host has set keeps its processors and gets tracegrade's in addition.

    Args:
        service: The program's name (`service.name`).
        release: The program's version (`service.version`); scores are compared by it.
        environment: The deployment environment (`deployment.environment.name`).
        redact: Your own rule for texts, (attribute key, text) -> text, applied after tracegrade's.
            It runs in the exporter's thread; a text for which it fails is not sent.
        objects: Text for an object whose class is neither known nor registered
            (`register_renderer`). `name`, the default, writes the name of its class, without
            running its code. `str` calls its `str()`, which may take locks, query a database or
            load lazy values; it also calls the `__str__` of exceptions that define one. If
            omitted, `TRACEGRADE_OBJECTS` decides.
        exporter: The exporter for spans, instead of the one that `OTEL_*` describes.
    """
    texts = [
        None if value is None else str(attribute_of(value))
        for value in (service, release, environment)
    ]
    keys = (names.SERVICE_NAME, names.SERVICE_VERSION, names.ENVIRONMENT)
    attributes = {key: text for key, text in zip(keys, texts, strict=True) if text is not None}
    with _starting, usable_environment():
        state.settings = Settings.from_environment(
            redact=redact or state.settings.redact,
            objects=state.settings.objects if objects is None and state.provider else objects,
        )
        _start(attributes, exporter)
        _warn_of_another_release(attributes.get(names.SERVICE_VERSION))
        now = Given((texts[0], texts[1], texts[2]), exporter is None)
        state.given = _together(state.given, now)
        _reach_out()


def _warn_of_another_release(release: str | None) -> None:
    """Report once a release that was chosen at start and that the program replaces."""
    if not state.owns_provider:
        return
    chosen = OTELResourceDetector().detect().attributes.get(names.SERVICE_VERSION)
    if release is not None and chosen not in {None, release}:
        say(
            "init: release",
            f"the release is {shortened(release)}, as init says, and not {shortened(str(chosen))} "
            "of --release or OTEL_RESOURCE_ATTRIBUTES; give init none to choose it at start",
        )


_starting = threading.RLock()


def _start_over() -> None:
    """Forget in a forked child what another thread of its parent was doing."""
    global _starting  # noqa: PLW0603 - one for a process
    _starting = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_over)


def _start(attributes: dict[str, str], exporter: SpanExporter | None) -> None:
    found = trace.get_tracer_provider()
    if state.provider is not None and (found is state.provider or state.owns_provider):
        _describe(state.provider, attributes)
        if exporter is not None and exporter is not state.exporter:
            say("init: called again", "init was called before, so spans go where it said then")
    elif isinstance(found, TracerProvider):
        _join(found, attributes)
        _write_to(found, exporter)
    else:
        state.may_skip_start = True
        provider = _own_provider(attributes)
        _write_to(provider, exporter)
        state.owns_provider = True
        _make_global(provider, found)


def _make_global(provider: TracerProvider, found: trace.TracerProvider) -> None:
    """Make tracegrade's provider the global one, unless the program has another kind."""
    if isinstance(found, trace.ProxyTracerProvider):
        trace.set_tracer_provider(provider)
        return
    kind = f"{type(found).__module__}.{type(found).__qualname__}"
    text = f"the program's TracerProvider is {kind}, which does not accept exporters"
    say("init: provider", f"{text}; tracegrade sends its own spans, and no other library's")


def _id_generator() -> IdGenerator | None:
    """Return what makes ids if `OTEL_PYTHON_ID_GENERATOR` names one, else None: the SDK's own."""
    name = os.environ.get("OTEL_PYTHON_ID_GENERATOR", "").strip()
    if not name or name == "random":
        return None
    try:
        (entry, *_) = entry_points(group="opentelemetry_id_generator", name=name)
        generator = entry.load()()
        generator.generate_trace_id(), generator.generate_span_id()
    except Exception as error:  # noqa: BLE001 - another's may raise anything
        _say_failed("OTEL_PYTHON_ID_GENERATOR", name, error)
        return None
    made: IdGenerator = generator
    return made


def _say_failed(variable: str, name: str, error: Exception) -> None:
    reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    say(f"settings: {variable}", f"{variable}={shortened(name)} is not used: {reason}")


@guarded
def init_beside(exporter: SpanExporter | None = None) -> None:
    """Start as `init` does, before a program that may set a TracerProvider of its own.

    Args:
        exporter: As for `init`.
    """
    with _starting, usable_environment():
        provider = _own_provider({})
        if stand_beside(provider):
            state.settings = Settings.from_environment(redact=state.settings.redact, objects=None)
            state.owns_provider = state.may_skip_start = True
            _write_to(provider, exporter)
            _reach_out()
            return
    init(exporter=exporter)


def _reach_out() -> None:
    carry_context()
    carry_to_children()
    send_before_the_end()


def _own_provider(attributes: dict[str, str]) -> TracerProvider:
    return _OwnProvider(
        resource=Resource.create(dict(attributes)),
        span_limits=_limits(),
        id_generator=_id_generator(),
    )


def _together(before: Given, now: Given) -> Given:
    """Return what two calls have given; of each name, the last counts."""
    service, release, environment = (
        new if new is not None else old for old, new in zip(before.names, now.names, strict=True)
    )
    return Given((service, release, environment), before.can_be_sent and now.can_be_sent)


@guarded
def flush(timeout_secs: float = 10) -> None:
    """Send the queued spans, and wait for them, for `timeout_secs` at most."""
    for _ in unsent_after(state.sending, timeout_secs):
        pass  # it continues to send


class _OwnProvider(TracerProvider):
    """tracegrade's own, to which a host may still add processors."""

    listening: tuple[TracegradeProcessor, ...] = ()
    """tracegrade's own processors."""

    def get_tracer(self, *args: Any, **kwargs: Any) -> trace.Tracer:
        """Return a tracer, which reads the environment."""
        with usable_environment_again():
            return super().get_tracer(*args, **kwargs)

    @guarded
    def _handle_fork(self) -> None:
        """Tell a child's spans from its parent's, in which the SDK reads the environment."""
        with usable_environment_again():
            super()._handle_fork()

    def add_span_processor(self, span_processor: SpanProcessor) -> None:
        """Add a processor; processors of the host see each span start and end."""
        if isinstance(span_processor, TracegradeProcessor):
            self.listening += (span_processor,)
        else:
            state.may_skip_start = False
        super().add_span_processor(span_processor)


def _write_to(provider: TracerProvider, exporter: SpanExporter | None) -> None:
    provider.add_span_processor(ScopeProcessor())
    for make in _exporters() if exporter is None else [lambda: exporter]:
        exporting = RedactingExporter(make)
        if not awaits_patching():
            exporting.open()  # here, since modules are better not imported in two threads at once
        sending = ExportProcessor(exporting)
        provider.add_span_processor(sending)
        state.sending.append(sending)
        atexit.register(sending.shutdown)  # a host's provider need not be shut down
    if address := os.environ.get(GATE):
        from tracegrade.gate import wait_at_gate  # noqa: PLC0415 - only where a harness asks

        wait_at_gate(provider, address)
    state.provider, state.exporter = provider, exporter
    state.tracer = provider.get_tracer(SCOPE_NAME, VERSION)
    known = all(hasattr(state.tracer, part) for part in ("span_processor", "id_generator"))
    state.may_skip_start &= known  # an SDK that is built otherwise
    state.plain_span = None if address else _plain_span(provider)  # the gate reads them


def _plain_span(provider: TracerProvider) -> type | None:
    """Return the class of spans whose attributes nothing shortens, counts or samples by."""
    limits, sampler = getattr(provider, "_span_limits", None), provider.sampler
    samplers = {type(sampler), type(getattr(sampler, "_root", sampler))}
    is_free = (
        getattr(limits, "max_span_attributes", 0) == MAX_ATTRIBUTES
        and getattr(limits, "max_span_attribute_length", 0) is None
        and samplers <= _BY_TRACE
        and hasattr(BoundedAttributes(), "_dict")
    )
    return getattr(sdk, "_Span", None) if is_free else None


def _limits() -> SpanLimits:
    limits = {"OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "OTEL_ATTRIBUTE_COUNT_LIMIT"} & os.environ.keys()
    return SpanLimits() if limits else SpanLimits(max_span_attributes=MAX_ATTRIBUTES)


def _describe(provider: TracerProvider, attributes: dict[str, str]) -> None:
    """Add to the resource of the provider that `tracegrade run` made before the program."""
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
    """Report once a setting that the host's provider decides and tracegrade cannot change."""
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
    exporters = os.environ.get("OTEL_TRACES_EXPORTER", "").strip() or "otlp"
    named = [name.strip() for name in exporters.split(",")]
    found = [_find_exporter(name) for name in named if name and name != "none"]
    return [make for make in found if make is not None]


def _find_exporter(name: str) -> Callable[[], SpanExporter] | None:
    if name == "otlp":
        protocol = (
            os.environ.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL")
            or os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL")
            or "http/protobuf"
        )
        name = _PROTOCOLS.get(protocol.strip().lower(), protocol)
    if name in _OURS:
        return _OURS[name] if endpoint_is_usable(grpc=name == _GRPC) else None
    found = entry_points(group="opentelemetry_traces_exporter", name=name)
    if not found:
        text = f"no exporter '{shortened(name)[1:-1]}' is installed; spans do not go there"
        say("init: exporter", f"{text} (OTEL_TRACES_EXPORTER)")
        return None
    try:
        exporter: SpanExporter = next(iter(found)).load()()
    except Exception as error:  # noqa: BLE001 - another's may raise anything
        _say_failed("OTEL_TRACES_EXPORTER", name, error)
        return None
    return lambda: exporter


def _http_exporter() -> SpanExporter:
    from tracegrade.sending.otlp import HttpExporter  # noqa: PLC0415 - see that module

    with usable_environment_again():
        return HttpExporter()


def _grpc_exporter() -> SpanExporter:
    from tracegrade.sending.otlp_grpc import GrpcExporter  # noqa: PLC0415 - see that module

    with usable_environment_again():
        return GrpcExporter()


_OURS: Final = {_HTTP: _http_exporter, _GRPC: _grpc_exporter}
