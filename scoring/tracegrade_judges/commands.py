"""What the commands of `judge` do: they print, and end with the exit code."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import typer

from tracegrade.progress import progress
from tracegrade_judges.calls.spending import SpendingLimits
from tracegrade_judges.errors import (
    JudgeCheckFailed,
    JudgeEndpointFailed,
    NoSpendingLimit,
    NotAllJudged,
)
from tracegrade_judges.judge_file.load import load_judges, usable_judges
from tracegrade_judges.run.estimate import JudgeEstimate, estimate
from tracegrade_judges.run.run import JudgedRuns, run_judges
from tracegrade_judges.run.setting import JudgingOptions
from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import open_lake

say = partial(typer.echo, err=True)


def opened(place: str) -> Lake:
    """Return the lake that an option names."""
    return open_lake(place, say)


def check_file(path: Path) -> None:
    """Print every error of a judge file.

    Raises:
        JudgeCheckFailed: There is one.
        JudgeFileUnreadable: It cannot be read.
    """
    loaded = load_judges(path)
    for problem in loaded.problems:
        typer.echo(problem)
    if loaded.problems:
        count = len(loaded.problems)
        errors = "1 error" if count == 1 else f"{count} errors"
        msg = f"{errors} in judge file '{path}'; each is named above with its line"
        raise JudgeCheckFailed(msg)
    judges = loaded.file.judges if loaded.file else {}
    say(f"{len(judges)} judges and {len(loaded.documents)} documents are well-formed")


def show_estimate(place: str, path: Path, only: str | None) -> None:
    """Print what a run would take."""
    for found in estimate(opened(place), usable_judges(path), only):
        typer.echo(_estimate_line(found))


def _estimate_line(found: JudgeEstimate) -> str:
    source = "by earlier judgements" if found.from_calls else "by the judge's limits"
    usd = "" if found.high_usd is None else f"; at most ${found.high_usd:.4f}"
    return (
        f"{found.judge}: {found.questions} questions, {found.uncached} not in the cache; tokens "
        f"low {found.low:,}, expected {found.expected:,}, high {found.high:,} ({source}){usd}"
    )


def spending_limits(
    max_usd: float | None, max_tokens: int | None, *, offline: bool
) -> SpendingLimits:
    """Return what a run may spend.

    Raises:
        NoSpendingLimit: Nothing says so, and somebody may be asked.
    """
    if max_usd is None and max_tokens is None and not offline:
        msg = (
            "nothing limits what judges may spend; give --max-usd or --max-tokens "
            "(`tracegrade judge estimate` says how much it takes), or --offline"
        )
        raise NoSpendingLimit(msg)
    return SpendingLimits(max_usd, max_tokens)


def run(place: str, path: Path, options: JudgingOptions) -> None:
    """Ask judges and write what they say.

    Raises:
        JudgeEndpointFailed: The endpoint refuses requests, or failed again and again.
        NotAllJudged: The budget ended, or an answer was not in the cache, before all was judged.
    """
    with progress() as show:
        found = run_judges(opened(place), usable_judges(path), options, show)
    for each in found:
        typer.echo(_judged_line(each))
        if each.related:
            say(
                f"{each.judge}: its model is related to {each.related}, whose runs it judges; "
                "models prefer their own"
            )
    _raise_unfinished(found)


def _judged_line(each: JudgedRuns) -> str:
    progress = each.progress
    lines = [
        f"{each.judge}: {each.questions} questions, {len(progress.verdicts)} verdicts "
        f"({progress.errors} errors), {each.tokens:,} tokens, ${each.usd:.4f}",
        f"added {each.written['added']}, replaced {each.written['replaced']}, "
        f"known {each.written['known']}",
    ]
    if progress.not_cached:
        lines.append(f"not_cached {len(progress.not_cached)}")
    if progress.not_judged:
        lines.append(f"not_judged {progress.not_judged}")
    return "; ".join(lines)


def _raise_unfinished(found: Sequence[JudgedRuns]) -> None:
    for each in found:
        stopped = each.progress.stopped_by
        if stopped == "failures":
            msg = (
                f"the endpoint of judge '{each.judge}' failed 20 times in a row, "
                f"{each.progress.not_judged} not judged; the same command goes on from here"
            )
            raise JudgeEndpointFailed(msg)
        if stopped and stopped != "budget":
            msg = (
                f"the endpoint of judge '{each.judge}' refuses requests with {stopped}; "
                "check its base_url, name and api_key"
            )
            raise JudgeEndpointFailed(msg)
    left = sum(each.progress.not_judged for each in found)
    lacking = sum(len(each.progress.not_cached) for each in found)
    if left:
        msg = (
            f"the budget is spent, {left} not judged; the same command with a higher "
            "--max-usd or --max-tokens goes on from here"
        )
        raise NotAllJudged(msg)
    if lacking:
        msg = f"{lacking} not judged, whose calls are not in the lake; run without --offline"
        raise NotAllJudged(msg)
