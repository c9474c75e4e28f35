"""Gives runs the release, agent, task and other dimensions that a mapping reads from their labels.

Its own module because a mapping changes while spans do not. `trajectories.labels` holds what may
label a run, so that another mapping does not require reading spans again.

Makes:
    unlabeled_runs (from trajectories): the runs whose dimensions are read
    dimension_rungs: the labels that may hold the value of each dimension
"""

import datetime
from collections.abc import Sequence
from typing import Final, NamedTuple

import duckdb

from tracegrade_lake import Lake
from tracegrade_queries.dimensions.mapping import (
    NO_MAPPING,
    DimensionMapping,
    dimension_rungs,
)
from tracegrade_queries.dimensions.stored import (
    StoredMapping,
    store_mapping,
    stored_mapping,
)
from tracegrade_queries.engine.connection import Limits, connect_pinned, read_pinned
from tracegrade_queries.engine.relations import count, make_view, put
from tracegrade_queries.engine.staged import stage_dates
from tracegrade_queries.relations import RELATIONS
from tracegrade_queries.schema import TRAJECTORIES

MEMORY_LIMIT: Final = "4GB"
"""Memory of the engine; it spills beyond."""


class LabelingSummary(NamedTuple):
    """How the runs of a lake got their dimensions."""

    mapping: DimensionMapping | None = None
    """The mapping in force; None without one."""
    unread: Sequence[str] = ()
    """Attributes of spans that a new mapping names, that builds before it did not keep, and that
    no resource has."""
    runs: int = 0
    """Runs of the lake, when the mapping is new."""
    unlabeled: int = 0
    """Runs among these that an earlier version built, without labels."""


NO_LABELING: Final = LabelingSummary()


class GivenMapping(NamedTuple):
    """A user's choice of the mapping of a lake."""

    mapping: DimensionMapping | None
    """None drops the one that the lake keeps."""


def start_labeling(lake: Lake, given: GivenMapping | None) -> StoredMapping:
    """Return the mapping that counts for a lake; a new one is stored as not applied yet."""
    stored = stored_mapping(lake)
    if given is None or given.mapping == stored.mapping:
        return stored
    changed = stored._replace(mapping=given.mapping, unfinished=True)
    store_mapping(lake, changed)
    return changed


def finish_labeling(
    lake: Lake, stored: StoredMapping, *, any_built: bool, all_built: bool
) -> LabelingSummary:
    """Bring the dimensions of all runs up to date with the mapping.

    Args:
        lake: The lake to read and write. One writer of built tables at a time.
        stored: The mapping, as `start_labeling` returned it.
        any_built: Whether runs were built with it since.
        all_built: Whether all runs were.
    """
    wanted = frozenset((stored.mapping or NO_MAPPING).span_names())
    in_all_runs = stored.span_attributes
    if all_built:
        in_all_runs = wanted
    elif any_built:
        in_all_runs &= wanted
    found = _update_labels(lake, stored.mapping) if stored.unfinished else NOTHING_READ
    store_mapping(lake, StoredMapping(stored.mapping, in_all_runs))
    unread = wanted - in_all_runs - found.labels if stored.mapping and stored.unfinished else ()
    return LabelingSummary(stored.mapping, sorted(unread), found.runs, found.unlabeled)


class LabelsRead(NamedTuple):
    """What the runs of a lake have as labels."""

    labels: frozenset[str] = frozenset()
    runs: int = 0
    unlabeled: int = 0


NOTHING_READ: Final = LabelsRead()


def _update_labels(lake: Lake, mapping: DimensionMapping | None) -> LabelsRead:
    """Rewrite the dates on which a run changes."""
    names = [TRAJECTORIES.name]
    con = read_pinned(
        lake, names, lambda pinned: connect_pinned(pinned, (TRAJECTORIES,), Limits(MEMORY_LIMIT))
    )
    with con:
        rows = with_labels(con, mapping, TRAJECTORIES.name)
        stale = con.sql(
            "SELECT DISTINCT trajectories.date FROM trajectories "
            f"INNER JOIN labeled_runs USING (trajectory_id) WHERE {_DIFFERS} ORDER BY date"
        ).fetchall()
        dates = [date for (date,) in stale]

        def of_date(date: datetime.date) -> duckdb.DuckDBPyRelation:
            return con.sql(f"SELECT * FROM ({rows}) WHERE date = $date", params={"date": date})

        if dates:
            files = stage_dates(lake, TRAJECTORIES, dates, of_date)
            lake.put_files(TRAJECTORIES, files, list(map(str, dates)), {})
        labels = con.sql("SELECT DISTINCT unnest(map_keys(labels)) FROM trajectories").fetchall()
        return LabelsRead(
            frozenset(label for (label,) in labels),
            count(con, "trajectories"),
            count(con, "trajectories WHERE labels IS NULL"),
        )


_REPLACED: Final = ("release", "agent_name", "task_id", "labels", "dimensions", "flags")
"""Columns of `trajectories` that depend on a mapping."""

_DIFFERS: Final = " OR ".join(
    f"trajectories.{name} IS DISTINCT FROM labeled_runs.{name}" for name in _REPLACED
)


def with_labels(
    con: duckdb.DuckDBPyConnection, mapping: DimensionMapping | None, rows: str
) -> str:
    """Return the query of rows of `trajectories` with their dimensions, in the order of ids.

    Args:
        con: The connection; it then has `labeled_runs`.
        mapping: The mapping; None reads the release alone.
        rows: The name of a relation with the columns of `trajectories`.
    """
    make_view(con, "unlabeled_runs", f"SELECT * FROM {rows}")
    put(con, "dimension_rungs", dimension_rungs(mapping or NO_MAPPING))
    RELATIONS.run(
        con,
        ("labeled_runs",),
        ("unlabeled_runs", "dimension_rungs"),
        options={"mapped": mapping is not None},
    )
    replaced = ", ".join(f"labeled_runs.{name} AS {name}" for name in _REPLACED)
    return (
        f"SELECT rows.* REPLACE ({replaced}) FROM {rows} AS rows "
        "INNER JOIN labeled_runs USING (trajectory_id) ORDER BY rows.trajectory_id"
    )
