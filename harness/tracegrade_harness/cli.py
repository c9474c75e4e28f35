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
CaseOption = Annotated[str, typer.Option(help="Only cases that match this pattern of * and ?.")]
AgentOption = Annotated[str | None, typer.Option(help="Only the cases of this agent.")]
ReleaseOption = Annotated[
    str | None, typer.Option(help="The agents' release, instead of the suite's.")
]
TrialsOption = Annotated[
    int | None, typer.Option(min=1, help="Trials of each case, instead of the suite's number.")
]
JobsOption = Annotated[
    int | None,
    typer.Option(min=1, max=64, help="Trials at a time; by default as the suite says, or 1."),
]
SandboxOption = Annotated[
    str | None,
    typer.Option(
        help="bwrap, none, or auto for the safest that works here; by default as the suite "
        "says, or auto."
    ),
]
AsRootOption = Annotated[
    bool,
    typer.Option(
        "--yes-as-root",
        help="As the superuser, run agents without a sandbox: they may change this machine.",
    ),
]
FolderOption = Annotated[
    Path, typer.Option(help="Folder for frozen environments, logs and the state of runs.")
]
JunitOption = Annotated[
    Path | None, typer.Option(help="Write the results as JUnit XML.", metavar="FILE")
]
TrustOption = Annotated[
    bool,
    typer.Option(
        "--trust", help="Run apps of services, and commands of verifiers, outside of the sandbox."
    ),
]
ModeOption = Annotated[
    str | None,
    typer.Option(help="live or mocked: ask upstreams, or play their tapes."),
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
        help="The most that the run may cost. Each trial reserves its own limit, and is not run "
        "where too little is left.",
        metavar="USD",
    ),
]
ResumeOption = Annotated[
    str | None, typer.Option(help="Continue this run where it stopped.", metavar="ID")
]
FailOnOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Exit 1 if this holds, such as 'success<0.9' or 'rollback.lowest<7', and no longer "
        "for each trial that fails; may be repeated.",
        metavar="RULE",
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
    """Enter the namespace for overlay mounts, if a suite needs it, before threads start."""
    from tracegrade_harness.parts.files.asks_for_overlays import asks_for_overlays
    from tracegrade_harness.parts.servers import namespace

    if asks_for_overlays(suite):
        namespace.enter()


@harness.callback()
def _harness() -> None:
    """Commands for suites."""
    from tracegrade_harness.sandbox.signals import ignore_alone

    ignore_alone()


@harness.command()
def check(
    suite: SuiteFile,
    folder: FolderOption = HOME,
    idle_secs: Annotated[
        float, typer.Option(min=0, help="Seconds for which each environment must not change.")
    ] = 2.0,
    trust: TrustOption = False,
) -> None:
    """Check a suite: every error with its line, then whether its environments can be restored.

    No agent is run. Exit 2 if the suite has errors, 1 if an environment changes by itself.
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
        typer.Option(help="early,mid,late, some of them, or none; by default as the suite says."),
    ] = None,
    jobs: JobsOption = None,
    sandbox: SandboxOption = None,
    yes_as_root: AsRootOption = False,
    resume: ResumeOption = None,
    folder: FolderOption = HOME,
    junit: JunitOption = None,
    mode: ModeOption = None,
    model: ModelOption = None,
    trust: TrustOption = False,
    prices: PricesOption = None,
    max_usd: MaxUsdOption = None,
    fail_on: FailOnOption = None,
) -> None:
    """Run the cases of a suite in restored environments, and verify the result.

    Spans and verdicts go into the lake; `tracegrade score` scores them. Exit 1 if a verifier
    failed, a limit ended a trial, or the budget ran out, 3 if the harness failed.
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
        as_root=yes_as_root,
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
    jobs: JobsOption = None,
    sandbox: SandboxOption = None,
    yes_as_root: AsRootOption = False,
    resume: ResumeOption = None,
    folder: FolderOption = HOME,
    junit: JunitOption = None,
    mode: ModeOption = None,
    model: ModelOption = None,
    trust: TrustOption = False,
    prices: PricesOption = None,
    max_usd: MaxUsdOption = None,
    fail_on: FailOnOption = None,
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
        yes_as_root=yes_as_root,
        resume=resume,
        folder=folder,
        junit=junit,
        mode=mode,
        model=model,
        trust=trust,
        prices=prices,
        max_usd=max_usd,
        fail_on=fail_on,
    )


