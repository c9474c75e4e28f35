"""`judge run`: every judge of a file is asked, and what it says is written."""

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

from tracegrade_judges.ask.ask import Asking
from tracegrade_judges.judge_file.load import LoadedJudges
from tracegrade_judges.run.judging import Progress, judge_all
from tracegrade_judges.run.setting import (
    JudgingOptions,
    asking_of,
    chosen_judges,
    judged_lake,
)
from tracegrade_judges.run.verdicts import write_misses, write_verdicts
from tracegrade_lake import Lake


class JudgedRuns(NamedTuple):
    """What one judge was asked, and what came of it."""

    judge: str
    questions: int
    progress: Progress
    tokens: int
    """Tokens of new requests; upper bounds where the endpoint did not count."""
    usd: float
    written: Mapping[str, int]
    """Verdicts: added, replaced, known."""
    related: str | None
    """A model of judged agents that is of the judge's own family; None if there is none."""


def run_judges(
    lake: Lake,
    loaded: LoadedJudges,
    options: JudgingOptions,
    say: Callable[[str], None] = lambda _: None,
) -> list[JudgedRuns]:
    """Ask the judges of a file, one after the other; stops at the first that is stopped.

    Raises:
        JudgeFileInvalid: No judge has the name that is asked for, or a variable is not set.
        NoSpendingLimit: The budget is in US dollars and a model has no price.
        NothingToJudge: No run of a known task was scored.
    """
    found = []
    with judged_lake(lake) as opened:
        for name, judge in chosen_judges(loaded, options.only).items():
            asking = asking_of(opened, name, judge, options)
            questions = opened.questions(name, judge, loaded.documents)

            def done(progress: Progress, name: str = name, of: int = len(questions)) -> None:
                say(f"{name}: judged {len(progress.verdicts)} of {of}")

            progress = asyncio.run(judge_all(opened, asking, questions, options.jobs, done))
            written = Counter(write_verdicts(lake, progress.verdicts, opened.redactor))
            written.update(write_misses(lake, progress.not_cached, opened.redactor))
            found.append(_judged(name, len(questions), progress, asking, written))
            if progress.stopped_by:
                break
    return found


def _judged(
    name: str, questions: int, progress: Progress, asking: Asking, written: Mapping[str, int]
) -> JudgedRuns:
    spent = asking.exchange.spending.spent
    family = family_of(asking.endpoint.model)
    related = sorted(model for model in progress.models if family_of(model) == family)
    return JudgedRuns(
        name, questions, progress, spent.tokens, spent.usd, written, next(iter(related), None)
    )


def family_of(model: str) -> str:
    """Return a model's family: `gpt` of `openai/gpt-5-mini`; the first letters of its name."""
    found = re.match(r"[a-z]+", model.rsplit("/", 1)[-1].lower())
    return found[0] if found else model
