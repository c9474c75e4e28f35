"""The JSON Schema of judge files, for editors that complete and check while one types.

Made from `model.py`, so it cannot say anything else than the loader; `tracegrade judge schema`
prints it, and `scoring/judges.schema.json` is it.
"""

import json

from tracegrade_judges.judge_file.model import JudgeFile


def judge_schema_text() -> str:
    """Return the schema as JSON, ending in a new line."""
    described = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **JudgeFile.model_json_schema(),
        "title": "tracegrade judge file",
        "description": "Which models are asked what no rule can settle, and within which limits.",
    }
    return json.dumps(described, indent=2, ensure_ascii=False) + "\n"
