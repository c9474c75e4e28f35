"""The commands `tracegrade ci`: their options, and what they print.

The module is thin: what a command does is imported only when it runs, so `--help` is fast.
"""

import os
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer

from tracegrade.terminal.visible import echo, visible
from tracegrade_scoring.rendering.options import (
    LakeOption,
    MissingAttempts,
    MissingOption,
    RuleFileOption,
    TrialsOption,
)

FILES: Final = "Files"
GITHUB: Final = "https://api.github.com"
DEFAULT_RULE: Final = "new-failure-mode"

RepositoryOption = Annotated[
    str, typer.Option(envvar="GITHUB_REPOSITORY", help="Repository.", metavar="OWNER/NAME")
]
ApiOption = Annotated[
    str, typer.Option(envvar="GITHUB_API_URL", help="GitHub's API.", metavar="URL")
]

ci = typer.Typer(
    help="Gate a pull request: compare its runs with a stored baseline, and comment on it.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)


@ci.callback()
def _ci() -> None:
    """Commands for CI systems."""


@ci.command()
def check(  # noqa: PLR0913, PLR0917 - one parameter per option
    lake: LakeOption,
    baseline: Annotated[
        Path,
        typer.Option(help="Folder that `ci baseline` wrote; may be missing.", metavar="DIR"),
    ],
    candidate: Annotated[
        str, typer.Option(help="Release of the runs to check.", metavar="RELEASE")
    ],
    tasks: Annotated[
        Path | None, typer.Option(help="Task file, or a folder of them.", metavar="PATH")
    ] = None,
    agent: Annotated[
        str | None, typer.Option(help="Only this agent; otherwise all that have runs.")
    ] = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            help="Change that must not happen, as for `tracegrade compare`; repeatable. "
            f"Without it: {DEFAULT_RULE}.",
            metavar="RULE",
        ),
    ] = None,
    rule_file: RuleFileOption = None,
    max_age_days: Annotated[
        int,
        typer.Option(min=0, max=36_500, help="An older baseline is called stale.", metavar="DAYS"),
    ] = 14,
    missing: MissingOption = MissingAttempts.EXCLUDE,
    trials: TrialsOption = 0,
    name: Annotated[
        str,
        typer.Option(help="Name of the check: each name has a comment of its own."),
    ] = "agents",
    markdown: Annotated[
        Path | None,
        typer.Option(help="Write the comment.", metavar="FILE", rich_help_panel=FILES),
    ] = None,
    junit: Annotated[
        Path | None,
        typer.Option(help="Write the rules as JUnit XML.", metavar="FILE", rich_help_panel=FILES),
    ] = None,
    summary: Annotated[
        Path | None,
        typer.Option(
            help="Append the comment, as to $GITHUB_STEP_SUMMARY.",
            metavar="FILE",
            rich_help_panel=FILES,
        ),
    ] = None,
    outputs: Annotated[
        Path | None,
        typer.Option(
            help="Append the verdict and the age of the baseline, as to $GITHUB_OUTPUT.",
            metavar="FILE",
            rich_help_panel=FILES,
        ),
    ] = None,
) -> None:
    """Score the lake, and compare a release with the baseline; exit 1 if a rule is broken.

    Without a baseline, or with one that is too old, it says so and exits with 0.
    """
    from tracegrade_ci.comment import comment_text, marker
    from tracegrade_ci.outputs import append_text, check_as_junit, step_outputs, write_file
    from tracegrade_ci.run import CheckRequest, check_lake
    from tracegrade_scoring.compare.attempts import AttemptCounting

    first_line = marker(name)
    counting = AttemptCounting(missing.value, trials)
    rules = tuple(fail_on or (DEFAULT_RULE,))
    request = CheckRequest(
        lake, baseline, candidate, tasks, agent, rules, rule_file, counting, max_age_days
    )
    result = check_lake(request, partial(echo, err=True))
    text = comment_text(result, first_line)
    if markdown is not None:
        write_file(markdown, text, "--markdown")
    if junit is not None:
        write_file(junit, check_as_junit(result), "--junit")
    if summary is not None:
        append_text(summary, text, "--summary")
    if outputs is not None:
        append_text(outputs, step_outputs(result), "--outputs")
    echo(f"verdict: {result.verdict}{result.reason and ': '}{visible(result.reason)}")
    if result.ruled is not None:
        result.ruled.raise_broken()


@ci.command()
def baseline(
    lake: LakeOption,
    release: Annotated[str, typer.Option(help="Release to export.", metavar="RELEASE")],
    out: Annotated[
        Path,
        typer.Option(help="Folder; a baseline in it is replaced.", metavar="DIR"),
    ],
    commit: Annotated[
        str | None, typer.Option(help="Commit that the release was made from.", metavar="SHA")
    ] = None,
) -> None:
    """Export the scores of a release, without any text of its runs, to compare with later."""
    from tracegrade_ci.run import export_baseline

    notes = export_baseline(lake, release, out, commit, partial(echo, err=True))
    echo(f"baseline: {visible(str(out))}, {notes.runs:,} runs of {visible(notes.release)}")


@ci.command()
def comment(
    markdown: Annotated[
        Path, typer.Option(help="The comment that `ci check` wrote.", metavar="FILE")
    ],
    repository: RepositoryOption,
    pull_request: Annotated[
        int, typer.Option(min=1, help="Number of the pull request.", metavar="NUMBER")
    ],
    api: ApiOption = GITHUB,
) -> None:
    """Put the comment on a pull request of GitHub, in place of the one of the last run.

    The token is read from TRACEGRADE_GITHUB_TOKEN or GITHUB_TOKEN. If it may not read or write
    comments, as that of a fork, nothing is commented and the exit code is 0.
    """
    from tracegrade_ci.comments import Comments, PullRequest
    from tracegrade_ci.github import GitHubApi, checked_api, checked_repository, token_of
    from tracegrade_ci.outputs import read_comment

    text = read_comment(markdown)
    where = PullRequest(checked_repository(repository), pull_request)
    url = Comments(GitHubApi(checked_api(api), token_of(os.environ)), where).put(text)
    if url is None:
        echo(
            f"the token may not read or write comments of {repository}, as that of a fork; the "
            "step summary has it all"
        )
    else:
        echo(f"comment: {url}")


@ci.command()
def fetch(
    artifact: Annotated[str, typer.Option(help="Name of the artifact.", metavar="NAME")],
    repository: RepositoryOption,
    branch: Annotated[
        str, typer.Option(help="Branch whose newest artifact counts.", metavar="BRANCH")
    ],
    out: Annotated[
        Path, typer.Option(help="Folder; a baseline in it is replaced.", metavar="DIR")
    ],
    api: ApiOption = GITHUB,
) -> None:
    """Fetch a baseline that a job of a branch left as an artifact of GitHub; it may have none.

    The token is read from TRACEGRADE_GITHUB_TOKEN or GITHUB_TOKEN. Artifacts of forks never count.
    """
    from tracegrade_ci.artifacts import ArtifactSource, fetch_baseline
    from tracegrade_ci.github import GitHubApi, checked_api, checked_repository, token_of

    source = ArtifactSource(checked_repository(repository), artifact, branch)
    if fetch_baseline(GitHubApi(checked_api(api), token_of(os.environ)), source, out):
        echo(f"baseline: {visible(str(out))}")
    else:
        echo(f"no artifact '{visible(artifact)}' of branch '{visible(branch)}'")
