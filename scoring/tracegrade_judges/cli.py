"""The command `judge`: each of its commands imports what it does when it runs."""

from pathlib import Path
from typing import Annotated

import typer

judge = typer.Typer(
    help="Ask models where no rule can settle, and measure how far to trust them.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)

JudgeFileArgument = Annotated[Path, typer.Argument(help="The judge file.", metavar="FILE")]
LakeOption = Annotated[
    str, typer.Option(envvar="TRACEGRADE_LAKE", help="The lake: a folder or a URL.")
]
JudgeOption = Annotated[str | None, typer.Option(help="Only this judge of the file.")]
MaxUsdOption = Annotated[
    float | None,
    typer.Option(
        min=0,
        help="Limit of what each judge may cost, by the lake's prices.",
        metavar="USD",
    ),
]
MaxTokensOption = Annotated[
    int | None, typer.Option(min=0, help="Limit of the tokens that each judge may use.")
]
MaxCallsOption = Annotated[
    int | None,
    typer.Option(min=0, help="Limit of the requests that each judge's model may answer."),
]
OfflineOption = Annotated[
    bool, typer.Option("--offline", help="Ask no model: use only replies that the lake stores.")
]
JobsOption = Annotated[int, typer.Option(min=1, max=64, help="Judgments at a time.")]


@judge.callback()
def _judge() -> None:
    """Commands about judges."""


@judge.command()
def check(file: JudgeFileArgument) -> None:
    """List every error of a judge file, with line and way out; exit 1 if there is one."""
    from tracegrade_judges.commands import check_file

    check_file(file)


@judge.command()
def schema() -> None:
    """Write the JSON Schema of judge files to stdout, for use in editors."""
    from tracegrade_judges.judge_file.schema import judge_schema_text

    typer.echo(judge_schema_text(), nl=False)


@judge.command()
def estimate(file: JudgeFileArgument, lake: LakeOption, judge: JudgeOption = None) -> None:
    """Say what a run would take: questions that are not in the cache, tokens, US dollars."""
    from tracegrade_judges.commands import show_estimate

    show_estimate(lake, file, judge)


@judge.command()
def run(  # noqa: PLR0913, PLR0917 - one parameter per option
    file: JudgeFileArgument,
    lake: LakeOption,
    judge: JudgeOption = None,
    max_usd: MaxUsdOption = None,
    max_tokens: MaxTokensOption = None,
    max_calls: MaxCallsOption = None,
    offline: OfflineOption = False,
    jobs: JobsOption = 4,
) -> None:
    """Ask the judges, and write their verdicts; `tracegrade score` makes scores of them.

    Questions that were asked before are answered from the lake. Exit 1 if the budget ended before
    all was judged or, offline, an answer is not in the lake; 3 if the endpoint failed.
    """
    from tracegrade_judges import commands
    from tracegrade_judges.run.open_lake import JudgingOptions

    limits = commands.spending_limits(max_usd, max_tokens, max_calls, offline=offline)
    commands.run(lake, file, JudgingOptions(judge, limits, offline, jobs))


@judge.command()
def label(  # noqa: PLR0913, PLR0917 - one parameter per option
    lake: LakeOption,
    judge: Annotated[str, typer.Option(help="Name of the judge whose verdicts are labeled.")],
    count: Annotated[int, typer.Option(min=1, help="Number of verdicts to draw.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random draw.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Draw verdicts, and write them to this file for labeling.", metavar="FILE"
        ),
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(help="Take the labels in this file.", metavar="FILE")
    ] = None,
    by: Annotated[str, typer.Option(help="Who labeled.", metavar="NAME")] = "",
) -> None:
    """Draw verdicts at random for a person to label, without what the judge said; or take labels.

    Write yes or no into the column `label` of the file that --out names, and give it back with
    --labels and --by. Labels are verdicts of `human:NAME`, which count more than a judge's.
    """
    from tracegrade_judges.commands import label_verdicts

    label_verdicts(lake, judge, (count, seed), (out, labels, by))


@judge.command()
def calibrate(
    lake: LakeOption,
    judge: Annotated[str, typer.Option(help="Name of the judge.")],
) -> None:
    """Say how well a judge agrees with people, and what they would say as often as it says yes.

    Only labels on verdicts that `judge label` drew count: other labels may come from an unlike
    sample. Exit 1 if these labels do not calibrate the judge.
    """
    from tracegrade_judges.commands import show_calibration

    show_calibration(lake, judge)


@judge.command()
def twins(  # noqa: PLR0913, PLR0917 - one parameter per option
    file: JudgeFileArgument,
    lake: LakeOption,
    judge: JudgeOption = None,
    count: Annotated[int, typer.Option(min=1, help="Number of judgments that get twins.")] = 20,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random draw.")] = 0,
    max_usd: MaxUsdOption = None,
    max_tokens: MaxTokensOption = None,
    max_calls: MaxCallsOption = None,
    offline: OfflineOption = False,
    jobs: JobsOption = 4,
) -> None:
    """Ask judges about copies of runs with an attack, padding, or the opposite question.

    It puts ten attacks in each place of a run that the judge reads, and counts how often a no
    became a yes. It tests whether the judge prefers longer runs. It tests whether the judge says
    yes to a criterion (or an answer compared with the right one) and to its opposite. Each twin is
    a row of `judge_twins`, and each rate with its interval is a row of `judge_flip_rates`.
    """
    from tracegrade_judges import commands
    from tracegrade_judges.run.open_lake import JudgingOptions

    limits = commands.spending_limits(max_usd, max_tokens, max_calls, offline=offline)
    commands.twins(lake, file, JudgingOptions(judge, limits, offline, jobs), count, seed)
