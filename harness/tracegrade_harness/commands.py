"""The work of the `harness` commands; each function prints and ends with an exit code."""

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast, get_args

from tracegrade.terminal.visible import echo, visible
from tracegrade_harness.announcements import announce, sandbox_text
from tracegrade_harness.diverge.on_divergence import command_of, tell
from tracegrade_harness.diverge.report import FORMATS, again, as_json, as_markdown, as_text
from tracegrade_harness.diverge.suite import ask_again
from tracegrade_harness.errors import EnvironmentFailed, HarnessFailed, NotPassed, SuiteUnusable
from tracegrade_harness.fail_on import parse_run_rules
from tracegrade_harness.junit import trials_as_junit
from tracegrade_harness.lake import write
from tracegrade_harness.loading.load import LoadedSuite, load
from tracegrade_harness.outcomes import (
    say_play,
    say_report,
    say_result,
    say_unseen,
    say_used,
)
from tracegrade_harness.parts.declared import missing
from tracegrade_harness.parts.environment import EnvironmentTemplate
from tracegrade_harness.parts.folders.folders import shared_folder, temporary_folder
from tracegrade_harness.parts.registry import declared_in
from tracegrade_harness.parts.servers.managed_server import remove_dead
from tracegrade_harness.review import MAX_LISTED, Review, store, wanting_review
from tracegrade_harness.run_exit import end
from tracegrade_harness.sandbox.choice import available, why_no_image
from tracegrade_harness.sandbox.stoppable import StoppableSandbox
from tracegrade_harness.suite import paths
from tracegrade_harness.suite.model import Case, Mode, ModelSource, Point, Suite
from tracegrade_harness.tape.entries import write_tape
from tracegrade_harness.tape.player import TapeRecorder
from tracegrade_harness.trial.clean import clean
from tracegrade_harness.trial.collector import Collector
from tracegrade_harness.trial.found_runs import BesideRun, found_runs, mark_beside
from tracegrade_harness.trial.installed import missing_programs
from tracegrade_harness.trial.points import POINTS
from tracegrade_harness.trial.run import (
    FROZEN,
    RUNS,
    ChosenTrials,
    chosen_cases,
    find_sandbox,
    frozen,
    new_id,
    run_suite,
    usable,
)
from tracegrade_harness.trial.shell import run_shell
from tracegrade_harness.trial.suite_run import SuiteRun, Trial, without_agents
from tracegrade_harness.trial.tape_session import new_tape, read_tapes, tape_file, taped_cases
from tracegrade_lake import Lake
from tracegrade_lake.errors import LakeMissing
from tracegrade_lake.out_files import out_file
from tracegrade_queries.costs.pricing import Prices
from tracegrade_scoring.own_metrics.stored import stored_metric_names
from tracegrade_scoring.prices import load_prices
from tracegrade_scoring.rendering.words import count


def check_suite(path: Path, home: Path, idle_secs: float, *, trust: bool) -> None:
    """Print errors of a suite, programs that this machine lacks, and state that keeps changing.

    Raises:
        EnvironmentFailed: An environment cannot be frozen or restored.
        NotPassed: An environment changes although no agent runs.
        SuiteUnusable: The suite has errors.
    """
    loaded = _loaded(path)
    suite = usable(loaded)
    for name, reason in available().items():
        echo(f"sandbox {name}: {reason or 'can be used'}")
    for name, agent in suite.agents.items():
        echo(f"agent {name}: network {agent.network}")
    _refuse_missing(suite, suite.cases, home, ChosenTrials())
    for environment in suite.environments.values():
        for part in declared_in(environment):
            if confinement := part.kind.confinement(part.declared):
                echo(f"{part.kind.name} {part.name}: {confinement}")
    restless = []
    with frozen(loaded, {*suite.environments}, home, trust=trust) as templates:
        for name, template in templates.items():
            restless += [f"{name}: {each}" for each in _moved(template, idle_secs)]
            echo(f"environment {name}: {count(len(template.before), 'object')}, restored")
    if restless:
        listed = ", ".join(restless[:10])
        msg = (
            f"environment_not_still: {count(len(restless), 'object')} changed while no agent ran "
            f"({listed}); ignore them in the suite"
        )
        raise NotPassed(msg)
    _check_tapes(loaded, suite)
    echo(f"suite {suite.suite}: {count(len(suite.cases), 'case')}, no errors")


def kill_points(text: str | None) -> tuple[Point, ...] | None:
    """Return the points that an option names; None if it is not given.

    Raises:
        SuiteUnusable: It names another.
    """
    if text is None:
        return None
    named = [] if text == "none" else [word.strip() for word in text.split(",")]
    unknown = [word for word in named if word not in POINTS]
    if unknown:
        msg = f"no kill '{unknown[0]}'; give some of {', '.join(POINTS)}, or none"
        raise SuiteUnusable(msg)
    return tuple(point for point in POINTS if point in named)


