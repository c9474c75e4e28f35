"""The tables of an HTML report that name runs, parts of a release and what was not scored."""

from collections.abc import Iterator, Sequence
from typing import Final

from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.html_table import (
    LONG,
    NAME,
    NUMBER,
    HtmlCell,
    HtmlTable,
    RunLink,
    html_table,
    text_table,
)
from tracegrade_scoring.rendering.kill_pages import KillPage
from tracegrade_scoring.report.findings import expected, picked, why
from tracegrade_scoring.report.kills_view import KILL_HEADINGS, KillRow
from tracegrade_scoring.report.model import Release, WrongDecision
from tracegrade_scoring.report.view import AgentView

KILLED_COLUMN: Final = KILL_HEADINGS.index("killed")


def decisions_table(decisions: Sequence[WrongDecision]) -> HtmlTable:
    """Return wrong decisions, one row for equal ones, with the decision if any has a name."""
    named = any(row.decision for row in decisions)
    columns = [("Task", NAME), *([("Decision", NAME)] if named else []), ("Picked", NAME)]
    columns += [("Expected", NAME), ("Why it is wrong", LONG), ("Times", NUMBER)]
    return html_table(columns, (_decision(row, named=named) for row in decisions))


def _decision(row: WrongDecision, *, named: bool) -> Iterator[str | HtmlCell]:
    example = RunLink(row.step_trajectory_id or row.trajectory_id, row.step_index)
    yield words.name(row.task_id)
    if named:
        yield words.name(row.decision)
    yield from (picked(row), expected(row))
    yield HtmlCell(why(row), [example], "e.g. ", own_line=True)
    yield words.number(row.times)


def replanning_table(release: Release) -> HtmlTable:
    """Return the tasks whose runs with a plan had failed calls or replans."""
    headings = ("Runs with a plan", "Failed calls in them", "Replanned at once", "All replans")
    rows = [
        (words.name(row.task_id),
         *map(words.number, (row.planned_runs, row.failures, row.answered, row.replans)))
        for row in release.eventful_replanning
    ]  # fmt: skip
    columns = [("Task", NAME), *((heading, NUMBER) for heading in headings)]
    return html_table(columns, rows, stacked=False)


def passes_table(agent: AgentView) -> HtmlTable:
    """Return pass@k and pass^k of each release."""
    columns = [("Release", NAME), ("k", NUMBER), ("At least one", NUMBER), ("All", NUMBER)]
    rows = (
        (row.release, str(row.k), row.at_least_one, row.every_one, row.basis)
        for row in agent.passes
    )
    return html_table([*columns, ("From", "")], rows, stacked=False)


def parts_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> HtmlTable:
    """Return parts of a release: two columns of names, then numbers."""
    columns = [(heading, NAME if index < 2 else NUMBER) for index, heading in enumerate(headings)]
    return html_table(columns, rows, stacked=False)


def unmeasured_table(agent: AgentView) -> HtmlTable:
    """Return why metrics have no value, and what helps."""
    rows = ((row.runs, row.why, row.remedy, ", ".join(row.metrics)) for row in agent.unmeasured)
    return text_table(("Runs", "Why", "What helps", "Metrics"), rows)


def reasons_table(agent: AgentView) -> HtmlTable:
    """Return why runs failed, each reason with its first run."""
    columns = [("Release", NAME), ("Why", ""), ("Runs", ""), ("First in", LONG)]
    rows = (
        (row.release, row.why, row.runs,
         HtmlCell(row.sentence, [RunLink(row.trajectory_id, row.step_index)], own_line=True))
        for row in agent.reasons
    )  # fmt: skip
    return html_table(columns, rows)


def modes_table(agent: AgentView) -> HtmlTable:
    """Return the failure modes, each with the first run that shows it."""
    columns = [("Release", NAME), ("Failure mode", ""), ("Rate", NUMBER), ("Runs", "")]
    rows = (
        (row.release, row.mode, row.rate, row.runs,
         HtmlCell(row.detail, [RunLink(row.trajectory_id, row.step_index)], own_line=True))
        for row in agent.modes
    )  # fmt: skip
    return html_table([*columns, ("First shown in", LONG)], rows)


def kills_table(agent: AgentView, kill_page: KillPage) -> HtmlTable:
    """Return the kills on purpose, the worst first.

    Args:
        agent: Has them.
        kill_page: Returns the address of a kill's page.
    """
    columns = [("Release", NAME), ("Task", NAME), ("Killed", ""), ("At once", NUMBER)]
    columns += [("After recovery", NUMBER), ("Evidence", LONG), ("Judge", NAME)]
    rows = (_kill(row, kill_page(row.trajectory_id, row.kill_point)) for row in agent.kills)
    return html_table(columns, rows)


def _kill(row: KillRow, page: str) -> Iterator[str | HtmlCell]:
    for place, text in enumerate(row.cells):
        yield HtmlCell(text, href=page) if place == KILLED_COLUMN else text
