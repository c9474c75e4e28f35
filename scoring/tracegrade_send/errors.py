"""Errors that end `tracegrade send`; each message is one line: fact, value, way out."""

from tracegrade.errors import BadInput, TracegradeError


class SendFailed(TracegradeError):
    """The destination did not accept everything; the next run continues from there."""


class SendRefused(BadInput):
    """Nothing was sent: an option, a variable or the lake does not allow it."""


class SendBusy(TracegradeError):
    """Another job is sending to the same destination."""
