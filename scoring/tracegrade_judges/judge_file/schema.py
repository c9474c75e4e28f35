"""The JSON Schema of judge files, for editors that complete and check while one types.

`tracegrade judge schema` prints it, and `scoring/judges.schema.json` is it.
"""

from tracegrade_judges.judge_file.model import JudgeFile
from tracegrade_queries.files.schema import schema_text


def judge_schema_text() -> str:
    """Return the schema as JSON, ending in a new line."""
    description = "Judge models for questions that no rule can settle, and their limits."
    return schema_text(JudgeFile, "tracegrade judge file", description)
