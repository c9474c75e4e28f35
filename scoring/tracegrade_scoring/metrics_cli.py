"""The command `tracegrade metrics`: write, check and list metrics of one's own."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tracegrade.terminal.visible import echo

if TYPE_CHECKING:
    from tracegrade_scoring.metric_definition import OwnMetric

metrics = typer.Typer(
    help="Write, check and list metrics of your own.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)


@metrics.callback()
def _metrics() -> None:
    """Commands about metrics of users' own."""


@metrics.command()
def new(
    name: Annotated[str, typer.Argument(help="Name of the metric.", metavar="NAME")],
    folder: Annotated[Path, typer.Option(help="Folder for its file.", metavar="DIR")] = Path(),
) -> None:
    """Write NAME.sql: a small metric that runs as it stands, for you to change."""
    from tracegrade_scoring.errors import MetricInvalid
    from tracegrade_scoring.own_metrics.draft import drafted

    text, path = drafted(name), folder / f"{name}.sql"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        msg = f"cannot write '{path}': {error.strerror}; choose another name or folder"
        raise MetricInvalid(msg) from error
    echo(f"{path}: a metric; change it, then run `tracegrade metrics check {path}`", err=True)


@metrics.command()
def check(
    path: Annotated[
        Path | None,
        typer.Argument(
            help="A file of SQL, or a folder of them; none: those that distributions bring.",
            metavar="[FOLDER]",
        ),
    ] = None,
) -> None:
    """List the faults of each metric, and how to correct them; exit 1 if there are any.

    Each is run over the runs of `tracegrade sample`, whose rows come in several orders: its
    answers are those of the first.
    """
    from tracegrade_scoring.errors import MetricCheckFailed
    from tracegrade_scoring.job.sample_rows import sample_rows
    from tracegrade_scoring.own_metrics import plugins
    from tracegrade_scoring.own_metrics.in_force import checked, read_folder

    read = read_folder(path) if path else plugins.installed()
    found = checked(read, sample_rows())
    for fault in found.faults:
        echo(fault)
    if found.faults:
        msg = f"{len(found.faults)} metrics cannot be used; each is named above"
        raise MetricCheckFailed(msg)
    echo(f"{len(found.metrics)} metrics can be used", err=True)


@metrics.command("list")
def list_(
    lake: Annotated[
        Path | None,
        typer.Option(
            envvar="TRACEGRADE_LAKE", help="Also those that this lake keeps.", metavar="DIR"
        ),
    ] = None,
) -> None:
    """List the metrics of installed distributions, and those that a lake keeps."""
    from tracegrade_queries.engine.connection import open_lake
    from tracegrade_scoring.own_metrics import plugins
    from tracegrade_scoring.own_metrics.in_force import checked
    from tracegrade_scoring.own_metrics.stored import stored_metrics

    stored = stored_metrics(open_lake(lake, lambda line: echo(line, err=True))) if lake else ()
    installed = checked(plugins.installed())
    for metric in (*installed.metrics, *(each for each in stored if each.sql is not None)):
        echo(_line(metric))
    for fault in installed.faults:
        echo(f"left out: {fault}", err=True)


def _line(metric: "OwnMetric") -> str:
    return f"{metric.name} (version {metric.version}, {metric.origin}): {metric.meaning}"
