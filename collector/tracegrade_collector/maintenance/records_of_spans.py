"""Finds the log records that became spans of some traces (`encoding/agent_records.py`)."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from tracegrade_collector.encoding.agent_records import AGENTS, Agent
from tracegrade_lake import RAW_SPANS, Lake
from tracegrade_lake.maintenance.condition import RowCondition
from tracegrade_lake.maintenance.row_selection import rows_of_traces, selected_rows

_READ: Final = ("scope_name", "attributes")


def records_of_spans(lake: Lake, trace_ids: Sequence[str]) -> RowCondition | None:
    """Return a condition for the log records that became spans of some traces; None without any.

    Names of conversations are compared as the lake holds them, redacted and pseudonymized.

    Args:
        lake: The lake.
        trace_ids: Sorted, lower case.

    Raises:
        LakeDamaged: A file of the spans cannot be read.
    """
    found = [_records(agent, names) for agent, names in _conversations(lake, trace_ids).items()]
    return RowCondition(reduce(or_, found), frozenset(_READ)) if found else None


def _conversations(lake: Lake, trace_ids: Sequence[str]) -> Mapping[Agent, Collection[str]]:
    """Return the names of the conversations of traces, by agent."""
    found: defaultdict[Agent, set[str]] = defaultdict(set)
    for agent, rows in _spans(lake, trace_ids):
        names = pc.map_lookup(
            rows["attributes"].combine_chunks(),
            query_key=pa.scalar(agent.conversation),
            occurrence="first",
        )
        found[agent].update(pc.unique(names.drop_null()).to_pylist())
    return {agent: names for agent, names in found.items() if names}


def _spans(lake: Lake, trace_ids: Sequence[str]) -> Iterator[tuple[Agent, pa.Table]]:
    """Yield spans of the traces that were made of an agent's records, with the agent."""
    selection = rows_of_traces(RAW_SPANS, trace_ids)
    if selection is None:
        return
    columns = pa.schema([*selection.columns, *map(RAW_SPANS.arrow().field, _READ)])
    for rows in selected_rows(lake, RAW_SPANS.name, selection._replace(columns=columns)):
        for agent in AGENTS:
            of_agent = rows.filter(pc.field("scope_name") == agent.scope_of_spans)
            if of_agent.num_rows:
                yield agent, of_agent


def _records(agent: Agent, conversations: Collection[str]) -> Any:
    """Return an expression for the log records of an agent's conversations."""
    name = pc.map_lookup(
        pc.field("attributes"), query_key=pa.scalar(agent.conversation), occurrence="first"
    )
    chosen = name.isin(pa.array(sorted(conversations), pa.string()))
    return chosen & (pc.field("scope_name") == agent.scope) if agent.scope else chosen