@harness.command()
def record(  # noqa: PLR0913, PLR0917 - one parameter per option
    suite: SuiteFile,
    case: CaseOption = "*",
    agent: AgentOption = None,
    release: ReleaseOption = None,
    jobs: JobsOption = None,
    sandbox: SandboxOption = None,
    yes_as_root: AsRootOption = False,
    folder: FolderOption = HOME,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace tapes that exist already.")
    ] = False,
    trust: TrustOption = False,
    prices: PricesOption = None,
    max_usd: MaxUsdOption = None,
) -> None:
    """Run cases once, live, and record the answers of outside services on tapes.

    The mode `mocked` plays them. Secrets that the collector would remove are not on tapes.
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
        as_root=yes_as_root,
        trust=trust,
        prices=prices_in(prices),
        max_usd=max_usd,
    )
    record_tapes(suite, folder, chosen, replace_old=replace)


@harness.command()
def diverge(  # noqa: PLR0913, PLR0917 - one parameter per option
    suite: SuiteFile,
    case: CaseOption = "*",
    writes: Annotated[
        bool,
        typer.Option("--writes", help="Repeat calls that may write, too; each is made twice."),
    ] = False,
    form: Annotated[
        str, typer.Option("--format", help="text, json, or markdown for an issue.")
    ] = "text",
    on_divergence: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Run this program, without a shell, if an answer differs; it gets the text of an "
            "issue on standard input. For a pipe or a variable, give `sh -c '...'`.",
        ),
    ] = None,
    sandbox: SandboxOption = None,
    yes_as_root: AsRootOption = False,
) -> None:
    """Repeat recorded calls live, and show where the answers differ.

    Only reads are repeated, each twice; differences between the two live answers are ignored. Exit
    1 if an answer differs from the recorded one, 2 if a tape is missing, 3 if a service does not
    reply.
    """
    from tracegrade_harness.commands import report_divergences
    from tracegrade_harness.trial.run import ChosenTrials

    chosen = ChosenTrials(case, sandbox=sandbox, as_root=yes_as_root)
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
        typer.Option(
            help="This run, instead of one for each task and failure mode; may be repeated."
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Folder for the suite, its tasks and its tapes.")
    ] = Path("drafted"),
    replace: Annotated[
        bool, typer.Option("--replace", help="Overwrite files that exist already.")
    ] = False,
    incomplete: Annotated[
        bool,
        typer.Option("--incomplete", help="Turn runs into cases even if they lack something."),
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
            help="Command that starts the agents, quoted as for a shell; {user_input} is replaced "
            "by the user's request. Without it, the suite leaves the command to fill in."
        ),
    ] = None,
    model_url: Annotated[
        str | None,
        typer.Option(help="URL of the model's API, for runs that ask it; by default OpenAI's."),
    ] = None,
    model_url_env: Annotated[
        str | None,
        typer.Option(
            help="Environment variable in which the agents find that URL; by default "
            "OPENAI_BASE_URL."
        ),
    ] = None,
    former_model_url_env: Annotated[
        str | None, typer.Option("--model-url-as", hidden=True)
    ] = None,
) -> None:
    """Turn runs of the lake into a suite of mocked cases, with models' answers on tapes.

    By default, the newest run of each task and failure mode becomes a case. A run whose content
    was redacted, cut or never captured is named, and left out.
    """
    from tracegrade_harness.draft.command import draft_suite, started_by, variable_of_model
    from tracegrade_harness.draft.runs import ChosenRuns

    chosen = ChosenRuns(failed, tuple(task or ()), tuple(trajectory or ()))
    variable = variable_of_model(model_url_env, former_model_url_env)
    started = started_by(command, model_url, variable)
    draft_suite(lake, out, (chosen, started, tasks), incomplete=incomplete, replace_old=replace)


@harness.command()
def shell(
    suite: SuiteFile,
    case: Annotated[str, typer.Argument(help="Its task id.")],
    sandbox: SandboxOption = None,
    yes_as_root: AsRootOption = False,
    trust: TrustOption = False,
) -> None:
    """Open a shell where a case's agent would run: its folder, variables, services and sandbox."""
    _prepare_overlays(suite)
    from tracegrade_harness.commands import open_shell
    from tracegrade_harness.trial.run import ChosenTrials

    chosen = ChosenTrials(sandbox=sandbox, as_root=yes_as_root, trust=trust)
    open_shell(suite, case, chosen)


@harness.command()
def review(
    lake: LakeOption,
    trajectory: Annotated[str | None, typer.Argument(help="Id of the undisturbed run.")] = None,
    kill_point: Annotated[str | None, typer.Argument(help="early, mid or late.")] = None,
    value: Annotated[
        int | None, typer.Option(help="Its score: 0, 3, 5, 7 or 10.", metavar="VALUE")
    ] = None,
    reason: Annotated[str | None, typer.Option(help="Why, for later readers.")] = None,
    by: Annotated[
        str | None, typer.Option(help="Your name.", envvar="USER", metavar="NAME")
    ] = None,
) -> None:
    """List the kills that left something behind, or score one of them yourself.

    A human's score overrides the rules', and only a human may give a 5.
    """
    from tracegrade_harness.commands import list_reviews, store_review

    if trajectory is None:
        list_reviews(lake)
    else:
        store_review(lake, (trajectory, kill_point), (value, reason), by)


@harness.command()
def clean(folder: FolderOption = HOME) -> None:
    """Remove frozen environments and leftovers of killed harnesses."""
    from tracegrade_harness.commands import clean_folder

    clean_folder(folder)


@harness.command()
def schema() -> None:
    """Write the JSON Schema of suites to stdout, for use in editors."""
    from tracegrade_harness.loading.schema import suite_schema_text

    typer.echo(suite_schema_text(), nl=False)
