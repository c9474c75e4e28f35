"""Ends the command of a run: chooses the error, and with it the exit code."""

from collections.abc import Sequence

from tracegrade_harness.errors import HarnessFailed, NotPassed
from tracegrade_harness.fail_on import RunRule, raise_broken
from tracegrade_harness.outcomes import in_words
from tracegrade_harness.trial.result import TrialResult


def end(again: str, results: Sequence[TrialResult], rules: Sequence[RunRule] = ()) -> None:
    """Print the outcome of a whole run, and raise the error that decides the exit code.

    Args:
        again: A text that says how to repeat trials that were not run.
        results: The results of the run.
        rules: Rules that the results must not break.

    Raises:
        HarnessFailed: Something could not be run or judged.
        NotPassed: Something did not pass.
    """
    ours = [result for result in results if result.status in {"invalid", "error"}]
    if ours:
        msg = (
            f"{len(ours)} of {len(results)} could not be run or judged, first: {in_words(ours[0])}"
        )
        if invalid := sum(result.status == "invalid" for result in ours):
            msg += f"; {invalid} were invalid, {again}"
        raise HarnessFailed(msg)
    failed = [result for result in results if result.success is False]
    if failed and not rules:
        trials = [result for result in results if result.kill_point is None]
        msg = f"{len(failed)} of {len(trials)} trials did not pass, first: {in_words(failed[0])}"
        raise NotPassed(msg)
    unrun = [result for result in results if result.status == "not_run"]
    if unrun:
        msg = f"{len(unrun)} of {len(results)} were not run, first: {in_words(unrun[0])}; then "
        msg += again
        raise NotPassed(msg)
    raise_broken(rules, results)
