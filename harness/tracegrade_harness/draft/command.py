"""The work of the command `harness draft`: it prints and ends with an exit code."""

import shlex
from functools import partial
from pathlib import Path

from tracegrade.terminal.visible import echo, visible
from tracegrade_harness.draft.draft import drafted, lines, write_suite
from tracegrade_harness.draft.files import OPENAI_VARIABLE, SUITE, AgentStart
from tracegrade_harness.draft.runs import ChosenRuns
from tracegrade_harness.errors import SuiteUnusable
from tracegrade_queries.engine.connection import open_lake
from tracegrade_scoring.tasks.specification import usable_specification


def variable_of_model(name: str | None, former: str | None) -> str:
    """Return the variable in which drafted agents find the URL of their model.

    Args:
        name: The value of `--model-url-env`.
        former: The value of `--model-url-as`, its former name, which this release still accepts.

    Raises:
        SuiteUnusable: Both are given.
    """
    if former is None:
        return name or OPENAI_VARIABLE
    fact = "--model-url-as is now --model-url-env"
    if name is not None:
        msg = f"{fact}, which is given as well; leave out one of them"
        raise SuiteUnusable(msg)
    echo(f"{fact}; rename the option", err=True)
    return former


def started_by(command: str | None, model_url: str | None, model_url_env: str) -> AgentStart:
    """Return how drafted agents are started.

    Raises:
        SuiteUnusable: The command is none.
    """
    if command is None:
        return AgentStart(model_url=model_url, model_url_env=model_url_env)
    try:
        words = shlex.split(command)
    except ValueError as error:
        msg = f"--command is not a command: {str(error).lower()}; quote it as for a shell"
        raise SuiteUnusable(msg) from error
    if not words:
        msg = "--command is empty; give the command that starts the agents, or omit it"
        raise SuiteUnusable(msg)
    return AgentStart(words, model_url, model_url_env)


def draft_suite(
    location: str,
    folder: Path,
    chosen: tuple[ChosenRuns, AgentStart, Path | None],
    *,
    incomplete: bool,
    replace_old: bool,
) -> None:
    """Write runs of a lake as a suite, and print the outcome for each run.

    Raises:
        EnvironmentFailed: It cannot be written.
        SuiteUnusable: No run became a case, or a file already exists.
    """
    runs, started, tasks = chosen
    lake = open_lake(location, partial(echo, err=True))
    given, notes = usable_specification(tasks, note=partial(echo, err=True))
    for note in notes:
        echo(note, err=True)
    made = drafted(lake, given, runs, incomplete=incomplete)
    for line in lines(made):
        echo(visible(line))
    if not made.cases:
        msg = "no run became a case; capture what they lack, or give --incomplete"
        raise SuiteUnusable(msg)
    write_suite(folder, made, started, replace=replace_old)
    echo(f"suite: {folder / SUITE}")
