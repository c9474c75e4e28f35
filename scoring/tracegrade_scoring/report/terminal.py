"""A report on a terminal, or as plain text where there is none.

Every text goes through rich as `Text`, never as markup, and was made visible before, so nothing
in a trace can move the cursor, colour the screen or close a tag.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from tracegrade.terminal.visible import visible
from tracegrade_scoring.compare.differences import change_sentence
from tracegrade_scoring.compare.view import CohortView
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.evidence import spelled_out
from tracegrade_scoring.rendering.screen import bullets, capture, plain_table, section, texts
from tracegrade_scoring.report.attempts_view import CURVE_TITLE
from tracegrade_scoring.report.findings import expected, findings, picked, why
from tracegrade_scoring.report.kills_view import KillRow
from tracegrade_scoring.report.missing import missing
from tracegrade_scoring.report.model import Release, Report
from tracegrade_scoring.report.parts import more_rows, parts_of
from tracegrade_scoring.report.rules import rule_sentences
from tracegrade_scoring.report.scorecard import CARD_HEADINGS, card_row
from tracegrade_scoring.report.standing import selection_sentence, standing
from tracegrade_scoring.report.view import (
    AgentView,
    Cell,
    MetricRow,
    agent_views,
    release_label,
)

EVIDENCE_ROWS = 12
"""Rows of evidence for each release; the HTML report has them all."""
TABLE_ROWS = 40
"""Rows of estimates, categories and tasks; the HTML report has them all."""
LABEL_WIDTH, DIFFERENCE_WIDTH, GAP = 27, 13, 2
MIN_CELL_WIDTH, MAX_CELL_WIDTH = 17, 38
VERDICT_STYLES = {"better": "green", "worse": "red"}


def render_terminal(report: Report, *, width: int, colour: bool) -> str:
    """Return the report as text, at most `width` columns wide, with colours or plain."""
    return capture(lambda width: _parts(report, width), width=width, colour=colour)


def _parts(report: Report, width: int) -> Iterator[RenderableType]:
    yield Text(f"Report on {visible(report.lake)}", style="bold")
    if asked := selection_sentence(report):
        yield Text(asked)
    for sentence in standing(report):
        yield Text(sentence, style="yellow")
    for sentence in rule_sentences(report):
        yield Text(sentence)
    for agent in agent_views(report):
        yield from _agent_parts(agent, width)
    for fact, commands in missing(report):
        yield Padding(Text(fact, style="yellow"), (1, 0, 0, 0))
        for command in commands:
            yield Text(f"  {command}", style="bold")


def _agent_parts(agent: AgentView, width: int) -> Iterator[RenderableType]:
    yield Text()
    yield Rule(Text(agent.name, style="bold"), align="left", style="dim")
    yield Text(agent.answer, style="bold")
    yield Text()
    if agent.change:
        yield from _change(agent.change)
    yield from section("Readiness", _cards(agent))
    yield from section("What stands out", bullets(list(map(spelled_out, findings(agent)))))
    for columns in _columns_that_fit(agent, width):
        yield _metric_table(agent, columns, _widths(agent, width))
        yield Text()
    if agent.change_note:
        yield bullets([agent.change_note]) or ""
        yield Text()
    yield from section("Reliability over repeated attempts", _pass_table(agent))
    if agent.pass_notes:
        yield bullets(agent.pass_notes) or ""
        yield Text()
    yield from section("Why runs failed", _reason_table(agent))
    yield from _breakdown(agent)
    yield from section("Failure modes", _mode_table(agent))
    if agent.mode_note:
        yield bullets([agent.mode_note]) or ""
        yield Text()
    yield from section("Killed on purpose", _kill_table(agent))
    for release in agent.releases:
        yield from _evidence(release)
    yield from section("Small samples", bullets(agent.cautions))
    yield from section("Not scored, and why", _unmeasured_lines(agent))
    if agent.more_rows:
        more = words.count(len(agent.more_rows), "more metric")
        yield Text(f"{more}: --format html", style="dim")


def _breakdown(agent: AgentView) -> Iterator[RenderableType]:
    """Yield reliability by k, and success by category, task, turn and conversation."""
    yield from section(CURVE_TITLE, _curves(agent))
    for found in agent.estimates:
        yield from section(found.title, _rows_table(found.headings, found.rows))
    for part in parts_of(agent):
        yield from section(part.title, _rows_table(part.headings, part.rows, part.total))


def _curves(agent: AgentView) -> RenderableType | None:
    drawn = [Text("\n".join((label, *lines))) for label, lines in agent.curve]
    return Group(*drawn) if drawn else None


def _change(change: CohortView) -> Iterator[RenderableType]:
    """Yield what is surely better and worse, and what broke."""
    for title, rows in (
        ("Better, beyond chance", change.better),
        ("Worse, beyond chance", change.worse),
    ):
        yield from section(title, bullets(list(map(change_sentence, rows))))
    broke = list(map(spelled_out, change.broke)) or [change.nothing_broke]
    yield from section("What broke", bullets(broke))
    yield from section("Also", bullets(list(map(spelled_out, change.also))))


def _cards(agent: AgentView) -> RenderableType | None:
    """Return scores and axes as a table, what there is to say about them below."""
    if not agent.cards:
        return None
    rows = [card_row(found) for found in agent.cards]
    *columns, tier, note = range(len(CARD_HEADINGS))
    valued = [column for column in columns if {row[column] for row in rows} != {words.NOTHING}]
    table = plain_table(*(CARD_HEADINGS[column] for column in valued), gap=2)
    for row in rows:
        table.add_row(*texts(row[column] for column in valued))
    sentences = ["; ".join(filter(None, (row[tier], row[note]))) for row in rows]
    if len(agent.cards) > 1:
        named = zip(agent.cards, sentences, strict=True)
        sentences = [f"{found.release}: {sentence}" for found, sentence in named]
    return Group(table, bullets(sentences) or "")


class Widths(NamedTuple):
    """Columns of the score table, in characters."""

    label: int
    cell: int
    difference: int
    """0 if there is nothing to compare."""


def _widths(agent: AgentView, width: int) -> Widths:
    """Return what fits: cells as wide as all releases leave room for, within limits."""
    label = min(LABEL_WIDTH, width * 2 // 5)
    difference = DIFFERENCE_WIDTH if agent.compared else 0
    room = width - label - (difference + GAP if difference else 0)
    cell = min(max(room // len(agent.releases) - GAP, MIN_CELL_WIDTH), MAX_CELL_WIDTH)
    return Widths(label, min(cell, room - GAP), difference)


def _columns_that_fit(agent: AgentView, width: int) -> Iterator[range]:
    """Return the releases of each table: as many side by side as the width allows."""
    widths = _widths(agent, width)
    room = width - widths.label - (widths.difference + GAP if widths.difference else 0)
    each = max(1, room // (widths.cell + GAP))
    count = len(agent.releases)
    for start in range(0, count, each):
        yield range(start, min(start + each, count))


def _metric_table(agent: AgentView, columns: range, widths: Widths) -> Table:
    table = Table(box=box.SIMPLE, show_edge=False, padding=(0, 0, 0, GAP - 1), pad_edge=False)
    table.add_column("", width=widths.label)
    for column in columns:
        table.add_column(Text(agent.labels[column], overflow="fold"), width=widths.cell)
    compared = bool(agent.compared) and columns.stop == len(agent.releases)
    if compared:
        heading = Text(agent.compared, overflow="fold")
        table.add_column(heading, justify="right", width=widths.difference)
    for group, rows in agent.groups:
        table.add_row(Text(group, style="dim italic"))
        for row in rows:
            cells = [_cell(row.cells[column]) for column in columns]
            table.add_row(Text(f"  {row.metric.label}"), *cells, *[_difference(row)] * compared)
    return table


def _cell(cell: Cell) -> Text:
    text = Text(cell.value, style="bold", overflow="fold")
    if cell.interval:
        text.append(f"  {cell.interval}", style="not bold")
    details = ", ".join(part for part in (cell.counts, cell.scored) if part)
    if details:
        text.append(f"\n{details}", style="not bold dim")
    return text


def _difference(row: MetricRow) -> Text:
    text = Text(row.difference, style=VERDICT_STYLES.get(row.verdict, ""))
    if row.verdict:
        text.append(f"\n{row.verdict}", style="dim")
    return text


def _pass_table(agent: AgentView) -> Table | None:
    if not agent.passes:
        return None
    table = plain_table("release", "k", "one of k succeeds", "all k succeed", "from")
    for row in agent.passes:
        table.add_row(
            *texts((row.release, str(row.k), row.at_least_one, row.every_one, row.basis))
        )
    return table


def _reason_table(agent: AgentView) -> RenderableType | None:
    """Return the reasons of all releases, of each those of most runs."""
    by_release = groupby(agent.reasons, key=lambda row: row.release)
    shown = [row for _, found in by_release for row in [*found][:EVIDENCE_ROWS]]
    if not shown:
        return None
    table = Table.grid(padding=(0, 2))
    for row in shown:
        run, comma, step = row.example.partition(", ")
        text = Text(row.why, style="bold", overflow="fold")
        first = f"first in {words.run(run)}{comma}{step}"
        text.append("\n" + "; ".join(filter(None, (row.sentence, first))), style="not bold dim")
        table.add_row(Text(row.release, overflow="fold"), Text(row.runs), text)
    return _with_rest(table, len(agent.reasons), len(shown))


def _rows_table(
    headings: Sequence[str], rows: Sequence[Sequence[str]], total: int | None = None
) -> RenderableType | None:
    """Return a table of the first rows, and how many more there are; None without a row."""
    if not rows:
        return None
    shown = rows[:TABLE_ROWS]
    table = plain_table(*headings)
    for row in shown:
        table.add_row(*texts(row))
    return _with_rest(table, len(rows) if total is None else total, len(shown), len(rows))


def _mode_table(agent: AgentView) -> Table | None:
    if not agent.modes:
        return None
    table = Table.grid(padding=(0, 2))
    for row in agent.modes:
        run, comma, step = row.example.partition(", ")
        text = Text(row.mode, style="bold", overflow="fold")
        text.append(f"  {row.runs}, first {words.run(run)}{comma}{step}", style="not bold")
        text.append(f"\n{row.detail}" if row.detail else "", style="not bold dim")
        table.add_row(Text(row.release, overflow="fold"), Text(row.rate), text)
    return table


def _kill_table(agent: AgentView) -> RenderableType | None:
    """Return the kills of all releases, of each the worst first."""
    shown = [row for found in _by_release(agent.kills) for row in found[:EVIDENCE_ROWS]]
    if not shown:
        return None
    table = Table.grid(padding=(0, 2))
    for row in shown:
        text = Text(f"{row.killed}", style="bold", overflow="fold")
        text.append(f"  task {row.task}, by {row.judge}, {row.at_once} at once", style="not bold")
        text.append(f"\n{row.evidence}", style="not bold dim")
        table.add_row(Text(row.release, overflow="fold"), Text(row.after_recovery), text)
    total = sum(release.kill_rows for release in agent.releases)
    return _with_rest(table, total, len(shown), len(agent.kills))


def _by_release(kills: Iterable[KillRow]) -> list[list[KillRow]]:
    return [[*found] for _, found in groupby(kills, key=lambda row: row.release)]


def _evidence(release: Release) -> Iterator[RenderableType]:
    label = release_label(release)
    yield from section(f"Wrong decisions, {label}", _decision_table(release))
    yield from section(f"Critical sub-goals skipped, {label}", _skipped_table(release))
    yield from section(f"Failures and replans, {label}", _replanning_table(release))


def _decision_table(release: Release) -> RenderableType | None:
    if not release.wrong_decisions:
        return None
    table = Table.grid(padding=(0, 1))
    for row in release.wrong_decisions[:EVIDENCE_ROWS]:
        instead = f", expected {expected(row)}" if row.expected_tool else ""
        text = Text(f"{picked(row)}{instead}", style="bold", overflow="fold")
        names = (words.name(row.task_id), words.name(row.decision, ""))
        place = "task " + " / ".join(filter(None, names)) if row.task_id else "no task"
        text.append(f"  {place}", style="not bold")
        text.append(f"\n{why(row)}", style="not bold dim")
        table.add_row(Text(f"{row.times:,}\u00d7"), text)
    rows = release.wrong_decisions
    return _with_rest(table, release.wrong_decision_rows, EVIDENCE_ROWS, len(rows))


def _skipped_table(release: Release) -> RenderableType | None:
    skipped = release.skipped_critical
    if not skipped:
        return None
    table = plain_table("task", "sub-goal", "skipped in", "example")
    for goal in skipped[:EVIDENCE_ROWS]:
        runs = f"{goal.skipped:,} of {words.count(goal.attempts, 'run')}"
        names = (words.name(goal.task_id), words.name(goal.sub_goal))
        table.add_row(*texts((*names, runs, words.run(goal.trajectory_id))))
    return _with_rest(table, len(skipped))


def _replanning_table(release: Release) -> RenderableType | None:
    rows = release.eventful_replanning
    if not rows:
        return None
    table = plain_table(
        "task", "runs with a plan", "failed calls in them", "replanned at once", "replans"
    )
    for row in rows[:EVIDENCE_ROWS]:
        numbers = (row.planned_runs, row.failures, row.answered, row.replans)
        table.add_row(*texts((words.name(row.task_id), *(f"{n:,}" for n in numbers))))
    return _with_rest(table, len(rows))


def _with_rest(
    table: Table, total: int, shown: int = EVIDENCE_ROWS, listed: int | None = None
) -> RenderableType:
    """Return a table with how many rows it lacks, and how many of all HTML lists (None: all)."""
    more = more_rows(total, shown, total if listed is None else listed)
    return Group(table, Text(more, style="dim")) if more else table


def _unmeasured_lines(agent: AgentView) -> Table | None:
    rows = [
        (f"{row.runs}: {row.why} ({row.some_metrics})", row.remedy) for row in agent.unmeasured
    ]
    return bullets(["; ".join(filter(None, row)) for row in rows])
