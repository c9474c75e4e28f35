"""Reports unexpected exceptions of a kind of parts in one line: the kind and the exception."""

from collections.abc import Iterator
from contextlib import contextmanager

from tracegrade.errors import TracegradeError
from tracegrade_harness.errors import EnvironmentFailed


def fault_line(kind: str, error: Exception) -> str:
    """Return one line on an exception that the code of a kind should not have raised."""
    text = " ".join(str(error).split())
    raised = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return f"the code of the kind of parts '{kind}' raised {raised}; report it to its maintainers"


@contextmanager
def code_of(kind: str) -> Iterator[None]:
    """Run code of a kind; an unexpected exception fails only its own trial.

    Raises:
        EnvironmentFailed: It raised an exception that no kind should; the message names both.
    """
    try:
        yield
    except (TracegradeError, OSError):
        raise
    except Exception as error:
        raise EnvironmentFailed(fault_line(kind, error)) from error
