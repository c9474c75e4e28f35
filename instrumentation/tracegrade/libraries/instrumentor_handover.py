"""Hands instrumentors over to a program that loads them itself."""

from typing import Any

from tracegrade.guard import guarded
from tracegrade.state import state


def instrument(instrumentor: Any) -> None:
    """Make an instrumentor write to tracegrade, with any TracerProvider that the program sets."""
    type(instrumentor).instrument(
        instrumentor, skip_dep_check=True, tracer_provider=state.provider
    )


@guarded
def give_way(instrumentor: Any) -> None:
    """Let the program load an instrumentor that tracegrade has loaded, as if it had not.

    An instrumentor is one object in a process. Loaded a second time, it would warn, and continue
    to write to tracegrade alone.
    """

    def instrument_again(*args: Any, **kwargs: Any) -> Any:
        del instrumentor.instrument
        if getattr(instrumentor, "is_instrumented_by_opentelemetry", True):
            instrumentor.uninstrument()
        return instrumentor.instrument(*args, **kwargs)

    instrumentor.instrument = instrument_again
