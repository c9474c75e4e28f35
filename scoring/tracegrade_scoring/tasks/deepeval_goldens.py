"""Goldens of DeepEval → tasks: their expected tools, and their expected output as reference.

A golden without a name is named by its input. `save_as` writes snake_case, and DeepEval's service
camelCase. CSV has the columns of a golden, lists and objects as JSON in their cells.

The form is that of https://github.com/confident-ai/deepeval (`Golden`), version 4.1.10 as of
August 2026, and `save_as` of 4.3.1.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tracegrade_collector.importing.message_shapes import unpacked
from tracegrade_collector.importing.spellings import first
from tracegrade_scoring.tasks.cases import (
    MAX_NAME,
    CaseTask,
    as_object,
    decisions_of,
    filled,
    objects_in,
)

COLUMNS: Final = frozenset({"input", "scenario"})
"""CSV of goldens has one of these columns."""

_OUTPUT: Final = ("expected_output", "expectedOutput")
_TOOLS: Final = ("expected_tools", "expectedTools")
_OUTCOME: Final = ("expected_outcome", "expectedOutcome")
_ARGUMENTS: Final = ("inputParameters", "input_parameters")
_REST: Final = {
    "scenario": "conversations that a user is simulated for",
    **dict.fromkeys(_OUTCOME, "expected outcomes of conversations, in words"),
    "context": "contexts",
    **dict.fromkeys(("retrieval_context", "retrievalContext"), "retrieved contexts"),
    "comments": "comments",
    "expectations": "expectations in words",
    **dict.fromkeys(("additional_metadata", "additionalMetadata"), "goldens with metadata"),
    **dict.fromkeys(
        ("custom_column_key_values", "customColumnKeyValues"), "goldens with columns of their own"
    ),
    **dict.fromkeys(("actual_output", "actualOutput"), "outputs of earlier runs"),
    **dict.fromkeys(("tools_called", "toolsCalled"), "goldens with calls of earlier runs"),
}


def fits(record: Any) -> bool:
    """Return whether a record is a golden of one turn or of a conversation."""
    found = as_object(record)
    is_single = isinstance(found.get("input"), str) and any(
        key in found for key in (*_OUTPUT, *_TOOLS)
    )
    is_conversation = isinstance(found.get("scenario"), str) and any(
        key in found for key in _OUTCOME
    )
    return is_single or is_conversation


def read(record: Mapping[str, Any]) -> Iterator[CaseTask]:
    """Yield the task of a golden."""
    left_out = filled(record, _REST)
    tools = unpacked(first(record, *_TOOLS))
    calls = [_as_call(tool) for tool in objects_in(tools)]
    left_out["outputs of expected tools"] += sum("output" in tool for tool in objects_in(tools))
    output, user_input = first(record, *_OUTPUT), record.get("input")
    name = record.get("name") or user_input or record.get("scenario") or ""
    yield CaseTask(
        str(name)[:MAX_NAME],
        user_input=user_input if isinstance(user_input, str) else None,
        expected=decisions_of(calls, left_out) if tools is not None else None,
        reference=output if isinstance(output, str) and output else None,
        left_out=+left_out,
    )


def _as_call(tool: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": tool.get("name"), "arguments": first(tool, *_ARGUMENTS)}
