"""A report as one HTML file that needs nothing else: no script, no network, no font."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final

from tracegrade_scoring.pictures.graph import sub_goal_graph
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.kill_pages import NO_PAGES, KillPages, NamedPages
from tracegrade_scoring.rendering.page import page_style, page_template
from tracegrade_scoring.report import plots
from tracegrade_scoring.report.breakdown import (
    CATEGORY_HEADINGS,
    CONVERSATION_HEADINGS,
    TASK_HEADINGS,
    TURN_HEADINGS,
)
from tracegrade_scoring.report.findings import findings
from tracegrade_scoring.report.html_tables import (
    decisions_table,
    kills_table,
    modes_table,
    parts_table,
    passes_table,
    reasons_table,
    replanning_table,
    unmeasured_table,
)
from tracegrade_scoring.report.missing import missing
from tracegrade_scoring.report.model import Release, Report, SubGoalOutcome
from tracegrade_scoring.report.parts import band_parts
from tracegrade_scoring.report.rules import rule_sentences
from tracegrade_scoring.report.standing import selection_sentence, standing
from tracegrade_scoring.report.view import AgentView, agent_views, release_label

GOAL_ROWS = 200
"""Sub-goals shown of one release: as many as a page still scrolls well."""


TABLES: Final = {
    "decisions_table": decisions_table,
    "modes_table": modes_table,
    "parts_table": parts_table,
    "passes_table": passes_table,
    "reasons_table": reasons_table,
    "release_label": release_label,
    "replanning_table": replanning_table,
    "unmeasured_table": unmeasured_table,
}
"""Functions that the page's template names."""
GRAPHS = 6
"""Graphs of one release: those that went worst."""
GRAPH_NODES = 60
"""Larger graphs are not drawn; the table lists their sub-goals."""


def render_html(report: Report, pages: NamedPages = NO_PAGES) -> str:
    """Return the report as the text of one HTML file.

    Args:
        report: What to show.
        pages: The pages of runs and kills that it names.
    """
    agents = [_agent(agent, pages.kills) for agent in agent_views(report)]
    return page_template("tracegrade_scoring.report", pages.run, **TABLES).render(
        agents=agents,
        beside=sum(release.runs.beside for release in report.releases),
        comparing=bool(report.comparisons),
        contents=report.contents,
        killed=sum(release.runs.killed for release in report.releases),
        lake=report.lake,
        missing=missing(report),
        period=_period(report),
        scored=report.contents.scored > 0,
        selection=selection_sentence(report),
        standing=standing(report),
        rules=rule_sentences(report),
        category_headings=CATEGORY_HEADINGS,
        task_headings=TASK_HEADINGS,
        turn_headings=TURN_HEADINGS,
        conversation_headings=CONVERSATION_HEADINGS,
        style=page_style(),
    )


def _agent(agent: AgentView, kills: KillPages) -> dict[str, Any]:
    return {
        "bands": [part for part in band_parts(agent) if part.rows],
        "cards": agent.cards,
        "decided_kills": kills.of_release(*_decided(agent)) if agent.decision else (),
        "kills": kills_table(agent, kills.address),
        "findings": findings(agent),
        "goals": [_goals(release) for release in agent.releases if release.sub_goals],
        "graphs": [_graphs(release) for release in agent.releases if release.sub_goals],
        "metric_plot": plots.metric_plot(agent),
        "mode_plot": plots.mode_plot(agent),
        "pass_plot": plots.pass_plot(agent),
        "replanning_plot": plots.replanning_plot(agent),
        "spread_plot": plots.spread_plot(agent),
        "tsa_caption": plots.tsa_caption(agent),
        "tsa_plot": plots.tsa_plot(agent),
        "view": agent,
    }


def _decided(agent: AgentView) -> tuple[str | None, str | None]:
    """Return the agent and the release that the decision is on."""
    key = agent.releases[-1].key
    return key.agent_name, key.release


def _graphs(release: Release) -> dict[str, Any]:
    """Return the drawings of the tasks of a release whose sub-goals went worst.

    Those in which nothing went wrong are apart: there is nothing to see in them.
    """
    by_task: dict[str | None, list[SubGoalOutcome]] = defaultdict(list)
    for goal in release.sub_goals:
        by_task[goal.task_id].append(goal)
    drawable = {task: goals for task, goals in by_task.items() if 1 < len(goals) <= GRAPH_NODES}
    worst = sorted(drawable, key=lambda task: min(map(_completed_share, drawable[task])))[:GRAPHS]
    graphs = [(words.name(task, "(no task)"), drawable[task]) for task in worst]
    return {
        "label": release_label(release),
        "tasks": [
            (task, sub_goal_graph(goals)) for task, goals in graphs if not _is_complete(goals)
        ],
        "complete": [
            (task, sub_goal_graph(goals)) for task, goals in graphs if _is_complete(goals)
        ],
        "more": len(by_task) - len(worst),
    }


def _is_complete(goals: Sequence[SubGoalOutcome]) -> bool:
    return all(goal.completed == goal.attempts for goal in goals)


def _goals(release: Release) -> dict[str, Any]:
    """Return the sub-goals of a release that went worst, with the shares their colors show."""
    worst_first = sorted(
        range(len(release.sub_goals)), key=lambda index: _completed_share(release.sub_goals[index])
    )
    shown = [_goal(release.sub_goals[index]) for index in sorted(worst_first[:GOAL_ROWS])]
    return {
        "label": release_label(release),
        "rows": shown,
        "more": len(release.sub_goals) - len(shown),
    }


def _completed_share(goal: SubGoalOutcome) -> tuple[bool, float]:
    return (not (goal.critical and goal.skipped), goal.completed / goal.attempts)


def _goal(goal: SubGoalOutcome) -> dict[str, Any]:
    completed = round(100 * goal.completed / goal.attempts)
    failed = round(100 * (goal.attempted - goal.completed) / goal.attempts)
    return {
        "goal": goal,
        "completed": completed,
        "failed": max(failed, 0),
        "skipped": max(100 - completed - failed, 0),
        "alarm": goal.critical and goal.skipped > 0,
    }


def _period(report: Report) -> str:
    """Return from when to when the runs are, and how many of them do not say when."""
    untimed = sum(release.runs.runs - release.runs.timed_runs for release in report.releases)
    starts = [release.runs.first_start for release in report.releases if release.runs.first_start]
    ends = [release.runs.last_start for release in report.releases if release.runs.last_start]
    if not starts or not ends:
        return "times not known" if untimed else ""
    first, last = min(starts), max(ends)
    shown = f"{first:%d %B %Y} {words.DASH} {last:%d %B %Y}, UTC"
    if first.date() == last.date():
        minutes = dict.fromkeys(f"{time:%H:%M}" for time in (first, last))
        shown = f"{first:%d %B %Y}, {words.DASH.join(minutes)} UTC"
    return f"{shown}, and {words.count(untimed, 'run')} without a known time" if untimed else shown
