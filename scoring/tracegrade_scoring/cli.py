"""The commands `sample`, `score` and `tasks`; `compare/`, `issues/` and `report/` have their own.

Thin: what they do is imported only when they run, so that `--help` and the others start fast.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from tracegrade.terminal.visible import echo
from tracegrade_scoring.compare.cli import compare
from tracegrade_scoring.issues.cli import issues
from tracegrade_scoring.metrics_cli import metrics
from tracegrade_scoring.rendering.options import LakeOption, utc_time
from tracegrade_scoring.report.cli import report

if TYPE_CHECKING:
    from collections.abc import Callable

    from tracegrade_lake import Lake
    from tracegrade_queries.costs.pricing import Prices
    from tracegrade_scoring.job.run_scoring import ScoreSummary
    from tracegrade_scoring.tasks.load import Specification

__all__ = ["compare", "issues", "metrics", "report", "sample", "score", "tasks"]

LATER: Final = "Tasks, prices and dimensions, which later runs of score use again"
TRACES: Final = "Which traces"
CORRECTNESS: Final = "Tool correctness, by settings that later runs of score use again"
OWN_METRICS: Final = "Metrics of your own"
WORK: Final = "Engine"


class ScoreCompat(StrEnum):
    """A source text that scores can follow to the letter."""

    AGENTIC = "agentic"
    NONE = "none"


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
) -> None:
    """List every error, with its line and how to fix it; exit 1 if there is one.

    Notes, such as a tool that no file declares, go to stderr and do not count.
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
    """Write a task file to stdout, with the expected actions found in a data set."""
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


def sample(
    folder: Annotated[Path, typer.Argument(help="Folder for the two files.", metavar="DIR")],
) -> None:
    """Write the runs of a small agent, in two releases, and its task file, for a first score."""
    from tracegrade_scoring.sample.copy_files import copy_files

    copy_files(folder)
    echo(f"{folder / 'runs.jsonl'}: 12 runs of each of two releases of an order desk")
    echo(f"{folder / 'tasks.yaml'}: what good runs look like")


def score(  # noqa: PLR0913, PLR0917 - one for each option
    lake: LakeOption,
    tasks: Annotated[
        Path | None,
        typer.Option(
            help="Task file, or a folder of them.",
            metavar="PATH",
            rich_help_panel=LATER,
        ),
    ] = None,
    forget_tasks: Annotated[
        bool,
        typer.Option(
            "--forget-tasks",
            help="Drop the stored tasks; score only what needs none.",
            rich_help_panel=LATER,
        ),
    ] = False,
    prices: Annotated[
        Path | None,
        typer.Option(
            help="YAML file with the prices of models, in place of the built-in list prices.",
            metavar="FILE",
            rich_help_panel=LATER,
        ),
    ] = None,
    forget_prices: Annotated[
        bool,
        typer.Option(
            "--forget-prices",
            help="Drop the stored prices; use only costs stated in traces.",
            rich_help_panel=LATER,
        ),
    ] = False,
    list_prices: Annotated[
        bool,
        typer.Option(
            "--list-prices", help="Use the built-in list prices again.", rich_help_panel=LATER
        ),
    ] = False,
    dimensions: Annotated[
        Path | None,
        typer.Option(
            help="YAML file with the attributes that name each run's release, agent, task and "
            "other dimensions.",
            metavar="FILE",
            rich_help_panel=LATER,
        ),
    ] = None,
    forget_dimensions: Annotated[
        bool,
        typer.Option(
            "--forget-dimensions",
            help="Drop the stored mapping of dimensions.",
            rich_help_panel=LATER,
        ),
    ] = False,
    since: Annotated[
        datetime | None,
        typer.Option(
            parser=utc_time,
            metavar="TIME",
            help="Only traces with a run that started at or after this time (UTC).",
            rich_help_panel=TRACES,
        ),
    ] = None,
    until: Annotated[
        datetime | None,
        typer.Option(
            parser=utc_time,
            metavar="TIME",
            help="Only traces with a run that started before this time (UTC).",
            rich_help_panel=TRACES,
        ),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(help="Only traces with a run of this agent.", rich_help_panel=TRACES),
    ] = None,
    release: Annotated[
        str | None,
        typer.Option(help="Only traces with a run of this release.", rich_help_panel=TRACES),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Score everything again, not only what changed.")
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="If another job is scoring the lake, wait for it.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be scored, without writing.")
    ] = False,
    summary: Annotated[
        Path | None,
        typer.Option(help="Write a JSON summary of the run to FILE; - is stdout.", metavar="FILE"),
    ] = None,
    why: Annotated[
        bool, typer.Option("--why", help="Print why each metric without a value has none.")
    ] = False,
    tool_weights: Annotated[
        str | None,
        typer.Option(
            help="Weights of tool correctness, such as selection=1,utilization=0; 1 if not given.",
            rich_help_panel=CORRECTNESS,
        ),
    ] = None,
    tool_threshold: Annotated[
        float | None,
        typer.Option(
            help="Runs with at least this tool correctness are tool-correct; 1 if not given.",
            rich_help_panel=CORRECTNESS,
        ),
    ] = None,
    compat: Annotated[
        ScoreCompat | None,
        typer.Option(
            help="Score tool correctness as in this paper's text; none: as we define it.",
            rich_help_panel=CORRECTNESS,
        ),
    ] = None,
    fragments: Annotated[
        bool | None,
        typer.Option(
            "--fragments/--no-fragments",
            help="Score traces of tools, or of titles and summaries, alone as runs, too.",
            rich_help_panel=LATER,
        ),
    ] = None,
    metrics: Annotated[
        Path | None,
        typer.Option(
            help="Metrics in SQL: a folder of files, stored for later runs.",
            metavar="FOLDER",
            rich_help_panel=OWN_METRICS,
        ),
    ] = None,
    forget_metrics: Annotated[
        bool,
        typer.Option(
            "--forget-metrics",
            help="Drop the stored metrics in SQL.",
            rich_help_panel=OWN_METRICS,
        ),
    ] = False,
    trust_kept_metrics: Annotated[
        bool,
        typer.Option(
            "--trust-kept-metrics",
            help="Run the SQL of metrics stored in the lake; anyone who can write to the lake may "
            "have written it.",
            rich_help_panel=OWN_METRICS,
        ),
    ] = False,
    no_plugins: Annotated[
        bool,
        typer.Option(
            "--no-plugins",
            help="Use no metrics of other installed distributions.",
            rich_help_panel=OWN_METRICS,
        ),
    ] = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Exit 1 if a metric of your own failed.", rich_help_panel=OWN_METRICS
        ),
    ] = False,
    engine: Annotated[
        str,
        typer.Option(
            envvar="TRACEGRADE_ENGINE",
            help="Engine that does the work: local (threads, or processes with more than four "
            "cores), threads, processes, files (for `tracegrade task`), spark.",
            rich_help_panel=WORK,
        ),
    ] = "local",
    slots: Annotated[
        int | None,
        typer.Option(
            min=1, help="Buckets that the engine works on at a time.", rich_help_panel=WORK
        ),
    ] = None,
    master: Annotated[
        str | None,
        typer.Option(help="The cluster of --engine spark.", metavar="URL", rich_help_panel=WORK),
    ] = None,
) -> None:
    """Build steps from new spans, and score every trajectory that is new or has changed.

    If another job is scoring the lake, this does nothing and exits with 3; --wait waits for it.
    """
    from tracegrade.terminal.progress import progress
    from tracegrade_queries.engine import engines
    from tracegrade_queries.engine.connection import open_lake
    from tracegrade_scoring.dimensions.options import given_mapping
    from tracegrade_scoring.job import run_scoring as job
    from tracegrade_scoring.job.discovery import TraceFilter
    from tracegrade_scoring.own_metrics.in_force import MetricOptions, with_metrics
    from tracegrade_scoring.tasks.specification import weighted

    say = partial(echo, err=True)
    opened = open_lake(lake, say)
    specification = _specification(tasks, forget_tasks, fragments, say)
    specification = weighted(specification, tool_weights, tool_threshold, compat and compat.value)
    metric_options = MetricOptions(metrics, forget_metrics, trust_kept_metrics, not no_plugins)
    specification = with_metrics(opened, specification, metric_options, say)
    given = _given_prices(prices, forget=forget_prices, listed=list_prices)
    mapping = given_mapping(dimensions, forget=forget_dimensions)
    chosen = TraceFilter(since, until, agent, release)
    if dry_run:
        _print_summary(
            job.preview(opened, specification, chosen=chosen, full=full), summary, say, why=why
        )
        return
    at_work = engines.engine(engine, engines.EngineOptions(say, slots, master))
    with _noting_busy(opened, specification, summary), at_work as executor, progress() as show:
        done = job.score(
            opened,
            specification,
            chosen=chosen,
            full=full,
            wait=wait,
            prices=given,
            mapping=mapping,
            executor=executor,
            progress=lambda buckets, of: show(f"scored bucket {buckets} of {of}"),
        )
    _print_summary(done, summary, say, why=why)
    if strict:
        _raise_failed_metrics(done)


