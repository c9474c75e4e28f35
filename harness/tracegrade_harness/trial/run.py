"""One run of a suite: it freezes environments, starts a collector, and runs trials."""

import hashlib
import json
import os
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any, Final

from tracegrade.state import VERSION
from tracegrade_harness.errors import SuiteUnusable
from tracegrade_harness.landed.known_traces import KnownTraces
from tracegrade_harness.loading.load import LoadedSuite
from tracegrade_harness.loading.visible_files import answers
from tracegrade_harness.parts.environment import EnvironmentTemplate
from tracegrade_harness.parts.folders.folders import shared_folder
from tracegrade_harness.parts.registry import declared_in
from tracegrade_harness.sandbox.choice import SANDBOXES, Sandbox, available
from tracegrade_harness.sandbox.plain import Plain
from tracegrade_harness.sandbox.stoppable import StoppableSandbox
from tracegrade_harness.suite import paths
from tracegrade_harness.suite.model import Case, Kill, Mode, ModelSource, Point, Suite
from tracegrade_harness.suite.records import Runbook
from tracegrade_harness.suite.runbook import Instruction, read
from tracegrade_harness.tape.entries import digest
from tracegrade_harness.tape.player import TapeRecorder
from tracegrade_harness.telemetry.relay import OtlpRelay
from tracegrade_harness.telemetry.trace_owners import TraceOwners
from tracegrade_harness.trial.budget import Budget
from tracegrade_harness.trial.collector import Collector
from tracegrade_harness.trial.result import TrialResult
from tracegrade_harness.trial.run_file import RunFile, is_begun
from tracegrade_harness.trial.schedule import Schedule, in_order
from tracegrade_harness.trial.suite_run import SuiteRun, Trial
from tracegrade_harness.trial.tape_session import read_tapes
from tracegrade_lake import Lake
from tracegrade_queries.costs.price_list import keep_prices
from tracegrade_queries.costs.pricing import Prices

FROZEN: Final = "frozen"
RUNS: Final = "runs"
AUTO: Final = "auto"
"""Name for the safest sandbox that works here."""

AS_ROOT: Final = (
    "agents could change all of this machine, its clock and its name too: run as another user or "
    "in bubblewrap, or give --yes-as-root"
)


@dataclass(frozen=True)
class ChosenTrials:
    """The choice of trials of a suite, and the options of their run."""

    cases: str = "*"
    """Pattern of task ids; `*` and `?` as in file names."""
    agent: str | None = None
    """Only cases of this agent."""
    release: str | None = None
    """Release of the agents, instead of the suite's."""
    trials: int | None = None
    """Trials of each case, instead of the suite's number."""
    kills: Sequence[Point] | None = None
    """Kill points of each case, instead of the suite's; none if empty."""
    jobs: int | None = None
    """Trials at a time, instead of the suite's number."""
    sandbox: str | None = None
    """Name of the sandbox, instead of the suite's."""
    resume: str | None = None
    """The run to resume."""
    trust: bool = False
    """Code of the suite may run outside of the sandbox."""
    mode: Mode | None = None
    """Mode, instead of the suite's."""
    prices: Prices | None = None
    """Prices of models, which the lake stores; None for the stored prices."""
    max_usd: float | None = None
    """The most that the run may cost, including the cost before it was resumed."""
    models: ModelSource | None = None
    """Source of models' answers in mocked runs, instead of the cases' own."""
    keep_tape: Callable[[SuiteRun, Trial, TapeRecorder], None] | None = None
    """Called with the recorded answers of each trial, if they are recorded."""
    as_root: bool = False
    """The superuser may run agents without a sandbox."""
    say: Callable[[TrialResult, int, int], None] = field(default=lambda *_: None)
    """Called with each result, the number of results so far, and their final number."""


@dataclass(frozen=True)
class Run:
    """A suite that was run."""

    folder: Path
    results: list[TrialResult]
    spent_usd: float
    """The known part of its cost, failed tries included."""


