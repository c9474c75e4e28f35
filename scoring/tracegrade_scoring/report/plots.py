"""The plots of the HTML report: Vega-Lite drawn to SVG on this machine, coloured by its CSS.

Colours are CSS variables of the page, so one drawing serves light and dark. Text in a drawing is
data to Vega (never an expression), is escaped by its SVG writer, and was made visible before.
Every chart has an accessible description, and the page has each number in a table as well.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import altair as alt
import vl_convert
from markupsafe import Markup

from tracegrade_scoring.metrics import FAILURE_MODES
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.catalogue import HEADLINES, main_metrics
from tracegrade_scoring.report.attempts_view import curve, is_repeated
from tracegrade_scoring.report.view import AgentView
from tracegrade_scoring.statistics.reliability import UNBIASED, Pass

AnyChart = alt.Chart | alt.LayerChart | alt.FacetChart
SERIES = tuple(f"var(--series-{number})" for number in range(1, 7))
"""One colour for each release, the newest first; a seventh starts again."""
INK, FAINT, GRID = "var(--ink)", "var(--faint)", "var(--line)"
FONT = "system-ui, sans-serif"
PLOT_WIDTH = 470
"""Of a whole drawing, so that those beside each other are scaled alike."""
LABEL_WIDTH = 7.2
"""Pixels of a character at 12 px: readers' fonts are wider than the one that lays labels out."""
LABEL_PADDING = 8
DODGE = 0.13
TASKS_SHOWN = 25
"""Tasks in a plot: the worst ones; the table has all."""
LABEL_LENGTH = 24
PERCENT_ENDS = (0.04, 0.2, 0.4, 1)
"""Where an axis of shares may end: its four parts are whole per cents."""


def metric_plot(agent: AgentView) -> Markup | None:
    """Return the headline shares of each release with their intervals; None without any."""
    rows: list[dict[str, Any]] = [
        {
            "name": metric.label,
            "release": label,
            "value": score.value,
            "low": score.value if score.low is None else score.low,
            "high": score.value if score.high is None else score.high,
        }
        for metric in main_metrics(HEADLINES)
        for label, release in zip(_distinct(agent.labels), agent.releases, strict=True)
        if (score := release.metrics.get(metric.name)) is not None and score.value is not None
    ]
    if not rows:
        return None
    return _interval_svg(
        agent, rows, f"Value and {agent.level} interval of each metric for each release."
    )


def tsa_caption(agent: AgentView) -> str:
    """Return what the plot of tasks shows, and of how many."""
    tasks = len({row.task_id for release in agent.releases for row in release.tool_selection})
    if tasks > TASKS_SHOWN:
        return f"Tool-selection accuracy of the {TASKS_SHOWN} worst of {tasks:,} tasks."
    return "Tool-selection accuracy of each task, the worst on top."


