"""`judge estimate`: what a run would take, without asking anybody.

Each question goes the way that it would in a run, as far as the cache answers; what then lacks an
answer is uncached. What an uncached judgment takes is known from earlier ones of the judge.
"""

import asyncio
from collections.abc import Sequence
from typing import Final, NamedTuple

from tracegrade_judges.calls.spending import Amount
from tracegrade_judges.judge_file.load import LoadedJudges
from tracegrade_judges.judge_file.model import Judge
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


def _of_judge(prepared: PreparedJudge) -> JudgeEstimate:
    name, opened, session, questions = prepared
    progress = asyncio.run(judge_all(opened, session, questions, 1, lambda _: None))
    uncached = len(progress.not_cached)
    earlier = _earlier(opened, name)
    low, expected, high = earlier or _by_limits(session.judge)
    price = session.exchange.spending.price
    dearest = None if price is None else Amount(0, uncached * high * max(price)).usd
    return JudgeEstimate(
        name,
        len(questions),
        uncached,
        uncached * low,
        uncached * expected,
        uncached * high,
        dearest,
        earlier is not None,
    )


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