def _given_prices(file: Path | None, *, forget: bool, listed: bool) -> "Prices | None":
    """Return the prices that the options choose; None: those of the lake.

    Raises:
        typer.BadParameter: They choose two.
    """
    from tracegrade_queries.costs.price_list import price_list
    from tracegrade_scoring.prices import load_prices

    if (file is not None) + forget + listed > 1:
        msg = "--prices, --forget-prices and --list-prices exclude one another; give one of them"
        raise typer.BadParameter(msg)
    if listed:
        return price_list().in_force().prices
    return load_prices(file) if file or forget else None


def _raise_failed_metrics(done: "ScoreSummary") -> None:
    """Fail if a metric of a user's own did."""
    from tracegrade_scoring.errors import MetricFailed

    if done.failed_metrics:
        names = ", ".join(done.failed_metrics)
        msg = f"metrics failed: {names}; the lines above say why. All other metrics were scored"
        raise MetricFailed(msg)


@contextmanager
def _noting_busy(
    lake: "Lake", specification: "Specification", summary: Path | None
) -> Iterator[None]:
    """Write the summary of a run that does nothing since another job is scoring the lake."""
    from tracegrade_scoring.errors import ScoringBusy
    from tracegrade_scoring.job.run_scoring import start_summary
    from tracegrade_scoring.job.summary import write_summary

    try:
        yield
    except ScoringBusy:
        if summary is not None:
            write_summary(summary, start_summary(lake, specification)._replace(busy=True))
        raise


def _print_summary(
    done: "ScoreSummary", summary: Path | None, say: "Callable[[str], object]", *, why: bool
) -> None:
    """Print what a run did, and write it to a file if one is wanted."""
    from tracegrade_scoring.job.summary import summary_lines, write_summary

    for line in summary_lines(done, why=why):
        say(line)
    if summary is not None:
        write_summary(summary, done)


def _specification(
    tasks: Path | None, forget: bool, fragments: bool | None, say: "Callable[[str], object]"
) -> "Specification":
    """Return what to score against, and say what of it is left out."""
    from tracegrade_scoring.tasks.specification import usable_specification

    found, notes = usable_specification(tasks, forget=forget, note=say)
    for note in notes:
        say(note)
    return found if fragments is None else found.model_copy(update={"fragments": fragments})
