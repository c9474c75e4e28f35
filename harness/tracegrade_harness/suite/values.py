"""Checks the values and rules that verifiers expect."""

from collections.abc import Iterator, Mapping
from typing import Any

from tracegrade_queries.files.shape import dotted
from tracegrade_queries.files.yaml_source import KeyPath, Problem, SourceFile
from tracegrade_scoring.tasks.engine import json_path_fault
from tracegrade_scoring.tasks.expected_value import bound_names, faults


def rows(equals: Any) -> list[list[Any]] | None:
    """Return the rows that a query must return; None if one value is expected."""
    if isinstance(equals, list) and all(isinstance(row, list) for row in equals):
        return equals
    return None


def check_values_at(
    source: SourceFile, path: KeyPath, values: Mapping[str, Any] | None
) -> Iterator[Problem]:
    """Yield problems of values by their JSON paths."""
    for json_path, value in (values or {}).items():
        at = (*path, json_path)
        if fault_of_path := json_path_fault(json_path):
            fact = f"'{json_path}' is not a JSON path to one value: {fault_of_path}"
            yield source.problem(at, fact, "write it like $.order.state or $.orders[0].state")
        yield from check_value(source, at, value)


def check_equals(source: SourceFile, path: KeyPath, equals: Any) -> Iterator[Problem]:
    """Yield problems of a query's expected result: a value, or a list of rows."""
    listed = rows(equals)
    if listed is None and isinstance(equals, list):
        fact = f"{dotted(path)} is a list with a value that is not a list"
        yield source.problem(path, fact, "write a list of rows, each a list of its values")
        return
    if listed is None:
        yield from check_value(source, path, equals)
    for i, row in enumerate(listed or ()):
        for j, value in enumerate(row):
            yield from check_value(source, (*path, i, j), value)


def check_value(source: SourceFile, path: KeyPath, value: Any) -> Iterator[Problem]:
    """Yield problems of a value or rule; in a suite no rule binds a name."""
    for name in bound_names(value):
        fact = f"{dotted(path)}: nothing binds '{name}' in a suite"
        yield source.problem(path, fact, "give the value itself")
    for fact, way_out in faults(value):
        yield source.problem(path, f"{dotted(path)}: {fact}", way_out)