def new_id() -> str:
    """Return an id for a run; ids sort by time."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:6]}"


def run_suite(loaded: LoadedSuite, lake: str, home: Path, run: str, chosen: ChosenTrials) -> Run:
    """Run a suite, and return its results; only the spans are in the lake then.

    Args:
        loaded: The suite.
        lake: The lake that receives the spans.
        home: Folder for frozen environments, logs and the state of runs.
        run: Id of the run.
        chosen: The choice of trials.

    Raises:
        EnvironmentFailed: An environment could not be frozen, or the collector failed.
        SuiteUnusable: No case is chosen, or the run to resume differs.
    """
    suite = usable(loaded)
    cases = chosen_cases(suite, chosen)
    folder = home.resolve() / RUNS / run
    _refuse_unknown_run(folder, chosen)
    _refuse_without_limit(cases, chosen)
    used = {case.environment for case in cases.values()}
    mode = chosen.mode or suite.mode
    killed = _as_killed(cases, chosen)
    tapes = read_tapes(loaded, suite, killed) if mode == "mocked" else {}
    taped = {"mode": mode, "tapes": {task_id: digest(tapes[task_id]) for task_id in tapes}}
    sandbox = _sandbox(suite, chosen)
    runbooks = _runbooks(loaded, cases)
    described = {"lake": _location(lake), **_described(loaded, chosen, cases, runbooks)}
    with (
        frozen(loaded, used, home, trust=chosen.trust) as templates,
        closing(RunFile(folder, {**described, **_fingerprints(templates), **taped})) as file,
        Collector(lake, folder / "collector.log") as collector,
        OtlpRelay(collector.endpoint, TraceOwners(KnownTraces(lake))) as relay,
    ):
        if chosen.max_usd is not None:
            _refuse_unknown_costs(run, file.results())
        suite_run = SuiteRun(
            suite,
            loaded.folder,
            loaded.specification,
            templates,
            sandbox,
            collector.endpoint,
            relay,
            folder,
            runbooks,
            mode,
            tapes,
            chosen.release,
            [folder.parent, home.resolve() / FROZEN, *_local(lake)],
        )
        suite_run = _as_chosen(suite_run, loaded, chosen, Lake.create(lake))
        kills = {name: case.kill for name, case in killed.items() if case.kill}
        spent_usd = _run_trials(_keeping_tapes(suite_run, chosen), cases, kills, chosen, file)
    return Run(folder, file.results(), spent_usd)


def _sandbox(suite: Suite, chosen: ChosenTrials) -> StoppableSandbox:
    named = chosen.sandbox or suite.defaults.sandbox
    return StoppableSandbox(find_sandbox(named, as_root=chosen.as_root))


def _as_chosen(
    suite_run: SuiteRun, loaded: LoadedSuite, chosen: ChosenTrials, lake: Lake
) -> SuiteRun:
    """Return a run with its caller's choices, and the prices of its lake."""
    return replace(
        suite_run,
        answers=answers(loaded),
        models=chosen.models,
        prices=keep_prices(lake, chosen.prices).prices,
        lake=lake,
        outside=StoppableSandbox(Plain()) if chosen.trust else None,
    )


def _run_trials(
    suite_run: SuiteRun,
    cases: Mapping[str, Case],
    kills: Mapping[str, Kill],
    chosen: ChosenTrials,
    file: RunFile,
) -> float:
    """Run the trials of the cases, in their order; return their cost in USD."""
    budget = Budget(chosen.max_usd, file.add_spent, file.spent)
    counts = [(name, chosen.trials or case.trials) for name, case in cases.items()]
    schedule = Schedule(suite_run, kills, file, budget, chosen.say)
    schedule.run(in_order(counts), chosen.jobs or suite_run.suite.defaults.jobs)
    return budget.spent_usd


def usable(loaded: LoadedSuite) -> Suite:
    """Return the suite.

    Raises:
        SuiteUnusable: It has errors; the message has a line for each.
    """
    if loaded.suite is None or loaded.errors:
        raise SuiteUnusable("\n".join(map(str, loaded.errors)))
    return loaded.suite


@contextmanager
def frozen(
    loaded: LoadedSuite, names: set[str], home: Path, *, trust: bool
) -> Iterator[dict[str, EnvironmentTemplate]]:
    """Provide frozen environments by name, and their servers, for as long as the block lasts.

    No other process removes them before the block ends.

    Args:
        loaded: The suite.
        names: The names of the environments.
        home: Folder for frozen environments.
        trust: Code of the suite may run outside of the sandbox.

    Raises:
        EnvironmentFailed: An environment could not be frozen.
        SuiteUnusable: An environment contains code of the suite, which is not trusted.
    """
    suite = usable(loaded)
    parts = (part for name in sorted(names) for part in declared_in(suite.environments[name]))
    for part in () if trust else parts:
        if code := part.kind.outside_code(part.declared):
            msg = (
                f"{code} is code of the suite that runs outside of the sandbox; "
                "read it, then give --trust"
            )
            raise SuiteUnusable(msg)
    templates = {
        name: EnvironmentTemplate(suite.environments[name], loaded.folder)
        for name in sorted(names)
    }
    with shared_folder(home.resolve() / FROZEN) as folder, ExitStack() as stack:
        for template in templates.values():
            stack.enter_context(closing(template))
            template.freeze(folder)
        yield templates


def find_sandbox(name: str | None, *, as_root: bool = False) -> Sandbox:
    """Return the sandbox of this name; without one, or for `auto`, the safest that works.

    Args:
        name: Its name in suites.
        as_root: The superuser may run without a sandbox.

    Raises:
        SuiteUnusable: The name is unknown, the sandbox cannot be used here, or it is none and this
            is the superuser.
    """
    found = _found_sandbox(name)
    if found.name == Plain.name and os.geteuid() == 0 and not as_root:
        reasons = [f"{each} cannot be used: {why}" for each, why in available().items() if why]
        msg = "; ".join(["no sandbox, and this is the superuser", *reasons, AS_ROOT])
        raise SuiteUnusable(msg)
    return found


