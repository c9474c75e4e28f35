"""The commands `sample` and `score`; `tasks_cli.py`, `compare/` and others have their own.

Thin: what they do is imported only when they run, so that `--help` and the others start fast.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from tracegrade.terminal.visible import echo
from tracegrade_scoring.compare.cli import compare
from tracegrade_scoring.issues.cli import issues
from tracegrade_scoring.metrics_cli import metrics
from tracegrade_scoring.rendering.options import (
    LATER,
    TRACES,
    FragmentsOption,
    KeepReplacedOption,
    LakeOption,
    RetrievalOption,
    TracesSinceOption,
    TracesUntilOption,
    seconds,
)
from tracegrade_scoring.report.cli import report
from tracegrade_scoring.tasks_cli import tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tracegrade_lake import Lake
    from tracegrade_queries.costs.pricing import Prices
    from tracegrade_scoring.follow.follower import FollowOptions
    from tracegrade_scoring.follow.ticks import Ticks
    from tracegrade_scoring.job.run_scoring import ScoreSummary
    from tracegrade_scoring.tasks.load import Specification

__all__ = ["compare", "issues", "metrics", "report", "sample", "score", "tasks"]

CORRECTNESS: Final = "Tool correctness, by settings that later runs of score use again"
OWN_METRICS: Final = "Metrics of your own"
WORK: Final = "Engine"
CONTINUOUS: Final = "Score continuously"


class ScoreCompat(StrEnum):
    """A source text that scores can follow to the letter."""

    AGENTIC = "agentic"
    NONE = "none"


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
    since: TracesSinceOption = None,
    until: TracesUntilOption = None,
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
    fragments: FragmentsOption = None,
    retrieval: RetrievalOption = None,
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
            "--strict",
            help="Exit 1 if a trace or a metric of your own failed.",
            rich_help_panel=OWN_METRICS,
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
    quiet: Annotated[
        float | None,
        typer.Option(
            parser=seconds,
            help="Score a run without its root once its trace got nothing for so long; 10m if "
            "not given.",
            metavar="TIME",
            rich_help_panel=TRACES,
        ),
    ] = None,
    keep_replaced: KeepReplacedOption = None,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow",
            help="Score what comes in until SIGTERM or Ctrl-C.",
            rich_help_panel=CONTINUOUS,
        ),
    ] = False,
    every: Annotated[
        float | None,
        typer.Option(
            parser=seconds,
            help="Least time between two scoring runs; 30s if not given.",
            metavar="TIME",
            rich_help_panel=CONTINUOUS,
        ),
    ] = None,
    then: Annotated[
        list[str] | None,
        typer.Option(
            help="Command after each run that changed scores, such as 'issues list'; repeatable.",
            metavar="COMMAND",
            rich_help_panel=CONTINUOUS,
        ),
    ] = None,
    then_limit: Annotated[
        float | None,
        typer.Option(
            parser=seconds,
            help="Time for each such command, after which it is cut off; 10m if not given.",
            metavar="TIME",
            rich_help_panel=CONTINUOUS,
        ),
    ] = None,
    stop_after: Annotated[
        float | None,
        typer.Option(
            parser=seconds,
            help="End by itself after so long.",
            metavar="TIME",
            rich_help_panel=CONTINUOUS,
        ),
    ] = None,
) -> None:
    """Build steps from new spans, and score every trajectory that is new or has changed.

    If another job is scoring the lake, this does nothing and exits with 3; --wait waits for it.
    """
    from tracegrade_queries.engine import engines
    from tracegrade_queries.engine.connection import open_lake
    from tracegrade_scoring.dimensions.options import given_mapping
    from tracegrade_scoring.follow.ticks import Ticks
    from tracegrade_scoring.job import run_scoring as job
    from tracegrade_scoring.job.discovery import QUIET_SECS, TraceFilter
    from tracegrade_scoring.own_metrics.in_force import MetricOptions, with_metrics
    from tracegrade_scoring.tasks.specification import weighted

    _check_options(
        follow,
        {"--full": full, "--wait": wait, "--dry-run": dry_run, "--why": why, "--strict": strict},
        {"--every": every, "--then": then, "--then-limit": then_limit, "--stop-after": stop_after},
    )
    say = partial(echo, err=True)
    opened = open_lake(lake, say)
    steps = {"fragments": fragments, "retrieval": retrieval}
    specification = _specification(tasks, forget_tasks, steps, say)
    specification = weighted(specification, tool_weights, tool_threshold, compat and compat.value)
    metric_options = MetricOptions(metrics, forget_metrics, trust_kept_metrics, not no_plugins)
    specification = with_metrics(opened, specification, metric_options, say)
    given = _given_prices(prices, forget=forget_prices, listed=list_prices)
    mapping = given_mapping(dimensions, forget=forget_dimensions)
    chosen, quiet_secs = TraceFilter(since, until, agent, release), quiet or QUIET_SECS
    if dry_run:
        found = job.preview(opened, specification, chosen=chosen, full=full, quiet_secs=quiet_secs)
        _print_summary(found, summary, say, why=why)
        return
    keep_hours = _keep_hours(keep_replaced, follow=follow)
    at_work = engines.engine(engine, engines.EngineOptions(say, slots, master))
    if follow:
        with at_work as executor:
            ticks = Ticks(opened, specification, chosen, given, mapping, executor, keep_hours)
            options = _follow_options(lake, every, quiet, then, then_limit, stop_after)
            _follow(opened, ticks, options, summary)
        return
    scored = partial(job.score, opened, specification, chosen=chosen, full=full, wait=wait)
    scored = partial(scored, prices=given, mapping=mapping, quiet_secs=quiet_secs)
    with _noting_busy(opened, specification, summary), at_work as executor:
        done = _with_progress(partial(scored, executor=executor, keep_replaced_hours=keep_hours))
    _print_summary(done, summary, say, why=why)
    if strict:
        _raise_failed(done)


def _check_options(
    follow: bool, once: "Mapping[str, bool]", continuous: "Mapping[str, object]"
) -> None:
    """Refuse options that do not go together.

    Args:
        follow: Whether the lake is followed.
        once: Options of a single run, and whether each is given.
        continuous: Options of a follower; None where one is not given.

    Raises:
        typer.BadParameter: One is given that has no meaning.
    """
    given = once.items() if follow else ((name, it is not None) for name, it in continuous.items())
    for name in (name for name, is_given in given if is_given):
        msg = f"{name} {'excludes' if follow else 'needs'} --follow"
        raise typer.BadParameter(msg)


def _with_progress(scored: "Callable[..., ScoreSummary]") -> "ScoreSummary":
    """Return what a scoring run did, and show its buckets until it has ended."""
    from tracegrade.terminal.progress import progress

    with progress() as show:
        return scored(progress=lambda buckets, of: show(f"scored bucket {buckets} of {of}"))


def _keep_hours(keep_replaced: float | None, *, follow: bool) -> float:
    """Return how long replaced files stay: as given in seconds, else as usual."""
    from tracegrade_lake.maintenance.replaced_files import KEEP_HOURS
    from tracegrade_scoring.follow import ticks

    if keep_replaced:
        return keep_replaced / 3600
    return ticks.KEEP_HOURS if follow else KEEP_HOURS


def _follow_options(
    lake: str,
    every: float | None,
    quiet: float | None,
    then: list[str] | None,
    then_limit: float | None,
    stop_after: float | None,
) -> "FollowOptions":
    """Return the options of a follower, of the command line where given.

    Raises:
        BadCommand: A command after each run cannot be run.
    """
    from tracegrade_scoring.follow.commands import parse_command
    from tracegrade_scoring.follow.follower import FollowOptions

    options = FollowOptions(commands=[parse_command(text, lake) for text in then or ()])
    return options._replace(
        every_secs=every or options.every_secs,
        quiet_secs=quiet or options.quiet_secs,
        command_secs=then_limit or options.command_secs,
        stop_after_secs=stop_after or options.stop_after_secs,
    )


def _follow(lake: "Lake", ticks: "Ticks", options: "FollowOptions", summary: Path | None) -> None:
    """Follow a lake, and print what each scoring run did."""
    from tracegrade_scoring.follow.follower import follow
    from tracegrade_scoring.follow.ticks import tick_lines
    from tracegrade_scoring.job.summary import write_summary

    say = partial(echo, err=True)

    def print_tick(done: "ScoreSummary", secs: float) -> None:
        for line in tick_lines(done, secs):
            say(line)
        if summary is not None:
            write_summary(summary, done)

    follow(lake, ticks, print_tick, options, say)


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


def _raise_failed(done: "ScoreSummary") -> None:
    """Fail if a trace or a metric of a user's own did."""
    from tracegrade_scoring.errors import MetricFailed, TraceFailed

    if done.failed_traces:
        msg = f"traces failed: {len(done.failed_traces):,}; the lines above say why"
        raise TraceFailed(msg)
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
    tasks: Path | None,
    forget: bool,
    options: "Mapping[str, bool | None]",
    say: "Callable[[str], object]",
) -> "Specification":
    """Return what to score against, with the options given, and say what of it is left out."""
    from tracegrade_scoring.tasks.specification import usable_specification

    found, notes = usable_specification(tasks, forget=forget, note=say)
    for note in notes:
        say(note)
    return found.model_copy(update={key: it for key, it in options.items() if it is not None})
