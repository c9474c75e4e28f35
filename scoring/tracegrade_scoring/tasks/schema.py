"""The JSON Schema of task files, for editors that complete and check while one types.

Made from `model.py`, so it cannot say anything else than the loader; `tracegrade tasks schema`
prints it, and `scoring/tasks.schema.json` is it. What needs more than one key to be judged, such
as cycles, only `tracegrade tasks check` finds.
"""

import json
from typing import Any

from tracegrade_scoring.tasks.model import TaskFile


def schema_text() -> str:
    """Return the schema as JSON, ending in a new line."""
    schema: dict[str, Any] = TaskFile.model_json_schema()
    described = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "tracegrade task file",
        "description": "What agents are expected to do; scoring/README.md says what keys mean.",
    }
    return json.dumps(described, indent=2, ensure_ascii=False) + "\n"
