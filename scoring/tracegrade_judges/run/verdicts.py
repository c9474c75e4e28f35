"""Verdicts of judges → the lake's table of verdicts."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from tracegrade_collector.importing.verdict_rows import add_verdicts
from tracegrade_collector.redact.redaction import Redactor
from tracegrade_judges.ask.ask import ERROR, JudgeVerdict
from tracegrade_judges.questions.build import JudgeQuestion
from tracegrade_lake import VERDICTS, Lake

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


def judges_with_verdicts(lake: Lake, judges: Sequence[str]) -> tuple[str, ...]:
    """Return those of some judges that have verdicts in the lake, sorted."""
    dataset = lake.dataset(VERDICTS.name) if judges else None
    if dataset is None:
        return ()
    wanted = pc.field("source").isin(pa.array([source_of(each) for each in judges], pa.string()))
    found = dataset.to_table(columns=["source"], filter=wanted)["source"].unique().to_pylist()
    return tuple(sorted(each.removeprefix(PREFIX) for each in found))


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
