"""The format `harbor`: folders of Harbor's jobs and trials → spans and verdicts.

A trial is a run: the ATIF trajectory in its folder `agent`, with the files that continue it, or
those of its steps. Other `trajectory*.json` are runs of sub-agents. Trials of one task and agent
are numbered in the order in which they began. The reward is a verdict on success of the verifier,
and the trial's outcome.

A trial that ended with an exception counts as Harbor counts it: with its reward if the agent is
the cause (time, length, exit code). Else the cause is the infrastructure: the trial is kept as
`invalid`, which is not an attempt, and its reward is not a verdict. Layout of Harbor 0.26 of
October 2026; jobs of February 2026 are read as well.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from tracegrade_collector.encoding.otlp import Signal
from tracegrade_collector.encoding.plain_files import READ_ERRORS
from tracegrade_collector.importing.formats.trajectories.atif_format import (
    NO_TRAJECTORY,
    AtifRun,
    release_of,
    runs_in,
    text_of,
    trajectory_of,
)
from tracegrade_collector.importing.formats.trajectories.atif_format import fits as is_trajectory
from tracegrade_collector.importing.import_part import ImportPart, ReadOptions
from tracegrade_collector.importing.records import TOO_DEEP, JsonObject, read_records
from tracegrade_collector.importing.scores import is_success, success_verdict
from tracegrade_collector.importing.source import open_plain
from tracegrade_collector.importing.spellings import as_list, as_object
from tracegrade_collector.importing.times import nanoseconds
from tracegrade_collector.importing.trajectory import (
    RunOrigin,
    Trajectory,
    counts,
    left_out,
    spans_of,
    with_totals,
)
from tracegrade_collector.importing.usage import read_cost, read_usage
from tracegrade_collector.importing.verdict_rows import VerdictRecord

FORMAT: Final = "harbor"
RESULT: Final = "result.json"
CONFIG: Final = "config.json"
MAIN: Final = "trajectory.json"
UNFINISHED: Final = "the trial has no result.json, so it is imported without an outcome"

_NOT_OF_AGENT: Final = frozenset(
    {
        *("EnvironmentStartTimeoutError", "SandboxBuildFailedError", "AgentSetupTimeoutError"),
        *("HealthcheckError", "SandboxLikelyOutOfMemoryError", "MemoryLimitExceededError"),
        *("SSHAccessError", "GKEExecStreamClosedError", "GKEPodNotFoundError"),
        *("RuntimeRequestError", "AddTestsDirError", "DownloadVerifierDirError", "ApiError"),
        *("ApiRateLimitError", "ApiInternalServerError", "ApiOverloadedError", "UnknownApiError"),
        *("ApiConnectionClosedError", "ApiResponseStalledError", "NetworkConnectionError"),
        *("ApiConnectionError", "ApiUsageLimitError", "RateLimitError", "InternalServerError"),
        *("ServiceUnavailableError", "APIConnectionError", "APIError", "Timeout"),
        *("UnsupportedModelParametersError", "BadRequestError", "UnprocessableEntityError"),
        *("UnsupportedParamsError", "APIResponseValidationError", "BudgetExceededError"),
        *("VerifierTimeoutError", "RewardFileNotFoundError", "RewardFileEmptyError"),
        *("VerifierOutputParseError", "AgentAuthenticationError", "ModelNotFoundError"),
        *("ApiProviderResourceNotFoundError", "AuthenticationError", "PermissionDeniedError"),
        *("NotFoundError", "ServiceOperationsUnsupportedError", "VercelScopeError"),
        *("DspyImportError", "MissingExtraError", "RegradeError", "CancelledError"),
    }
)
"""Exceptions after which Harbor counts no reward, unless the result has `reward_valid`."""

_REWARD: Final = "reward"
_FACTS: Final = (
    *("task_name", "source", "agent_info", "verifier_result", "exception_info"),
    *("started_at", "agent_execution", "reward_valid"),
)
_TOTALS: Final = ("n_input_tokens", "n_output_tokens", "n_cache_tokens", "cost_usd")
_FOLDERS: Final = ("agent", "verifier", "steps")


class _Trial(NamedTuple):
    """A folder of a trial, with what its files tell about it."""

    folder: Path
    result: JsonObject
    config: JsonObject
    faults: Sequence[ImportPart]
    """Files that could not be read."""

    @property
    def task(self) -> str | None:
        """Name of the task; that of its folder in an unfinished trial."""
        stated = text_of(self.result, "task_name")
        folder = text_of(as_object(self.config.get("task")), "path")
        return stated or (folder.rstrip("/").rpartition("/")[2] or None if folder else None)

    @property
    def agent(self) -> JsonObject:
        """Name and version of the agent."""
        return as_object(self.result.get("agent_info")) or as_object(self.config.get("agent"))

    @property
    def name(self) -> str:
        """Name of the trial in its job."""
        return text_of(self.config, "trial_name") or self.folder.name

    @property
    def job(self) -> str:
        """Id of the job, which the trial's result and its configuration both hold."""
        return text_of(self.config, "job_id") or self.folder.parent.name

    @property
    def category(self) -> str | None:
        """Name of the data set that the task is of."""
        task = as_object(self.config.get("task"))
        return text_of(self.result, "source") or text_of(task, "source")

    @property
    def exceptions(self) -> Sequence[JsonObject]:
        """Exceptions that ended the trial or one of its steps."""
        steps = map(as_object, as_list(self.result.get("step_results")))
        found = (each.get("exception_info") for each in (self.result, *steps))
        return [each for each in found if isinstance(each, dict)]

    @property
    def time_ns(self) -> int | None:
        """Time at which the agent began."""
        began = as_object(self.result.get("agent_execution")).get("started_at")
        return nanoseconds(began or self.result.get("started_at"))