def _found_sandbox(name: str | None) -> Sandbox:
    if name in {None, AUTO}:
        return next(sandbox for sandbox in SANDBOXES if sandbox.why_not() is None)
    found = next((sandbox for sandbox in SANDBOXES if sandbox.name == name), None)
    if found is None:
        known = ", ".join([AUTO, *(sandbox.name for sandbox in SANDBOXES)])
        msg = f"no sandbox '{name}'; known: {known}"
        raise SuiteUnusable(msg)
    if reason := found.why_not():
        msg = f"sandbox '{name}' cannot be used: {reason}; leave it out for another"
        raise SuiteUnusable(msg)
    return found


def chosen_cases(suite: Suite, chosen: ChosenTrials) -> dict[str, Case]:
    """Return the cases that are run.

    Raises:
        SuiteUnusable: None is.
    """
    cases = {
        name: case
        for name, case in suite.cases.items()
        if fnmatchcase(name, chosen.cases) and chosen.agent in (None, case.agent)
    }
    if not cases:
        msg = f"no case is chosen; the suite has {', '.join(suite.cases)}"
        raise SuiteUnusable(msg)
    return cases


def _refuse_unknown_run(folder: Path, chosen: ChosenTrials) -> None:
    """Refuse to resume a run that was never begun.

    Raises:
        SuiteUnusable: There is none in that folder.
    """
    if chosen.resume is not None and not is_begun(folder):
        msg = f"no run '{folder.name}' in {folder.parent}; leave out --resume for a new one"
        raise SuiteUnusable(msg)


def _keeping_tapes(suite_run: SuiteRun, chosen: ChosenTrials) -> SuiteRun:
    """Return the run, with a function that stores its recorded tapes, if any."""
    if chosen.keep_tape is None:
        return suite_run
    return replace(suite_run, keep_tape=partial(chosen.keep_tape, suite_run))


def _refuse_without_limit(cases: dict[str, Case], chosen: ChosenTrials) -> None:
    """Refuse a run with `--max-usd` if cases have no limit on a trial's cost.

    Raises:
        SuiteUnusable: Some case has no limit.
    """
    unlimited = [name for name, case in cases.items() if case.limits.usd is None]
    if chosen.max_usd is not None and unlimited:
        some = f"{', '.join(unlimited[:5])}{', …' if unlimited[5:] else ''}"
        msg = f"no limit in US dollars: {some}; give these cases limits: {{usd: ...}}, "
        raise SuiteUnusable(msg + "which --max-usd reserves")


def _refuse_unknown_costs(run: str, results: Sequence[TrialResult]) -> None:
    """Refuse to resume a run whose cost is unknown.

    Raises:
        SuiteUnusable: A trial has an unknown cost.
    """
    unknown = [each for each in results if each.cost_is_unknown]
    if unknown:
        msg = f"run '{run}' has {len(unknown)} trials of unknown cost; leave out --max-usd, or "
        raise SuiteUnusable(msg + "leave out --resume for a new run")


def _as_killed(cases: dict[str, Case], chosen: ChosenTrials) -> dict[str, Case]:
    """Return the cases with their chosen kills."""
    return {
        name: case.model_copy(update={"kill": _chosen_kill(case.kill, chosen.kills)})
        for name, case in cases.items()
    }


def _chosen_kill(declared: Kill | None, points: Sequence[Point] | None) -> Kill | None:
    """Return a case's kills at the chosen points; None for no kill."""
    if points is None:
        return declared
    return (declared or Kill()).model_copy(update={"points": [*points]}) if points else None


def _runbooks(loaded: LoadedSuite, cases: dict[str, Case]) -> dict[str, list[Instruction]]:
    """Return the content of the runbooks of the chosen cases' agents, by path.

    Raises:
        SuiteUnusable: A runbook is wrong.
    """
    agents = [usable(loaded).agents[case.agent] for case in cases.values()]
    records = [record for agent in agents for record in agent.records]
    named = {record.runbook for record in records if isinstance(record, Runbook)}
    return {name: read(paths.source(loaded.folder, name)) for name in sorted(named)}


def _local(lake: str) -> list[Path]:
    return [] if "://" in lake else [Path(lake).resolve()]


def _location(lake: str) -> str:
    return lake if "://" in lake else str(Path(lake).resolve())


def _described(
    loaded: LoadedSuite,
    chosen: ChosenTrials,
    cases: dict[str, Case],
    runbooks: dict[str, list[Instruction]],
) -> dict[str, Any]:
    """Return the description of a run, which must be equal when the run is resumed."""
    suite = usable(loaded)
    text = suite.model_dump_json()
    return {
        "suite": suite.suite,
        "content": hashlib.sha256(text.encode()).hexdigest(),
        "tasks": loaded.specification and loaded.specification.hash,
        "runbooks": hashlib.sha256(json.dumps(runbooks).encode()).hexdigest(),
        "cases": sorted(cases),
        "release": chosen.release,
        "models": chosen.models,
        "trials": chosen.trials,
        "kills": None if chosen.kills is None else list(chosen.kills),
        "version": VERSION,
    }


def _fingerprints(templates: dict[str, EnvironmentTemplate]) -> dict[str, Any]:
    return {"environments": {name: each.fingerprint() for name, each in templates.items()}}
