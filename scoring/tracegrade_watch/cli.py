"""The command `tracegrade watch`: its options, and what it prints.

The module is thin: watching is imported only when it runs, so `--help` is fast.
"""

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from tracegrade.terminal.visible import echo
from tracegrade_scoring.rendering.options import LakeOption

if TYPE_CHECKING:
    from tracegrade_watch.watched import Watched

NOT_SENT_CODE: Final = 3
"""Exit code where a destination did not accept an alert; the next run sends it again."""
STEP_SUMMARY: Final = "GITHUB_STEP_SUMMARY"
"""Variable with the file to which a step of GitHub appends what its page shows."""
FIRING_CODE: Final = 1
"""Exit code where an alert fires that no person has acknowledged."""


class WatchFormat(StrEnum):
    """The formats of alerts."""

    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"
    GITHUB = "github"


watch = typer.Typer(
    help="Watch scores by rules, and let the lake store an alert for each that holds.",
    add_completion=False,
    rich_markup_mode=None,
    invoke_without_command=True,
)


@watch.callback()
def _watch(
    context: typer.Context,
    lake: Annotated[
        str | None, typer.Option(envvar="TRACEGRADE_LAKE", help="Folder or URL.", metavar="LAKE")
    ] = None,
    rules: Annotated[
        Path | None,
        typer.Option(
            help="File of rules; without it those that the lake was watched by last.",
            metavar="FILE",
        ),
    ] = None,
    format_: Annotated[
        WatchFormat, typer.Option("--format", help="Output format.")
    ] = WatchFormat.TEXT,
    prometheus: Annotated[
        Path | None,
        typer.Option(
            help="File for metrics in Prometheus' text format, as a textfile collector reads it.",
            metavar="FILE",
        ),
    ] = None,
) -> None:
    """Check every rule; exit with 1 if an alert fires that no person has acknowledged."""
    if context.invoked_subcommand is not None:
        return
    if lake is None:
        msg = "Missing option '--lake'."
        raise typer.BadParameter(msg)
    from tracegrade_queries.engine.connection import open_lake
    from tracegrade_scoring.rendering.times import utc_now
    from tracegrade_watch.alerting import destinations_of, notify_all, rules_of, watch_and_store
    from tracegrade_watch.outputs.exported import lake_metrics
    from tracegrade_watch.outputs.files import write_textfile
    from tracegrade_watch.run import alone

    opened = open_lake(lake, lambda note: echo(note, err=True))
    with alone(opened):
        given = rules_of(opened, rules)
        destinations = destinations_of(given, os.environ)
        watched = watch_and_store(opened, given, utc_now())
        watched, faults = notify_all(opened, given, destinations, watched)
    if prometheus is not None:
        write_textfile(prometheus, lake_metrics(opened, watched))
    _print(watched, format_, given.explorer)
    for fault in faults:
        echo(f"{fault}; the next run sends again", err=True)
    if faults:
        raise typer.Exit(NOT_SENT_CODE)
    if watched.firing:
        raise typer.Exit(FIRING_CODE)


def _print(watched: "Watched", format_: WatchFormat, page_url: str | None) -> None:
    from tracegrade_scoring.rendering.output import print_text
    from tracegrade_watch.as_text import as_json, as_text
    from tracegrade_watch.outputs.files import append_text
    from tracegrade_watch.outputs.formats import as_annotations, as_junit, step_summary

    match format_:
        case WatchFormat.JSON:
            print_text(as_json(watched))
        case WatchFormat.JUNIT:
            print_text(as_junit(watched))
        case WatchFormat.GITHUB:
            print_text(as_annotations(watched))
            if path := os.environ.get(STEP_SUMMARY):
                append_text(Path(path), step_summary(watched, page_url))
        case WatchFormat.TEXT:
            for line in as_text(watched):
                echo(line)


@watch.command()
def ack(
    alert_id: Annotated[
        str, typer.Argument(help="Id of the alert, or its beginning.", metavar="ID")
    ],
    lake: LakeOption,
    note: Annotated[str, typer.Option(help="Your name, and what is done about it.")],
) -> None:
    """Acknowledge an alert: it no longer ends `watch` with 1, until it fires again."""
    from tracegrade_queries.engine.connection import open_lake
    from tracegrade_scoring.rendering import words
    from tracegrade_watch.alerting import acknowledge

    alert = acknowledge(open_lake(lake, lambda text: echo(text, err=True)), alert_id, note)
    echo(f"{alert.alert_id} is acknowledged: {words.line(alert.evidence.statement)}")


@watch.command()
def schema() -> None:
    """Print the format of the file of rules as a JSON Schema, for editors."""
    from tracegrade_watch.rules.schema import watch_schema_text

    typer.echo(watch_schema_text(), nl=False)
