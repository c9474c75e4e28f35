"""The second half of the demo: from landed spans to scores, a report and answers in SQL."""

import json
from pathlib import Path
from typing import Any

from demo.children import Children, Command
from demo.stages import TASKS, TRACEGRADE, say

WORKED_TASK = "clean-uploads"


def score(children: Children, lake: Path) -> None:
    """Check the task file, then build steps and scores.

    Raises:
        StageError: The task file is wrong, or scoring failed.
    """
    children.run("tasks check", [TRACEGRADE, "tasks", "check", TASKS])
    children.run("score", [TRACEGRADE, "score", "--lake", lake, "--tasks", TASKS])
    (counts,) = select(
        children,
        lake,
        "SELECT count(*) AS trajectories, sum(step_count) AS steps FROM trajectories",
    )
    say(6, f"scored {counts['trajectories']} trajectories of {counts['steps']} steps")


def write_report(children: Children, lake: Path, out: Path) -> None:
    """Write the HTML report and show the terminal one."""
    report: Command = [TRACEGRADE, "report", "--lake", lake]
    children.run("report", [*report, "--format", "html", "--out", out])
    say(7, "report written as one HTML file; the same for a terminal:")
    print_output(children, "terminal report", [*report, "--format", "terminal"])


def select(children: Children, lake: Path, query: str) -> list[dict[str, Any]]:
    """Return the rows of a query, asked as an analyst would: `tracegrade sql`."""
    child = children.run("sql", [TRACEGRADE, "sql", query, "--lake", lake, "--format", "json"])
    rows: list[dict[str, Any]] = json.loads("\n".join(child.lines()))
    return rows


def print_output(children: Children, name: str, command: Command) -> None:
    """Run a command and print what it prints."""
    print("\n".join(children.run(name, command).lines()))
