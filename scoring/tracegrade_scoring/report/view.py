"""A report as a reader sees it: agents, releases side by side, every number as text.

One view for the terminal, HTML and Markdown, so that all three say the same. All texts are on one
line and free of control characters (`visible`); markup is escaped by the writer of each format.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple, TypeVar

from tracegrade_scoring.compare.decision.release_rule import DEFAULT_RULE
from tracegrade_scoring.compare.decision.view import DecisionView, decision_view
from tracegrade_scoring.compare.differences import DifferenceRow
from tracegrade_scoring.compare.model import Comparisons
from tracegrade_scoring.compare.view import CORRECTED, CohortView, cohort_view
from tracegrade_scoring.metrics import Metric, Scale
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.catalog import main_metrics, more_metrics
from tracegrade_scoring.rendering.measured_modes import adds_nothing, measured_note
from tracegrade_scoring.report.attempts_view import (
    EstimateTable,
    PassRow,
    curve_lines,
    estimate_tables,
    pass_notes,
    pass_rows,
)
from tracegrade_scoring.report.breakdown import (
    category_rows,
    conversation_rows,
    task_rows,
    turn_rows,
)
from tracegrade_scoring.report.kills_view import KillRow, kill_rows
from tracegrade_scoring.report.model import ModeOutcome, Release, Report, Score
from tracegrade_scoring.report.readiness import speaks_in_labels
from tracegrade_scoring.report.reasons_view import ReasonRow, reason_rows
from tracegrade_scoring.report.scorecard import ReleaseCard, card
from tracegrade_scoring.report.uncalibrated import UNCALIBRATED
from tracegrade_scoring.report.unmeasured import Unmeasured, unmeasured

OVER_BOTH = (
    "Changes are those of the tasks that both releases ran, as `compare` shows them; they need "
    "not be the difference between two columns, which are over all runs."
)
EFFORT = "Effort"
RUNS = Metric("runs", "Runs", "Outcome", "Number of runs of the agent.", Scale.NUMBER, better=0)
ERRORS = Metric(
    "errors",
    "Failed tool calls",
    EFFORT,
    "Share of tool calls that ended in an error, report one in their result, or were never "
    "executed, from 0% to 100%; lower is better.",
    better=-1,
)
AXIS = Metric(
    "tsa_axis",
    "TSA axis",
    "Choosing tools",
    "Tool-selection accuracy times ten, as the axis of the composite score, from 0 to 10.",
    Scale.NUMBER,
)
TOKENS = Metric(
    "tokens",
    "Tokens per run",
    EFFORT,
    "Tokens that the models read and wrote in a run, from 0 upwards; lower is cheaper.",
    Scale.NUMBER,
    better=-1,
)


@dataclass(frozen=True)
class Cell:
    """One metric of one release."""

    value: str
    interval: str = ""
    """The interval, '' without one."""
    counts: str = ""
    """What the value was counted from, '' if it is not a ratio."""
    scored: str = ""
    """How many runs it is based on."""


@dataclass(frozen=True)
class MetricRow:
    """One metric over the releases of one agent."""

    metric: Metric
    cells: tuple[Cell, ...]
    """One for each release."""
    compared: DifferenceRow | None = None
    """What the comparison of the last two releases says; None if it is silent on this metric."""

    @property
    def difference(self) -> str:
        """By how much it changed, over the tasks that both ran; '' if that is not known."""
        return self.compared.change if self.compared else ""

    @property
    def verdict(self) -> str:
        """Its meaning: better | worse | changed | may be chance | too few tasks | ..."""
        return self.compared.verdict if self.compared else ""

    @property
    def is_over_all_runs(self) -> bool:
        """Whether the comparison is between exactly the values in the columns."""
        sides = tuple(cell.value for cell in self.cells[-2:])
        return self.compared is None or sides == (self.compared.base, self.compared.candidate)


class ModeRow(NamedTuple):
    """One failure mode of one release."""

    release: str
    mode: str
    rate: str
    """Rate over the runs that could show it."""
    runs: str
    example: str
    """The first run that shows it, with the step."""
    detail: str
    trajectory_id: str
    """Run of the agent that made the step."""
    step_index: int | None

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells below `MODE_HEADINGS`."""
        return (self.release, self.mode, self.rate, self.runs, self.example, self.detail)


MODE_HEADINGS = ("release", "failure mode", "rate", "runs", "first shown in", "what it shows")
"""The headings of rows of failure modes."""


