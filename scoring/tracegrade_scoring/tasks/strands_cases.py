"""Experiments of Strands Evals → tasks: each case's expected trajectory and output.

A case without a name is named by its input.

The form is that of https://github.com/strands-agents/evals (`Case`, `Experiment.to_file`), version
1.2.0 as of August 2026.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tracegrade_collector.importing.spellings import as_text, quoted_word
from tracegrade_scoring.tasks.cases import (
    MAX_NAME,
    CaseTask,
    as_list,
    as_object,
    decisions_of,
    filled,
    objects_in,
)

_REST: Final = {
    "expected_assertion": "assertions in words",
    "expected_interactions": "cases with expected interactions of agents",
    "expected_environment_state": "cases with expected states of the environment",
}
_CATEGORY: Final = "category"


def fits(record: Any) -> bool:
    """Return whether a record is an experiment."""
    cases = as_list(as_object(record).get("cases"))
    return bool(cases) and all(isinstance(case, dict) and "input" in case for case in cases)


def read(record: Mapping[str, Any]) -> Iterator[CaseTask]:
    """Yield the task of each case; the evaluators are counted with the first."""
    evaluators = len(as_list(record.get("evaluators")))
    for case in objects_in(record["cases"]):
        task = _task(case)
        if evaluators:
            task.left_out["evaluators"] += evaluators
            evaluators = 0
        yield task


def _task(case: Mapping[str, Any]) -> CaseTask:
    left_out = filled(case, _REST)
    trajectory, output = case.get("expected_trajectory"), case.get("expected_output")
    metadata, user_input = as_object(case.get("metadata")), case["input"]
    left_out.update(f"metadata {quoted_word(key)}" for key in metadata if key != _CATEGORY)
    expected = None if trajectory is None else decisions_of(trajectory, left_out)
    if output is not None and not isinstance(output, str):
        left_out["expected outputs that are not text"] += 1
    return CaseTask(
        str(case.get("name") or as_text(user_input))[:MAX_NAME],
        category=as_text(metadata[_CATEGORY]) if metadata.get(_CATEGORY) else None,
        user_input=user_input if isinstance(user_input, str) else None,
        expected=expected,
        reference=output if isinstance(output, str) and output else None,
        left_out=left_out,
    )
