"""The command `harness`: each of its commands imports what it does when it runs."""

from pathlib import Path
from typing import Annotated

import typer

harness = typer.Typer(
    help="Run agents in restored environments, kill them on purpose, and prove what they leave.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)

SuiteFile = Annotated[Path, typer.Argument(help="The suite file.", metavar="SUITE")]
LakeOption = Annotated[
    str, typer.Option(envvar="TRACEGRADE_LAKE", help="The lake: a folder or a URL.")
]
CaseOption = Annotated[str, typer.Option(help="Only cases that this matches, with * and ?.")]
AgentOption = Annotated[str | None, typer.Option(help="Only cases of this agent.")]
ReleaseOption = Annotated[
    str | None, typer.Option(help="The agents' release, instead of the suite's.")
]
TrialsOption = Annotated[
    int | None, typer.Option(min=1, help="Trials of each case, instead of the suite's number.")
]
JobsOption = Annotated[int, typer.Option(min=1, max=64, help="Trials at a time.")]
SandboxOption = Annotated[
    str | None, typer.Option(help="bwrap or none; the safest there is if not given.")
]
FolderOption = Annotated[
    Path, typer.Option(help="For frozen environments, logs and what is known of runs.")
]
JunitOption = Annotated[
    Path | None, typer.Option(help="Write the results as JUnit XML.", metavar="FILE")
]
TrustOption = Annotated[
    bool, typer.Option("--trust", help="Run apps of the suite's services outside of the sandbox.")
]
ModeOption = Annotated[
    str | None,
    typer.Option(help="live or mocked: whether upstreams are asked, or their tapes."),
]
PricesOption = Annotated[
    Path | None,
    typer.Option(
        help="YAML file with the prices of models, which the lake keeps.", metavar="FILE"
    ),
]
MaxUsdOption = Annotated[
    float | None,
    typer.Option(
        min=0,
        help="What the run may cost; each trial reserves its limit, and what cannot is not run.",
        metavar="USD",
    ),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        help="In mocked runs: replay (the tape answers for models), live (they are asked), or "
        "replay-then-live."
    ),
]
HOME = Path(".tracegrade/harness")


def _prepare_overlays(suite: Path) -> None:
    """Enter what overlays are mounted in, if a suite asks for some: before there are threads."""
    from tracegrade_harness.environment import namespace
    from tracegrade_harness.suite.overlays import asks_for_overlays

    if asks_for_overlays(suite):
        namespace.enter()


@harness.callback()
def _harness() -> None:
    """Commands about suites."""
    from tracegrade_harness.sandbox.signals import ignore_alone

    ignore_alone()


@harness.command()
def check(
    suite: SuiteFile,
    folder: FolderOption = HOME,
    idle_secs: Annotated[
        float, typer.Option(min=0, help="How long each environment has to stay as it is.")
    ] = 2.0,
    trust: TrustOption = False,
) -> None:
    """Check a suite: every error with its line, then whether its environments can be restored.

    No agent is run. Exit 2 if the suite has errors, 1 if an environment does not stay still.
    """
    _prepare_overlays(suite)
    from tracegrade_harness.commands import check_suite

    check_suite(suite, folder, idle_secs, trust=trust)