@dataclass(frozen=True)
class AgentView:
    """One agent in one run mode with all its releases."""

    name: str
    releases: tuple[Release, ...]
    labels: tuple[str, ...]
    """Names of the releases, as shown."""
    answer: str
    """Is the newest release better than the one before? Or why this is unknown."""
    decision: DecisionView | None
    """Whether the newest release may ship, by the rule of `compare`; None without a comparison."""
    change: CohortView | None
    """The comparison of the two; None if they cannot be compared."""
    change_note: str
    """Runs that `difference` of the rows covers; '' if it is that of the values shown."""
    rows: tuple[MetricRow, ...]
    """What every report shows."""
    more_rows: tuple[MetricRow, ...]
    """What it shows in addition, where there is room."""
    empty_rows: int
    """Metrics of both kinds that have no value in any release: `unmeasured` says why."""
    passes: tuple[PassRow, ...]
    pass_notes: tuple[str, ...]
    """What `passes` are means of, and where they end."""
    estimates: tuple[EstimateTable, ...]
    """pass@k and pass^k by every estimator."""
    curve: tuple[tuple[str, tuple[str, ...]], ...]
    """The same as a drawing of characters, of the last two releases, each with its lines."""
    categories: tuple[tuple[str, ...], ...]
    """Success by task category; nothing if no task has one."""
    tasks: tuple[tuple[str, ...], ...]
    """Success and steps of each task of a release that ran alone, the worst first."""
    turns: tuple[tuple[str, ...], ...]
    """Scores by turn of conversations of several runs."""
    conversations: tuple[tuple[str, ...], ...]
    """Conversations of each release; those whose runs failed most come first."""
    conversation_count: int
    """How many there are; `conversations` has the first of each release."""
    unmeasured: tuple[Unmeasured, ...]
    cautions: tuple[str, ...]
    """What to bear in mind about small samples."""
    level: str
    """Level of every interval, such as 95%."""
    cards: tuple[ReleaseCard, ...]
    """How ready each release is, where that is known."""
    reasons: tuple[ReasonRow, ...]
    modes: tuple[ModeRow, ...]
    mode_note: str
    """A note about these modes; '' if none is listed."""
    kills: tuple[KillRow, ...]
    """The worst of each release first."""

    @property
    def groups(self) -> list[tuple[str, list[MetricRow]]]:
        """The rows by group, both in order."""
        return _grouped(self.rows)

    @property
    def more_groups(self) -> list[tuple[str, list[MetricRow]]]:
        """As groups, of what is shown in addition."""
        return _grouped(self.more_rows)

    @property
    def compared(self) -> str:
        """The two releases that differences are between, '' if there is one release alone."""
        return " → ".join(self.labels[-2:]) if len(self.labels) > 1 else ""


def _grouped(rows: Iterable[MetricRow]) -> list[tuple[str, list[MetricRow]]]:
    by_group = groupby(rows, key=lambda row: row.metric.group)
    return [(group, list(found)) for group, found in by_group]


def agent_views(report: Report) -> list[AgentView]:
    """Return one view for each agent and run mode; its releases go by their first run."""
    by_agent = groupby(report.releases, key=lambda release: release.key[:2])
    return [
        _agent_view(
            words.cohort(*key),
            tuple(releases),
            report.comparisons.get(key),
            report.own_metrics,
            in_labels=speaks_in_labels(report),
        )
        for key, releases in by_agent
    ]


def _decision(compared: Comparisons | None) -> DecisionView | None:
    return None if compared is None else decision_view(compared.cohorts[0], compared, DEFAULT_RULE)


def _change(compared: Comparisons | None) -> CohortView | None:
    return None if compared is None else cohort_view(compared.cohorts[0], compared)


def _answer(labels: Sequence[str], releases: Sequence[Release], change: CohortView | None) -> str:
    """Return the answer of the comparison, or why it has none."""
    if change is not None:
        return change.answer
    if len(releases) == 1:
        return f"Only one release ran, {labels[0]}: there is none to compare it with."
    if None in {release.key.release for release in releases[-2:]}:
        return (
            "Runs without a release cannot be compared with others: agents name it in the "
            "resource attribute service.version."
        )
    return f"{labels[-2]} and {labels[-1]} cannot be compared: not both have scored runs."


def release_label(release: Release) -> str:
    """Return the name of a release as shown."""
    return words.name(release.key.release, "(no release)")


