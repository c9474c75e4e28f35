"""Task files: what an agent was expected to do, read from YAML and checked."""

from tracegrade_scoring.tasks.load import Loaded, Specification, load

__all__ = ["Loaded", "Specification", "load"]
