"""Reliability over attempts as a reader sees it: pass@k and pass^k, and what they stand on.

A page shows success as a share of all runs and as a mean over tasks; each says which it is.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.catalogue import Scale
from tracegrade_scoring.report.model import Release, Reliability
from tracegrade_scoring.statistics.reliability import LARGEST_K, Pass


@dataclass(frozen=True)
class PassRow:
    """pass@k and pass^k of one cohort."""

    release: str
    k: int
    at_least_one: str
    every_one: str
    basis: str
    """Tasks and attempts behind it."""


def pass_rows(release: Release, label: str) -> Iterable[PassRow]:
    """Yield the rows of a release, by k."""
    found = release.reliability
    if found is None:
        return
    for row in found.passes:
        yield PassRow(
            label,
            row.k,
            _with_interval(row.pass_at_k, row.at_low, row.at_high),
            _with_interval(row.pass_hat_k, row.hat_low, row.hat_high),
            ", ".join(_attempts_behind(row, found)),
        )


def pass_notes(releases: Sequence[Release], labels: Sequence[str]) -> tuple[str, ...]:
    """Return what the rows are means of, where k ends, and what no row counts."""
    known = [
        (label, release.reliability)
        for label, release in zip(labels, releases, strict=True)
        if release.reliability and release.reliability.passes
    ]
    if not known:
        return ()
    of = {label: "" if len(releases) == 1 else f"{label}: " for label in labels}
    return (
        "Means over tasks, each of which counts the same; Success above is the share of all runs.",
        *(of[label] + note for label, found in known for note in _notes(found)),
    )


def _attempts_behind(row: Pass, found: Reliability) -> Iterator[str]:
    """Yield what a row is based on, and what was left out of it."""
    yield words.count(row.tasks, "task")
    yield words.count(found.attempts, "attempt")
    failures = found.attempts - found.valid
    if failures:
        yield f"{failures:,} of them missing or of unknown outcome, counted as failures"
    elif found.invalid:
        yield f"{found.invalid:,} of unknown outcome left out"
    if found.superseded:
        yield f"{words.count(found.superseded, 'run')} superseded by a later one"


def _notes(found: Reliability) -> Iterator[str]:
    valid = words.count(found.valid, "attempt")
    if found.retried:
        yield (
            f"{found.retried:,} of {valid} had more than one chance: "
            "begun anew after errors, of which an agent may cause some itself."
        )
    if found.repeated:
        yield (
            f"{found.repeated:,} of {valid} repeat a trial in another conversation, and count "
            "beside the first."
        )
    last = found.passes[-1].k
    end = f"k ends at {last}: the task with the fewest attempts has {found.fewest:,}"
    if last == LARGEST_K < found.fewest:
        end = f"k ends at {last}, the largest that is shown"
    if found.dropped:
        end += f"; {words.count(found.dropped, 'task')} with fewer than {found.least} left out"
        end += ", also of the tier (--min-trials 1 counts all)" if found.least > 1 else ""
    yield f"{end}."


def _with_interval(value: float, low: float | None, high: float | None) -> str:
    interval = words.interval(low, high, Scale.SHARE)
    shown = words.amount(value, Scale.SHARE)
    return f"{shown} ({interval})" if interval else shown
