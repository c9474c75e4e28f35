"""Writes what the task relations say about sub-goals as tables that the SQL of this part joins.

Its own module because variants and prerequisites need recursion over each distinct graph, while
everything about calls stays in SQL.

Makes:
    graph_faults (from named_graphs): tasks whose graph cannot be used, and why
    graph_nodes (from task_sub_goals): all sub-goals of the other tasks
    graph_prerequisites (from named_graphs): what each sub-goal of a variant needs, direct or not
    graph_serves (from goal_rules, task_sub_goals): tools that serve each sub-goal
    graph_variants (from named_graphs): the sub-goals of each variant that count
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import duckdb
import pyarrow as pa

from tracegrade_lake.columns import BOOLEAN, INTEGER, TEXT
from tracegrade_scoring.attempts.criteria.conditions import (
    AT_END,
    CriterionCondition,
    conditions,
    serves_by_answer,
)
from tracegrade_scoring.relations import put, table
from tracegrade_scoring.sql import query
from tracegrade_scoring.tasks.graph import (
    Graph,
    GraphNode,
    ancestors,
    fault_of_any,
    prerequisites,
    variants,
)

SCHEMAS: Final[Mapping[str, pa.Schema]] = {
    "graph_faults": pa.schema([("task_id", TEXT), ("fault", TEXT)]),
    "graph_nodes": pa.schema(
        [
            ("task_id", TEXT),
            ("sub_goal", TEXT),
            ("place", INTEGER),
            ("critical", BOOLEAN),
            ("weight", pa.float64()),
            ("counted", BOOLEAN),
            ("has_criterion", BOOLEAN),
            ("by_step", BOOLEAN),
            ("served_by_answer", BOOLEAN),
            ("asks_judge", BOOLEAN),
            ("served_by_judge", BOOLEAN),
            ("condition_count", INTEGER),
        ]
    ),
    # `patterns`: one of which the arguments must match; NULL where any arguments do.
    "graph_serves": pa.schema(
        [
            ("task_id", TEXT),
            ("sub_goal", TEXT),
            ("place", INTEGER),
            ("tool_name", TEXT),
            ("patterns", pa.list_(TEXT)),
        ]
    ),
    "graph_variants": pa.schema(
        [("task_id", TEXT), ("variant", INTEGER), ("sub_goal", TEXT), ("graph", TEXT)]
    ),
    "graph_prerequisites": pa.schema(
        [
            ("task_id", TEXT),
            ("variant", INTEGER),
            ("sub_goal", TEXT),
            ("prerequisite", TEXT),
            ("direct", BOOLEAN),
        ]
    ),
}

Row = tuple[object, ...]
Rows = dict[str, list[Row]]
Rule = tuple[str, Sequence[str] | None]
"""A tool, and the patterns of which its arguments must match one; None: any arguments do."""
Rules = dict[tuple[str, str], list[Rule]]
"""By task and sub-goal."""


class Goal(NamedTuple):
    """One row of `task_sub_goals`."""

    task_id: str
    name: str
    place: int
    critical: bool
    weight: float
    success: Mapping[str, Any] | None


def create_graph_tables(con: duckdb.DuckDBPyConnection) -> None:
    """Create the tables above from the task relations, as temporary tables."""
    rows: Rows = {name: [] for name in SCHEMAS}
    rules = _rules(con)
    graphs = _graphs(con)
    for task_id, goals in _goals(con).items():
        named = graphs[task_id]
        if found := fault_of_any(list(named.values())):
            rows["graph_faults"].append((task_id, f"task '{task_id}': {found.fact}"))
        else:
            _add_goals(rows, goals, rules)
            _add_variants(rows, task_id, named)
    for name, schema in SCHEMAS.items():
        put(con, name, table(schema, rows[name]))


def _rules(con: duckdb.DuckDBPyConnection) -> Rules:
    """Return the tools that serve each sub-goal, each with the patterns of its arguments."""
    rules: Rules = defaultdict(list)
    for task_id, name, tool, patterns in con.sql(query("goal_rules")).fetchall():
        rules[task_id, name].append((tool, patterns))
    return rules


def _goals(con: duckdb.DuckDBPyConnection) -> dict[str, list[Goal]]:
    goals: dict[str, list[Goal]] = defaultdict(list)
    for task_id, name, place, critical, weight, success in con.execute(
        "SELECT task_id, sub_goal, position, critical, weight, success FROM task_sub_goals "
        "ORDER BY task_id, position"
    ).fetchall():
        criterion = json.loads(success) if success else None
        goals[task_id].append(Goal(task_id, name, place, critical, weight, criterion))
    return goals


def _graphs(con: duckdb.DuckDBPyConnection) -> dict[str, dict[str | None, Graph]]:
    """Return the graphs of each task by name, in file order."""
    graphs: dict[str, dict[str | None, dict[str, GraphNode]]] = defaultdict(dict)
    for task_id, graph, _, _, name, deps, any_of, counted in con.sql(
        query("named_graphs")
    ).fetchall():
        node = GraphNode(tuple(deps), tuple(map(tuple, any_of)), counted)
        graphs[task_id].setdefault(graph, {})[name] = node
    return {task_id: dict(named) for task_id, named in graphs.items()}


def _add_goals(rows: Rows, goals: Iterable[Goal], rules: Rules) -> None:
    for goal in goals:
        own_rules = rules.get((goal.task_id, goal.name), ())
        has_rules = bool(own_rules)
        found = conditions(goal.success) if goal.success else ()
        implied = () if has_rules else _implied_rules(found)
        asks_judge = any(condition.kind == "judge" for condition in found)
        by_answer = not has_rules and serves_by_answer(goal.success)
        rows["graph_nodes"].append(
            (
                *goal[:5],
                bool(found) or has_rules,
                goal.success is not None,
                all(condition.kind not in AT_END for condition in found),
                by_answer,
                asks_judge,
                asks_judge and not (has_rules or implied or by_answer),
                sum(condition.any_of is None for condition in found) or 1,
            )
        )
        rows["graph_serves"] += ((*goal[:3], *rule) for rule in (*own_rules, *implied))


def _implied_rules(found: Iterable[CriterionCondition]) -> Sequence[Rule]:
    """Return the rules of a sub-goal that has none: its criterion's tools serve it."""
    tools = dict.fromkeys(condition.tool_name for condition in found)
    return [(tool, None) for tool in tools if tool is not None]


def _add_variants(rows: Rows, task_id: str, graphs: Mapping[str | None, Graph]) -> None:
    """Add the variants of all graphs of a task, numbered in file order."""
    found = ((graph, variant) for graph in graphs for variant in variants(graphs[graph]))
    for number, (name_of_graph, variant) in enumerate(found):
        direct = prerequisites(graphs[name_of_graph], variant)
        rows["graph_variants"] += ((task_id, number, name, name_of_graph) for name in direct)
        rows["graph_prerequisites"] += (
            (task_id, number, name, dep, dep in direct[name])
            for name, deps in ancestors(direct).items()
            for dep in sorted(deps)
        )
