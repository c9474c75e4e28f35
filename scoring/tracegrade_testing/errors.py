"""Errors of tests of agents, each of which says what to do."""

from tracegrade.errors import TracegradeError


class TestingError(TracegradeError):
    """A test of an agent cannot be scored."""

    __test__ = False  # pytest would take it for a class of tests


class NothingCaptured(TestingError):
    """No span of an agent's run ended in the block."""


class CannotCapture(TestingError):
    """The program's OpenTelemetry leaves out spans, or takes no processor."""


class NotScored(TestingError):
    """A metric has no value for a run."""

    def __init__(self, metric: str, reason: str, remedy: str) -> None:
        super().__init__(f"{metric} has no value: {reason}{remedy and '; '}{remedy}")
        self.metric = metric
        self.reason = reason
        """Why, in words."""
        self.remedy = remedy
        """What to do about it; '' if nothing can be done."""


class SeveralRuns(TestingError):
    """A value of one run was asked of several."""


class UnknownTask(TestingError):
    """The task files do not have this task."""


class BaselineUnusable(TestingError):
    """A baseline does not exist, or another version wrote it."""


class RunCheckFailed(AssertionError):
    """A run is not as the test expects."""
