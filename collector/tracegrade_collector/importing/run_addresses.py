"""Verdicts that name a task and a trial → the run that they are about.

The lake's spans have their task and trial, so the runs must be in the lake first.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from tracegrade import names
from tracegrade_lake import RAW_SPANS, Lake

BATCH_ROWS: Final = 1024
"""Spans of long messages are wide: so many are in memory at once."""


class RunAddress(NamedTuple):
    """Address of the run that a verdict is about; fields it does not give are None."""

    task: str
    trial: str | None = None
    agent: str | None = None
    """The agent's or the service's name."""

    release: str | None = None
    conversation: str | None = None

    def text(self) -> str:
        """Return the given fields, for a message."""
        given = zip(self._fields, self, strict=True)
        return ", ".join(f"{name} '{value}'" for name, value in given if value is not None)


class _SpanRunInfo(NamedTuple):
    """Identity of a run, from one of its spans."""

    trace_id: str
    root_id: str | None
    """The span's own id, if it is an agent's without a parent; it identifies the run."""

    task: str
    trial: str | None
    agent: str | None
    service: str | None
    release: str | None
    conversation: str | None

    def fits(self, address: RunAddress) -> bool:
        """Return whether nothing that the address names is otherwise here."""
        return (
            address.trial in (None, self.trial)
            and address.agent in (None, self.agent, self.service)
            and address.release in (None, self.release)
            and address.conversation in (None, self.conversation)
        )


FoundRuns: TypeAlias = Sequence[str] | str
"""Trajectory ids (trace ids if no span is surely the root), or why none was found."""


def runs_of(lake: Lake, addresses: Iterable[RunAddress]) -> dict[RunAddress, FoundRuns]:
    """Return the run of each address, or the turns of one conversation.

    An address that fits no run, or more than one, gets a text that explains this.
    """
    selected = set(addresses)
    by_task: dict[str, set[_SpanRunInfo]] = defaultdict(set)
    for info in _run_infos(lake, {address.task for address in selected}):
        by_task[info.task].add(info)
    return {address: _found(address, by_task[address.task]) for address in selected}


def _found(address: RunAddress, infos: Iterable[_SpanRunInfo]) -> FoundRuns:
    fitting = [each for each in infos if each.fits(address)]
    exact = {each.trace_id for each in fitting if each.root_id}
    of_run: dict[str, set[str | None]] = defaultdict(set)
    for each in fitting:
        if each.root_id or each.trace_id not in exact:
            run = f"{each.trace_id}-{each.root_id}" if each.root_id else each.trace_id
            of_run[run].add(each.conversation)
    conversations = set[str | None]().union(*of_run.values())
    if not of_run:
        return f"no run in the lake has {address.text()}; import the runs before their verdicts"
    if len(of_run) > 1 and (len(conversations) > 1 or None in conversations):
        return (
            f"{len(of_run)} runs have {address.text()}; tell them apart by trial, agent, release "
            "or conversation"
        )
    return sorted(of_run)


def _run_infos(lake: Lake, tasks: set[str]) -> Iterator[_SpanRunInfo]:
    """Yield the run of each span of some tasks, with one batch in memory."""
    selected = pa.array(sorted(tasks), pa.string())
    columns = ["trace_id", "span_id", "parent_span_id", "attributes", "resource_attributes"]
    for file in lake.newest_files(RAW_SPANS.name) if tasks else ():
        for batch in file.iter_batches(BATCH_ROWS, columns=columns):
            task = _value_of(batch["attributes"], names.TASK_ID)
            chosen = pc.is_in(task, value_set=selected)
            yield from _infos_of_spans(batch.filter(chosen), task.filter(chosen))


def _infos_of_spans(spans: pa.RecordBatch, task: pa.Array) -> Iterator[_SpanRunInfo]:
    attributes, resource = spans["attributes"], spans["resource_attributes"]
    is_agent = pc.equal(_value_of(attributes, names.OPERATION_NAME), names.INVOKE_AGENT)
    is_root = pc.and_(spans["parent_span_id"].is_null(), is_agent)
    columns = (
        spans["trace_id"],
        pc.if_else(is_root, spans["span_id"], None),
        task,
        _value_of(attributes, names.TRIAL),
        _value_of(attributes, names.AGENT_NAME),
        _value_of(resource, names.SERVICE_NAME),
        _value_of(resource, names.SERVICE_VERSION),
        _value_of(attributes, names.CONVERSATION_ID),
    )
    rows = zip(*(column.to_pylist() for column in columns), strict=True)
    yield from {_SpanRunInfo(*row) for row in rows}


def _value_of(attributes: pa.Array, key: str) -> pa.Array:
    return pc.map_lookup(attributes, key, "first").cast(pa.string())
