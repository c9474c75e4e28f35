"""Reliability over attempts for readers: pass@k and pass^k, and the attempts behind them.

A page shows success as a share of all runs and as a mean over tasks; each says which it is.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from tracegrade_scoring.metrics import Scale
from tracegrade_scoring.rendering import words
from tracegrade_scoring.report.model import Release, Reliability
from tracegrade_scoring.statistics.reliability import LARGEST_K, TRIES, UNBIASED, Pass


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
        "Means over tasks, and each task counts the same; Success above is the share of all runs.",
        *(of[label] + note for label, found in known for note in _notes(found)),
    )


def _attempts_behind(row: Pass, found: Reliability) -> Iterator[str]:
    """Yield the basis of a row, and the runs left out of it."""
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
            "restarted after errors, and an agent may cause some of them itself."
        )
    if found.repeated:
        yield (
            f"{found.repeated:,} of {valid} repeat a trial in another conversation, and count "
            "in addition to the first."
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


class EstimateTable(NamedTuple):
    """One chance over k by every estimator."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


LEAST_SHOWN: Final = 5
"""The k up to which estimators are shown at least, as the paper's table does [Agentic]."""
EXTRAPOLATED: Final = "extrapolated"
"""Beside a k beyond the fewest attempts of a task, where a formula alone speaks for the chance."""
_ESTIMATORS: Final = (UNBIASED, "plug_in", "pooled", "bayes_pooled")
_TABLES: Final = (
    (
        "At least one of k attempts succeeds (pass@k)",
        ("unbiased", "1\u2212(1\u2212p)^k, each task", "1\u2212(1\u2212p)^k, pooled"),
        ("pass_at_k", "at_low", "at_high"),
    ),
    (
        "All k attempts succeed (pass^k)",
        ("unbiased", "p^k, each task", "p^k, pooled"),
        ("pass_hat_k", "hat_low", "hat_high"),
    ),
)


def estimate_tables(
    releases: Sequence[Release], labels: Sequence[str]
) -> tuple[EstimateTable, ...]:
    """Return pass@k and pass^k by all estimators next to one another; nothing without attempts.

    Source: docs/metrics.md, section 8.4. The unbiased estimator ends at the fewest attempts of a
    task; the paper's formulas continue, to k = 5 at least.
    """
    return tuple(
        EstimateTable(title, ("release", "k", *headings, "Beta posterior"), rows)
        for title, headings, fields in _TABLES
        if (rows := tuple(_estimates(releases, labels, fields)))
    )


def _estimates(
    releases: Sequence[Release], labels: Sequence[str], fields: Sequence[str]
) -> Iterator[tuple[str, ...]]:
    for label, release in zip(labels, releases, strict=True):
        for k, by_name in curve(release):
            cells = (_estimate(by_name.get(name), fields) for name in _ESTIMATORS)
            beyond = any(row.extrapolated for row in by_name.values())
            yield (label, f"{k}, {EXTRAPOLATED}" if beyond else str(k), *cells)


def is_repeated(release: Release) -> bool:
    """Return whether each counted task was tried twice or more: else there is no curve to draw."""
    return release.reliability is not None and release.reliability.fewest > 1


def curve(release: Release) -> Iterator[tuple[int, Mapping[str, Pass]]]:
    """Yield each k that is shown, with the estimates of pass@k and pass^k by estimator."""
    found = release.reliability
    if found is None or not found.passes:
        return
    of = {(row.k, row.estimator): row for row in (*found.passes, *found.other_estimators)}
    for k in range(1, max(LEAST_SHOWN, found.passes[-1].k) + 1):
        yield k, {name: of[k, name] for name in _ESTIMATORS if (k, name) in of}


def _estimate(row: Pass | None, fields: Sequence[str]) -> str:
    """Return an estimate; with its interval if its interval is its own (Bayes')."""
    if row is None:
        return words.NOTHING
    value, low, high = (getattr(row, field) for field in fields)
    if row.estimator != "bayes_pooled":
        return words.amount(value, Scale.SHARE)
    return _with_interval(value, low, high)


CURVE_TITLE: Final = "From all k succeed (\u25cf) to one of k succeeds (\u25cb)"
PLUG_IN: Final = "plug-in estimate: p^k and 1\u2212(1\u2212p)^k of each task, which is biased"
CURVE_WIDTH: Final = 40
"""Characters from 0 % to 100 %."""


def curve_lines(
    releases: Sequence[Release], labels: Sequence[str]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each release with pass^k (●) and pass@k (○) by k as lines of text.

    The estimates are unbiased. If the unbiased estimates end before the third attempt, the curve
    uses the paper's formulas for each task (dots): one curve has one estimator. There is no curve
    if no attempt was repeated.
    """
    for label, release in zip(labels, releases, strict=True):
        if not is_repeated(release):
            continue
        found = list(curve(release))
        name = UNBIASED if any(k >= TRIES and UNBIASED in of for k, of in found) else "plug_in"
        lines = [_curve_line(of[name]) for _, of in found if name in of]
        if lines:
            how = () if name == UNBIASED else (PLUG_IN,)
            yield label, (*how, f"     0%{'100%':>{CURVE_WIDTH - 1}}", *lines)


def _curve_line(row: Pass) -> str:
    low, high = (round(CURVE_WIDTH * value) for value in (row.pass_hat_k, row.pass_at_k))
    mark = "\u2500" if row.estimator == UNBIASED else "\u2219"
    gap = mark * max(high - low - 1, 0)
    ends = "\u25c9" if high == low else f"\u25cf{gap}\u25cb"
    means = f"{words.amount(row.pass_hat_k, Scale.SHARE)}{words.DASH}"
    means += words.amount(row.pass_at_k, Scale.SHARE)
    means += f", {EXTRAPOLATED}" if row.extrapolated else ""
    return f"k={row.k:<3}{' ' * low}{ends}{' ' * (CURVE_WIDTH - high)}  {means}"