def fits(folder: Path) -> bool:
    """Return whether this is a folder of a job or a trial."""
    return _is_trial(folder) or bool(_trial_folders(folder))


def read(path: Path, reading: ReadOptions) -> Iterator[ImportPart]:
    """Yield the parts of each trial of a job; `--map success=NAME` names the reward to read."""
    folders = [path] if _is_trial(path) else _trial_folders(path)
    if not folders:
        yield ImportPart(str(path), fault="no job of Harbor: no folder of a trial is in it")
    trials = [_trial(folder) for folder in folders]
    numbers = _numbers(trials)
    for position, trial in enumerate(trials):
        yield from trial.faults
        yield from _parts(trial, numbers[trial.folder], position, reading.paths.get("success"))


def _is_trial(folder: Path) -> bool:
    is_described = any((folder / name).is_file() for name in (RESULT, CONFIG))
    return is_described and any((folder / name).is_dir() for name in _FOLDERS)


def _trial_folders(job: Path) -> list[Path]:
    if not job.is_dir():
        return []
    return sorted(each for each in job.iterdir() if each.is_dir() and _is_trial(each))


def _trial(folder: Path) -> _Trial:
    result, *faults = _object(folder / RESULT)
    config, *more = _object(folder / CONFIG)
    found = as_object(result)
    stated = as_object(config) or as_object(found.get("config"))
    return _Trial(folder, _facts(found), stated, [*faults, *more])


def _facts(result: JsonObject) -> JsonObject:
    """Return a result without the tokens of its model calls, which may be millions."""
    steps = map(as_object, as_list(result.get("step_results")))
    facts = {key: result[key] for key in _FACTS if key in result}
    totals = as_object(result.get("agent_result"))
    facts["agent_result"] = {key: totals[key] for key in _TOTALS if key in totals}
    facts["step_results"] = [
        {key: step.get(key) for key in ("step_name", "exception_info")} for step in steps
    ]
    return facts if result else {}


