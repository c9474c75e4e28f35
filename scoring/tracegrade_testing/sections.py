"""What pytest shows of a test's runs: the evidence of a failed test, scores as properties."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tracegrade_scoring.rendering.catalog import MAIN
from tracegrade_testing.checks import evidence
from tracegrade_testing.recent import notes

if TYPE_CHECKING:
    from tracegrade_testing.results import RunResult


def evidence_of(results: Sequence["RunResult"]) -> str:
    """Return what was wrong with the runs of a failed test; '' if nothing was found."""
    texts = ["\n".join(evidence(result)) for result in results]
    return "\n\n".join(filter(None, texts))


def properties_of(results: Sequence["RunResult"]) -> Iterator[tuple[str, str]]:
    """Yield the main metrics with a value; of several runs each has its number in the name."""
    for number, result in enumerate(results, start=1):
        suffix = f"[{number}]" if len(results) > 1 else ""
        scores = result.scores
        for metric in MAIN:
            value = scores[metric].value
            if value is not None:
                yield metric + suffix, f"{value:.12g}"


def take_results() -> list["RunResult"]:
    """Return the results of the running test, and forget them."""
    return notes.take_results()
