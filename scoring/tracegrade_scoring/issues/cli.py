"""`tracegrade issues`: what goes wrong in the same way over releases, and marks of people."""

from enum import StrEnum
from functools import partial
from typing import Annotated, Any

import typer

from tracegrade.terminal.visible import echo
from tracegrade_scoring.rendering.options import LakeOption

ROWS = 50


class IssueFormat(StrEnum):
    """The formats of issues."""

    TERMINAL = "terminal"
    JSON = "json"
    CSV = "csv"


class IssueStateOption(StrEnum):
    """The states of issues."""

    REOPENED = "reopened"
    NEW = "new"
    OPEN = "open"
    FIXED = "fixed"
    MUTED = "muted"


FormatOption = Annotated[IssueFormat, typer.Option("--format", help="Output format.")]
KeyArgument = Annotated[
    str, typer.Argument(help="Key of the issue, or its beginning.", metavar="KEY")
]
ByOption = Annotated[str, typer.Option(help="Your name.", metavar="NAME")]

issues = typer.Typer(
    help="Show what goes wrong in the same way over releases, and mark it as fixed or known.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)


@issues.callback()
def _issues() -> None:
    """Commands about issues."""


@issues.command("list")
def list_(
    lake: LakeOption,
    state: Annotated[
        list[IssueStateOption] | None, typer.Option(help="Only of this state; may be repeated.")
    ] = None,
    agent: Annotated[str | None, typer.Option(help="Only of this agent.")] = None,
    rows: Annotated[int, typer.Option(min=1, help="The most issues on a terminal.")] = ROWS,
    format_: FormatOption = IssueFormat.TERMINAL,
) -> None:
    """List issues: reopened and new ones first, then those of most failed runs.

    A state is worked out from runs: an issue is fixed once so many runs of newer releases go
    without it that chance does not explain it.
    """
    from tracegrade_scoring.issues.found import chosen_issues, lake_issues

    found = lake_issues(lake, partial(echo, err=True))
    most = rows if format_ is IssueFormat.TERMINAL else len(found.issues)
    _print(chosen_issues(found, [each.value for each in state or ()], agent, most), format_)


@issues.command()
def show(key: KeyArgument, lake: LakeOption, format_: FormatOption = IssueFormat.TERMINAL) -> None:
    """Show one issue: its releases, its newest runs and its marks."""
    from tracegrade_scoring.issues.found import issue_of_lake

    _print(issue_of_lake(lake, partial(echo, err=True), key), format_)


@issues.command()
def mark(  # noqa: PLR0913, PLR0917 - one for each option
    key: KeyArgument,
    lake: LakeOption,
    by: ByOption,
    fixed_in: Annotated[
        str | None,
        typer.Option(
            help="It is fixed in this release; a later run with it reopens it.", metavar="RELEASE"
        ),
    ] = None,
    mute: Annotated[bool, typer.Option("--mute", help="It needs no attention.")] = False,
    reopen: Annotated[
        bool, typer.Option("--open", help="It is known, so it is neither new nor reopened.")
    ] = False,
    owner: Annotated[
        str | None, typer.Option(help="Person or team that takes care of it.", metavar="NAME")
    ] = None,
    note: Annotated[str | None, typer.Option(help="A note.", metavar="TEXT")] = None,
) -> None:
    """Say that an issue is fixed, muted or known, who takes care of it, or a note.

    A mark is stored with your name and the time, and takes no other away: of the state, the owner
    and the note, the newest counts.
    """
    from tracegrade_queries.engine.connection import open_lake
    from tracegrade_scoring.issues.found import mark_issue
    from tracegrade_scoring.issues.view import standing
    from tracegrade_scoring.rendering import words

    given = _mark(by, fixed_in, owner, note, mute=mute, is_open=reopen)
    issue = mark_issue(open_lake(lake, partial(echo, err=True)), key, given)
    echo(f"{issue.issue} ({words.line(issue.title)}) is {issue.state.name}: {standing(issue)}")


@issues.command()
def merge(
    key: KeyArgument,
    into: Annotated[
        str, typer.Argument(help="Key of the issue to merge it into, or its beginning.")
    ],
    lake: LakeOption,
    by: ByOption,
) -> None:
    """Count the runs of an issue for another one: after a tool was renamed, say.

    The other one has the runs, releases and marks of both from then on. `issues split` undoes it.
    """
    from tracegrade_queries.engine.connection import open_lake
    from tracegrade_scoring.issues.found import merge_issues
    from tracegrade_scoring.issues.view import standing
    from tracegrade_scoring.rendering import words

    issue = merge_issues(open_lake(lake, partial(echo, err=True)), key, into, by)
    echo(f"{issue.issue} ({words.line(issue.title)}) is {issue.state.name}: {standing(issue)}")


@issues.command()
def split(key: KeyArgument, lake: LakeOption, by: ByOption) -> None:
    """Undo the merge of an issue: its runs count for itself again."""
    from tracegrade_queries.engine.connection import open_lake
    from tracegrade_scoring.issues.found import split_issue

    split_key = split_issue(open_lake(lake, partial(echo, err=True)), key, by)
    echo(f"{split_key} counts for itself again")


def _mark(
    by: str,
    fixed_in: str | None,
    owner: str | None,
    note: str | None,
    *,
    mute: bool,
    is_open: bool,
) -> dict[str, Any]:
    """Return the columns of a mark.

    Raises:
        typer.BadParameter: The options say nothing, or two states.
    """
    states = [
        name
        for name, chosen in (("fixed", fixed_in), ("muted", mute), ("open", is_open))
        if chosen
    ]
    if len(states) > 1:
        msg = "--fixed-in, --mute and --open exclude one another; give one of them"
        raise typer.BadParameter(msg)
    if not states and not owner and not note:
        msg = "give --fixed-in, --mute, --open, --owner or --note"
        raise typer.BadParameter(msg)
    return {
        "state": states[0] if states else None,
        "release": fixed_in or None,
        "owner": owner or None,
        "note": note or None,
        "marked_by": by,
    }


def _print(found: object, format_: IssueFormat) -> None:
    from tracegrade_scoring.rendering.formats import render
    from tracegrade_scoring.rendering.output import print_text

    print_text(render(found, "tracegrade_scoring.issues", format_, None))
