"""The command `tracegrade tasks`: check, write and draft task files.

Thin: what it does is imported only when it runs.
"""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tracegrade.terminal.visible import echo
from tracegrade_scoring.rendering.options import LakeOption

if TYPE_CHECKING:
    from tracegrade_scoring.tasks import Specification

tasks = typer.Typer(
    help="Check and write task files, which say what agents were expected to do.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)


@tasks.callback()
def _tasks() -> None:
    """Commands about task files."""


@tasks.command()
def check(
    files: Annotated[
        list[Path], typer.Argument(help="Task files, or folders of them.", metavar="FILE...")
    ],
    try_: Annotated[
        str | None,
        typer.Option(
            "--try",
            help="Also score the newest traces of this lake by the files, and write nothing.",
            metavar="LAKE",
        ),
    ] = None,
    traces: Annotated[
        int, typer.Option(min=1, max=5_000, help="The most traces for --try.")
    ] = 200,
) -> None:
    """List every error, with its line and how to fix it; exit 1 if there is one.

    Notes, such as a tool that no file declares, go to stderr and do not count. With --try, stdout
    has for each task how many runs succeed by it, and what most often went wrong in the others.
    """
    from tracegrade_scoring.errors import TaskCheckFailed
    from tracegrade_scoring.rendering import words
    from tracegrade_scoring.tasks import load

    loaded = load(files)
    for problem in loaded.problems:
        echo(problem, err=problem.is_note)
    if loaded.errors:
        errors = words.count(len(loaded.errors), "error")
        msg = f"{errors} in task files; each is named above with its line"
        raise TaskCheckFailed(msg)
    found = loaded.specification
    tasks_found = words.count(len(found.tasks), "task")
    echo(f"{tasks_found} and {words.count(len(found.tools), 'tool')} are well-formed", err=True)
    if try_ is not None:
        _try(found, try_, traces)


def _try(specification: "Specification", lake: str, traces: int) -> None:
    from tracegrade_queries.engine.connection import open_lake
    from tracegrade_scoring.job.try_tasks import tried_lines, try_tasks

    opened = open_lake(lake, partial(echo, err=True))
    for line in tried_lines(try_tasks(opened, specification, traces)):
        echo(line)


@tasks.command("from")
def from_(
    files: Annotated[list[Path], typer.Argument(help="JSON or JSON lines.", metavar="FILE...")],
    map_: Annotated[
        list[str] | None,
        typer.Option("--map", help="Paths of the fields: task=task_id,expected=info.actions"),
    ] = None,
    complete: Annotated[
        str,
        typer.Option(
            help="Whether calls that are not expected are wrong: true, false, or writes (only "
            "those that change something)."
        ),
    ] = "false",
) -> None:
    """Write a task file to stdout, with the expected actions found in a data set.

    Evalsets of ADK and agentevals, goldens of DeepEval, tasks of tau2-bench and experiments of
    Strands Evals are recognized; for other records `--map` names the fields. What a task file
    cannot express goes to stderr, by reason and count.
    """
    from tracegrade_collector.importing.mapping import parse_map
    from tracegrade_scoring.tasks.ground_truth import task_file

    note = partial(echo, err=True)
    typer.echo(task_file(files, parse_map(map_ or ()), complete, note), nl=False)


@tasks.command()
def schema() -> None:
    """Write the JSON Schema of task files to stdout, for use in editors."""
    from tracegrade_scoring.tasks.schema import tasks_schema_text

    typer.echo(tasks_schema_text(), nl=False)


@tasks.command()
def draft(
    lake: LakeOption,
    agent: Annotated[str | None, typer.Option(help="Only runs of this agent.")] = None,
    any_: Annotated[
        bool, typer.Option("--any", help="Runs that are not known to have succeeded, too.")
    ] = False,
    run: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this run, by its trajectory_id, however it ended; may be repeated.",
            metavar="ID",
        ),
    ] = None,
) -> None:
    """Draft a task file from the successful runs of the lake, for you to correct; to stdout.

    Each task gets the most common sequence of calls that did not fail, and the fewest calls that a
    run needed. Its sub-goals are those that spans declare. Without any, they are the calls that
    runs have in common, in order, each with the number of its runs. Tools get their declared
    effects and costs. Runs without a task count as one task per agent.
    """
    from tracegrade_queries.engine.connection import open_lake
    from tracegrade_scoring.tasks.draft import DraftedFrom, draft_file

    say = partial(echo, err=True)
    chosen = DraftedFrom(agent, any_outcome=any_, trajectories=run or ())
    typer.echo(draft_file(open_lake(lake, say), chosen, say), nl=False)
