"""The format `tau2`: results of tau2-bench → spans, with the rewards as verdicts.

A file is the results of `tau2 run` with their simulations, a `results.json` next to a folder
`simulations`, or one simulation of that folder. Each simulation is a run: its task is
`DOMAIN/TASK`, its trial is the simulation's. The agent's messages and calls are steps. The user
simulator's texts are the user's turns, and its tool calls are counted apart. The reward is a
verdict on success, with the reason of the termination as its label. A simulation that ended by an
infrastructure error is not an attempt, as in tau2-bench's own metrics: its run is invalid and has
no verdict.

The form is that of https://github.com/sierra-research/tau2-bench (`src/tau2/data_model`), version
1.0.1 as of August 2026.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from tracegrade_collector.encoding.otlp import Signal
from tracegrade_collector.encoding.plain_files import READ_ERRORS
from tracegrade_collector.importing.chat import read_messages
from tracegrade_collector.importing.formats.tau2_messages import chat_of, is_audio_alone
from tracegrade_collector.importing.import_part import ImportPart, ReadOptions
from tracegrade_collector.importing.mapping import as_name, at_path
from tracegrade_collector.importing.records import FileRecord, JsonObject, read_records
from tracegrade_collector.importing.scores import JUDGE, success_verdict
from tracegrade_collector.importing.source import open_plain, source_of
from tracegrade_collector.importing.spellings import as_list, as_object, as_text, quoted_word
from tracegrade_collector.importing.times import nanoseconds
from tracegrade_collector.importing.trajectory import (
    Message,
    RunOrigin,
    Trajectory,
    counts,
    left_out,
    spans_of,
)
from tracegrade_collector.importing.verdict_rows import VerdictRecord
from tracegrade_collector.importing.whose_calls import with_own_replies

FORMAT: Final = "tau2"

_SIMULATIONS: Final = "simulations"
_RESULTS: Final = "results.json"
_NO_ATTEMPT: Final = "infrastructure_error"
_EMPTY: Final[tuple[Any, ...]] = (None, "", 0, False, [], {})
_READ: Final = {
    *("id", "task_id", "timestamp", "start_time", "messages", "ticks", "trial", "policy"),
    *("termination_reason", "reward_info", "hallucination_retries_used"),
    *("end_time", "duration", "mode", "seed"),  # messages say them, or runs do not need them
}
"""Fields of a simulation that are read; others are counted."""


def fits(record: Any) -> bool:
    """Return whether a file that begins with this record is of this format."""
    return _is_results(record) or _is_simulation(record)


def read(path: Path, reading: ReadOptions) -> Iterator[ImportPart]:
    """Yield a part for each simulation, and one for each invalid one.

    `--map agent=PATH,release=PATH` says where in the results' `info` these stand.
    """
    with open_plain(path) as file:
        for record in read_records(file):
            yield from _parts(path, record, reading)


class _Results(NamedTuple):
    """Properties that all simulations of a file share."""

    reading: ReadOptions
    info: JsonObject = MappingProxyType({})

    @property
    def environment(self) -> JsonObject:
        return as_object(self.info.get("environment_info"))

    @property
    def agent(self) -> JsonObject:
        return as_object(self.info.get("agent_info"))

    def text(self, field: str, default: Any) -> str | None:
        """Return the agent or release, from where `--map` says it stands."""
        path = self.reading.paths.get(field)
        return as_name(at_path(self.info, path) if path else default)


def _is_results(record: Any) -> bool:
    info = as_object(as_object(record).get("info"))
    has_runs = isinstance(as_object(record).get(_SIMULATIONS), list)
    return "agent_info" in info and ("environment_info" in info or has_runs)


def _is_simulation(record: Any) -> bool:
    found = as_object(record)
    is_ended = "task_id" in found and "termination_reason" in found
    return is_ended and ("messages" in found or "ticks" in found)


def _parts(path: Path, record: FileRecord, reading: ReadOptions) -> Iterator[ImportPart]:
    location = f"{path}:{record.line}"
    if record.fault or not fits(record.value):
        fault = record.fault or "no results of tau2-bench"
        yield ImportPart(location, fault=fault)
    elif _is_simulation(record.value):
        results = _Results(reading, _info_above(path))
        yield _part(results, location, record.line - 1, record.value)
    else:
        results = _Results(reading, as_object(record.value["info"]))
        simulations = record.value.get(_SIMULATIONS)
        for number, simulation in enumerate(as_list(simulations)):
            yield _part(results, f"{path}:{_SIMULATIONS}[{number}]", number, simulation)
        if not simulations:
            yield from _folder_parts(path, results)


def _folder_parts(path: Path, results: _Results) -> Iterator[ImportPart]:
    """Yield the parts of the simulations in the folder next to the results, file by file."""
    for number, file_path in enumerate(sorted((path.parent / _SIMULATIONS).glob("*.json"))):
        try:
            with open_plain(file_path) as file:
                record = next(read_records(file), FileRecord(1, None, "the file is empty"))
        except READ_ERRORS as error:
            record = FileRecord(1, None, f"cannot be read: {error}")
        if record.fault:
            yield ImportPart(f"{file_path}:{record.line}", fault=record.fault)
        else:
            yield _part(results, str(file_path), number, record.value)


def _info_above(path: Path) -> JsonObject:
    """Return the `info` of the results whose folder of simulations this file is in."""
    results = path.parent.parent / _RESULTS
    if path.parent.name != _SIMULATIONS or not results.is_file():
        return {}
    with open_plain(results) as file:
        record = next(read_records(file), None)
    return as_object(as_object(record.value if record else None).get("info"))


def _part(results: _Results, location: str, number: int, simulation: Any) -> ImportPart:
    if not _is_simulation(simulation):
        fault = "no simulation of tau2-bench: it has no task, termination reason and messages"
        return ImportPart(location, fault=fault)
    ignored = Counter(
        f"fields {quoted_word(key)} of simulations"
        for key, value in simulation.items()
        if key not in _READ and value not in _EMPTY
    )
    name = simulation.get("id")
    origin = (
        RunOrigin(FORMAT, as_text(name), "", number)
        if name
        else RunOrigin(FORMAT, source_of(Path(location)), str(number), number)
    )
    verdicts = list(_verdicts(origin, simulation, ignored))
    run = _trajectory(results, origin, simulation, verdicts, ignored)
    return ImportPart(
        location,
        Signal.TRACES,
        spans_of(run),
        verdicts=verdicts,
        understood=counts(run) + Counter({"rewards": len(verdicts)}),
        ignored=ignored + left_out(run),
        unnamed_runs=int(run.agent is None and run.release is None),
    )


def _trajectory(
    results: _Results,
    origin: RunOrigin,
    simulation: JsonObject,
    verdicts: list[VerdictRecord],
    ignored: Counter[str],
) -> Trajectory:
    domain, task = results.environment.get("domain_name"), as_name(simulation.get("task_id"))
    trial, retries = simulation.get("trial"), simulation.get("hallucination_retries_used")
    return Trajectory(
        origin,
        location=f"{domain}/{task}",
        messages=_messages(results, simulation, ignored),
        task=f"{domain}/{task}" if domain and task else task,
        category=as_name(domain),
        trial=trial if type(trial) is int and 0 <= trial < 2**31 else None,
        retries=retries if type(retries) is int and 0 < retries < 2**31 else None,
        outcome=_outcome(simulation, verdicts),
        release=results.text("release", results.info.get("git_commit")),
        agent=results.text("agent", results.agent.get("implementation")),
        time_ns=nanoseconds(simulation.get("start_time")),
        system=as_name(simulation.get("policy") or results.environment.get("policy")),
        tools=_tools(results.environment.get("tool_defs")),
    )


def _messages(results: _Results, simulation: JsonObject, ignored: Counter[str]) -> list[Message]:
    """Return the messages; those that a model wrote name the agent's model."""
    model = as_name(results.agent.get("llm"))
    messages = with_own_replies(read_messages(chat_of(simulation), ignored), ignored)
    if not messages:
        how = (
            "whose speech is there as audio alone" if is_audio_alone(simulation) else "of no words"
        )
        ignored[f"simulations {how}: each gives no steps"] += 1
    return [
        replace(message, model=message.model or model)
        if message.role == "assistant" and message.usage
        else message
        for message in messages
    ]


