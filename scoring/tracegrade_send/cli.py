"""The command `tracegrade send`: its options, and what it prints.

The module is thin: sending is imported only when it runs, so `--help` is fast.
"""

import datetime
import os
from typing import TYPE_CHECKING, Annotated, Final

import typer

from tracegrade.terminal.visible import echo, visible
from tracegrade_scoring.rendering.options import LakeOption

if TYPE_CHECKING:
    from tracegrade_send.run import SentScores

WAITING_CODE: Final = 3
"""Exit code where the destination did not accept all scores."""


def send(  # noqa: PLR0913, PLR0917 - one parameter per option
    lake: LakeOption,
    to: Annotated[
        str,
        typer.Option(help="otlp | phoenix | langfuse | mlflow | datadog.", metavar="KIND"),
    ],
    endpoint: Annotated[
        str,
        typer.Option(
            help="Base URL, such as http://127.0.0.1:6006; https, unless it is on this machine. "
            "Keys are read from variables TRACEGRADE_SEND_*.",
            metavar="URL",
        ),
    ],
    project: Annotated[
        str | None,
        typer.Option(
            help="Tells two projects at one endpoint apart; the application (ml_app) at Datadog.",
            metavar="NAME",
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="Metric to send; repeatable. Without it the main ones, failure modes that a run "
            "shows, and your own.",
            metavar="NAME",
        ),
    ] = None,
    since: Annotated[
        datetime.datetime | None,
        typer.Option(
            help="First date of the runs, by the day they were received.",
            formats=["%Y-%m-%d"],
            metavar="DATE",
        ),
    ] = None,
    all_scores: Annotated[
        bool, typer.Option("--all", help="Also send that there was nothing to measure.")
    ] = False,
    evidence: Annotated[
        bool,
        typer.Option(
            "--evidence", help="Also send which decisions and failed calls, on their own spans."
        ),
    ] = False,
    issues: Annotated[
        bool, typer.Option("--issues", help="Also send the issues that each run shows.")
    ] = False,
    conversations: Annotated[
        bool,
        typer.Option(
            "--conversations", help="Also send scores of conversations, to the sessions there."
        ),
    ] = False,
    with_content: Annotated[
        bool,
        typer.Option(
            "--with-content", help="Let explanations of issues quote the trace, such as an error."
        ),
    ] = False,
    refused_again: Annotated[
        bool,
        typer.Option("--retry-refused", help="Also send what the destination refused before."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the numbers of scores, and send nothing.")
    ] = False,
    forget: Annotated[
        bool,
        typer.Option(
            "--forget", help="First forget what the destination has, and send all of it again."
        ),
    ] = False,
) -> None:
    """Send scores to Phoenix, Langfuse, MLflow, Datadog, or any receiver of OpenTelemetry logs."""
    from tracegrade_queries.engine.connection import open_lake
    from tracegrade_send.destinations.destination import DestinationAddress
    from tracegrade_send.destinations.json_endpoint import checked_endpoint
    from tracegrade_send.run import destination_of, scores_to_send, send_scores
    from tracegrade_send.scores import ScoreSelection

    address = DestinationAddress(to, checked_endpoint(endpoint), project)
    destination = destination_of(address, os.environ)
    opened = open_lake(lake, lambda note: echo(note, err=True))
    day = since.date() if since else None
    selection = ScoreSelection(
        tuple(metric or ()),
        since=day,
        all_scores=all_scores,
        refused_again=refused_again,
        evidence=evidence,
        issues=issues,
        conversations=conversations,
        with_content=with_content,
    )
    if dry_run:
        for name, count in scores_to_send(opened, address, selection).items():
            echo(f"{count:>10,}  {visible(name)}")
        return
    found = send_scores(opened, address, destination, selection, all_again=forget)
    _print(found, address.endpoint)
    if found.waiting or found.refused:
        raise typer.Exit(WAITING_CODE)


def _print(found: "SentScores", endpoint: str) -> None:
    for name, count in sorted(found.sent.items()):
        echo(f"{count:>10,}  {visible(name)}")
    echo(f"{found.sent.total():>10,}  scores sent to {visible(endpoint)}")
    for reason, count in sorted(found.waiting.items()):
        echo(f"{count:>10,}  waiting: {visible(reason)}; the next run sends them again")
    for reason, count in sorted(found.refused.items()):
        echo(f"{count:>10,}  refused: {visible(reason)}; --retry-refused sends them again")
