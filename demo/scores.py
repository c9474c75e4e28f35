"""The second half of the demo: from landed spans to scores, a report and answers in SQL."""

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from demo.children import Child, Children, Command
from demo.stages import TASKS, TRACEGRADE, say

SQL = Path(__file__).with_name("sql")
WORKED_TASK = "clean-uploads"
SAVED_QUERY = "after_failures"
OWN_QUERY = "cost_by_task"

Row = Mapping[str, Any]


def score(children: Children, lake: Path) -> None:
    """Check the task file, then build steps and scores.

    Raises:
        StageError: The task file is wrong, or scoring failed.
    """
    children.run("tasks check", [TRACEGRADE, "tasks", "check", TASKS])
    children.run("score", [TRACEGRADE, "score", "--lake", lake, "--tasks", TASKS])
    (counts,) = select(children, lake, "scored")
    say(
        9,
        f"scored: {counts['trajectories']} trajectories of {counts['steps']} steps; the "
        f"{counts['killed']} that were killed are not attempts",
    )


def write_report(children: Children, lake: Path, out: Path) -> None:
    """Write the HTML report, with a page for each run that it names; show the terminal one."""
    report: Command = [TRACEGRADE, "report", "--lake", lake]
    pages = children.start("report", [*report, "--format", "html", "--out", out])
    terminal = children.start("terminal report", [*report, "--format", "terminal"])
    pages.wait()
    say(10, "report written, with a page for each run that it names; the same for a terminal:\n")
    print_output(terminal)


def show(children: Children, lake: Path) -> None:
    """Print what came out: each release, the worked example with its evidence."""
    releases = start_query(children, lake, "releases")
    runs = start_query(children, lake, "worked_task", task_id=WORKED_TASK)
    decisions = start_query(children, lake, "wrong_decisions", task_id=WORKED_TASK)
    title("Each release, over all its tasks")
    print_table(rows_of(releases))
    title(f"The worked example: task {WORKED_TASK}, one run of each release")
    print_table(rows_of(runs))
    for wrong in rows_of(decisions):
        print(
            f"  {wrong['release']} picked {wrong['picked_tool']} at '{wrong['decision']}' "
            f"(step {wrong['step_index']}): {wrong['reason']}"
        )


def answer(children: Children, lake: Path) -> None:
    """Print an analyst's questions, their SQL, and the answers."""
    title("An analyst asks: What do agents do right after a failed call?")
    saved: Command = [TRACEGRADE, "sql", "--lake", lake, "--saved", SAVED_QUERY]
    of_saved = children.start("saved query", saved)
    of_own = start_query(children, lake, OWN_QUERY)
    print(f"$ tracegrade sql --lake {lake} --saved {SAVED_QUERY}")
    print_output(of_saved)
    question, query = read_query(OWN_QUERY)
    title(f"An analyst asks: {question}")
    print(f'$ tracegrade sql --lake {lake} "\n{query}"\n')
    print_table(rows_of(of_own))


def select(children: Children, lake: Path, name: str, **parameters: str) -> list[Row]:
    """Return the rows of a query of this folder."""
    return rows_of(start_query(children, lake, name, **parameters))


def start_query(children: Children, lake: Path, name: str, **parameters: str) -> Child:
    """Start a query of this folder as an analyst would: `tracegrade sql`."""
    _, query = read_query(name)
    given = [f"--param={key}={value}" for key, value in parameters.items()]
    command: Command = [TRACEGRADE, "sql", "--lake", lake, "--format", "json", *given, query]
    return children.start(f"sql {name}", command)


def rows_of(query: Child) -> list[Row]:
    """Wait for a query, and return its rows."""
    query.wait()
    rows: list[Row] = json.loads("\n".join(query.lines()))
    return rows


def read_query(name: str) -> tuple[str, str]:
    """Return the first line of a query's header, and the query without its header."""
    lines = (SQL / f"{name}.sql").read_text(encoding="utf-8").splitlines()
    header = list(itertools.takewhile(lambda line: line.startswith("--"), lines))
    return header[0].removeprefix("-- "), "\n".join(lines[len(header) :])


def print_output(child: Child) -> None:
    """Wait for a command and print its output."""
    child.wait()
    print("\n".join(child.lines()), flush=True)


def title(text: str) -> None:
    """Print a headline."""
    print(f"\n{text}\n{'-' * len(text)}", flush=True)


def print_table(rows: Sequence[Row]) -> None:
    """Print rows under the names of their columns; numbers to two decimals, NULL as a dash."""
    if not rows:
        print("  (no rows)")
        return
    table = [list(rows[0]), *([_cell(value) for value in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print("  " + "  ".join(cells).rstrip())


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if isinstance(value, float) else str(value)