def _tools(definitions: Any) -> str | None:
    tools = [
        {"name": name, "description": tool.get("doc"), "parameters": tool.get("params")}
        for name, tool in as_object(definitions).items()
        if isinstance(tool, dict)
    ]
    return as_text(tools) if tools else None


def _verdicts(
    origin: RunOrigin, simulation: JsonObject, ignored: Counter[str]
) -> Iterator[VerdictRecord]:
    """Yield the reward as a verdict, of a judge if a model took part in it."""
    reward_info = as_object(simulation.get("reward_info"))
    reward, breakdown = reward_info.get("reward"), reward_info.get("reward_breakdown")
    if reward is None:
        return
    if simulation.get("termination_reason") == _NO_ATTEMPT:
        ignored["rewards of simulations that an infrastructure error ended"] += 1
        return
    is_judged = "NL_ASSERTION" in as_list(reward_info.get("reward_basis"))
    verdict = success_verdict(
        origin.trajectory_id(),
        f"{JUDGE if is_judged else ''}{FORMAT} reward",
        reward,
        label=as_name(simulation.get("termination_reason")),
        evidence=as_text(breakdown) if breakdown else None,
    )
    if verdict is None:
        ignored["rewards that are not a number from 0 to 1"] += 1
    else:
        yield verdict


def _outcome(simulation: JsonObject, verdicts: list[VerdictRecord]) -> str | None:
    """Return success for a reward of 1, as tau2-bench's metrics count it."""
    if simulation.get("termination_reason") == _NO_ATTEMPT:
        return "invalid"
    return next(("success" if each["value"] >= 1 - 1e-6 else "failure" for each in verdicts), None)
