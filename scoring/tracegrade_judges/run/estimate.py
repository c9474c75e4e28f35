"""`judge estimate`: what a run would take, without asking anybody.

Each question goes the way that it would in a run, as far as the cache answers; what then lacks an
answer is uncached. What an uncached judgment takes is known from earlier ones of the judge.
"""

import asyncio
from collections.abc import Sequence
from typing import Final, NamedTuple

from tracegrade_judges.ask.ask import JudgeSession
from tracegrade_judges.calls.spending import Amount
from tracegrade_judges.judge_file.load import LoadedJudges
from tracegrade_judges.judge_file.model import Judge
from tracegrade_judges.questions.build import JudgeQuestion
from tracegrade_judges.run.judging import judge_all
from tracegrade_judges.run.open_lake import (
    JudgedLake,
    JudgingOptions,
    PreparedJudge,
    prepare_judges,
)
from tracegrade_judges.schema import JUDGE_CALLS
from tracegrade_judges.sql import query
from tracegrade_lake import Lake

CHARACTERS_PER_TOKEN: Final = 4
"""The usual rule of thumb, where there is no earlier call to go by."""
SMALLEST_REQUEST: Final = 600
"""Tokens of the instructions that every judge receives."""


class JudgeEstimate(NamedTuple):
    """Estimated usage of one judge for questions outside the cache; tokens of all together."""

    judge: str
    questions: int
    uncached: int
    low: int
    expected: int
    high: int
    high_usd: float | None
    """What `high` would cost at most; None without a price."""
    from_calls: bool
    """Whether the estimate rests on earlier calls; otherwise it rests only on the limits."""


def estimate(lake: Lake, loaded: LoadedJudges, only: str | None) -> list[JudgeEstimate]:
    """Return what each judge of a file would take.

    Raises:
        JudgeFileInvalid: No judge has that name, or a variable is not set.
        NothingToJudge: No run of a known task was scored.
    """
    options = JudgingOptions(only, offline=True)
    return [_of_judge(prepared) for prepared in prepare_judges(lake, loaded, options)]


class _Needs(NamedTuple):
    """The tokens and cost of the questions that the model of one judge has not answered."""

    questions: Sequence[JudgeQuestion]
    tokens: Sequence[int]
    """Low, expected and high."""
    usd: float | None
    from_calls: bool


def _of_judge(prepared: PreparedJudge) -> JudgeEstimate:
    """Return what a judge would take, or what the judges of a panel would take together."""
    needs = [_needs(prepared, session) for session in prepared.sessions]
    costs = [each.usd for each in needs]
    low, expected, high = (sum(each) for each in zip(*(e.tokens for e in needs), strict=True))
    return JudgeEstimate(
        prepared.name,
        len(prepared.questions),
        len({id(question) for each in needs for question in each.questions}),
        low,
        expected,
        high,
        sum(cost for cost in costs if cost is not None) if None not in costs else None,
        all(each.from_calls for each in needs),
    )


def _needs(prepared: PreparedJudge, session: JudgeSession) -> _Needs:
    progress = asyncio.run(
        judge_all(prepared.opened, [session], prepared.questions, 1, lambda _: None)
    )
    uncached = progress.not_cached
    earlier = _earlier(prepared.opened, session.name)
    tokens = [len(uncached) * each for each in earlier or _by_limits(session.judge)]
    price = session.exchange.spending.price
    usd = None if price is None else Amount(0, tokens[-1] * max(price)).usd
    return _Needs(uncached, tokens, usd, earlier is not None)


def _earlier(opened: JudgedLake, judge: str) -> Sequence[int] | None:
    """Return the tokens of cheap, middling and dear judgments so far; None if there are none."""
    if opened.lake.version(JUDGE_CALLS.name) is None:
        return None
    row = opened.con.execute(query("tokens_per_judgment"), {"judge": judge}).fetchone()
    return row if row and row[0] is not None else None


def _by_limits(judge: Judge) -> tuple[int, int, int]:
    written = judge.model.max_output_tokens
    requests = 1 + judge.limits.retries if judge.subject == "success" else judge.limits.requests
    most = judge.limits.input_tokens + requests * written
    once = SMALLEST_REQUEST + written // CHARACTERS_PER_TOKEN
    usual = 1 if judge.subject == "success" else 3
    return once * judge.votes, usual * 2 * once * judge.votes, most * judge.votes