def _agent_view(
    name: str,
    releases: tuple[Release, ...],
    compared: Comparisons | None,
    own: Mapping[str, Metric],
    *,
    in_labels: bool,
) -> AgentView:
    change = _change(compared)
    names = {name for release in releases for name in release.metrics}
    metrics, others = main_metrics(names), more_metrics(names, own)
    rows = _main_rows(metrics, releases, change)
    more_rows = [_metric_row(metric, releases, change) for metric in others]
    valued = {name for release in releases for name in _valued(release)}
    labels = tuple(release_label(release) for release in releases)
    labeled = list(zip(releases, labels, strict=True))
    return AgentView(
        name=name,
        releases=releases,
        labels=labels,
        answer=_answer(labels, releases, change),
        decision=_decision(compared),
        change=change,
        change_note="" if all(row.is_over_all_runs for row in (*rows, *more_rows)) else OVER_BOTH,
        rows=rows,
        more_rows=tuple(filter(_has_value, more_rows)),
        empty_rows=len(names - valued),
        passes=_of_each(labeled, pass_rows),
        pass_notes=pass_notes(releases, labels),
        estimates=estimate_tables(releases, labels),
        curve=tuple(curve_lines(releases[-2:], labels[-2:])),
        categories=_of_each(labeled, lambda each, label: category_rows(each.categories, label)),
        turns=_of_each(labeled, lambda each, label: turn_rows(each.conversations, label)),
        conversation_count=sum(release.conversations.total for release in releases),
        conversations=_of_each(
            labeled, lambda each, label: conversation_rows(each.conversations, label)
        ),
        tasks=tuple(task_rows(releases[0].tasks, labels[0])) if len(releases) == 1 else (),
        unmeasured=unmeasured([*metrics, *others], list(zip(labels, releases, strict=True))),
        cautions=_cautions(metrics, releases),
        level=words.level(releases[0].options.level),
        cards=tuple(_cards(labeled, in_labels=in_labels)),
        reasons=_of_each(labeled, lambda each, label: reason_rows(each.reasons, label)),
        mode_note=measured_note(row.mode for each in releases for row in each.failure_modes),
        modes=tuple(row for release in releases for row in _mode_rows(release)),
        kills=_of_each(labeled, lambda each, label: kill_rows(each.kills, label)),
    )


def _cards(labeled: Iterable[tuple[Release, str]], *, in_labels: bool) -> Iterator[ReleaseCard]:
    found = (card(release, label, in_labels=in_labels) for release, label in labeled)
    return filter(None, found)


Shown = TypeVar("Shown")


def _of_each(
    labeled: Iterable[tuple[Release, str]], rows: Callable[[Release, str], Iterable[Shown]]
) -> tuple[Shown, ...]:
    """Return the rows of each release, one after another."""
    return tuple(row for release, label in labeled for row in rows(release, label))


def _main_rows(
    metrics: Sequence[Metric], releases: Sequence[Release], change: CohortView | None
) -> tuple[MetricRow, ...]:
    rows = [_runs_row(releases)]
    for metric in metrics:
        rows += [_metric_row(metric, releases, change), *_axis_rows(metric, releases)]
    return tuple(filter(_has_value, (*rows, _errors_row(releases), _tokens_row(releases, change))))


def _valued(release: Release) -> set[str]:
    """Return the metrics that have a value."""
    return {name for name, score in release.metrics.items() if score.value is not None}


def _has_value(row: MetricRow) -> bool:
    return any(cell.value != words.NOTHING for cell in row.cells)


def _metric_row(
    metric: Metric, releases: Sequence[Release], change: CohortView | None
) -> MetricRow:
    cells = tuple(
        _score_cell(metric, release.metrics.get(metric.name), _definition(metric, release))
        for release in releases
    )
    return MetricRow(metric, cells, _compared_row(metric, change))


def _definition(metric: Metric, release: Release) -> str:
    """Return how many values are 0 since no plan was shown, which no count tells."""
    unplanned = release.remarks.unplanned
    if metric.name not in {"pq", "pq_strict", "pq_partial"} or not unplanned:
        return ""
    return f"0 by definition: no plan in {words.count(unplanned, 'run')}"


def _score_cell(metric: Metric, score: Score | None, definition: str) -> Cell:
    if score is None:
        return Cell(words.NOTHING)
    runs = words.count(score.trajectories, "run")
    if score.scored != score.trajectories:
        runs = f"{score.scored:,} of {runs} scored"
    if UNCALIBRATED in score.flags:
        runs += ", uncalibrated judge"
    counts = definition or words.ratio(score.numerator, score.denominator, metric)
    return Cell(
        words.amount(score.value, metric.scale),
        words.interval(score.low, score.high, metric.scale),
        counts,
        "" if counts.endswith(f" of {runs}") else runs,
    )


def _axis_rows(metric: Metric, releases: Sequence[Release]) -> Iterable[MetricRow]:
    """Return tool-selection accuracy as an axis of the composite score, 0 to 10, in addition."""
    if metric.name == "tsa":
        values = [release.axes.tsa for release in releases]
        literal = releases[0].options.literal
        counts = "without missed decision points" if literal else ""
        cells = tuple(Cell(words.axis(value), counts=counts) for value in values)
        yield MetricRow(AXIS, cells)


