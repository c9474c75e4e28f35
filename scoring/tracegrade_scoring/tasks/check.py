"""Checks task files beyond their shape: names, patterns, paths, schemas, graphs.

Each check yields every problem it finds, with the line, so that one run shows all of them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import jsonschema_rs
import re2

from tracegrade.suggestions import did_you_mean
from tracegrade_queries.files.shape import dotted
from tracegrade_queries.files.yaml_source import KeyPath, Problem, SourceFile
from tracegrade_scoring.tasks import engine, graph
from tracegrade_scoring.tasks.expected_value import (
    argument_path_faults,
    bound_name,
    bound_names,
    faults,
)
from tracegrade_scoring.tasks.model import (
    Criterion,
    Expected,
    Node,
    SubGoal,
    Task,
    TaskFile,
    Tool,
)


def check_file(source: SourceFile, file: TaskFile, tools: Mapping[str, Tool]) -> Iterator[Problem]:
    """Yield the problems of one file.

    Args:
        source: Where its values stand.
        file: The same as objects.
        tools: The tools of all files that are loaded together; names are not checked if empty.
    """
    yield from unknown_names(source, file, tools)
    yield from _no_calls(source, file, tools)
    for name, tool in file.tools.items():
        yield from _check_tool(source, ("tools", name), tool)
    for name, task in file.tasks.items():
        yield from _check_task(source, ("tasks", name), task)


def unknown_names(
    source: SourceFile, file: TaskFile, tools: Mapping[str, Tool]
) -> Iterator[Problem]:
    """Yield a problem for each tool name that no loaded file declares.

    An unknown alternative is an error, since it is never a better one. Elsewhere a name is enough,
    so an unknown name may only be a typing error.
    """
    for path, name in _tool_names(file) if tools else ():
        if name not in tools:
            way_out = did_you_mean(name, list(tools)) or "declare it under 'tools'"
            found = source.problem(path, f"{dotted(path)}: unknown tool '{name}'", way_out)
            yield found._replace(is_note=path[0] == "tasks")


def _no_calls(source: SourceFile, file: TaskFile, tools: Mapping[str, Tool]) -> Iterator[Problem]:
    """Yield a note for each expected tool that a file declares not to be called."""
    for task_id, task in file.tasks.items():
        for i, expected in enumerate(task.expected or ()):
            for path, name in _expected_tools(("tasks", task_id, "expected", i), expected):
                kind = tools[name].kind if name in tools else None
                if kind not in (None, "tool_call"):
                    fact_text = (
                        f"{dotted(path)}: '{name}' is of kind {kind}, so no call of it counts"
                    )
                    way_out = f"expect another tool, or write tools.{name}.kind: tool_call"
                    yield source.problem(path, fact_text, way_out)._replace(is_note=True)


def _tool_names(file: TaskFile) -> Iterator[tuple[KeyPath, str]]:
    for tool_name, tool in file.tools.items():
        yield from _items(("tools", tool_name, "alternatives"), tool.alternatives)
    for task_id, task in file.tasks.items():
        path = ("tasks", task_id)
        yield from _items((*path, "scope"), task.scope or ())
        yield from _criterion_tool((*path, "success"), task.success)
        for i, expected in enumerate(task.expected or ()):
            yield from _expected_tools((*path, "expected", i), expected)
        for name, sub_goal in task.sub_goals.items():
            served = [rule.tool for rule in sub_goal.serves]
            yield from _items((*path, "sub_goals", name, "serves"), served)
            yield from _criterion_tool((*path, "sub_goals", name, "success"), sub_goal.success)


def _items(path: KeyPath, names: Iterable[str]) -> Iterator[tuple[KeyPath, str]]:
    for i, name in enumerate(names):
        yield (*path, i), name


def _criterion_tool(path: KeyPath, criterion: Criterion | None) -> Iterator[tuple[KeyPath, str]]:
    if criterion and criterion.tool:
        yield (*path, "tool"), criterion.tool
    for i, alternative in enumerate((criterion and criterion.any_of) or ()):
        yield from _criterion_tool((*path, "any_of", i), alternative)


def _expected_tools(path: KeyPath, expected: Expected) -> Iterator[tuple[KeyPath, str]]:
    if expected.tool:
        yield (*path, "tool"), expected.tool
    yield from _items((*path, "accept"), expected.accept)


def _check_tool(source: SourceFile, path: KeyPath, tool: Tool) -> Iterator[Problem]:
    yield from _pattern(source, (*path, "error_pattern"), tool.error_pattern)
    if path[-1] in tool.alternatives:
        at = (*path, "alternatives", tool.alternatives.index(str(path[-1])))
        yield source.problem(at, f"tool '{path[-1]}' is its own alternative", "remove it")
    if tool.parameters is not None:
        try:
            jsonschema_rs.validator_for(tool.parameters, retriever=_refuse)
        except (
            jsonschema_rs.ValidationError,
            jsonschema_rs.ReferencingError,
            ValueError,
        ) as error:
            at = (*path, "parameters")
            fact = f"{dotted(at)} is not a JSON Schema: {str(error).splitlines()[0]}"
            yield source.problem(at, fact, "correct it")


def _refuse(uri: str) -> Any:
    msg = f"reference to {uri} is outside the file"
    raise ValueError(msg)


def _check_task(source: SourceFile, path: KeyPath, task: Task) -> Iterator[Problem]:
    groups: Sequence[str] = ()
    if task.match and task.match.user_input:
        at = (*path, "match", "user_input")
        yield from _pattern(source, at, task.match.user_input)
        groups = pattern_groups(task.match.user_input)
    yield from _check_expected(source, (*path, "expected"), task.expected or (), groups)
    if task.success:
        yield from _check_criterion(source, (*path, "success"), task.success, groups)
    for name, sub_goal in task.sub_goals.items():
        yield from _check_sub_goal(source, (*path, "sub_goals", name), sub_goal, groups)
    yield from _check_graphs(source, path, task)


def pattern_groups(pattern: str) -> list[str]:
    """Return the named groups of an RE2 pattern in order; none if it is invalid."""
    try:
        groups = re2.compile(pattern, _quiet()).groupindex
    except re2.error:
        return []
    return sorted(groups, key=lambda name: int(groups[name]))


def _quiet() -> Any:
    """Return RE2's options without its log lines on stderr."""
    options = re2.Options()
    options.log_errors = False
    return options


