"""Asks one judge many questions at a time, batch by batch of runs, until one thing ends it."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from tracegrade_judges.ask.ask import ERROR, JudgeSession, JudgeVerdict, ask
from tracegrade_judges.ask.panel import TIE, disagrees, panel_verdict
from tracegrade_judges.calls.exchange import EndpointRefuses, NotCached, UsageNotReported
from tracegrade_judges.calls.pace import TooManyFailures
from tracegrade_judges.calls.spending import BudgetSpent
from tracegrade_judges.questions.build import JudgeQuestion
from tracegrade_judges.questions.runs import read_steps
from tracegrade_judges.run.open_lake import JudgedLake
from tracegrade_judges.verdict import JudgedStep

RUNS_AT_A_TIME: Final = 100
"""Number of runs whose steps are in memory."""


@dataclass
class Progress:
    """Outcomes of the questions so far."""

    verdicts: list[JudgeVerdict] = field(default_factory=list)
    not_cached: list[JudgeQuestion] = field(default_factory=list)
    not_judged: int = 0
    """Left when the budget was spent or the endpoint failed."""
    stopped_by: str | None = None
    """Reason: `budget`, `no_usage`, or the fault of the endpoint."""
    stopped_at: str | None = None
    """The judge that it was about to ask; of a panel, one of its judges."""
    models: set[str] = field(default_factory=set)
    """Models of the agents that were judged."""

    @property
    def errors(self) -> int:
        """Verdicts that are errors."""
        return sum(verdict.label == ERROR for verdict in self.verdicts)

    @property
    def disagreements(self) -> int:
        """Verdicts of a panel whose judges said both yes and no."""
        return sum(disagrees(verdict) for verdict in self.verdicts)

    @property
    def ties(self) -> int:
        """Errors of a panel because as many of its judges said yes as no."""
        return sum(verdict.evidence.get("reason_code") == TIE for verdict in self.verdicts)


async def judge_all(
    opened: JudgedLake,
    sessions: Sequence[JudgeSession],
    questions: Sequence[JudgeQuestion],
    jobs: int,
    done: Callable[[Progress], None],
) -> Progress:
    """Ask a judge, or a panel of judges that share a cache, these questions.

    Args:
        opened: The lake; its `judge_calls` gets the new calls after each batch.
        sessions: The judge to ask, or those of a panel.
        questions: Sorted by run.
        jobs: Number of questions at a time.
        done: Called with the progress after each batch.
    """
    progress = Progress()
    try:
        for batch in _batches(questions):
            runs = list(dict.fromkeys(each.run.trajectory_id for each in batch))
            sessions[0].exchange.cache.take(runs)
            steps, models = read_steps(opened.con, runs, opened.redactor)
            progress.models |= models
            try:
                with_steps = [(each, steps[each.run.trajectory_id]) for each in batch]
                found = await judge_each(sessions, with_steps, jobs, progress)
                progress.verdicts += [verdict for verdict in found if verdict]
            finally:
                sessions[0].exchange.cache.keep()
            done(progress)
    finally:
        await close_all(sessions)
    return progress


async def close_all(sessions: Sequence[JudgeSession]) -> None:
    """Close the connections of judges."""
    for session in sessions:
        await session.exchange.close()


def _batches(questions: Sequence[JudgeQuestion]) -> Iterator[list[JudgeQuestion]]:
    by_run = [list(found) for _, found in groupby(questions, key=lambda each: each.run)]
    for start in range(0, len(by_run), RUNS_AT_A_TIME):
        yield [each for found in by_run[start : start + RUNS_AT_A_TIME] for each in found]


async def judge_each(
    sessions: Sequence[JudgeSession],
    questions: Sequence[tuple[JudgeQuestion, Sequence[JudgedStep]]],
    jobs: int,
    progress: Progress,
) -> list[JudgeVerdict | None]:
    """Return the verdict on each question with its steps, so many at a time, in their order.

    None where there is none: `progress` says why.
    """
    waiting = iter(enumerate(questions))
    found: list[JudgeVerdict | None] = [None] * len(questions)

    async def work() -> None:
        for index, (question, steps) in waiting:
            if progress.stopped_by:
                progress.not_judged += 1
            else:
                found[index] = await _verdict(sessions, question, steps, progress)

    await asyncio.gather(*(work() for _ in range(jobs)))
    return found


async def _verdict(
    sessions: Sequence[JudgeSession],
    question: JudgeQuestion,
    steps: Sequence[JudgedStep],
    progress: Progress,
) -> JudgeVerdict | None:
    """Return the verdict of the judge, or of the panel if all of its judges replied."""
    replies = {}
    for session in sessions:
        reply = await _reply(session, question, steps, progress)
        if reply is None:
            return None
        replies[session.name] = reply
    alone = replies.get(question.judge)
    return panel_verdict(question, replies) if alone is None else alone


async def _reply(
    session: JudgeSession,
    question: JudgeQuestion,
    steps: Sequence[JudgedStep],
    progress: Progress,
) -> JudgeVerdict | None:
    """Return the reply of one judge, or note why there is none."""
    try:
        return await ask(session, question, steps)
    except NotCached:
        progress.not_cached.append(question)
        return None
    except BudgetSpent:
        progress.stopped_by = "budget"
    except EndpointRefuses as refused:
        progress.stopped_by = f"status {refused.status}"
    except TooManyFailures:
        progress.stopped_by = "failures"
    except UsageNotReported:
        progress.stopped_by = "no_usage"
    progress.stopped_at = session.name
    progress.not_judged += 1
    return None