def run_mode(text: str | None) -> Mode | None:
    """Return the mode that an option names; None if it is not given.

    Raises:
        SuiteUnusable: It names another.
    """
    return cast("Mode | None", _one_of(Mode, text, "mode"))


def prices_in(file: Path | None) -> Prices | None:
    """Return the prices in a file; None if none is given.

    Raises:
        PriceFileInvalid: It holds errors.
        PriceFileUnreadable: It does not exist or is not text.
    """
    return None if file is None else load_prices(file)


def model_source(text: str | None) -> ModelSource | None:
    """Return the source of models' answers that an option names; None if it is not given.

    Raises:
        SuiteUnusable: It names something else.
    """
    return cast("ModelSource | None", _one_of(ModelSource, text, "source of a model's answers"))


def _one_of(named: object, text: str | None, kind: str) -> str | None:
    """Return an option's text if it is a word of a type; None if not given.

    Raises:
        SuiteUnusable: It is another word.
    """
    words = get_args(named)
    if text is not None and text not in words:
        *others, last = words
        msg = f"no {kind} '{text}'; give {', '.join(others)} or {last}"
        raise SuiteUnusable(msg)
    return text


def run_chosen(
    path: Path,
    lake: str,
    home: Path,
    chosen: ChosenTrials,
    junit: Path | None,
    fail_on: Sequence[str] = (),
) -> None:
    """Run a suite, write its results into the lake, and print them.

    If there are rules, they decide whether trials that did not pass fail the command.

    Raises:
        EnvironmentFailed: Not one trial could be run.
        BadRule: A rule is not understood.
        HarnessFailed: Some trials could not be run or judged, by no fault of their agents.
        NotPassed: A verifier failed, or a limit ended a trial; or a rule is broken.
        SuiteUnusable: The suite has errors.
    """
    rules = parse_run_rules(fail_on, _own_metrics(lake) if fail_on else ())
    if junit is not None and not junit.parent.is_dir():
        msg = f"no folder '{junit.parent}' for --junit; make it, or give another"
        raise SuiteUnusable(msg)
    loaded = _loaded(path)
    suite = usable(loaded)
    _refuse_missing(suite, chosen_cases(suite, chosen), home, chosen)
    run = chosen.resume or new_id()
    echo(f"run: {run}")
    announce(suite, chosen)
    done = run_suite(loaded, lake, home, run, replace(chosen, say=say_result))
    opened = Lake.create(lake)
    found = found_runs(opened, done.results)
    _mark(lake, done.folder, found.beside)
    done = replace(done, results=found.results)
    write(opened, run, suite.suite, done.results)
    say_used(done, chosen.max_usd)
    say_unseen(done.results)
    echo(f"results: {done.folder}")
    say_report(lake, paths.source(loaded.folder, suite.tasks) if suite.tasks else None)
    if junit is not None:
        _write_junit(junit, trials_as_junit(suite.suite, done.results))
    end(f"`--resume {run}` tries them again", done.results, rules)


def _own_metrics(lake: str) -> list[str]:
    """Return the names of users' own metrics in a lake; none if there is no lake."""
    try:
        return stored_metric_names(lake, lambda _: None)
    except LakeMissing:
        return []


def _mark(lake: str, folder: Path, beside: Sequence[BesideRun]) -> None:
    """Mark these runs in the lake, so that they do not count as attempts."""
    if beside:
        with Collector(lake, folder / "collector.log") as collector:
            mark_beside(collector.endpoint, beside)


def _write_junit(path: Path, text: str) -> None:
    try:
        with out_file(path) as file:
            file.write(text)
    except OSError as error:
        msg = f"cannot write --junit {path}: {error.strerror}; all else of the run is kept"
        raise HarnessFailed(msg) from error


