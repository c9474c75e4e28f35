"""The JSON Schema of suites, for editors that complete and check while one types.

Made from `model.py`, so it cannot say anything else than the loader; `harness/suite.schema.json`
is it. What needs more than one key to be judged only the loader finds.
"""

from tracegrade_harness.loading.model import suite_classes
from tracegrade_queries.files.schema import schema_text


def suite_schema_text() -> str:
    """Return the schema as JSON, ending in a new line."""
    description = "The agents to run, their tasks and their environments."
    return schema_text(suite_classes().suite, "tracegrade suite", description)