def _worst_first(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the tasks, first by their worst release, then by all of them, then by name."""
    values: dict[str, list[float]] = {}
    for row in rows:
        values.setdefault(row["task"], []).append(row["tsa"])
    return sorted(values, key=lambda task: (min(values[task]), sum(values[task]), task))


def tsa_plot(agent: AgentView) -> Markup | None:
    """Return tool-selection accuracy of each task and release; None without any."""
    rows: list[dict[str, Any]] = [
        {"task": _short(row.task_id), "release": label, "tsa": row.tsa, "runs": row.runs}
        for label, release in zip(_distinct(agent.labels), agent.releases, strict=True)
        for row in release.tool_selection
    ]
    if not rows:
        return None
    tasks = _worst_first(rows)[:TASKS_SHOWN]
    base = alt.Chart(alt.InlineData(values=[row for row in rows if row["task"] in tasks])).encode(
        y=alt.Y("task:N", sort=tasks, title=None, axis=_label_axis(tasks)),
        x=alt.X("tsa:Q", title=None, axis=_percent_axis(), scale=alt.Scale(domain=[0, 1])),
    )
    chart = alt.layer(
        base.mark_line(color=FAINT, strokeWidth=1.5).encode(detail="task:N"),
        base.mark_point(filled=True, size=80, opacity=0.9).encode(color=_release_colour(agent)),
    )
    return _svg(
        chart, "Tool-selection accuracy of each task for each release.", height=alt.Step(24)
    )


def replanning_plot(agent: AgentView) -> Markup | None:
    """Return how often runs replanned by how many of their calls failed; None without plans."""
    middle = (len(agent.labels) - 1) / 2
    rows: list[dict[str, Any]] = [
        # Releases stand beside each other where they coincide.
        {"release": label, "x": row.failures + DODGE * (place - middle), **row._asdict()}
        for place, (label, release) in enumerate(
            zip(_distinct(agent.labels), agent.releases, strict=True)
        )
        for row in release.replanning_runs
    ]
    if not any(row["failures"] or row["replans"] for row in rows):
        return None
    sizes = sorted({1, max(row["runs"] for row in rows)})
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_circle(opacity=0.65, stroke=INK, strokeWidth=0.5)
        .encode(
            x=alt.X(
                "x:Q", title="failed calls in a run", **_counting(row["failures"] for row in rows)
            ),
            y=alt.Y(
                "replans:Q",
                title="changes of plan in it",
                **_counting(row["replans"] for row in rows),
            ),
            size=alt.Size(
                "runs:Q",
                scale=alt.Scale(type="sqrt", range=[60, 700]),
                legend=alt.Legend(title="runs", values=sizes, format="d", symbolFillColor=FAINT),
            ),
            color=_release_colour(agent),
        )
    )
    return _svg(chart, "Runs by failed calls and changes of plan.", height=170)


def pass_plot(agent: AgentView) -> Markup | None:
    """Return pass@k and pass^k by k with their bands; None where no release repeated its attempts.

    Lines with points are unbiased estimates; thin ones go on by the paper's formulas for each
    task, which are biased, and extrapolate beyond the fewest attempts.
    """
    rows = [
        row
        for label, release in zip(_distinct(agent.labels), agent.releases, strict=True)
        if is_repeated(release)
        for k, by_name in curve(release)
        for row in _curve_rows(label, k, by_name)
    ]
    if not rows:
        return None
    ticks = list(range(1, max(row["k"] for row in rows) + 1))
    unbiased, formula = (
        alt.Chart(alt.InlineData(values=[row for row in rows if row["of"] == name])).encode(
            x=alt.X("k:Q", title="attempts k", axis=alt.Axis(values=ticks, format="d")),
            color=_release_colour(agent),
            detail="kind:N",
        )
        for name in (UNBIASED, "plug_in")
    )
    value = alt.Y("value:Q", title=None, axis=_percent_axis(), scale=alt.Scale(domain=[0, 1]))
    legend = alt.Legend(title=None, orient="top", symbolType="stroke", symbolSize=400,
                        symbolStrokeColor=INK, symbolStrokeWidth=2)  # fmt: skip
    dash = alt.StrokeDash("kind:N", sort=None, legend=legend)
    chart = alt.layer(
        unbiased.mark_area(opacity=0.15).encode(y=alt.Y("low:Q"), y2="high:Q"),
        formula.mark_line(strokeWidth=1, opacity=0.6).encode(y=value, strokeDash=dash),
        unbiased.mark_line(strokeWidth=2).encode(y=value, strokeDash=dash),
        unbiased.mark_point(filled=True, size=35, opacity=1).encode(y=value),
    )
    return _svg(
        chart, f"pass@k and pass^k by k for each release, with {agent.level} bands.", height=190
    )


def _curve_rows(label: str, k: int, by_name: Mapping[str, Pass]) -> Iterator[dict[str, Any]]:
    for name in (UNBIASED, "plug_in"):
        if row := by_name.get(name):
            for kind, value, low, high in (
                ("at least one works", row.pass_at_k, row.at_low, row.at_high),
                ("all work", row.pass_hat_k, row.hat_low, row.hat_high),
            ):
                yield {"release": label, "kind": kind, "of": name, "k": k, "value": value,
                       "low": low, "high": high}  # fmt: skip


def mode_plot(agent: AgentView) -> Markup | None:
    """Return the share of runs that show each failure mode by release; None without any."""
    rows: list[dict[str, Any]] = [
        {
            "name": words.mode(mode),
            "release": label,
            "value": score.value,
            "low": score.value if score.low is None else score.low,
            "high": score.value if score.high is None else score.high,
        }
        for mode in FAILURE_MODES
        for label, release in zip(_distinct(agent.labels), agent.releases, strict=True)
        if (score := release.metrics.get(mode)) is not None and score.value is not None
    ]
    if not any(row["value"] for row in rows):
        return None
    most = next(end for end in PERCENT_ENDS if end >= max(row["high"] for row in rows))
    description = "Share of runs with each failure mode for each release."
    return _interval_svg(agent, rows, description, most)


def spread_plot(agent: AgentView) -> Markup | None:
    """Return how tool calls per run spread in each release; None if no run was scored."""
    names = ("least", "low", "lower", "middle", "upper", "high", "most")
    rows: list[dict[str, Any]] = [
        {"release": label, **dict(zip(names, release.spreads["actual_steps"], strict=True))}
        for label, release in zip(_distinct(agent.labels), agent.releases, strict=True)
        if "actual_steps" in release.spreads
    ]
    if not any(row["most"] > row["least"] for row in rows):
        return None
    labels = [row["release"] for row in rows]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y("release:N", sort=None, title=None, axis=_label_axis(labels)),
        color=_release_colour(agent).legend(None),
    )
    chart = alt.layer(
        base.mark_rule(opacity=0.5).encode(
            x=alt.X("low:Q", title="tool calls in a run", scale=alt.Scale(zero=True)), x2="high:Q"
        ),
        base.mark_bar(size=12, opacity=0.55).encode(x="lower:Q", x2="upper:Q"),
        base.mark_tick(thickness=3, size=18).encode(x="middle:Q"),
        base.mark_point(size=18, opacity=0.7).encode(x="most:Q"),
    )
    return _svg(chart, "Tool calls of a run: median, middle half and most.", height=alt.Step(34))


def _interval_svg(
    agent: AgentView, rows: list[dict[str, Any]], description: str, most: float = 1
) -> Markup:
    """Return shares up to `most` by name and release as dots, their intervals as lines."""
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y("name:N", sort=None, title=None, axis=_label_axis(row["name"] for row in rows)),
        yOffset=alt.YOffset("release:N", sort=None),
        color=_release_colour(agent),
    )
    axis, scale = _percent_axis(most), alt.Scale(domain=[0, most])
    value = alt.X("value:Q", title=None, axis=axis, scale=scale)
    chart = alt.layer(
        base.mark_rule(strokeWidth=2, opacity=0.55).encode(x=alt.X("low:Q"), x2="high:Q"),
        base.mark_point(filled=True, size=70, opacity=1).encode(x=value),
    )
    step = alt.Step(12 + 11 * len(agent.labels), **{"for": "position"})
    return _svg(chart, description, height=step)


def _release_colour(agent: AgentView) -> alt.Color:
    labels = _distinct(agent.labels)
    colours = [SERIES[age % len(SERIES)] for age in reversed(range(len(labels)))]
    legend = alt.Legend(title=None, orient="top") if len(labels) > 1 else None
    scale = alt.Scale(domain=labels, range=colours)
    return alt.Color("release:N", scale=scale, legend=legend)


def _distinct(labels: Sequence[str]) -> list[str]:
    """Return labels short enough for a legend, equal ones distinguished by their position."""
    short = [words.clip(label, LABEL_LENGTH) for label in labels]
    return [
        label if short.index(label) == place else f"{label} ({place + 1})"
        for place, label in enumerate(short)
    ]


def _short(task_id: str | None) -> str:
    return words.clip(words.name(task_id, "(no task)"), LABEL_LENGTH)


def _label_axis(labels: Iterable[str]) -> alt.Axis:
    return alt.Axis(minExtent=max(map(len, labels)) * LABEL_WIDTH + LABEL_PADDING)


def _percent_axis(most: float = 1) -> alt.Axis:
    return alt.Axis(format="%", values=[most * part / 4 for part in range(5)])


def _counting(counts: Iterable[int]) -> dict[str, Any]:
    """Return axis and scale of whole numbers, with room for the dots at either end."""
    most = max(counts)
    ticks = list(range(0, most + 1, max(1, most // 8)))
    scale = alt.Scale(domain=[-0.5, most + 0.5], nice=False, zero=False)
    return {"axis": alt.Axis(values=ticks, format="d"), "scale": scale}


def _svg(chart: AnyChart, description: str, height: Any) -> Markup:
    fitted = alt.AutoSizeParams(type="fit-x", contains="padding")
    spec = chart.properties(
        width=PLOT_WIDTH, height=height, background="transparent", autosize=fitted
    ).configure(**_config())
    svg: str = vl_convert.vegalite_to_svg(spec.to_dict(), allowed_base_urls=[])
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{description}" ', 1)
    return Markup(svg)  # noqa: S704 - Vega's SVG writer escapes every text


def _config() -> dict[str, Any]:
    axis = {
        "labelColor": INK,
        "titleColor": FAINT,
        "gridColor": GRID,
        "domainColor": GRID,
        "tickColor": GRID,
        "labelFont": FONT,
        "titleFont": FONT,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelLimit": 220,
        "ticks": False,
        "labelPadding": LABEL_PADDING,
    }
    legend = {
        "labelColor": INK,
        "titleColor": FAINT,
        "labelFont": FONT,
        "titleFont": FONT,
        "labelFontSize": 12,
        "titleFontWeight": "normal",
        "symbolStrokeWidth": 0,
        "symbolOpacity": 1,
        "columnPadding": 18,
        "labelLimit": 220,
    }
    return {"axis": axis, "axisY": {"grid": False}, "legend": legend, "view": {"stroke": None}}
