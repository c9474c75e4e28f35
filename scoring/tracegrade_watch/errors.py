"""Errors that end `tracegrade watch`; each message is one line: fact, value, way out."""

from tracegrade.errors import BadInput, TracegradeError


class WatchRefused(BadInput):
    """Nothing was watched: an option, the rules or the lake do not allow it."""


class WatchBusy(TracegradeError):
    """Another job is watching the same lake."""


class ExportNotWritten(TracegradeError):
    """A file for another program cannot be written."""


class AlertUnknown(BadInput):
    """No alert has this id, or several begin with it."""
