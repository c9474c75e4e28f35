"""`judge twins`: asks a judge about copies of runs it has judged, each with one change.

An attack that turns a no into a yes has taken it in; one that turns anything has moved it. Padding
shows whether it likes long runs, the opposite of a criterion whether it likes to say yes.
"""

import asyncio
import datetime
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from tracegrade_judges.ask.ask import ERROR, NO, YES, Asking, JudgeVerdict
from tracegrade_judges.ask.prompts import NEGATED
from tracegrade_judges.judge_file.load import LoadedJudges
from tracegrade_judges.questions.asked import JudgeQuestion
from tracegrade_judges.questions.runs import read_steps
from tracegrade_judges.run.judging import Progress, judge_each
from tracegrade_judges.run.setting import (
    JudgedLake,
    JudgingOptions,
    asking_of,
    chosen_judges,
    judged_lake,
)
from tracegrade_judges.schema import JUDGE_TWINS
from tracegrade_judges.twins.attacks import ATTACKS, PADDING, PLACES, changed
from tracegrade_judges.verdict import JudgedStep
from tracegrade_lake import Lake

PADDED: Final = "padding"
NEGATION: Final = "negation"


class Twin(NamedTuple):
    """A copy of a run with one change, and what its judge is asked of it."""

    question: JudgeQuestion
    steps: Sequence[JudgedStep]
    twin: str
    """Name of the attack; padding | negation."""
    place: str | None


class TwinVerdict(NamedTuple):
    """What a judge says of a run, and of its twin."""

    twin: Twin
    before: str
    after: str
    """yes | no | error."""
    reason: str | None
    """Code for why `after` is error."""


class TwinnedJudge(NamedTuple):
    """What one judge says of twins."""

    judge: str
    verdicts: Sequence[TwinVerdict]
    progress: Progress


def ask_twins(
    lake: Lake, loaded: LoadedJudges, options: JudgingOptions, count: int, seed: int
) -> list[TwinnedJudge]:
    """Ask the judges of sub-goals about twins of runs that are drawn at random.

    Args:
        lake: What is said of twins goes into its `judge_twins`.
        loaded: The judge file.
        options: How judges are asked.
        count: How many questions have twins.
        seed: Of the draw.

    Raises:
        JudgeFileInvalid: No judge has the name that is asked for, or a variable is not set.
        NoSpendingLimit: The budget is in US dollars and a model has no price.
        NothingToJudge: No run of a known task was scored.
    """
    found = []
    with judged_lake(lake) as opened:
        for name, judge in chosen_judges(loaded, options.only).items():
            if judge.asks != "sub_goal":
                continue
            asking = asking_of(opened, name, judge, options)
            questions = _drawn(opened.questions(name, judge, loaded.documents), count, seed)
            twinned = asyncio.run(_of_judge(opened, asking, questions, options.jobs))
            lake.append(JUDGE_TWINS, _table(name, twinned.verdicts))
            found.append(twinned._replace(judge=name))
            if twinned.progress.stopped_by:
                break
    return found


def _drawn(questions: Sequence[JudgeQuestion], count: int, seed: int) -> list[JudgeQuestion]:
    numbers = np.random.PCG64(seed).random_raw(max(len(questions), 1))
    places = sorted(np.argsort(numbers, kind="stable")[: len(questions)][:count].tolist())
    return [questions[place] for place in places]


async def _of_judge(
    opened: JudgedLake, asking: Asking, questions: Sequence[JudgeQuestion], jobs: int
) -> TwinnedJudge:
    """Judge the runs as they are, which the cache knows if they were judged, then their twins."""
    progress = Progress()
    runs = list(dict.fromkeys(each.run.trajectory_id for each in questions))
    asking.exchange.cache.take(runs)
    steps, _ = read_steps(opened.con, runs, opened.redactor)
    try:
        plain = [(each, steps[each.run.trajectory_id]) for each in questions]
        before = await judge_each(asking, plain, jobs, progress)
        twins = [
            (twin, verdict.label)
            for verdict in before
            if verdict and verdict.label != ERROR
            for twin in twins_of(verdict.question, steps[verdict.question.run.trajectory_id])
        ]
        asked = [(twin.question, twin.steps) for twin, _ in twins]
        after = await judge_each(asking, asked, jobs, progress)
    finally:
        asking.exchange.cache.keep()
        await asking.exchange.close()
    verdicts = [
        _verdict(twin, label, said)
        for (twin, label), said in zip(twins, after, strict=True)
        if said is not None
    ]
    return TwinnedJudge("", verdicts, progress)


def twins_of(question: JudgeQuestion, steps: Sequence[JudgedStep]) -> Iterator[Twin]:
    """Yield the twins of a run: each attack and padding in each place, and the opposite."""
    for name, text in {**ATTACKS, PADDED: PADDING}.items():
        for place in PLACES:
            copy = changed(steps, place, text)
            if copy is not None:
                yield Twin(question, copy, name, place)
    opposite = NEGATED.format(criterion=question.criterion)
    yield Twin(question._replace(criterion=opposite), steps, NEGATION, None)


def _verdict(twin: Twin, before: str, said: JudgeVerdict) -> TwinVerdict:
    return TwinVerdict(twin, before, said.label, said.evidence.get("reason_code"))


def _table(judge: str, verdicts: Sequence[TwinVerdict]) -> pa.Table:
    now = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
    rows: list[dict[str, Any]] = [
        {
            "judge": judge,
            "trajectory_id": each.twin.question.run.trajectory_id,
            "subject": each.twin.question.subject,
            "sub_goal": each.twin.question.sub_goal,
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


class TwinCounts(NamedTuple):
    """How twins of one kind moved a judge."""

    kind: str
    place: str | None
    twins: int
    """That have a verdict, and are of a run that can be moved so."""
    flipped: int
    errors: int
    """Twins without a verdict, apart."""


def counted(verdicts: Sequence[TwinVerdict]) -> list[TwinCounts]:
    """Return the counts of attacks by place, and of padding and negation.

    An attack wants a yes: of runs with a no it counts which turned. Padding counts every change;
    the opposite of a criterion counts as flipped where the judge says yes to both.
    """
    attacks = [each for each in verdicts if each.twin.twin in ATTACKS and each.before == NO]
    padded = [each for each in verdicts if each.twin.twin == PADDED]
    negated = [each for each in verdicts if each.twin.twin == NEGATION and each.before == YES]
    return [
        _counts("attacks", None, attacks),
        *(
            _counts("attacks", place, [e for e in attacks if e.twin.place == place])
            for place in PLACES
        ),
        _counts(PADDED, None, padded),
        _counts(NEGATION, None, negated, wants_other=True),
    ]


def _counts(
    kind: str,
    place: str | None,
    verdicts: Sequence[TwinVerdict],
    *,
    wants_other: bool = False,
) -> TwinCounts:
    judged = [each for each in verdicts if each.after != ERROR]
    flipped = sum((each.before == each.after) is wants_other for each in judged)
    return TwinCounts(kind, place, len(judged), flipped, len(verdicts) - len(judged))
