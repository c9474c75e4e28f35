"""The JSON Schema of `watch.yaml`, for editors that complete and check while one types.

`tracegrade watch schema` prints it, and `scoring/watch.schema.json` is it.
"""

from tracegrade_queries.files.schema import schema_text
from tracegrade_watch.rules.model import WatchFile


def watch_schema_text() -> str:
    """Return the schema as JSON, ending in a new line."""
    return schema_text(
        WatchFile, "tracegrade watch file", "Rules of alerts; docs/guides/watch.md explains them."
    )
