"""Writes what the task relations say about sub-goals as tables that the SQL of this part joins.

Its own module because variants and prerequisites need recursion over each distinct graph, while
everything about calls stays in SQL.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple, TypeAlias

import duckdb
import pyarrow as pa

from tracegrade_lake.columns import BOOLEAN, INTEGER, TEXT, TEXTS
from tracegrade_queries.engine.relations import table
from tracegrade_queries.graph import Run, relation
from tracegrade_scoring.attempts.criteria.conditions import (
    AT_END,
    CriterionCondition,
    conditions,
    serves_by_answer,
)
from tracegrade_scoring.tasks.graph import (
    Graph,
    GraphNode,
    ancestors,
    faults,
    prerequisites,
    variants,
)
from tracegrade_scoring.tasks.relations import RelationRow

SCHEMAS: Final[Mapping[str, pa.Schema]] = {
    # Graphs that cannot be used as a whole, and why. `in_variants`: it is not known which variants
    # there are; else only what depends on what.
    # `judged`: of sub-goals that nothing serves and no criterion tells, those with a verdict.
    "graph_faults": pa.schema(
        [("task_id", TEXT), ("judged", TEXTS), ("fault", TEXT), ("in_variants", BOOLEAN)]
    ),
    # All sub-goals of tasks whose variants are known.
    "graph_nodes": pa.schema(
        [
            ("task_id", TEXT),
            ("sub_goal", TEXT),
            ("position", INTEGER),
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
    # Tools that serve each sub-goal. `patterns`: the arguments must match one of them; NULL where
    # any arguments do.
    "graph_serves": pa.schema(
        [
            ("task_id", TEXT),
            ("sub_goal", TEXT),
            ("position", INTEGER),
            ("tool_name", TEXT),
            ("patterns", pa.list_(TEXT)),
        ]
    ),
    # The sub-goals of each variant that count.
    "graph_variants": pa.schema(
        [
            ("task_id", TEXT),
            ("variant", INTEGER),
            ("sub_goal", TEXT),
            ("graph", TEXT),
            ("judged", TEXTS),
        ]
    ),
    # Prerequisites of each sub-goal of a variant, direct or not; none if a graph has a fault.
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

Rows = dict[str, list[RelationRow]]
Rule = tuple[str, Sequence[str] | None]
"""A tool, and the patterns for its arguments, which must match one of them; None: any arguments
do.
"""
Rules = dict[tuple[str, str], list[Rule]]
"""By task and sub-goal."""
NamedGraphs: TypeAlias = Mapping[str | None, Graph]
"""The graphs of a task by name, in file order."""


class Goal(NamedTuple):
    """One row of `task_sub_goals`."""

    task_id: str
    name: str
    position: int
    critical: bool
    weight: float
    success: Mapping[str, Any] | None


@relation(*SCHEMAS, reads=("goal_rules", "judged_sub_goals", "named_graphs", "task_sub_goals"))
def _graph_tables(run: Run) -> Mapping[str, pa.Table]:
    """Return the tables above."""
    con = run.con
    rows: Rows = {name: [] for name in SCHEMAS}
    rules = _rules(con)
    graphs = _graphs(con)
    judged = _judged(con)
    for task_id, goals in _goals(con).items():
        named = graphs[task_id]
        count = 0
        for names in ((), *judged[task_id]):
            count += _add_graphs(rows, (task_id, names, count), _with_judged(named, names))
        if count:
            _add_goals(rows, goals, rules)
    return {name: table(schema, rows[name]) for name, schema in SCHEMAS.items()}


def _judged(con: duckdb.DuckDBPyConnection) -> dict[str, list[tuple[str, ...]]]:
    """Return the sets of sub-goals of each task that only verdicts of some attempt count."""
    found: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for task_id, names in con.sql(
        "SELECT DISTINCT task_id, sub_goals FROM judged_sub_goals ORDER BY ALL"
    ).fetchall():
        found[task_id].append(tuple(names))
    return found


def _with_judged(graphs: NamedGraphs, names: Sequence[str]) -> NamedGraphs:
    """Return the graphs of a task in which these sub-goals count too."""
    return {
        graph: {
            name: replace(node, counted=node.counted or name in names)
            for name, node in nodes.items()
        }
        for graph, nodes in graphs.items()
    }


def _rules(con: duckdb.DuckDBPyConnection) -> Rules:
    """Return the tools that serve each sub-goal, each with the patterns of its arguments."""
    rules: Rules = defaultdict(list)
    for task_id, name, tool, patterns in con.sql(
        "FROM goal_rules ORDER BY task_id, sub_goal, tool_name"
    ).fetchall():
        rules[task_id, name].append((tool, patterns))
    return rules


def _goals(con: duckdb.DuckDBPyConnection) -> dict[str, list[Goal]]:
    goals: dict[str, list[Goal]] = defaultdict(list)
    for task_id, name, position, critical, weight, success in con.execute(
        "SELECT task_id, sub_goal, position, critical, weight, success FROM task_sub_goals "
        "ORDER BY task_id, position"
    ).fetchall():
        criterion = json.loads(success) if success else None
        goals[task_id].append(Goal(task_id, name, position, critical, weight, criterion))
    return goals


def _graphs(con: duckdb.DuckDBPyConnection) -> dict[str, NamedGraphs]:
    """Return the graphs of each task by name, in file order."""
    graphs: dict[str, dict[str | None, dict[str, GraphNode]]] = defaultdict(dict)
    for task_id, graph, _, _, name, deps, any_of, counted in con.sql(
        "FROM named_graphs ORDER BY task_id, graph_index, position"
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
        counted = bool(found) or has_rules
        rows["graph_nodes"].append(
            (
                *goal[:5],
                counted,
                goal.success is not None,
                all(condition.kind not in AT_END for condition in found),
                by_answer,
                asks_judge,
                not counted or (asks_judge and not (has_rules or implied or by_answer)),
                sum(condition.any_of is None for condition in found) or 1,
            )
        )
        rows["graph_serves"] += ((*goal[:3], *rule) for rule in (*own_rules, *implied))


def _implied_rules(found: Iterable[CriterionCondition]) -> Sequence[Rule]:
    """Return the rules of a sub-goal that has none: its criterion's tools serve it."""
    tools = dict.fromkeys(condition.tool_name for condition in found)
    return [(tool, None) for tool in tools if tool is not None]


