"""Prints results, one by one and at the end of a run."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tracegrade.terminal.visible import echo, visible
from tracegrade_harness.junit import why_failed
from tracegrade_harness.parts.verifying.result import shortened
from tracegrade_harness.tape.entries import redacted
from tracegrade_harness.trial.out_of_sight import OUT_OF_SIGHT
from tracegrade_harness.trial.result import TrialResult
from tracegrade_harness.trial.run import Run
from tracegrade_scoring.rendering.words import count

MAX_WHY_CHARS: Final = 300
"""Characters of a verifier's finding that a terminal line shows; `harness_trials` has all."""


def say_result(result: TrialResult, number: int, of: int) -> None:
    """Print a result as it arrives.

    Args:
        result: The result of a trial, or of a kill of it.
        number: The number of results so far.
        of: Their final number.
    """
    sentence = ", ".join([_outcome(result), *_exit_code(result), *_used(result)])
    echo(f"[{number}/{of}] {_name(result)}: {_printable(sentence)}", err=True)


def _name(result: TrialResult) -> str:
    killed = f", killed {result.kill_point}" if result.kill_point else ""
    return f"{visible(result.task_id)} trial {result.trial}{killed}"


def _exit_code(result: TrialResult) -> list[str]:
    """Return the words for an agent that ended with an error, even if its trial passed."""
    unreadable = [note for note in result.notes if OUT_OF_SIGHT in note]
    return [f"its agent ended with {result.exit_code}", *unreadable] if result.exit_code else []


def _used(result: TrialResult) -> list[str]:
    """Return the words for the known usage of a run."""
    tokens = [] if result.tokens is None else [count(result.tokens, "token")]
    return tokens if result.usd is None else [*tokens, f"${result.usd:.4f}"]


def say_used(done: Run, max_usd: float | None) -> None:
    """Print the usage of a whole run, if it used models."""
    tokens = [result.tokens for result in done.results if result.tokens is not None]
    unknown = sum(result.cost_is_unknown for result in done.results)
    if not tokens and not done.spent_usd and not unknown:
        return
    of = "" if max_usd is None else f" of ${max_usd:.4f}"
    besides = f", and {unknown} of {len(done.results)} at unknown cost" if unknown else ""
    echo(f"used: {count(sum(tokens), 'token')}, ${done.spent_usd:.4f}{of}{besides}")


def say_unseen(results: Sequence[TrialResult]) -> None:
    """Print how many judged trials will not be scored, if there are any."""
    unseen = [
        result
        for result in results
        if result.kill_point is None
        and result.trajectory_id is None
        and result.success is not None
    ]
    if unseen:
        how = "`tracegrade report --missing as-failure --trials N` counts them as failed"
        echo(f"no run: {count(len(unseen), 'trial')} sent no spans and will not be scored; {how}")


def say_report(lake: str, tasks: Path | None) -> None:
    """Print the command that scores a run and shows it, for a shell.

    Args:
        lake: The lake of the run.
        tasks: The suite's task file; None if it names none.
    """
    given = [] if tasks is None else ["--tasks", str(tasks)]
    score = _words("score", "--lake", lake, *given)
    echo(f"report: {score} && {_words('report', '--lake', lake)}")


def say_play(suite: Path, case: str, agent: str | None) -> None:
    """Print the command that plays tapes which were recorded, for a shell.

    Args:
        suite: The suite file.
        case: The pattern of the recorded cases.
        agent: The agent whose cases were recorded; None for all agents.
    """
    chosen = [*([] if case == "*" else ["--case", case]), *(["--agent", agent] if agent else [])]
    to = ("--mode", "mocked", "--lake", "lake")
    echo(f"play: {_words('harness', 'run', str(suite), *chosen, *to)}")


def _words(*words: str) -> str:
    """Return a command of tracegrade for a shell, without control characters."""
    return visible(shlex.join(("tracegrade", *words)))


def _outcome(result: TrialResult) -> str:
    if result.status != "done":
        return f"{result.status} ({result.reason})"
    if result.kill_point:
        left = count(len(result.leftovers or []), "object")
        return (
            f"after call {result.boundary}: {result.immediate:g} at once, "
            f"{result.after_recovery:g} after recovery, {left} left"
        )
    if result.success is None:
        return "ended"
    return (
        "passed" if result.success else f"failed: {shortened(why_failed(result), MAX_WHY_CHARS)}"
    )


def in_words(result: TrialResult) -> str:
    """Return which trial it is, and its outcome or the reason why it has none."""
    return f"{_name(result)}: {_printable(result.reason or _outcome(result))}"


def _printable(text: str) -> str:
    """Return a text without secrets and control characters."""
    return redacted(visible(text))
