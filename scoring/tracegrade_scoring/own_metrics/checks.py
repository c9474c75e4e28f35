"""Checks whether a metric in SQL can be run: its relations, its functions and its result."""

import json
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final

import duckdb

from tracegrade_queries.build.nesting import is_too_deep
from tracegrade_queries.engine.bare_engine import bare_engine
from tracegrade_queries.engine.selects import READING_FUNCTIONS, only_reads
from tracegrade_queries.errors import QueryFailed
from tracegrade_scoring.metric_definition import OwnMetric
from tracegrade_scoring.own_metrics import readable
from tracegrade_scoring.own_metrics.header import MetricFault
from tracegrade_scoring.own_metrics.run_apart import run_metrics
from tracegrade_scoring.tasks.expression import nodes_of, unsteady

MAX_LEVELS: Final = 800
"""Limit of the levels of the parsed query as JSON."""

_MOST_SECS: Final = 10.0
"""For one metric over no rows."""


def query_fault(metric: OwnMetric) -> MetricFault | None:
    """Return the fault that keeps a metric in SQL from being run; None without one.

    No part of a faulty query has run.
    """
    faults = _faults(metric)
    return next((MetricFault(metric.origin, code, message) for code, message in faults), None)


def _faults(metric: OwnMetric) -> Iterator[tuple[str, str]]:
    """Yield codes and messages of faults; later checks rely on earlier ones having found none."""
    sql, engine = metric.sql or "", _engine()
    try:
        only_reads(engine, sql)
    except (QueryFailed, duckdb.Error) as error:
        yield "not_a_select", f"{_line(error)}; write one SELECT"
        return
    parsed = _parsed(engine, sql)
    if parsed is None:
        yield "not_a_select", "it is nested too deeply; write it in another way"
        return
    yield from _relation_faults(metric, parsed)
    called = [node for node in nodes_of(parsed) if node.get("class") == "FUNCTION"]
    for node in called:
        is_function = node["function_name"].lower() in _functions() - READING_FUNCTIONS
        if is_function and (fault := unsteady(engine, node)):
            yield "unsteady_function", f"{fault}; leave it out"


def _relation_faults(metric: OwnMetric, parsed: Any) -> Iterator[tuple[str, str]]:
    """Yield the faults of the relations that the query reads, and of its header's list of them."""
    nodes = list(nodes_of(parsed))
    made = {entry["key"].lower() for node in nodes for entry in node.get("map", ())}
    tables = [node for node in nodes if node.get("type") == "BASE_TABLE"]
    named = {node["table_name"].lower() for node in tables} - made
    for name in sorted({*metric.reads, *named} - readable.RELATIONS.keys()):
        known = ", ".join(readable.RELATIONS)
        yield "unlisted_relation", f"it reads '{name}'; a metric may read {known}"
    for node in tables:
        if node["schema_name"] or node["catalog_name"]:
            yield "unlisted_relation", f"'{node['table_name']}' has a schema; name it alone"
    if named != {*metric.reads}:
        found = ", ".join(sorted(named)) or "nothing"
        yield "reads_differ", f"it reads {found}; write that behind `Reads:`"


def running_faults(metrics: Sequence[OwnMetric]) -> dict[str, MetricFault]:
    """Return by metric in SQL why it cannot be run over relations without rows.

    They run in a process of their own: what a text asks of the engine may end that.

    Args:
        metrics: Of which `query_fault` found none.
    """
    testable = {each.name: each for each in metrics if each.sql is not None and each.runs}
    empty = {name: _engine().table(name).to_arrow_table() for name in readable.RELATIONS}
    answers = run_metrics(list(testable.values()), empty, secs=_MOST_SECS)
    return {
        name: MetricFault(testable[name].origin, "does_not_run", f"{answer}; correct its query")
        for name, answer in answers.items()
        if isinstance(answer, str)
    }


def _parsed(engine: duckdb.DuckDBPyConnection, sql: str) -> Any:
    """Return how the engine reads a query, as objects of JSON; None if it is too deep."""
    statement = "SELECT json_serialize_sql($asked)"
    ((text,),) = engine.execute(statement, {"asked": sql}).fetchall()
    return None if is_too_deep(text, MAX_LEVELS) else json.loads(text)


@cache
def _engine() -> duckdb.DuckDBPyConnection:
    """Return an engine that has all that metrics may read, without rows."""
    con = bare_engine()
    for name in readable.RELATIONS:
        columns = ", ".join(f"{each} {kind}" for each, kind in readable.columns(name))
        con.execute(f"CREATE TABLE {name} ({columns})")
    return con


@cache
def _functions() -> frozenset[str]:
    """Return the names of the engine's functions, without its macros of steady ones, as if()."""
    found = _engine().execute(
        "SELECT DISTINCT lower(function_name) FROM duckdb_functions() "
        "WHERE function_type <> 'macro' OR function_name = 'ago'"
    )
    return frozenset(name for (name,) in found.fetchall())


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
