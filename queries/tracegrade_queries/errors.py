"""Errors of reading the lake with SQL."""

from tracegrade.errors import BadInput, TracegradeError


class QueriesError(TracegradeError):
    """A query or the building of steps failed for a reason outside."""


class QueryFailed(QueriesError, BadInput):
    """The user's SQL, or a parameter of it, cannot be run."""


class QueryStopped(QueriesError):
    """The user's query took longer, or needs more memory, than it may."""


class DimensionsInvalid(QueriesError, BadInput):
    """A mapping file cannot be read, or holds errors, so nothing was scored."""


class UnknownQuery(QueriesError, BadInput):
    """No query file has the given name."""


class TableMissing(QueriesError, BadInput):
    """Neither the lake nor this package has a table of this name."""


class GraphBroken(QueriesError):
    """Relations cannot be put in an order: one of them is missing, or some need each other."""


class BadDialect(QueriesError):
    """The header of a dialect's file lacks a required declaration."""


class WorkerLost(QueriesError):
    """A process that worked on a bucket was killed, or never answered."""


class ManifestUnfit(QueriesError, BadInput):
    """A manifest or an outcome is not as this version writes it."""


class ManifestMissing(QueriesError, BadInput):
    """There is no such manifest; its job may have ended."""


class VersionsDiffer(QueriesError):
    """A job and one of its workers have different versions installed."""


class BadEngine(QueriesError, BadInput):
    """No engine has this name, or it cannot be used so."""
