"""`check`: several expectations of a run at once, all failures in one message."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import ndiff
from operator import ge, le
from types import MappingProxyType
from typing import Final, NamedTuple

from tracegrade.terminal.visible import visible
from tracegrade_scoring.rendering import words
from tracegrade_testing.errors import NotScored, RunCheckFailed
from tracegrade_testing.results import ResultSet, RunResult
from tracegrade_testing.scored_runs import RunCall

__all__ = ["check"]

_NONE: Final[Mapping[str, float]] = MappingProxyType({})


class ExpectedRun(NamedTuple):
    """What a test expects of a run."""

    at_least: Mapping[str, float] = _NONE
    """By metric."""
    at_most: Mapping[str, float] = _NONE
    calls: Sequence[str] | None = None
    """The tools, in order; None: any."""


def check(
    result: RunResult | ResultSet,
    *,
    at_least: Mapping[str, float] = _NONE,
    at_most: Mapping[str, float] = _NONE,
    calls: Sequence[str] | None = None,
) -> None:
    """Do nothing if every run is as expected.

    Args:
        result: From `score` or `trials`.
        at_least: By metric, its lowest value.
        at_most: By metric, its highest value.
        calls: The tools that the run must call, in order.

    Raises:
        RunCheckFailed: A run is not; the message has every failure, and the first wrong step.
    """
    expected = ExpectedRun(at_least, at_most, calls)
    faults = [text for run in result.runs if (text := fault_of(run, expected))]
    if faults:
        raise RunCheckFailed("\n\n".join(faults))


def fault_of(run: RunResult, expected: ExpectedRun) -> str:
    """Return how a run differs from what is expected; '' if it does not."""
    faults = [*_faults(run, expected)]
    return "\n".join([*faults, *evidence(run, expected.calls)]) if faults else ""


def _faults(run: RunResult, expected: ExpectedRun) -> Iterator[str]:
    sides = ((expected.at_least, ge, "at least"), (expected.at_most, le, "at most"))
    for bounds, holds, side in sides:
        for metric, bound in bounds.items():
            try:
                value = getattr(run, metric)
            except NotScored as error:
                yield str(error)
            else:
                if not holds(value, bound):
                    yield f"{metric} is {value:g}, expected {side} {bound:g}"
    if expected.calls is not None and run.calls != [*expected.calls]:
        yield f"calls differ from the {words.count(len(expected.calls), 'expected call')}"


def evidence(run: RunResult, calls: Sequence[str] | None = None) -> Iterator[str]:
    """Yield lines that show what a run did: its calls against the expected ones, what was wrong.

    Args:
        run: The run.
        calls: The expected tools; None for those of its task.
    """
    expected = run.expected if calls is None else calls
    if expected and run.calls != [*expected]:
        yield from difference(run.calls.made, expected)
    if explained := run.explain():
        yield explained
    if run.late:
        yield f"late: {run.late} spans had not ended when the block did, and are left out"


def difference(made: Sequence[RunCall], expected: Sequence[str]) -> list[str]:
    """Return calls and expected tools as a diff.

    A line with `-` is an expected call that was not made, one with `+` a call that was made and
    not expected.
    """
    lines = ndiff([visible(tool) for tool in expected], [visible(call.tool) for call in made])
    calls = iter(made)
    found = []
    for line in lines:
        if line.startswith("?"):
            continue
        call = next(calls) if line[0] in " +" else None
        found.append(f"{line}({_short(call)})" if call else line)
    return ["calls: - expected, + made", *(f"  {line}" for line in found)]


def _short(call: RunCall) -> str:
    return words.clip(words.line(call.arguments or ""), 120)
