"""`judge run`: asks every judge of a file, and writes their verdicts."""

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

from tracegrade_judges.judge_file.load import LoadedJudges
from tracegrade_judges.run.judging import Progress, judge_all
from tracegrade_judges.run.open_lake import JudgingOptions, PreparedJudge, prepare_judges
from tracegrade_judges.run.verdicts import (
    judges_with_verdicts,
    write_misses,
    write_verdicts,
)
from tracegrade_lake import Lake


class JudgedRuns(NamedTuple):
    """The questions to one judge, and their outcomes."""

    judge: str
    questions: int
    progress: Progress
    tokens: int
    """Tokens of new requests; upper bounds where the endpoint did not count."""
    usd: float
    written: Mapping[str, int]
    """Verdicts: added, replaced, known."""
    own_verdicts: tuple[str, ...]
    """Judges of the panel with verdicts of their own in the lake, from before."""
    related: str | None
    """A model of judged agents that is of a family of the judge; None if there is none."""


def run_judges(
    lake: Lake,
    loaded: LoadedJudges,
    options: JudgingOptions,
    say: Callable[[str], None] = lambda _: None,
) -> list[JudgedRuns]:
    """Ask the judges of a file, one after the other, until one is stopped.

    Raises:
        JudgeFileInvalid: No judge has the requested name, or a variable is not set.
        NoSpendingLimit: The budget is in US dollars and a model has no price.
        NothingToJudge: No run of a known task was scored.
    """
    found = []
    for prepared in prepare_judges(lake, loaded, options):
        found.append(_run_judge(lake, prepared, options.jobs, say))
        if found[-1].progress.stopped_by:
            break
    return found


def _run_judge(
    lake: Lake, prepared: PreparedJudge, jobs: int, say: Callable[[str], None]
) -> JudgedRuns:
    name, opened, sessions, questions = prepared

    def done(progress: Progress) -> None:
        say(f"{name}: judged {len(progress.verdicts)} of {len(questions)}")

    progress = asyncio.run(judge_all(opened, sessions, questions, jobs, done))
    written = Counter(write_verdicts(lake, progress.verdicts, opened.redactor))
    written.update(write_misses(lake, progress.not_cached, opened.redactor))
    spent = sessions[0].exchange.spending.budget.spent
    families = {family_of(session.endpoint.model) for session in sessions}
    related = sorted(model for model in progress.models if family_of(model) in families)
    others = [session.name for session in sessions if session.name != name]
    return JudgedRuns(
        name,
        len(questions),
        progress,
        spent.tokens,
        spent.usd,
        written,
        judges_with_verdicts(lake, others),
        next(iter(related), None),
    )


def family_of(model: str) -> str:
    """Return a model's family: `gpt` of `openai/gpt-5-mini`; the first letters of its name."""
    found = re.match(r"[a-z]+", model.rsplit("/", 1)[-1].lower())
    return found[0] if found else model