def record_tapes(path: Path, home: Path, chosen: ChosenTrials, *, replace_old: bool) -> None:
    """Run cases once, and record the answers of services outside of the environment.

    Raises:
        EnvironmentFailed: Not one trial could be run.
        HarnessFailed: Some trials could not be run or judged, by no fault of their agents.
        NotPassed: A verifier failed, or a limit ended a trial.
        SuiteUnusable: The suite has errors, a tape already exists, or a call cannot be on one.
    """
    loaded = _loaded(path)
    suite = usable(loaded)
    files = _new_files(loaded, suite, chosen, replace_old=replace_old)
    _refuse_missing(suite, chosen_cases(suite, chosen), home, replace(chosen, mode="live"))
    run = new_id()
    echo(f"run: {run}")
    announce(suite, replace(chosen, mode="live"))
    refused: list[str] = []
    written: list[Path] = []

    def keep(suite_run: SuiteRun, trial: Trial, recorder: TapeRecorder) -> None:
        refused.extend(recorder.refused)
        if trial.task_id in files and not recorder.refused:
            tape = new_tape(suite_run, trial, recorder)
            write_tape(files[trial.task_id], tape)
            written.append(files[trial.task_id])
            echo(f"tape: {files[trial.task_id]}, {count(len(tape.entries), 'call')}")

    once = replace(chosen, trials=1, kills=(), mode="live", keep_tape=keep, say=say_result)
    lake = home.resolve() / RUNS / run / "lake"
    done = run_suite(loaded, str(lake), home, run, once)
    say_used(done, chosen.max_usd)
    if refused:
        msg = f"{count(len(refused), 'call')} cannot be on a tape, first {visible(refused[0])}"
        msg += "; remove the tool from 'taped_tools' to get a tape of the case"
        raise SuiteUnusable(msg)
    if written:
        say_play(path, chosen.cases, chosen.agent)
    end("record those cases again", done.results)


def report_divergences(
    path: Path, chosen: ChosenTrials, form: str, on_divergence: str | None, *, writes: bool
) -> None:
    """Repeat the calls on the tapes of cases, and print where the answers differ.

    Args:
        path: The suite.
        chosen: Its cases, and the sandbox of MCP servers.
        form: The output format, see `FORMATS`.
        on_divergence: A command that gets the text of an issue if an answer differs. If the
            command
            fails, a warning is printed; the exit code depends on the answers alone.
        writes: Repeat calls that may write, too.

    Raises:
        EnvironmentFailed: A service gave no reply.
        NotPassed: Something differs.
        SuiteUnusable: The suite has errors, or a tape is missing or wrong.
    """
    if form not in FORMATS:
        msg = f"no format '{form}'; give {', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
        raise SuiteUnusable(msg)
    command = command_of(on_divergence)
    loaded = _loaded(path)
    suite = usable(loaded)
    cases = chosen_cases(suite, chosen)
    named = chosen.sandbox or suite.defaults.sandbox
    servers = any(suite.environments[case.environment].mcp for case in cases.values())
    if servers:
        echo(f"sandbox: {sandbox_text(named, chosen)}", err=True)
    with temporary_folder() as home:
        sandbox = StoppableSandbox(find_sandbox(named, as_root=chosen.as_root or not servers))
        divergence = ask_again(without_agents(loaded, suite, sandbox, home), cases, writes=writes)
    if form == "markdown":
        echo(as_markdown(divergence, str(path)))
    else:
        echo(as_json(divergence) if form == "json" else as_text(divergence))
    if (
        divergence.diverged
        and command
        and (fault := tell(command, as_markdown(divergence, str(path))))
    ):
        echo(f"warning: {visible(fault)}", err=True)
    for reason in divergence.unreachable.values():
        msg = f"{visible(reason)}; try again when the service replies"
        raise EnvironmentFailed(msg)
    if divergence.diverged:
        first = again(str(path), divergence.diverged[0].case)
        number = count(len(divergence.diverged), "call")
        msg = f"{number} answered differently from the tape; `{first}`"
        raise NotPassed(msg)


def open_shell(path: Path, task_id: str, chosen: ChosenTrials) -> None:
    """Open a shell where a case's agent would run, in an environment that is then removed.

    Raises:
        SuiteUnusable: The suite has errors, or no such case, or there is no such sandbox.
    """
    loaded = _loaded(path)
    suite = usable(loaded)
    if task_id not in suite.cases:
        msg = f"no case '{task_id}'; the suite has {', '.join(suite.cases)}"
        raise SuiteUnusable(msg)
    name = suite.cases[task_id].environment
    sandbox = chosen.sandbox or suite.defaults.sandbox
    echo(f"sandbox: {sandbox_text(sandbox, chosen)}", err=True)
    stoppable = StoppableSandbox(find_sandbox(sandbox, as_root=chosen.as_root))
    with temporary_folder() as home, frozen(loaded, {name}, home, trust=chosen.trust) as templates:
        suite_run = replace(without_agents(loaded, suite, stoppable, home), templates=templates)
        say = partial(echo, err=True)
        difference = run_shell(suite_run, Trial(task_id, 1), say)
    for change, names in difference._asdict().items():
        for each in names:
            echo(f"{change}: {each}")


