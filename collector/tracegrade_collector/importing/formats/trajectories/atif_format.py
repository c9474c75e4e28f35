"""The format `atif`: trajectories in Harbor's Agent Trajectory Interchange Format → spans.

Versions 1.0 to 1.8 (RFC 0001 of April 2026, models of Harbor 0.26 of October 2026). A
file is one trajectory, a list of them or one a line. It is a run; so is each sub-agent's
trajectory inside it, in the same conversation. Ids are made from the session's id, the
trajectory's (else the file's name) and the first time, so a file that was moved is recognized.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from tracegrade_collector.encoding.otlp import Signal
from tracegrade_collector.importing.formats.trajectories.atif_steps import read_steps, times_in
from tracegrade_collector.importing.import_part import ImportPart, ReadOptions
from tracegrade_collector.importing.records import TOO_DEEP, JsonObject, read_records
from tracegrade_collector.importing.source import open_plain
from tracegrade_collector.importing.spellings import as_list, as_object, as_text, quoted_word
from tracegrade_collector.importing.trajectory import (
    RunOrigin,
    Trajectory,
    counts,
    left_out,
    spans_of,
    with_totals,
)
from tracegrade_collector.importing.usage import read_cost, read_usage

FORMAT: Final = "atif"
NO_TRAJECTORY: Final = "no trajectory of ATIF: it lacks 'schema_version' or 'steps'"
CONTINUED: Final = (
    "it is continued in another file; import the folder of Harbor's job to join them"
)

_VERSION: Final = "ATIF-v"
_FIELDS: Final = frozenset(
    {
        *("schema_version", "session_id", "trajectory_id", "agent", "steps", "final_metrics"),
        *("continued_trajectory_ref", "subagent_trajectories"),
    }
)


class AtifRun(NamedTuple):
    """A trajectory with what it has from its surroundings."""

    document: JsonObject
    position: str
    """In the session; empty for its only trajectory."""

    session: str | None
    """Its own session, else that of the trajectory around it."""

    later: Sequence[JsonObject] = ()
    """Trajectories that continue it, in order."""


def fits(record: Any) -> bool:
    """Return whether a file that begins with this record is of this format."""
    return (
        isinstance(record, dict)
        and isinstance(record.get("steps"), list)
        and str(record.get("schema_version")).startswith(_VERSION)
    )


def read(path: Path, _: ReadOptions) -> Iterator[ImportPart]:
    """Yield a part for each trajectory of a file, and one for each invalid one."""
    number = 0
    with open_plain(path) as file:
        for record in read_records(file):
            location = f"{path}:{record.line}"
            if record.fault or not fits(record.value):
                yield ImportPart(location, fault=record.fault or NO_TRAJECTORY)
                continue
            for run in runs_in(AtifRun(record.value, path.name, None)):
                yield _part(run, location, path, number)
                number += 1
    if not number:
        yield ImportPart(str(path), fault="no trajectory is in it")


def runs_in(run: AtifRun) -> Iterator[AtifRun]:
    """Yield a trajectory and those of its sub-agents, each before its own sub-agents."""
    waiting = [run]
    while waiting:
        document, position, session, later = waiting.pop()
        own = text_of(document, "session_id") or session
        yield AtifRun(document, text_of(document, "trajectory_id") or position, own, later)
        inner = [
            AtifRun(as_object(each), f"{position}/{number}", own)
            for each_document in (document, *later)
            for number, each in enumerate(as_list(each_document.get("subagent_trajectories")))
        ]
        waiting += reversed(inner)


def trajectory_of(
    run: AtifRun, origin: RunOrigin, location: str, ignored: Counter[str]
) -> Trajectory:
    """Return the run that a trajectory and its continuations are.

    Args:
        run: The trajectory.
        origin: Makes the ids.
        location: For people who look at the spans.
        ignored: Counts what is left out, by reason.
    """
    agent = as_object(run.document.get("agent"))
    documents = (run.document, *run.later)
    steps = read_steps(documents, ignored)
    for document in documents:
        unknown = (key for key in document if key not in _FIELDS)
        ignored.update(f"fields {quoted_word(key)} of trajectories" for key in unknown)
    totals = as_object(documents[-1].get("final_metrics"))
    return Trajectory(
        origin,
        location,
        with_totals(steps.messages, _total_usage(totals), read_cost(totals.get("total_cost_usd"))),
        release=release_of(agent),
        agent=text_of(agent, "name"),
        conversation=run.session,
        system=steps.system,
        tools=_tools(agent),
    )


def _part(run: AtifRun, location: str, path: Path, number: int) -> ImportPart:
    if not fits(run.document):
        return ImportPart(location, fault=NO_TRAJECTORY)
    ignored: Counter[str] = Counter()
    first = next(times_in(run.document), "")
    source = run.session or path.name
    origin = RunOrigin(FORMAT, source, f"{run.position}\0{first}", number)
    try:
        trajectory = trajectory_of(run, origin, f"{path.name}:{run.position}", ignored)
        request = spans_of(trajectory)
    except RecursionError:
        return ImportPart(location, fault=TOO_DEEP)
    return ImportPart(
        location,
        Signal.TRACES,
        request,
        understood=counts(trajectory),
        ignored=ignored + left_out(trajectory),
        notes=[CONTINUED] if run.document.get("continued_trajectory_ref") else [],
        unnamed_runs=int(trajectory.agent is None and trajectory.release is None),
    )


def release_of(agent: JsonObject) -> str | None:
    """Return the version of an agent; Harbor writes `unknown` where it knows none."""
    version = text_of(agent, "version")
    return None if version == "unknown" else version


def _total_usage(totals: JsonObject) -> dict[str, int]:
    """Return the tokens of a whole run; those of the last file include those before it."""
    kinds = ("prompt_tokens", "completion_tokens", "cached_tokens")
    return read_usage({kind: totals.get(f"total_{kind}") for kind in kinds})


def text_of(found: JsonObject, key: str) -> str | None:
    """Return a text of an object; None if it is empty or of another type."""
    value = found.get(key)
    return value if isinstance(value, str) and value else None


def _tools(agent: JsonObject) -> str | None:
    tools = agent.get("tool_definitions")
    return as_text(tools) if isinstance(tools, list) and tools else None
