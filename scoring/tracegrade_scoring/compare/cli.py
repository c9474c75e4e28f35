"""`tracegrade compare`: is the new release better, and what broke?"""

from functools import partial
from typing import Annotated

import typer

from tracegrade.terminal.visible import echo
from tracegrade_scoring.rendering.formats import ReportFormat, render
from tracegrade_scoring.rendering.options import (
    LakeOption,
    LevelOption,
    MissingAttempts,
    MissingOption,
    OutOption,
    TrialsOption,
    WeightsOption,
)
from tracegrade_scoring.rendering.output import is_folder, put_out, say_folder


def compare(  # noqa: PLR0913, PLR0917 - one parameter per option
    base: Annotated[str, typer.Argument(help="The release before.", metavar="BASE")],
    candidate: Annotated[str, typer.Argument(help="The release after.", metavar="CANDIDATE")],
    lake: LakeOption,
    agent: Annotated[
        str | None, typer.Option(help="Only this agent; otherwise all that ran both releases.")
    ] = None,
    format_: Annotated[
        ReportFormat, typer.Option("--format", help="How to write it.")
    ] = ReportFormat.TERMINAL,
    out: OutOption = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            help="What must not happen, such as 'tsa<-0.02' or new-failure-mode; exit 1 if it "
            "does, or if there is too little data to tell.",
            metavar="RULE",
        ),
    ] = None,
    missing: MissingOption = MissingAttempts.EXCLUDE,
    trials: TrialsOption = 0,
    level: LevelOption = 0.95,
    weights: WeightsOption = "default",
) -> None:
    """Compare two releases on the tasks that both ran: is the new one better, and what broke?"""
    from tracegrade_scoring.compare import lake as opened
    from tracegrade_scoring.compare.attempts import AttemptCounting
    from tracegrade_scoring.compare.fail_on_rules import parse_rules
    from tracegrade_scoring.own_metrics.stored import stored_metric_names
    from tracegrade_scoring.statistics.t_score import parse_weights

    note = partial(echo, err=True)
    rules = parse_rules(fail_on or (), stored_metric_names(lake, note) if fail_on else ())
    selection = opened.ReleaseSelection(
        base,
        candidate,
        agent,
        level,
        AttemptCounting(missing.value, trials),
        parse_weights(weights),
    )
    if out is not None and is_folder(out, format_):
        from tracegrade_scoring.compare.html import render_html
        from tracegrade_scoring.timeline.folder import write_folder

        with opened.opened_comparison(lake, note, selection, rules) as (con, ruled):
            runs = write_folder(con, lake, out, partial(render_html, ruled))
        say_folder(runs, out, "comparison")
    else:
        ruled = opened.read_comparison(lake, note, selection, rules)
        text = render(ruled, "tracegrade_scoring.compare", format_, out)
        put_out(text, out, "comparison")
    ruled.raise_broken()
