"""`tracegrade report`: shows a scored lake, on a terminal or in a file.

Rendering is imported only when needed, so that `--help` stays quick.
"""

import shlex
from datetime import datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from tracegrade.terminal.visible import echo, visible
from tracegrade_scoring.errors import BadRule
from tracegrade_scoring.rendering.formats import ReportFormat, render
from tracegrade_scoring.rendering.options import (
    RUNS,
    STATISTICS,
    LakeOption,
    LevelOption,
    MissingAttempts,
    MissingOption,
    OutOption,
    TrialsOption,
    WeightsOption,
    utc_time,
)
from tracegrade_scoring.rendering.output import is_folder, put_out, say_folder, screen

if TYPE_CHECKING:
    from tracegrade_scoring.report.model import Report


class ReportCompat(StrEnum):
    """A source text that a report can follow to the letter."""

    TRIANGLE = "triangle"


def report(  # noqa: PLR0913, PLR0917 - one parameter per option
    lake: LakeOption,
    format_: Annotated[
        ReportFormat, typer.Option("--format", help="Output format.")
    ] = ReportFormat.TERMINAL,
    out: OutOption = None,
    long: Annotated[
        bool,
        typer.Option(
            "--long", help="Show all scores and evidence as text, not the decision alone."
        ),
    ] = False,
    trajectory: Annotated[
        str | None,
        typer.Option(help="Show one run step by step; ID may be the first digits.", metavar="ID"),
    ] = None,
    agent: Annotated[
        str | None, typer.Option(help="Only this agent.", rich_help_panel=RUNS)
    ] = None,
    release: Annotated[
        list[str] | None,
        typer.Option(help="Only this release; give it twice for two.", rich_help_panel=RUNS),
    ] = None,
    since: Annotated[
        datetime | None,
        typer.Option(
            parser=utc_time,
            metavar="TIME",
            help="Only runs that began at or after this time (UTC).",
            rich_help_panel=RUNS,
        ),
    ] = None,
    until: Annotated[
        datetime | None,
        typer.Option(
            parser=utc_time,
            metavar="TIME",
            help="Only runs that began before this time (UTC).",
            rich_help_panel=RUNS,
        ),
    ] = None,
    min_trials: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Leave tasks with fewer attempts out of reliability; 3, as tiers do, unless "
            "given, or 1 where no task has as many.",
            rich_help_panel=STATISTICS,
        ),
    ] = None,
    missing: MissingOption = MissingAttempts.EXCLUDE,
    trials: TrialsOption = 0,
    level: LevelOption = 0.95,
    compat: Annotated[
        ReportCompat | None,
        typer.Option(
            help="Compute the T-Score and its axes exactly as in this article's text.",
            rich_help_panel=STATISTICS,
        ),
    ] = None,
    weights: WeightsOption = "default",
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            help="Condition that must not be true of the newest release, such as 't-score<7', "
            "'label<supervised-production', 'tier<needs-improvement' or 'late-rollback<7'; exit 1 "
            "if it is, or if there is too little data to tell.",
            metavar="RULE",
        ),
    ] = None,
) -> None:
    """Say whether the newest release is better, with all scores and evidence; or show one run."""
    from tracegrade_scoring.own_metrics.stored import stored_metric_names
    from tracegrade_scoring.report import lake as opened
    from tracegrade_scoring.report.model import AttemptPolicy, ReportOptions, Selection
    from tracegrade_scoring.report.rules import parse_release_rules, raise_broken
    from tracegrade_scoring.statistics.t_score import parse_weights

    note = partial(echo, err=True)
    if trajectory is not None:
        if fail_on or weights != "default":
            msg = "--fail-on and --weights are about releases; leave them out with --trajectory"
            raise BadRule(msg)
        whole = format_ in {ReportFormat.JSON, ReportFormat.CSV}
        run = opened.read_run(lake, note, trajectory, whole=whole)
        put_out(render(run, "tracegrade_scoring.timeline", format_, out), out, "report")
        return
    request = opened.ReportRequest(
        AttemptPolicy(min_trials, missing.value, trials),
        ReportOptions(level, compat is not None, parse_weights(weights), format_ not in _TEXTS),
        Selection(agent, tuple(release or ()), since, until),
        parse_release_rules(fail_on or (), stored_metric_names(lake, note) if fail_on else ()),
    )
    if out is not None and is_folder(out, format_):
        from tracegrade_lake import Lake
        from tracegrade_scoring.report.html import render_html
        from tracegrade_scoring.timeline.folder import folder_source, write_folder

        with opened.opened_report(lake, note, request) as (con, found):
            source = folder_source(Lake.open(lake))
            written = write_folder(con, lake, out, partial(render_html, found), source)
        say_folder(written, out, "report")
    else:
        found = opened.read_lake(lake, note, request)
        if not long and format_ in _TEXTS:
            text = _short(found, format_, out)
        else:
            text = render(found, "tracegrade_scoring.report", format_, out)
        put_out(text, out, "report")
    raise_broken(found, request.rules)


_TEXTS: Final = {ReportFormat.TERMINAL, ReportFormat.MARKDOWN}


def _short(found: "Report", format_: ReportFormat, out: Path | None) -> str:
    """Return the decisions as text, with the command that shows all of it."""
    from tracegrade_scoring.report.texts import render_short, render_short_markdown

    command = visible(shlex.join(["tracegrade", "report", "--lake", found.lake, "--long"]))
    if format_ is ReportFormat.MARKDOWN:
        return render_short_markdown(found, command)
    width, color = screen(out)
    return render_short(found, command, width=width, color=color)