def _object(path: Path) -> Sequence[Any]:
    """Return the JSON object of a file, then a part if it cannot be read; None for no file."""
    if not path.is_file():  # a pipe would never end
        return (None,)
    try:
        with open_plain(path) as file:
            record = next(read_records(file), None)
    except READ_ERRORS as error:
        return None, ImportPart(str(path), fault=f"cannot be read: {error}")
    if record is None or record.fault or not isinstance(record.value, dict):
        fault = "no JSON object" if record is None else record.fault or "no JSON object"
        return None, ImportPart(str(path), fault=fault)
    return (record.value,)


def _numbers(trials: Sequence[_Trial]) -> Mapping[Path, int]:
    """Return the number of each trial among those of its task and agent."""
    counted: Counter[tuple[Any, ...]] = Counter()
    numbers = {}
    for trial in sorted(trials, key=lambda each: (each.time_ns or 2**63, each.folder.name)):
        agent = trial.agent
        key = (trial.task, str(agent.get("name")), str(agent.get("version")))
        numbers[trial.folder] = counted[key]
        counted[key] += 1
    return numbers


def _parts(trial: _Trial, number: int, position: int, reward: str | None) -> Iterator[ImportPart]:
    """Yield a part for the trial, and one for each sub-agent's trajectory and broken file."""
    mains: list[JsonObject] = []
    others: dict[str, JsonObject] = {}
    for folder in _agent_folders(trial):
        documents: dict[str, JsonObject] = {}
        yield from _documents(folder, documents)
        main = documents.pop(MAIN, None)
        if main is not None:
            mains += [main, *_continuations(main, documents)]
        others |= {f"{folder.parent.name}/{name}": each for name, each in documents.items()}
    first_one, later = (mains[0], mains[1:]) if mains else ({}, [])
    runs = list(runs_in(AtifRun(first_one, "", None, later)))
    for name, document in others.items():
        runs += runs_in(AtifRun(document, name, None))
    session = runs[0].session or trial.name
    yield _trial_part(trial, number, position, runs[0]._replace(session=session), reward)
    for run in runs[1:]:
        yield _sub_agent_part(trial, position, run._replace(session=session))


def _agent_folders(trial: _Trial) -> list[Path]:
    """Return the folders with trajectories: the trial's, then those of its steps in order."""
    steps = trial.folder / "steps"
    found = (
        {each.name: each / "agent" for each in sorted(steps.iterdir())} if steps.is_dir() else {}
    )
    named = [
        as_object(each).get("step_name") for each in as_list(trial.result.get("step_results"))
    ]
    in_order = [found.pop(name) for name in named if isinstance(name, str) and name in found]
    return [trial.folder / "agent", *in_order, *found.values()]


def _documents(folder: Path, documents: dict[str, JsonObject]) -> Iterator[ImportPart]:
    """Read the trajectories of a folder by name; yield a part for each file that is none."""
    for path in sorted(folder.glob("trajectory*.json")):
        found, *faults = _object(path)
        yield from faults
        if is_trajectory(found):
            documents[path.name] = found
        elif found is not None:
            yield ImportPart(str(path), fault=NO_TRAJECTORY)


def _continuations(main: JsonObject, documents: dict[str, JsonObject]) -> list[JsonObject]:
    """Take the trajectories that continue the first; a file continues at most one."""
    found = []
    latest: JsonObject | None = main
    while latest is not None:
        name = str(latest.get("continued_trajectory_ref")).rpartition("/")[2]
        latest = documents.pop(name, None)
        if latest is not None:
            found.append(latest)
    return found


