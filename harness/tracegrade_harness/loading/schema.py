"""The JSON Schema of suites, for editors that complete and check as people type.

It is made from `model.py`, so it agrees with the loader; the file is `harness/suite.schema.json`.
Only the loader finds errors that concern more than one key.
"""

from tracegrade_harness.loading.model import suite_classes
from tracegrade_queries.files.schema import schema_text


def suite_schema_text() -> str:
    """Return the schema as JSON, ending in a new line."""
    description = "The agents to run, their tasks and their environments."
    return schema_text(suite_classes().suite, "tracegrade suite", description)