def _add_graphs(rows: Rows, of: tuple[str, Sequence[str], int], graphs: NamedGraphs) -> int:
    """Add the faults of a task's graphs, and their variants if these are known.

    Args:
        rows: Of each table.
        of: The task, which of its sub-goals count by a verdict alone, and the number of the first
            variant; they are numbered in file order.
        graphs: With these sub-goals counted.

    Returns:
        How many variants there are; 0 if that is not known.
    """
    task_id, judged, first = of
    found = [fault for each in faults(list(graphs.values())) for fault in each]
    if found:
        fact = f"task '{task_id}': {'; '.join(fault.fact for fault in found)}"
        in_variants = any(fault.in_variants for fault in found)
        rows["graph_faults"].append((task_id, judged, fact, in_variants))
        if in_variants:
            return 0
    every = [(graph, variant) for graph in graphs for variant in variants(graphs[graph])]
    for number, (name_of_graph, variant) in enumerate(every, first):
        direct = prerequisites(graphs[name_of_graph], variant)
        rows["graph_variants"] += (
            (task_id, number, name, name_of_graph, judged) for name in direct
        )
        if not found:
            rows["graph_prerequisites"] += (
                (task_id, number, name, dep, dep in direct[name])
                for name, deps in ancestors(direct).items()
                for dep in sorted(deps)
            )
    return len(every)
