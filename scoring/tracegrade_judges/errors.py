"""Errors that end the commands; each message is one line: fact, value, way out."""

from tracegrade.errors import BadInput, CheckFailed, TracegradeError


class JudgeError(TracegradeError):
    """Judging failed for a reason outside: the endpoint, the lake."""


class JudgeFileUnreadable(JudgeError, BadInput):
    """A judge file, or a document that it names, does not exist or cannot be read."""


class JudgeFileInvalid(JudgeError, BadInput):
    """A judge file holds errors, so no judge was run."""


class JudgeCheckFailed(JudgeError, CheckFailed):
    """`tracegrade judge check` found errors."""


class NothingToJudge(JudgeError, BadInput):
    """The lake holds no run that judges can be asked about."""


class NoSpendingLimit(JudgeError, BadInput):
    """Nothing says how much a run may cost, or the price that it needs is not known."""


class NotAllJudged(JudgeError, CheckFailed):
    """The budget ended, or an answer was not in the cache, before all was judged."""


class JudgeEndpointFailed(JudgeError):
    """The model's endpoint refuses requests, or fails again and again."""


class LabelsUnusable(JudgeError, BadInput):
    """Labels cannot be drawn or imported: unknown judge, no labeler, or unknown words."""


class NothingToCalibrate(JudgeError, BadInput):
    """No label of a person is on what a judge has judged."""


class JudgeUncalibrated(JudgeError, CheckFailed):
    """A judge agrees too little with people, or with too few of their labels to know."""
