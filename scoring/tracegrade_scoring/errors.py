"""Errors of scoring."""

from collections.abc import Collection

from tracegrade.errors import BadInput, CheckFailed, TracegradeError


class ScoringError(TracegradeError):
    """Scoring failed for a reason outside: the lake, the machine."""


class TaskFileUnreadable(ScoringError, BadInput):
    """A task file does not exist or cannot be read."""


class TaskFileInvalid(ScoringError, BadInput):
    """Task files hold errors, so nothing was scored."""


class PriceFileUnreadable(ScoringError, BadInput):
    """A price file does not exist or cannot be read."""


class PriceFileInvalid(ScoringError, BadInput):
    """A price file holds errors, so nothing was scored."""


class NothingToDraft(ScoringError, BadInput):
    """No run of the lake is known to have succeeded, so no task file can be drafted."""


class TaskCheckFailed(ScoringError, CheckFailed):
    """`tracegrade tasks check` found errors."""


class BadWeights(ScoringError, BadInput):
    """Weights of a composite, or of tool correctness, that make no score."""


class ScoringBusy(ScoringError):
    """Another job is scoring the same lake."""


class FollowerBusy(ScoringError):
    """Another process scores the same lake continuously."""


class BadCommand(ScoringError, BadInput):
    """A command after a tick cannot be run."""


class SumsTooLarge(ScoringError):
    """Weighted scores of some traces are too large to be added up."""

    traces: Collection[str] = ()
    """Traces, each too large by itself."""


class SummaryNotWritten(ScoringError):
    """The file that a run's summary should go to cannot be written."""


class ReportNotWritten(ScoringError):
    """The file that a report should go to cannot be written."""


class NothingToReport(ScoringError, BadInput):
    """The lake has no run that the report could cover."""


class NothingToCompare(ScoringError, BadInput):
    """No agent has scored runs of both releases."""


class BadSide(ScoringError, BadInput):
    """A side of a comparison cannot be understood, or shares runs with the other one."""


class BadRule(ScoringError, BadInput):
    """A rule of `--fail-on` cannot be understood."""


class RuleBroken(ScoringError, CheckFailed):
    """A rule of `--fail-on` does not hold, or nothing was there to judge it by."""


class TrajectoryUnknown(ScoringError, BadInput):
    """No trajectory has the id that was given, or several begin so."""


class SampleNotWritten(ScoringError, BadInput):
    """The sample's files exist already, or cannot be written."""


class MetricInvalid(ScoringError, BadInput):
    """A metric of a user's own cannot be used, so nothing was scored."""


class MetricCheckFailed(ScoringError, CheckFailed):
    """`tracegrade metrics check` found faults."""


class TraceFailed(ScoringError, CheckFailed):
    """Under `--strict`: scoring a trace failed; all others were scored."""


class MetricFailed(ScoringError, CheckFailed):
    """Under `--strict`: a metric of a user's own failed; all others were scored."""


class IssueUnknown(ScoringError, BadInput):
    """No issue has the key that was given, or several have keys that begin so."""


class IssuesApart(ScoringError, BadInput):
    """Two issues cannot be merged."""
