"""The JSON Schema of suites, for editors that complete and check while one types.

Made from `model.py`, so it cannot say anything else than the loader; `harness/suite.schema.json`
is it. What needs more than one key to be judged only the loader finds.
"""

import json

from tracegrade_harness.suite.model import Suite


def suite_schema_text() -> str:
    """Return the schema as JSON, ending in a new line."""
    described = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Suite.model_json_schema(),
        "title": "tracegrade suite",
        "description": "Which agents are run on which tasks, in which environments.",
    }
    return json.dumps(described, indent=2, ensure_ascii=False) + "\n"
