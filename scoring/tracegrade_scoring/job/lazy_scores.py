"""Scores in memory, of which only what is asked for is made.

Its own module because planning a query takes most of the time of a small bucket, and a test asks
for few metrics. Each relation is made once, so asking for everything costs as much as scoring at
once, and the rows are the same.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import duckdb
import pyarrow as pa

from tracegrade_lake import Table
from tracegrade_queries.engine.connection import create_layer_views
from tracegrade_queries.engine.layers import BUILT
from tracegrade_queries.engine.relations import given, make_view, put
from tracegrade_queries.engine.staged import in_full, typed
from tracegrade_scoring.job.bucket_rows import divide, steps_read, take_bucket
from tracegrade_scoring.job.discovery import find_traces
from tracegrade_scoring.job.score_bucket import (
    EVIDENCE,
    GIVEN,
    STAGED,
    evidence_rows,
    new_rows,
    options_of,
    targets_of,
)
from tracegrade_scoring.job.score_table import scores_by
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.metric_definition import METRIC_DEFINITIONS
from tracegrade_scoring.metrics import METRICS
from tracegrade_scoring.own_metrics.stored import definition_rows
from tracegrade_scoring.schema import CUSTOM_SCORES, SCORE, TRAJECTORY_SCORES
from tracegrade_scoring.sql import QUERIES, RELATIONS
from tracegrade_scoring.tasks import Specification

_ONE_BUCKET: Final = 2**62
"""More steps than any traces have."""

_VIEWS: Final = ("observed_optima", "observed_step_scores", "scores")

_OBSERVED: Final = ("success", "actual_steps", "step_efficiency", "step_ratio")
"""Metrics that the views of scores read by name."""


class _Bucket:
    """The bucket with all traces, and the relations of it that were made so far."""

    def __init__(
        self, con: duckdb.DuckDBPyConnection, traces: pa.Table, specification: Specification
    ) -> None:
        put(con, "bucket_traces", traces)
        take_bucket(con, steps_read(specification))
        for table in (CUSTOM_SCORES, TRAJECTORY_SCORES):
            put(con, table.name, table.arrow().empty_table())
        for view in _VIEWS:
            make_view(con, view, QUERIES.unordered(view))
        options = options_of(specification)
        self._specification = specification
        self._run = RELATIONS.start(con, options=options, context=specification)
        self._order = RELATIONS.order(targets_of(specification), GIVEN, options)

    def scores(self, scorer: str, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query, while the view `scores` has those of one scorer."""
        con = self._made(scorer)
        put(con, TRAJECTORY_SCORES.name, _columns(scores_by(con, (scorer,))))
        return con.execute(query).fetchall()

    def evidence(self, table: Table) -> pa.Table:
        return evidence_rows(self._made(EVIDENCE[table]), table)

    def rows(self) -> dict[Table, pa.Table]:
        """Return the rows of all score tables."""
        return new_rows(self._made(*targets_of(self._specification)), self._specification)

    def _made(self, *targets: str) -> duckdb.DuckDBPyConnection:
        """Return the engine, once it holds these relations."""
        self._run.make_part(self._order, (*targets, "scored_trajectories"))
        return self._run.con


def _columns(rows: pa.Table) -> pa.Table:
    """Return the columns of `trajectory_scores` that are known, as the views need them."""
    lacking = {name: pa.nulls(len(rows), SCORE) for name in _OBSERVED}
    names = [name for name in TRAJECTORY_SCORES.arrow().names if name in rows.column_names]
    return pa.table({**lacking, **{name: in_full(rows[name]) for name in names}})


class LazyScores:
    """The scores of traces that were built in memory."""

    def __init__(self, con: duckdb.DuckDBPyConnection, specification: Specification) -> None:
        """Score nothing yet.

        Args:
            con: Holds the raw and the built tables of a lake, and the verdicts that count.
            specification: Tasks and tools to score against.
        """
        self.built: Final = con
        """The built tables; those of scores once `whole` was called."""
        self._specification = specification

    def of_metric(self, name: str, columns: Sequence[str]) -> list[tuple[Any, ...]]:
        """Return columns of the view `scores`: rows of this metric, and maybe of others."""
        query = f"SELECT {', '.join(columns)} FROM scores"
        if name not in METRICS:
            return self.whole.execute(query).fetchall()
        return self._bucket.scores(METRICS[name].relation, query) if self._bucket else []

    def evidence(self, table: Table) -> pa.Table:
        """Return the rows of a table of evidence, such as `decisions`."""
        return self._bucket.evidence(table) if self._bucket else table.arrow().empty_table()

    @cached_property
    def whole(self) -> duckdb.DuckDBPyConnection:
        """An engine that holds what a lake with these spans holds once it is scored."""
        nothing = {table: table.arrow().empty_table() for table in STAGED}
        hold(self.built, self._bucket.rows() if self._bucket else nothing)
        definitions = [dict(row) for row in definition_rows(self._specification.metrics)]
        schema = METRIC_DEFINITIONS.arrow()
        hold(self.built, {METRIC_DEFINITIONS: pa.Table.from_pylist(definitions, schema)})
        create_layer_views(self.built, (BUILT, SCORES))
        return self.built

    @cached_property
    def _bucket(self) -> _Bucket | None:
        """None if there is no run."""
        with self.built.cursor() as found:
            for table in (TRAJECTORY_SCORES, CUSTOM_SCORES):
                put(found, table.name, table.arrow().empty_table())
            find_traces(found, self._specification, now_ns=_ONE_BUCKET)
            buckets = list(divide(found, _ONE_BUCKET))
        if not buckets:
            return None
        return _Bucket(self.built.cursor(), buckets[0], self._specification)


def hold(con: duckdb.DuckDBPyConnection, tables: Mapping[Table, pa.Table]) -> None:
    """Make these the tables of the engine, which all of its cursors read."""
    for table, rows in tables.items():
        with given(con, "_incoming", typed(table, rows)):
            con.execute(f"CREATE TABLE {table.name} AS FROM _incoming")