@harness.command()
def run(  # noqa: PLR0913, PLR0917 - one parameter per option
    suite: SuiteFile,
    lake: LakeOption,
    case: CaseOption = "*",
    agent: AgentOption = None,
    release: ReleaseOption = None,
    trials: TrialsOption = None,
    kill: Annotated[
        str | None,
        typer.Option(help="early,mid,late or some of them, or none; as the suite says if not."),
    ] = None,
    jobs: JobsOption = 1,
    sandbox: SandboxOption = None,
    resume: Annotated[
        str | None, typer.Option(help="Go on with this run, where it was.", metavar="ID")
    ] = None,
    folder: FolderOption = HOME,
    junit: JunitOption = None,
    mode: ModeOption = None,
    model: ModelOption = None,
    trust: TrustOption = False,
    prices: PricesOption = None,
    max_usd: MaxUsdOption = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            help="What must not come of it, such as 'success<0.9' or 'rollback.lowest<7'; then "
            "only that, and not every trial that fails, is exit 1.",
            metavar="RULE",
        ),
    ] = None,
) -> None:
    """Run the cases of a suite in restored environments, and verify what they left.

    Spans and verdicts go into the lake; `tracegrade score` makes scores of them. Exit 1 if a
    verifier failed, a limit ended a trial, or the money did not suffice, 3 if the harness failed.
    """
    _prepare_overlays(suite)
    from tracegrade_harness.commands import (
        kill_points,
        model_source,
        prices_in,
        run_chosen,
        run_mode,
    )
    from tracegrade_harness.trial.run import ChosenTrials

    chosen = ChosenTrials(
        cases=case,
        agent=agent,
        release=release,
        trials=trials,
        kills=kill_points(kill),
        jobs=jobs,
        sandbox=sandbox,
        resume=resume,
        trust=trust,
        mode=run_mode(mode),
        prices=prices_in(prices),
        max_usd=max_usd,
        models=model_source(model),
    )
    run_chosen(suite, lake, folder, chosen, junit, fail_on or ())


@harness.command()
def kill(  # noqa: PLR0913, PLR0917 - one parameter per option
    suite: SuiteFile,
    lake: LakeOption,
    case: CaseOption = "*",
    agent: AgentOption = None,
    release: ReleaseOption = None,
    trials: TrialsOption = 1,
    jobs: JobsOption = 1,
    sandbox: SandboxOption = None,
    folder: FolderOption = HOME,
    junit: JunitOption = None,
    mode: ModeOption = None,
    model: ModelOption = None,
    trust: TrustOption = False,
    prices: PricesOption = None,
    max_usd: MaxUsdOption = None,
) -> None:
    """Run each case once, and again with the agent killed early, mid and late.

    The same as `run --kill early,mid,late --trials 1`.
    """
    run(
        suite,
        lake,
        case=case,
        agent=agent,
        release=release,
        trials=trials,
        kill="early,mid,late",
        jobs=jobs,
        sandbox=sandbox,
        folder=folder,
        junit=junit,
        mode=mode,
        model=model,
        trust=trust,
        prices=prices,
        max_usd=max_usd,
    )


@harness.command()
def record(  # noqa: PLR0913, PLR0917 - one parameter per option
    suite: SuiteFile,
    case: CaseOption = "*",
    agent: AgentOption = None,
    release: ReleaseOption = None,
    jobs: JobsOption = 1,
    sandbox: SandboxOption = None,
    folder: FolderOption = HOME,
    replace: Annotated[
        bool, typer.Option("--replace", help="Record tapes again that are there.")
    ] = False,
    trust: TrustOption = False,
    prices: PricesOption = None,
    max_usd: MaxUsdOption = None,
) -> None:
    """Run cases once, live, and write what services outside of them answer onto tapes.

    The mode `mocked` plays them. Tapes hold no secrets that the collector would take out.
    """
    _prepare_overlays(suite)
    from tracegrade_harness.commands import prices_in, record_tapes
    from tracegrade_harness.trial.run import ChosenTrials

    chosen = ChosenTrials(
        cases=case,
        agent=agent,
        release=release,
        jobs=jobs,
        sandbox=sandbox,
        trust=trust,
        prices=prices_in(prices),
        max_usd=max_usd,
    )
    record_tapes(suite, folder, chosen, replace_old=replace)


@harness.command()
def diverge(
    suite: SuiteFile,
    case: CaseOption = "*",
    writes: Annotated[
        bool, typer.Option("--writes", help="Ask calls that may write, too: each is made twice.")
    ] = False,
    form: Annotated[
        str, typer.Option("--format", help="text, json, or markdown for an issue.")
    ] = "text",
    on_divergence: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Run this where an answer differs; it gets the text of an issue on its input.",
        ),
    ] = None,
    sandbox: SandboxOption = None,
) -> None:
    """Ask live what the tapes hold, and say where the answers differ.

    Only calls that read are asked, each twice; what differs between the two tells nothing. Exit 1
    if an answer differs from the recorded one, 2 if a tape is missing, 3 if a service gives no
    reply.
    """
    from tracegrade_harness.commands import report_divergences
    from tracegrade_harness.trial.run import ChosenTrials

    chosen = ChosenTrials(case, sandbox=sandbox)
    report_divergences(suite, chosen, form, on_divergence, writes=writes)


