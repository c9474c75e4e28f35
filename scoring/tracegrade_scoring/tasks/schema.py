"""The JSON Schema of task files, for editors that complete and check while one types.

`tracegrade tasks schema` prints it, and `scoring/tasks.schema.json` is it. What needs more than
one key to be judged, such as cycles, only `tracegrade tasks check` finds.
"""

from tracegrade_queries.files.schema import schema_text
from tracegrade_scoring.tasks.model import TaskFile


def tasks_schema_text() -> str:
    """Return the schema as JSON, ending in a new line."""
    description = (
        "Tasks, and the behavior expected of agents; docs/guides/write-tasks.md explains them."
    )
    return schema_text(TaskFile, "tracegrade task file", description)