def _pattern(source: SourceFile, path: KeyPath, pattern: str | None) -> Iterator[Problem]:
    fault = None if pattern is None else engine.pattern_fault(pattern)
    if fault:
        fact = f"{dotted(path)} is not an RE2 pattern: {fault}"
        yield source.problem(path, fact, "correct it (RE2 has no look-around or back-references)")


def _check_expected(
    source: SourceFile, path: KeyPath, expected: Sequence[Expected], groups: Sequence[str]
) -> Iterator[Problem]:
    first_use: dict[str, int] = {}
    for i, point in enumerate(expected):
        yield from _arguments(source, (*path, i, "arguments"), point.arguments or {}, groups)
        if point.decision in first_use:
            at = (*path, i, "decision")
            first = source.line((*path, first_use[point.decision], "decision"))
            fact = f"decision '{point.decision}' stands twice, first on line {first}"
            yield source.problem(at, fact, "give each decision point its own name")
        elif point.decision is not None:
            first_use[point.decision] = i


def _arguments(
    source: SourceFile, path: KeyPath, arguments: Mapping[str, Any], groups: Sequence[str]
) -> Iterator[Problem]:
    for key in arguments:
        for fact, way_out in argument_path_faults(key):
            yield source.problem((*path, key), fact, way_out)
    yield from _values(source, path, arguments, groups)


def _values(
    source: SourceFile, path: KeyPath, values: Mapping[str, Any], groups: Sequence[str]
) -> Iterator[Problem]:
    for key, value in values.items():
        for name in bound_names(value):
            if name not in groups:
                fact = f"{dotted((*path, key))}: match.user_input has no group named '{name}'"
                way_out = did_you_mean(name, groups) or f"add (?P<{name}>...) to the pattern"
                yield source.problem((*path, key), fact, way_out)
        for fact, way_out in faults(value):
            yield source.problem((*path, key), f"{dotted((*path, key))}: {fact}", way_out)


def _check_criterion(
    source: SourceFile, path: KeyPath, criterion: Criterion, groups: Sequence[str]
) -> Iterator[Problem]:
    if bound_name(criterion.answer):
        yield from _values(source, path, {"answer": criterion.answer}, groups)
    else:
        yield from _pattern(source, (*path, "answer"), criterion.answer)
    yield from _arguments(source, (*path, "arguments"), criterion.arguments or {}, groups)
    for key in ("result", "state"):
        values: Mapping[str, Any] = getattr(criterion, key) or {}
        yield from _values(source, (*path, key), values, groups)
        for json_path in values:
            yield from _json_path(source, (*path, key, json_path), json_path)
    if criterion.sql:
        yield from _expression(source, (*path, "sql"), criterion.sql)
    for i, alternative in enumerate(criterion.any_of or ()):
        yield from _check_criterion(source, (*path, "any_of", i), alternative, groups)