def _compared_row(metric: Metric, change: CohortView | None) -> DifferenceRow | None:
    """Return the comparison's row for a metric, which may be corrected for a judge."""
    if change is None:
        return None
    labels = {metric.label, f"{metric.label}{CORRECTED}"}
    return next((row for row in (*change.rows, *change.more_rows) if row.label in labels), None)


def _runs_row(releases: Sequence[Release]) -> MetricRow:
    cells = [
        Cell(
            words.number(release.runs.runs),
            scored=", ".join(_tasks_and_no_attempts(release)),
        )
        for release in releases
    ]
    return MetricRow(RUNS, tuple(cells))


def _tasks_and_no_attempts(release: Release) -> Iterator[str]:
    yield words.count(release.runs.known_tasks, "task")
    if release.runs.killed:
        yield f"{words.count(release.runs.killed, 'killed run')} apart"
    if release.runs.beside:
        yield f"{words.count(release.runs.beside, 'second run')} apart"


def _errors_row(releases: Sequence[Release]) -> MetricRow:
    def share(release: Release) -> float | None:
        runs = release.runs
        return runs.errors / runs.tool_calls if runs.tool_calls else None

    def counts(release: Release) -> str:
        runs = release.runs
        return f"{runs.errors:,} of {words.count(runs.tool_calls, 'call')}"

    return MetricRow(ERRORS, _usage_cells(ERRORS, releases, share, counts))


def _tokens_row(releases: Sequence[Release], change: CohortView | None) -> MetricRow:
    def per_run(release: Release) -> float | None:
        runs = release.runs
        tokens = (runs.input_tokens or 0) + (runs.output_tokens or 0)
        return tokens / runs.token_runs if runs.token_runs else None

    def counts(release: Release) -> str:
        runs = release.runs
        if not runs.token_runs:
            return "no model call reported tokens"
        return f"{words.number(runs.input_tokens)} in, {words.number(runs.output_tokens)} out"

    cells = _usage_cells(TOKENS, releases, per_run, counts)
    return MetricRow(TOKENS, cells, _compared_row(TOKENS, change))


def _usage_cells(
    metric: Metric,
    releases: Sequence[Release],
    value: Callable[[Release], float | None],
    counts: Callable[[Release], str],
) -> tuple[Cell, ...]:
    return tuple(
        Cell(words.amount(value(release), metric.scale), counts=counts(release))
        for release in releases
    )


def _of_known(row: ModeOutcome, score: Score | None) -> str:
    """Return the runs that show a failure mode, and of how many it is known."""
    if score is None:
        return words.count(row.runs, "run")
    return f"{row.runs:,} of {words.count(score.scored, 'run')}"


def _mode_rows(release: Release) -> Iterable[ModeRow]:
    """Return the failure modes that runs show, the most frequent first."""
    shown = [row for row in release.failure_modes if row.mode != "unclassified"]
    for row in sorted(shown, key=lambda row: (adds_nothing(row.mode), -row.runs, row.mode)):
        score = release.metrics.get(row.mode)
        step = "" if row.step_index is None else f", step {row.step_index}"
        example = row.step_trajectory_id or row.trajectory_id
        yield ModeRow(
            release_label(release),
            words.mode(row.mode),
            words.amount(score.value, Scale.SHARE) if score else words.NOTHING,
            f"{_of_known(row, score)}, {row.failed_runs:,} failed",
            words.name(example) + step,
            words.line(row.detail) if row.detail else "",
            example,
            row.step_index,
        )


def _cautions(metrics: Sequence[Metric], releases: Sequence[Release]) -> tuple[str, ...]:
    """Return one sentence for each flag: the metrics that carry it and, of several, releases."""
    carriers: dict[str, dict[str, list[str]]] = {}
    for metric in metrics:
        for release in releases:
            score = release.metrics.get(metric.name)
            for flag in _telling_flags(score):
                labels = carriers.setdefault(flag, {}).setdefault(metric.label, [])
                labels.append(release_label(release))
    if len(releases) == 1:
        return tuple(f"{', '.join(by)}: {words.flag(flag)}." for flag, by in carriers.items())
    return tuple(_caution(flag, by_metric) for flag, by_metric in carriers.items())


def _telling_flags(score: Score | None) -> list[str]:
    """Return the flags of the sample; that an interval is missing only if it is."""
    flags = score.flags if score else ()
    return [flag for flag in flags if flag != "few_tasks" or score is None or score.low is None]


def _caution(flag: str, by_metric: dict[str, list[str]]) -> str:
    by_releases: dict[str, list[str]] = {}
    for metric, labels in by_metric.items():
        by_releases.setdefault(", ".join(labels), []).append(metric)
    who = "; ".join(f"{', '.join(names)} ({labels})" for labels, names in by_releases.items())
    return f"{who}: {words.flag(flag)}."
