"""`judge twins`: asks a judge about copies of judged runs, each with one change.

An attack that turns a no into a yes has deceived the judge; an attack that changes any verdict has
moved it. Padding shows whether it prefers long runs, and the opposite question whether it prefers
yes.
"""

import asyncio
import datetime
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from tracegrade_judges.ask.ask import ERROR, JudgeSession, JudgeVerdict
from tracegrade_judges.judge_file.load import LoadedJudges
from tracegrade_judges.questions.build import JudgeQuestion
from tracegrade_judges.questions.runs import read_steps
from tracegrade_judges.run.judging import Progress, close_all, judge_each
from tracegrade_judges.run.open_lake import JudgedLake, JudgingOptions, prepare_judges
from tracegrade_judges.run.verdicts import source_of
from tracegrade_judges.schema import JUDGE_FLIP_RATES, JUDGE_TWINS
from tracegrade_judges.twins.copies import Twin, twins_of
from tracegrade_judges.twins.flips import FlipCounts, TwinVerdict, counted, rate_rows
from tracegrade_lake import Lake
from tracegrade_scoring.calibrations import put_source_rows


class TwinnedJudge(NamedTuple):
    """One judge's verdicts on twins."""

    judge: str
    subject: str
    """success | sub_goal | planning | served: subject of its questions."""
    counts: Sequence[FlipCounts]
    progress: Progress


def ask_twins(
    lake: Lake, loaded: LoadedJudges, options: JudgingOptions, count: int, seed: int
) -> list[TwinnedJudge]:
    """Ask the judges of a file about twins of runs that are drawn at random.

    Args:
        lake: Verdicts on twins go into its `judge_twins`, the rates at which they changed a
            verdict into `judge_flip_rates`.
        loaded: The judge file.
        options: Options of the judging run.
        count: Number of questions that get twins.
        seed: Seed of the draw.

    Raises:
        JudgeFileInvalid: No judge has the requested name, or a variable is not set.
        NoSpendingLimit: The budget is in US dollars and a model has no price.
        NothingToJudge: No run of a known task was scored.
    """
    found = []
    for prepared in prepare_judges(lake, loaded, options):
        subject = prepared.subject
        progress = Progress()
        questions = _random_questions(prepared.questions, count, seed)
        verdicts = asyncio.run(
            _of_judge(prepared.opened, prepared.sessions, questions, options.jobs, progress)
        )
        counts = counted(verdicts, subject)
        lake.append(JUDGE_TWINS, _table(prepared.name, verdicts))
        rates = rate_rows(source_of(prepared.name), subject, counts)
        put_source_rows(lake, JUDGE_FLIP_RATES, source_of(prepared.name), rates)
        found.append(TwinnedJudge(prepared.name, subject, counts, progress))
        if progress.stopped_by:
            break
    return found


def _random_questions(
    questions: Sequence[JudgeQuestion], count: int, seed: int
) -> list[JudgeQuestion]:
    numbers = np.random.PCG64(seed).random_raw(max(len(questions), 1))
    indexes = sorted(np.argsort(numbers, kind="stable")[: len(questions)][:count].tolist())
    return [questions[index] for index in indexes]


async def _of_judge(
    opened: JudgedLake,
    sessions: Sequence[JudgeSession],
    questions: Sequence[JudgeQuestion],
    jobs: int,
    progress: Progress,
) -> list[TwinVerdict]:
    """Judge the unchanged runs, which the cache has if they were judged, then their twins."""
    graded = all(session.is_graded for session in sessions)
    runs = list(dict.fromkeys(each.run.trajectory_id for each in questions))
    cache = sessions[0].exchange.cache
    cache.take(runs)
    steps, _ = read_steps(opened.con, runs, opened.redactor)
    try:
        plain = [(each, steps[each.run.trajectory_id]) for each in questions]
        before = await judge_each(sessions, plain, jobs, progress)
        twins = [
            (twin, verdict.label)
            for verdict in before
            if verdict and verdict.label != ERROR
            for twin in twins_of(
                verdict.question, steps[verdict.question.run.trajectory_id], graded=graded
            )
        ]
        prepared = [(twin.question, twin.steps) for twin, _ in twins]
        after = await judge_each(sessions, prepared, jobs, progress)
    finally:
        cache.keep()
        await close_all(sessions)
    return [
        _verdict(twin, label, verdict)
        for (twin, label), verdict in zip(twins, after, strict=True)
        if verdict is not None
    ]


def _verdict(twin: Twin, before: str, verdict: JudgeVerdict) -> TwinVerdict:
    return TwinVerdict(twin, before, verdict.label, verdict.evidence.get("reason_code"))


def _table(judge: str, verdicts: Sequence[TwinVerdict]) -> pa.Table:
    now = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
    rows: list[dict[str, Any]] = [
        {
            "judge": judge,
            "trajectory_id": each.twin.question.run.trajectory_id,
            "subject": each.twin.question.subject,
            "sub_goal": each.twin.question.sub_goal,
            "step_index": each.twin.question.step_index,
            "question": each.twin.question.plan_question,
            "twin": each.twin.twin,
            "place": each.twin.place,
            "before": each.before,
            "after": each.after,
            "reason": each.reason,
            "asked_at": now,
            "date": now.date(),
        }
        for each in verdicts
    ]
    return pa.Table.from_pylist(rows, JUDGE_TWINS.arrow())