def _trial_part(
    trial: _Trial, number: int, position: int, run: AtifRun, reward: str | None
) -> ImportPart:
    location, ignored = str(trial.folder), Counter[str]()
    origin = RunOrigin(FORMAT, trial.job, trial.name, position)
    verdicts = list(_verdicts(trial, origin, reward, ignored))
    try:
        read_run = replace(
            trajectory_of(run, origin, trial.name, ignored),
            task=trial.task,
            category=trial.category,
            trial=number,
            outcome=_outcome(trial, verdicts),
        )
        part = _part(location, _with_trial(read_run, trial, ignored), ignored)
    except RecursionError:
        return ImportPart(location, fault=TOO_DEEP)
    understood = Counter(part.understood) + Counter({"scores": len(verdicts)})
    notes = [] if trial.result else [UNFINISHED]
    return part._replace(verdicts=verdicts, understood=understood, notes=notes)


def _sub_agent_part(trial: _Trial, position: int, run: AtifRun) -> ImportPart:
    location, ignored = f"{trial.folder}:{run.position}", Counter[str]()
    origin = RunOrigin(FORMAT, trial.job, f"{trial.name}\0{run.position}", position)
    if not is_trajectory(run.document):
        return ImportPart(location, fault=NO_TRAJECTORY)
    try:
        found = trajectory_of(run, origin, f"{trial.name}:{run.position}", ignored)
        return _part(location, found, ignored)
    except RecursionError:
        return ImportPart(location, fault=TOO_DEEP)


def _with_trial(run: Trajectory, trial: _Trial, ignored: Counter[str]) -> Trajectory:
    """Return a run with what its trajectory does not tell: agent, time, totals."""
    agent = trial.agent
    has_times = any(message.time_ns for message in run.messages)
    stated = as_object(trial.result.get("agent_result"))
    usage = {
        "prompt_tokens": stated.get("n_input_tokens"),
        "completion_tokens": stated.get("n_output_tokens"),
        "cached_tokens": stated.get("n_cache_tokens"),
    }
    messages = with_totals(run.messages, read_usage(usage), read_cost(stated.get("cost_usd")))
    if stated and not messages:
        ignored["totals of trials without a trajectory"] += 1
    return replace(
        run,
        messages=messages,
        agent=run.agent or text_of(agent, "name"),
        release=run.release or release_of(agent),
        time_ns=None if has_times else trial.time_ns,
    )


def _part(location: str, run: Trajectory, ignored: Counter[str]) -> ImportPart:
    return ImportPart(
        location,
        Signal.TRACES,
        spans_of(run),
        understood=counts(run),
        ignored=ignored + left_out(run),
        unnamed_runs=int(run.agent is None and run.release is None),
    )


def _verdicts(
    trial: _Trial, origin: RunOrigin, chosen: str | None, ignored: Counter[str]
) -> Iterator[VerdictRecord]:
    """Yield a verdict for each reward that tells success."""
    rewards = as_object(as_object(trial.result.get("verifier_result")).get("rewards"))
    if rewards and not _counts(trial):
        ignored["rewards of trials that the infrastructure ended"] += len(rewards)
        return
    for name, value in rewards.items():
        is_wanted = name == chosen if chosen else name == _REWARD or len(rewards) == 1
        verdict = success_verdict(origin.trajectory_id(), f"{FORMAT} {name}", value)
        if not is_wanted and (chosen or not is_success(name, None)):
            ignored["rewards that do not tell success"] += 1
        elif verdict is None:
            ignored["rewards that are not a number from 0 to 1"] += 1
        else:
            yield verdict


def _counts(trial: _Trial) -> bool:
    """Return whether the agent is the cause of all that ended the trial."""
    stated = trial.result.get("reward_valid")
    if isinstance(stated, bool):
        return stated
    return not any(str(each.get("exception_type")) in _NOT_OF_AGENT for each in trial.exceptions)


def _outcome(trial: _Trial, verdicts: Sequence[VerdictRecord]) -> str | None:
    """Return what all verdicts say; nothing if they differ or one is between right and wrong."""
    if trial.exceptions and not verdicts:
        return "invalid"
    values = {verdict["value"] for verdict in verdicts}
    return {1.0: "success", 0.0: "failure"}.get(*values) if len(values) == 1 else None