def list_reviews(lake: str) -> None:
    """Print the kills whose score a human may want to change."""
    found = wanting_review(Lake.open(lake))
    for kill in found[:MAX_LISTED]:
        echo(f"{kill.trajectory_id} {kill.kill_point}: {kill.score:g} by rule, {kill.task_id}")
        for name in kill.leftovers[:MAX_LISTED]:
            echo(f"  left: {name}")
        if len(kill.leftovers) > MAX_LISTED:
            echo(f"  and {len(kill.leftovers) - MAX_LISTED} more")
    echo(f"{count(len(found), 'kill')} left something behind")


def store_review(
    lake: str,
    kill: tuple[str, str | None],
    rating: tuple[int | None, str | None],
    by: str | None,
) -> None:
    """Store a human's review of a kill.

    Raises:
        SuiteUnusable: Something is missing, or there is no such kill.
    """
    store(Lake.open(lake), Review.of(kill, rating, by))
    echo(f"{kill[0]} {kill[1]}: {rating[0]}; the next `tracegrade score` counts it")


def clean_folder(home: Path) -> None:
    """Remove unused folders of harnesses, and print which are kept and why.

    Raises:
        EnvironmentFailed: Something could not be removed.
    """
    cleaned = clean(home)
    for folder in cleaned.removed:
        echo(f"removed: {folder}")
    for folder in cleaned.in_use:
        echo(f"kept: {folder}, since a harness works in it; clean again after its end")
    servers = remove_dead()
    echo(
        f"removed {count(len(cleaned.removed), 'folder')} and {servers} of dead servers, "
        f"kept {len(cleaned.in_use)}"
    )


def _refuse_missing(
    suite: Suite, cases: Mapping[str, Case], home: Path, chosen: ChosenTrials
) -> None:
    """Refuse cases for which this machine lacks something, with their names.

    Raises:
        EnvironmentFailed: It lacks something.
    """
    used = {case.environment for case in cases.values()}
    with shared_folder(home.resolve() / FROZEN) as folder:
        parts = {name: missing(suite.environments[name], folder) for name in used}
    mode = chosen.mode or suite.mode
    named = chosen.sandbox or suite.defaults.sandbox
    has_image = {name: suite.environments[name].image is not None for name in used}
    images = {name: why_no_image(named) if has_image[name] else None for name in used}
    lacking = {
        name: [
            *filter(None, [parts[case.environment], images[case.environment]]),
            *missing_programs(suite, case, mode),
        ]
        for name, case in cases.items()
    }
    unable = [name for name, reasons in lacking.items() if reasons]
    if unable:
        what_lacks = "; ".join(
            dict.fromkeys(reason for name in unable for reason in lacking[name])
        )
        msg = f"cannot run {', '.join(unable)} here: {what_lacks}"
        raise EnvironmentFailed(msg)


def _check_tapes(loaded: LoadedSuite, suite: Suite) -> None:
    """Print which cases have tapes.

    Raises:
        SuiteUnusable: One is wrong.
    """
    for task_id, case in taped_cases(suite, suite.cases):
        file = tape_file(loaded.folder, task_id, case)
        if file.exists():
            tape = read_tapes(loaded, suite, {task_id: case})[task_id]
            echo(f"tape {file}: {count(len(tape.entries), 'call')}")
        else:
            echo(f"tape {file}: not recorded")


def _new_files(
    loaded: LoadedSuite, suite: Suite, chosen: ChosenTrials, *, replace_old: bool
) -> dict[str, Path]:
    """Return the tape files of the chosen cases that have any.

    Raises:
        SuiteUnusable: No case has one, or a file already exists.
    """
    cases = chosen_cases(suite, chosen)
    files = {
        task_id: tape_file(loaded.folder, task_id, case)
        for task_id, case in taped_cases(suite, cases)
    }
    if not files:
        msg = "nothing to record; declare upstreams, taped servers or taped tools for its cases"
        raise SuiteUnusable(msg)
    old = [file for file in files.values() if file.exists()]
    if old and not replace_old:
        msg = f"tape '{old[0]}' already exists; give --replace to record it again"
        raise SuiteUnusable(msg)
    return files


def _moved(template: EnvironmentTemplate, idle_secs: float) -> list[str]:
    """Return the objects of an environment that change while no agent runs."""
    with temporary_folder() as root, closing(template.open(root)) as environment:
        time.sleep(idle_secs)
        return environment.difference().names


def _loaded(path: Path) -> LoadedSuite:
    loaded = load(path)
    for problem in loaded.problems:
        echo(str(problem), err=True)
    if loaded.errors:
        msg = f"suite '{path}' has {count(len(loaded.errors), 'error')}; correct them"
        raise SuiteUnusable(msg)
    return loaded
