"""Verdicts of judges → the lake's table of verdicts."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from tracegrade_collector.importing.verdict_rows import add_verdicts
from tracegrade_collector.redact.redaction import Redactor
from tracegrade_judges.ask.ask import ERROR, JudgeVerdict
from tracegrade_judges.questions.build import JudgeQuestion
from tracegrade_lake import Lake

PREFIX: Final = "judge:"
"""Prefix of the source of every judge's verdicts."""
NOT_CACHED: Final = "not_cached"
"""Code for a missing verdict: its calls are not in the lake, and requests are not allowed."""


def source_of(judge: str) -> str:
    """Return what a judge's verdicts have as their source."""
    return f"{PREFIX}{judge}"


def write_verdicts(
    lake: Lake, verdicts: Iterable[JudgeVerdict], redactor: Redactor
) -> Mapping[str, int]:
    """Let the lake hold these verdicts; return how many were added, replaced, known."""
    return add_verdicts(lake, [_row(verdict) for verdict in verdicts], redactor)


def write_misses(
    lake: Lake, questions: Iterable[JudgeQuestion], redactor: Redactor
) -> Mapping[str, int]:
    """Write `error` to the lake for questions that could not be asked; return as above.

    Any verdict of the judge that already exists stays: it was an answer once.
    """
    unwritten = (
        JudgeVerdict(question, ERROR, None, {"reason_code": NOT_CACHED}) for question in questions
    )
    return add_verdicts(lake, [_row(verdict) for verdict in unwritten], redactor, replace=False)


def _row(verdict: JudgeVerdict) -> Mapping[str, Any]:
    question = verdict.question
    return {
        "trajectory_id": question.run.trajectory_id,
        "subject": question.subject,
        "sub_goal": question.sub_goal,
        "step_index": question.step_index,
        "kill_point": None,
        "question": question.plan_question,
        "value": verdict.value,
        "label": verdict.label,
        "source": source_of(question.judge),
        "evidence": json.dumps(verdict.evidence, ensure_ascii=False),
    }