def _json_path(source: SourceFile, path: KeyPath, json_path: str) -> Iterator[Problem]:
    fault = engine.json_path_fault(json_path)
    if fault:
        fact = f"'{json_path}' is not a JSON path to one value: {fault}"
        yield source.problem(path, fact, "write it like $.order.state or $.orders[0].state")


def _expression(source: SourceFile, path: KeyPath, sql: str) -> Iterator[Problem]:
    fault = engine.expression_fault(sql)
    if fault:
        way_out = "give a boolean expression over steps, like count(*) < 9"
        yield source.problem(path, f"{dotted(path)} cannot be run: {fault}", way_out)


def _check_sub_goal(
    source: SourceFile, path: KeyPath, sub_goal: SubGoal, groups: Sequence[str]
) -> Iterator[Problem]:
    for i, rule in enumerate(sub_goal.serves):
        yield from _pattern(source, (*path, "serves", i, "arguments"), rule.arguments)
    if sub_goal.success:
        yield from _check_criterion(source, (*path, "success"), sub_goal.success, groups)


def _check_graphs(source: SourceFile, path: KeyPath, task: Task) -> Iterator[Problem]:
    """Yield the faults of a task's plan graphs, one by one and together."""
    if task.graphs:
        yield from _check_places(source, path, task)
    graphs = {
        (*path, "sub_goals") if name is None else (*path, "graphs", name): nodes
        for name, nodes in task.plan_graphs.items()
    }
    unusable = [
        problem
        for at, nodes in graphs.items()
        for problem in (
            *_undescribed(source, at, task.sub_goals, nodes),
            *_empty_paths(source, at, nodes),
        )
    ]
    yield from unusable
    if not unusable:
        yield from _graph_faults(source, path, graphs, task.sub_goals)


def _graph_faults(
    source: SourceFile,
    path: KeyPath,
    graphs: Mapping[KeyPath, Mapping[str, Node]],
    sub_goals: Mapping[str, SubGoal],
) -> Iterator[Problem]:
    """Yield every fault that costs the task its scores of variants or of dependencies."""
    found = graph.faults([_graph(sub_goals, nodes) for nodes in graphs.values()])
    for (at, nodes), faults_of in zip(graphs.items(), found, strict=True):
        for fault in faults_of:
            way_out = did_you_mean(fault.unknown, list(nodes)) if fault.unknown else None
            fact = f"task '{path[1]}': {fault.fact}"
            yield source.problem((*at, *fault.path), fact, way_out or fault.way_out, str(path[1]))


def _graph(sub_goals: Mapping[str, SubGoal], nodes: Mapping[str, Node]) -> graph.Graph:
    counted = {name for name, goal in sub_goals.items() if goal.serves or goal.success}
    return {
        name: graph.GraphNode(tuple(node.deps), tuple(map(tuple, node.any_of)), name in counted)
        for name, node in nodes.items()
    }


def _check_places(source: SourceFile, path: KeyPath, task: Task) -> Iterator[Problem]:
    """Yield the sub-goals that `graphs` leave out, and those that have a place of their own."""
    placed = {name for nodes in task.graphs.values() for name in nodes}
    for name, sub_goal in task.sub_goals.items():
        at = (*path, "sub_goals", name)
        if name not in placed:
            fact = f"task '{path[1]}': sub-goal '{name}' is in no graph"
            yield source.problem(at, fact, "put it into one, or leave it out")
        if sub_goal.deps or sub_goal.any_of:
            fact = (
                f"task '{path[1]}': sub-goal '{name}' has deps or any_of in addition to 'graphs'"
            )
            yield source.problem(at, fact, "write them in each graph")


def _undescribed(
    source: SourceFile, path: KeyPath, sub_goals: Mapping[str, SubGoal], nodes: Mapping[str, Node]
) -> Iterator[Problem]:
    for name in nodes:
        if name not in sub_goals:
            fact = f"task '{path[1]}': a graph names unknown sub-goal '{name}'"
            way_out = did_you_mean(name, list(sub_goals)) or "declare it under 'sub_goals'"
            yield source.problem((*path, name), fact, way_out)


def _empty_paths(
    source: SourceFile, path: KeyPath, nodes: Mapping[str, Node]
) -> Iterator[Problem]:
    for name, node in nodes.items():
        for i, members in enumerate(node.any_of):
            if not members:
                fact = f"task '{path[1]}': path {i} of any_of of '{name}' is empty"
                yield source.problem((*path, name, "any_of", i), fact, "name a sub-goal")
