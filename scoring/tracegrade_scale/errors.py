"""What working on a cluster can fail with."""

from tracegrade.errors import TracegradeError


class ClusterFailed(TracegradeError):
    """A cluster could not be reached, or gave a task up."""
