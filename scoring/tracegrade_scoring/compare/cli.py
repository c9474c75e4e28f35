"""`tracegrade compare`: is the new release better, and what broke?"""

import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tracegrade.terminal.visible import echo, visible
from tracegrade_scoring.rendering.formats import ReportFormat, render
from tracegrade_scoring.rendering.options import (
    LakeOption,
    LevelOption,
    MissingAttempts,
    MissingOption,
    OutOption,
    RuleFileOption,
    TrialsOption,
    WeightsOption,
)
from tracegrade_scoring.rendering.output import is_folder, put_out, say_folder, screen

if TYPE_CHECKING:
    from tracegrade_scoring.compare.rule_outcomes import RuledComparison


def compare(  # noqa: PLR0913, PLR0917 - one parameter per option
    base: Annotated[
        str,
        typer.Argument(
            help="The release before; or a value of --by, or a filter as 'release=1.4 arm=a'.",
            metavar="BASE",
        ),
    ],
    candidate: Annotated[
        str, typer.Argument(help="The release after, or the other side.", metavar="CANDIDATE")
    ],
    lake: LakeOption,
    by: Annotated[
        str | None,
        typer.Option(
            help="Compare values of this dimension: agent, task, category, run_mode, or one of "
            "the mapping file.",
            metavar="DIMENSION",
        ),
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(
            help="Only runs of both sides with these values, such as 'agent=support release=1.4'.",
            metavar="FILTER",
        ),
    ] = None,
    agent: Annotated[
        str | None, typer.Option(help="Only this agent; otherwise all that ran both releases.")
    ] = None,
    format_: Annotated[
        ReportFormat, typer.Option("--format", help="Output format.")
    ] = ReportFormat.TERMINAL,
    out: OutOption = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            help="Change that must not happen, such as 'tsa<-0.02' or new-failure-mode; exit 1 if "
            "it happens, or if there is too little data to tell.",
            metavar="RULE",
        ),
    ] = None,
    rule_file: RuleFileOption = None,
    long: Annotated[
        bool, typer.Option("--long", help="Show every metric on the terminal, not the decision.")
    ] = False,
    missing: MissingOption = MissingAttempts.EXCLUDE,
    trials: TrialsOption = 0,
    level: LevelOption = 0.95,
    weights: WeightsOption = "default",
) -> None:
    """Compare two releases on the tasks that both ran: may the new one ship, and what broke?"""
    from tracegrade_scoring.compare import lake as opened
    from tracegrade_scoring.compare.attempts import AttemptCounting
    from tracegrade_scoring.compare.decision.release_rule import DEFAULT_RULE, read_release_rule
    from tracegrade_scoring.compare.fail_on_rules import parse_rules
    from tracegrade_scoring.own_metrics.stored import stored_metric_names
    from tracegrade_scoring.statistics.t_score import parse_weights

    note = partial(echo, err=True)
    release_rule = DEFAULT_RULE if rule_file is None else read_release_rule(rule_file)
    own = stored_metric_names(lake, note) if fail_on else ()
    rules = parse_rules(fail_on or (), own, release_rule)
    sides = opened.read_sides(lake, base, candidate, by, where)
    selection = opened.ReleaseSelection(
        sides.base.label if sides else base,
        sides.candidate.label if sides else candidate,
        agent,
        level,
        AttemptCounting(missing.value, trials),
        parse_weights(weights),
    )
    if out is not None and is_folder(out, format_):
        from tracegrade_lake import Lake
        from tracegrade_scoring.compare.html import render_html
        from tracegrade_scoring.timeline.folder import folder_source, write_folder

        with opened.opened_comparison(lake, note, selection, rules, release_rule, sides) as (
            con,
            ruled,
        ):
            source = folder_source(Lake.open(lake))
            written = write_folder(con, lake, out, partial(render_html, ruled), source)
        say_folder(written, out, "comparison")
    else:
        ruled = opened.read_comparison(lake, note, selection, rules, release_rule, sides)
        if format_ is ReportFormat.TERMINAL and not long:
            text = _decision(ruled, out)
        else:
            text = render(ruled, "tracegrade_scoring.compare", format_, out)
        put_out(text, out, "comparison")
    ruled.raise_broken()


def _decision(ruled: "RuledComparison", out: Path | None) -> str:
    """Return the decision as text, with the command that shows all of it."""
    from tracegrade_scoring.compare.texts import render_decision

    found = ruled.comparisons
    command = [
        "tracegrade",
        "compare",
        found.base,
        found.candidate,
        "--lake",
        found.lake,
        "--long",
    ]
    width, color = screen(out)
    return render_decision(ruled, visible(shlex.join(command)), width=width, color=color)
