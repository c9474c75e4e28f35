"""The plots of the HTML report; the page has each number in a table as well."""

from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup

from tracegrade_scoring.metrics import FAILURE_MODES
from tracegrade_scoring.pictures.named_rows import Spread, Value, intervals, spreads, strips
from tracegrade_scoring.pictures.of_counts import (
    Curve,
    CurvePoint,
    Meeting,
    Titles,
    curves,
    meetings,
)
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.catalog import HEADLINES, main_metrics
from tracegrade_scoring.report.attempts_view import curve, is_repeated
from tracegrade_scoring.report.model import Release
from tracegrade_scoring.report.view import AgentView
from tracegrade_scoring.statistics.reliability import UNBIASED

TASKS_SHOWN = 25
"""Tasks in a plot: the worst ones; the table has all."""
LABEL_LENGTH = 24
PERCENT_ENDS = (0.04, 0.2, 0.4, 1)
"""Possible ends of an axis of shares: its four parts are whole percents."""


def metric_plot(agent: AgentView) -> Markup | None:
    """Return the headline shares of each release with their intervals; None without any."""
    rows = [*_values(agent, {each.name: each.label for each in main_metrics(HEADLINES)})]
    description = f"Value and {agent.level} interval of each metric for each release."
    return intervals(rows, _distinct(agent.labels), description) if rows else None


def mode_plot(agent: AgentView) -> Markup | None:
    """Return the share of runs that show each failure mode by release; None without any."""
    rows = [*_values(agent, {mode: words.mode(mode) for mode in FAILURE_MODES})]
    if not any(row.value for row in rows):
        return None
    highest = max(row.value if row.high is None else row.high for row in rows)
    most = next(end for end in PERCENT_ENDS if end >= highest)
    description = "Share of runs with each failure mode for each release."
    return intervals(rows, _distinct(agent.labels), description, most)


def _values(agent: AgentView, metrics: Mapping[str, str]) -> Iterator[Value]:
    """Yield the values of metrics, under the names given, by release."""
    for name, shown in metrics.items():
        for label, release in _releases(agent):
            score = release.metrics.get(name)
            if score is not None and score.value is not None:
                yield Value(shown, label, score.value, score.low, score.high)


def tsa_caption(agent: AgentView) -> str:
    """Return what the plot of tasks shows, and of how many."""
    tasks = len({row.task_id for release in agent.releases for row in release.tool_selection})
    if tasks > TASKS_SHOWN:
        return f"Tool-selection accuracy of the {TASKS_SHOWN} worst of {tasks:,} tasks."
    return "Tool-selection accuracy of each task, the worst on top."


def tsa_plot(agent: AgentView) -> Markup | None:
    """Return tool-selection accuracy of the worst tasks by release; None without any.

    They stand first by their worst release, then by all of them, then by name.
    """
    by_task: dict[str | None, list[tuple[str, float]]] = {}
    for label, release in _releases(agent):
        for row in release.tool_selection:
            by_task.setdefault(row.task_id, []).append((label, row.tsa))

    def badness(task: str | None) -> tuple[float, float, str]:
        values = [tsa for _, tsa in by_task[task]]
        return min(values), sum(values), task or ""

    worst = sorted(by_task, key=badness)[:TASKS_SHOWN]
    names = _distinct([words.name(task, "(no task)") for task in worst])
    rows = [
        Value(name, label, tsa)
        for name, task in zip(names, worst, strict=True)
        for label, tsa in by_task[task]
    ]
    description = "Tool-selection accuracy of each task for each release."
    return strips(rows, _distinct(agent.labels), description) if rows else None


def replanning_plot(agent: AgentView) -> Markup | None:
    """Return how often runs replanned by how many of their calls failed; None without plans."""
    found = [
        Meeting(label, row.failures, row.replans, row.runs)
        for label, release in _releases(agent)
        for row in release.replanning_runs
    ]
    if not any(each.x or each.y for each in found):
        return None
    titles = Titles(
        "failed calls in a run",
        "changes of plan in it",
        "Runs by failed calls and changes of plan.",
    )
    return meetings(found, _distinct(agent.labels), titles)


def spread_plot(agent: AgentView) -> Markup | None:
    """Return how tool calls per run spread in each release; None if no run was scored."""
    found = [
        Spread(label, *release.spreads["actual_steps"])
        for label, release in _releases(agent)
        if "actual_steps" in release.spreads
    ]
    if not any(each.most > each.least for each in found):
        return None
    description = "Tool calls of a run: median, middle half and most."
    return spreads(found, "tool calls in a run", description)


def pass_plot(agent: AgentView) -> Markup | None:
    """Return pass@k and pass^k by k with their bands; None where no release repeated its attempts.

    Lines with points are unbiased estimates; thin ones continue by the paper's formulas for each
    task, which are biased, and extrapolate beyond the fewest attempts.
    """
    found = [
        curve
        for label, release in _releases(agent)
        if is_repeated(release)
        for curve in _pass_curves(label, release)
    ]
    description = f"pass@k and pass^k by k for each release, with {agent.level} bands."
    return curves(found, _distinct(agent.labels), "attempts k", description) if found else None


def _pass_curves(label: str, release: Release) -> Iterator[Curve]:
    """Yield both curves of a release by each estimator."""
    for name in ("plug_in", UNBIASED):
        if rows := [of[name] for _, of in curve(release) if name in of]:
            at = [CurvePoint(row.k, row.pass_at_k, row.at_low, row.at_high) for row in rows]
            every = [CurvePoint(row.k, row.pass_hat_k, row.hat_low, row.hat_high) for row in rows]
            yield Curve(label, "at least one works", at, thin=name != UNBIASED)
            yield Curve(label, "all work", every, thin=name != UNBIASED)


def _releases(agent: AgentView) -> Iterator[tuple[str, Release]]:
    """Yield each release, the newest last, with its name in pictures."""
    return zip(_distinct(agent.labels), agent.releases, strict=True)


def _distinct(labels: Sequence[str]) -> list[str]:
    """Return labels short enough for a picture, equal ones distinguished by their position."""
    short = [words.clip(label, LABEL_LENGTH) for label in labels]
    return [
        label if short.index(label) == index else f"{label} ({index + 1})"
        for index, label in enumerate(short)
    ]
