"""The JSON Schema of a kind of file, for editors that complete and check while one types.

It is made from the classes that the loader reads the file with, so the two cannot disagree. What
needs more than one key to be judged only the loader finds.
"""

import json

from pydantic import BaseModel


def schema_text(kind: type[BaseModel], title: str, description: str) -> str:
    """Return the schema of a file as JSON, ending in a new line."""
    described = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **kind.model_json_schema(),
        "title": title,
        "description": description,
    }
    return json.dumps(described, indent=2, ensure_ascii=False) + "\n"
