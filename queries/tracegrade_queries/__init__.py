"""SQL over the lake: spans become steps and trajectories, steps become metrics."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tracegrade_queries.notebook import ask, connect, scan

__all__ = ["ask", "connect", "scan"]


def __getattr__(name: str) -> Any:
    """Return what notebooks use; the engines are imported with it, so that `--help` stays fast."""
    if name in __all__:
        from tracegrade_queries import notebook  # noqa: PLC0415 - see above

        return getattr(notebook, name)
    msg = f"module '{__name__}' has no attribute '{name}'"
    raise AttributeError(msg)
