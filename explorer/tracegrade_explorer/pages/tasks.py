"""`/tasks` and `/tasks/ID`: failing tasks, the decisions they fail at, and tool sequences."""

from itertools import groupby
from typing import Any, Final

from tracegrade_explorer import links
from tracegrade_explorer.errors import PageMissing
from tracegrade_explorer.filters.grammar import Filter
from tracegrade_explorer.pages.cells import MARKS
from tracegrade_explorer.pages.definitions import several_definitions
from tracegrade_explorer.responses import PageContent, PageRequest, PageResponse
from tracegrade_explorer.snapshots.snapshot import Row, read
from tracegrade_scoring.metrics import Scale
from tracegrade_scoring.pictures.graph import sub_goal_graph
from tracegrade_scoring.pictures.small import bar
from tracegrade_scoring.rendering import words
from tracegrade_scoring.report.model import SubGoalOutcome

ATTEMPTS: Final = 40
"""Marks of one release; with more runs, only shares are shown."""
SHAPES: Final = 20
SHAPE_CHARACTERS: Final = 300
DRAWN_GOALS: Final = 60


def tasks(request: PageRequest) -> PageResponse:
    """Return all tasks, those that fail most first."""
    rows = request.snapshot.cached(("tasks",), lambda: read(request.con, "task_overview"))
    view = {"tasks": [_task(row) for row in rows], "mixed": several_definitions(request)}
    data = {"tasks": rows, "mixed": view["mixed"]}
    columns = [*rows[0]] if rows else ["task_id"]
    return PageContent("tasks", "Tasks", view, data, columns, rows)


def _task(row: Row) -> dict[str, Any]:
    known = row["succeeded"] + row["failed"]
    return {
        **row,
        "name": words.name(row["task_id"]),
        "category": words.name(row["task_category"], ""),
        "agents": words.clip(", ".join(map(words.name, row["agents"])), 120),
        "href": links.task(row["task_id"]),
        "runs_href": links.counted(task=row["task_id"]),
        "failed_href": links.counted(task=row["task_id"], outcome="failed"),
        "findings_href": links.with_findings(task=row["task_id"]),
        "success": words.amount(row["succeeded"] / known if known else None, Scale.SHARE),
        "drawn": bar(row["succeeded"] / known) if known else "",
        "tsa": words.amount(row["tsa"], Scale.SHARE),
    }


def task(request: PageRequest) -> PageResponse:
    """Return one task: the outcomes of its attempts, and their deviations from expected calls."""
    task_id = request.path["id"]
    given = {"task_id": task_id}
    attempts = read(request.con, "task_attempts", **given, rows=ATTEMPTS)
    if not attempts:
        msg = f"no run belongs to a task '{task_id}'; /tasks lists those that there are"
        raise PageMissing(msg)
    decisions = read(request.con, "task_decisions", **given)
    goals = read(request.con, "task_sub_goals", **given)
    shapes = request.snapshot.cached(
        ("shapes", task_id), lambda: read(request.con, "task_shapes", **given, rows=SHAPES)
    )
    outcomes = [_goal(task_id, row) for row in goals]
    view = {
        "name": words.name(task_id),
        "runs_href": links.named(task=task_id),
        "releases": [
            _release(task_id, agent, release, [*group])
            for (agent, release), group in groupby(
                attempts, key=lambda row: (row["agent_name"], row["release"])
            )
        ],
        "decisions": [_decision(row) for row in decisions],
        "named": any(row["decision"] is not None for row in decisions),
        "graph": sub_goal_graph(outcomes) if 1 < len(outcomes) <= DRAWN_GOALS else None,
        "goals": [_goal_row(goal) for goal in outcomes],
        "shapes": [_shape(row) for row in shapes],
        "more_shapes": (shapes[0]["shapes"] if shapes else 0) - len(shapes),
    }
    data = {
        "task_id": task_id, "attempts": attempts, "decisions": decisions, "sub_goals": goals,
        "shapes": shapes,
    }  # fmt: skip
    return PageContent("task", f"Task {words.name(task_id)}", view, data, [*attempts[0]], attempts)


def _release(
    task_id: str, agent: str | None, release: str | None, rows: list[Row]
) -> dict[str, Any]:
    first = rows[0]
    known = first["succeeded"] + first["failed"]
    return {
        "title": f"{words.cohort(agent, None)} {words.name(release, '(no release)')}",
        "href": links.counted(agent=agent, release=release, task=task_id),
        "runs": first["of"],
        "success": words.amount(first["succeeded"] / known if known else None, Scale.SHARE),
        "marks": [
            {
                "mark": MARKS[row["outcome"]],
                "name": row["outcome"] or "unknown",
                "href": links.run(row["trajectory_id"], Filter(names={"task": (task_id,)})),
            }
            for row in rows
        ],
        "more": first["of"] - len(rows),
    }


def _decision(row: Row) -> dict[str, Any]:
    example = row["example"]
    return {
        **row,
        "name": words.name(row["decision"], "(no name)"),
        "expected": words.name(row["expected_tool"], "no call, or any tool with an effect"),
        "share": words.amount(row["correct"] / row["times"], Scale.SHARE),
        "drawn": bar(row["correct"] / row["times"]),
        "instead": words.name(row["instead"], ""),
        "arguments": _wrong_arguments(row),
        "href": links.run(row["example_step_run"] or example, step=row["step_index"])
        if example
        else "",
    }


def _wrong_arguments(row: Row) -> str:
    """Return how often the right tool had wrong arguments, and the most frequent error."""
    if not row["wrong_arguments"]:
        return ""
    times = words.count(row["wrong_arguments"], "time")
    return f"wrong arguments {times}, most often: {words.line(row['argument_reason'] or '?')}"


def _goal(task_id: str, row: Row) -> SubGoalOutcome:
    return SubGoalOutcome(task_id, **{**row, "deps": tuple(row["deps"])})


def _goal_row(goal: SubGoalOutcome) -> dict[str, Any]:
    return {
        "name": words.name(goal.sub_goal),
        "critical": goal.critical,
        "attempts": goal.attempts,
        "attempted": goal.attempted,
        "skipped": goal.skipped,
        "completed": goal.completed,
        "drawn": bar(goal.completed / goal.attempts),
        "alarm": goal.critical and goal.skipped > 0,
        "href": links.run(goal.trajectory_id) if goal.trajectory_id else "",
    }


def _together(shape: str) -> str:
    """Return a sequence of tools, those that follow themselves counted."""
    counted = ((tool, len([*group])) for tool, group in groupby(shape.split(" ")))
    return " ".join(tool if times == 1 else f"{tool} \u00d7{times}" for tool, times in counted)


def _shape(row: Row) -> dict[str, Any]:
    return {
        "shape": words.clip(_together(row["shape"]), SHAPE_CHARACTERS) or "no call",
        "runs": row["runs"],
        "success": words.amount(row["succeeded"] / row["known"] if row["known"] else None,
                                Scale.SHARE),
        "href": links.run(row["example"]),
    }  # fmt: skip
