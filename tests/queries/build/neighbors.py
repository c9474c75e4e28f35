"""The rows of traces by trace, to compare what is made of one alone and beside others."""

import json
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from tests.queries.traces import Row, capture, land, land_logs, logs_of, rows

from tracegrade_lake import Lake
from tracegrade_queries.build.build import build

OF_ITS_ARRIVAL = {"trace_received_ns", "input_hash", "date"}
"""Columns that say when a trace was received, or are made of that."""


class Sent(NamedTuple):
    """What was sent of one trace, or a few: requests of spans, and of log records."""

    spans: bytes
    logs: list[bytes]


def of_captures(names: Iterable[str]) -> dict[str, Sent]:
    """Return captured traces, by their names."""
    return {name: Sent(capture(name), logs_of(name)) for name in names}


def of_reports(shared_data: Path) -> dict[str, Sent]:
    """Return the requests of spans in a folder, by their names; of two with one id the first."""
    found: dict[str, Sent] = {}
    seen: set[str] = set()
    for path in sorted(shared_data.glob("reports/*.json")):
        body = path.read_bytes()
        ids = trace_ids(json.loads(body))
        if ids and seen.isdisjoint(ids):
            found[path.stem] = Sent(body, [])
            seen |= ids
    return found


def trace_ids(request: object) -> set[str]:
    """Return the ids of the traces in OTLP/JSON; none of what is something else."""
    nodes = [request.get("resourceSpans")] if isinstance(request, Mapping) else []
    found = set()
    for node in nodes:
        if isinstance(node, Mapping):
            found |= {value for key, value in node.items() if key == "traceId" and value}
            nodes += node.values()
        elif isinstance(node, list):
            nodes += node
    return found


def rows_of(folder: Path, sent: Iterable[Sent]) -> dict[str, list[Row]]:
    """Return the rows of all tables for traces that were landed and built together, by trace."""
    lake = Lake.create(folder / "lake")
    for number, each in enumerate(sent):
        land(lake, each.spans, seq=number)
        land_logs(lake, *each.logs, seq=number)
    build(lake)
    return by_trace(
        rows(lake, "FROM steps ORDER BY trajectory_id, step_index"),
        rows(lake, "FROM trajectories ORDER BY trajectory_id"),
        rows(lake, "FROM agents ORDER BY trajectory_id, agent_span_id"),
    )


def by_trace(*tables: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the rows of each trace, in their order, without what its arrival decides."""
    found: dict[str, list[Row]] = {}
    for row in chain(*tables):
        kept = {name: value for name, value in row.items() if name not in OF_ITS_ARRIVAL}
        found.setdefault(row["trace_id"], []).append(kept)
    return found
