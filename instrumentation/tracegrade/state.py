"""The tracer and the settings in force in this process; `init` replaces them.

Without `init`, spans go to the host's TracerProvider, or nowhere.
"""

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter
from opentelemetry.trace import Tracer

from tracegrade.settings import Settings

if TYPE_CHECKING:
    from tracegrade.sending.batches import ExportProcessor

SCOPE_NAME: Final = "tracegrade"
VERSION: Final = "0.1.0"


class Given(NamedTuple):
    """The arguments of `init`, for a child process."""

    names: tuple[str | None, str | None, str | None] = (None, None, None)
    """Service, release and environment."""
    can_be_sent: bool = True
    """Whether that was all, but for `redact=`: an exporter is of its process."""


@dataclass
class State:
    """State that every step reads."""

    provider: TracerProvider | None = None
    """What `init` made, or joined."""
    exporter: SpanExporter | None = None
    """What `init` was given to send spans by."""
    tracer: Tracer = field(default_factory=lambda: trace.get_tracer(SCOPE_NAME, VERSION))
    owns_provider: bool = False
    """Whether the TracerProvider was made by `init`."""
    may_skip_start: bool = False
    """Whether all processors accept a span that ends as it begins: the provider and each processor
    are tracegrade's.
    """
    plain_span: type | None = None
    """The SDK's class of spans, if attributes of plain types can be put into one unchecked."""
    sending: list["ExportProcessor"] = field(default_factory=list)
    """What sends spans."""
    given: Given = field(default_factory=Given)
    """What `init` was given last."""
    settings: Settings = field(default_factory=Settings.from_environment)


state: Final = State()

_IS_NAMED: Final = "OTEL_PYTHON_TRACER_PROVIDER" in os.environ


def is_off() -> bool:
    """Return whether no span is written: OpenTelemetry is switched off, or has no provider yet."""
    kind = type(state.tracer)
    if kind is not trace.ProxyTracer:
        return kind is trace.NoOpTracer
    return not _IS_NAMED and getattr(trace, "_TRACER_PROVIDER", state) is None