@harness.command()
def draft(  # noqa: PLR0913, PLR0917 - one parameter per option
    lake: LakeOption,
    failed: Annotated[bool, typer.Option("--failed", help="Only runs that failed.")] = False,
    task: Annotated[
        list[str] | None, typer.Option(help="Only runs of this task; may be repeated.")
    ] = None,
    trajectory: Annotated[
        list[str] | None,
        typer.Option(help="This run instead of one for each task and mode; may be repeated."),
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Folder for the suite, its tasks and its tapes.")
    ] = Path("drafted"),
    replace: Annotated[
        bool, typer.Option("--replace", help="Write files again that are there.")
    ] = False,
    incomplete: Annotated[
        bool, typer.Option("--incomplete", help="Runs become cases although they lack something.")
    ] = False,
    tasks: Annotated[
        Path | None,
        typer.Option(
            help="Task file, or a folder of them, instead of the lake's.", metavar="PATH"
        ),
    ] = None,
    command: Annotated[
        str | None,
        typer.Option(
            help="How the agents are started, in words as a shell splits them; {user_input} is "
            "what the user asks. It has to be written into the suite if it is not given."
        ),
    ] = None,
    model_url: Annotated[
        str | None,
        typer.Option(help="Of the model's API, for runs that ask it; OpenAI's if not given."),
    ] = None,
    model_url_as: Annotated[
        str, typer.Option(help="Variable by which the agents find it.")
    ] = "OPENAI_BASE_URL",
) -> None:
    """Turn runs of the lake into a suite whose tapes have what models answered then.

    By default the newest run of each task and failure mode. A run whose content was redacted, cut
    or never captured is named, and left out.
    """
    from tracegrade_harness.draft.command import draft_suite, started_by
    from tracegrade_harness.draft.runs import ChosenRuns

    chosen = ChosenRuns(failed, tuple(task or ()), tuple(trajectory or ()))
    started = started_by(command, model_url, model_url_as)
    draft_suite(lake, out, (chosen, started, tasks), incomplete=incomplete, replace_old=replace)


@harness.command()
def shell(
    suite: SuiteFile,
    case: Annotated[str, typer.Argument(help="Its task id.")],
    sandbox: SandboxOption = None,
    trust: TrustOption = False,
) -> None:
    """Open a shell in the place of a case's agent: its folder, variables, services and sandbox."""
    _prepare_overlays(suite)
    from tracegrade_harness.commands import open_shell

    open_shell(suite, case, sandbox, trust=trust)


@harness.command()
def review(
    lake: LakeOption,
    trajectory: Annotated[
        str | None, typer.Argument(help="Of the undisturbed run that the kill repeats.")
    ] = None,
    injection: Annotated[str | None, typer.Argument(help="early, mid or late.")] = None,
    value: Annotated[
        int | None, typer.Option(help="What you give: 0, 3, 5, 7 or 10.", metavar="VALUE")
    ] = None,
    reason: Annotated[str | None, typer.Option(help="Why, for those who read it.")] = None,
    by: Annotated[
        str | None, typer.Option(help="Your name.", envvar="USER", metavar="NAME")
    ] = None,
) -> None:
    """List the kills that want a human's eye, or say what one of them is worth.

    A human's word comes before the rules', and alone may be a 5.
    """
    from tracegrade_harness.commands import list_reviews, store_review

    if trajectory is None:
        list_reviews(lake)
    else:
        store_review(lake, (trajectory, injection), (value, reason), by)


@harness.command()
def clean(folder: FolderOption = HOME) -> None:
    """Remove frozen environments, and what trials of harnesses that were killed left behind."""
    from tracegrade_harness.commands import clean_folder

    clean_folder(folder)


@harness.command()
def schema() -> None:
    """Write the JSON Schema of suites to stdout, for use in editors."""
    from tracegrade_harness.suite.schema import suite_schema_text

    typer.echo(suite_schema_text(), nl=False)
