"""Langfuse's scores → verdicts on the success of the traces that they are about.

A score's name shows its measure. A score named for success is a verdict (`correctness`, `passed`),
or the one that `--map success=NAME` names; other scores are counted by name.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

from tracegrade_collector.importing.scores import (
    JUDGE,
    is_success,
    quoted_name,
    success_verdict,
)
from tracegrade_collector.importing.span_parts import trace_id_of
from tracegrade_collector.importing.verdict_rows import VerdictRecord

FORMAT: Final = "langfuse"

_SOURCES: Final = {
    "EVAL": f"{JUDGE}{FORMAT}",
    "ANNOTATION": f"{FORMAT} annotation",
    "API": f"{FORMAT} api",
}
"""Author of a score: an evaluator of Langfuse, which asks a model; a person; a program."""


def is_score(value: Any) -> bool:
    """Return whether a record, its members in camelCase, is a score."""
    return (
        isinstance(value, dict)
        and bool(value.get("name"))
        and str(value.get("source")) in _SOURCES
        and ("value" in value or "stringValue" in value)
    )


def verdicts_of(
    scores: Iterable[Any], chosen: str | None, ignored: Counter[str]
) -> Iterator[VerdictRecord]:
    """Yield the verdicts among some scores.

    Args:
        scores: Members in camelCase.
        chosen: The name of those that tell success; None: those named for it.
        ignored: Counts the others.
    """
    for score in scores:
        if not is_score(score):
            ignored["scores without a name, a source or a value"] += 1
        elif not is_success(score["name"], chosen):
            ignored[f"scores named {quoted_name(score['name'])}"] += 1
        elif not score.get("traceId") or score.get("observationId"):
            ignored["scores of a session, or of one observation"] += 1
        elif verdict := _verdict(score):
            yield verdict
        else:
            ignored["scores that are not a number from 0 to 1"] += 1


def _verdict(score: dict[str, Any]) -> VerdictRecord | None:
    label = score.get("stringValue") or None
    value = score.get("value")
    return success_verdict(
        trace_id_of(FORMAT, score["traceId"]).hex(),
        f"{_SOURCES[str(score['source'])]} {score['name']}",
        label if value is None or score.get("dataType") == "CATEGORICAL" else value,
        label=None if label is None else str(label),
        evidence=score.get("comment"),
    )
