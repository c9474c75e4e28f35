"""Errors of work on a cluster."""

from tracegrade.errors import TracegradeError


class ClusterFailed(TracegradeError):
    """A cluster could not be reached, or gave a task up."""
