"""Functions that Spark calls by name on its executors, from the package installed there."""

import json

from tracegrade_queries.engine.distributed_job import manifest_name
from tracegrade_queries.engine.manifest import versions_here
from tracegrade_queries.engine.worker import work_off


def work_off_numbered(folder: str, number: int) -> str:
    """Work off the manifest of that number in a run's folder, and return its location."""
    location = f"{folder}/{manifest_name(number)}"
    work_off(location)
    return location


def versions_there(_: int) -> str:
    """Return what is installed in this Python, as JSON."""
    return json.dumps(versions_here())
