"""What can be wrong with the verifiers of a case: the parts, paths and values that they name."""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from tracegrade.suggestions import did_you_mean
from tracegrade_harness.suite import model, paths
from tracegrade_harness.suite.hosts import check_address
from tracegrade_harness.suite.readable import ReadableEnvironment
from tracegrade_queries.files.shape import dotted
from tracegrade_queries.files.yaml_source import KeyPath, Problem, SourceFile
from tracegrade_scoring.tasks.engine import json_path_fault
from tracegrade_scoring.tasks.expected_value import bound_names, faults


def check_verifier(
    source: SourceFile,
    path: KeyPath,
    verifier: model.Verifier,
    environment: ReadableEnvironment | None,
) -> Iterator[Problem]:
    """Yield the problems of one verifier.

    Args:
        source: Where its values stand.
        path: Where it stands itself.
        verifier: The same as an object.
        environment: That of its case; None if not known, then its parts are not checked.
    """
    match verifier:
        case model.FilesVerifier():
            yield from _part(source, (*path, "files"), verifier.files, environment)
            yield from _check_files(source, path, verifier)
        case model.SqliteVerifier():
            yield from _part(source, (*path, "sqlite"), verifier.sqlite, environment)
            yield from _check_equals(source, (*path, "equals"), verifier.equals)
        case model.PostgresVerifier():
            yield from _part(source, (*path, "postgres"), verifier.postgres, environment)
            yield from _check_equals(source, (*path, "equals"), verifier.equals)
        case model.RedisVerifier():
            yield from _part(source, (*path, "redis"), verifier.redis, environment)
            yield from _check_value(source, (*path, "equals"), verifier.equals)
        case model.HttpVerifier():
            yield from _part(source, (*path, "http"), verifier.http, environment)
            yield from _check_http(source, path, verifier)
        case model.DomVerifier():
            yield from _part(source, (*path, "dom"), verifier.dom, environment)
            yield from _check_dom(source, path, verifier, environment)
        case model.CommandVerifier():
            yield from check_program(source, (*path, "command", 0), verifier.command[0])


def rows(equals: Any) -> list[list[Any]] | None:
    """Return the rows that a query is to give; None if one value is asked for."""
    if isinstance(equals, list) and all(isinstance(row, list) for row in equals):
        return equals
    return None


def _part(
    source: SourceFile, path: KeyPath, name: str, environment: ReadableEnvironment | None
) -> Iterator[Problem]:
    kind = {"dom": "browser"}.get(str(path[-1]), str(path[-1]))
    if environment is None or (kind, name) in environment.parts:
        return
    known = [each for of_kind, each in environment.parts if of_kind == kind]
    others = [of_kind for of_kind, each in environment.parts if each == name]
    fact = f"{dotted(path)}: the environment has no {kind} '{name}'"
    way_out = f"it is of kind '{others[0]}'" if others else did_you_mean(name, known)
    yield source.problem(path, fact, way_out or "declare it in the environment")


def _check_files(
    source: SourceFile, path: KeyPath, verifier: model.FilesVerifier
) -> Iterator[Problem]:
    fault = paths.inside_fault(verifier.path) if verifier.path is not None else None
    if fault:
        fact = f"{dotted((*path, 'path'))} '{verifier.path}' {fault[0]}"
        yield source.problem((*path, "path"), fact, "give it relative to the part, without '..'")
    yield from _check_values_at(source, (*path, "json"), verifier.json_)
    yield from _check_value(source, (*path, "text"), verifier.text)


def _check_http(
    source: SourceFile, path: KeyPath, verifier: model.HttpVerifier
) -> Iterator[Problem]:
    yield from _check_values_at(source, (*path, "state"), verifier.state)
    if verifier.calls is not None:
        yield from _check_values_at(source, (*path, "calls", "body"), verifier.calls.body)
        for key in ("method", "path", "status", "times"):
            yield from _check_value(source, (*path, "calls", key), getattr(verifier.calls, key))


def _check_dom(
    source: SourceFile,
    path: KeyPath,
    verifier: model.DomVerifier,
    environment: ReadableEnvironment | None,
) -> Iterator[Problem]:
    part = None if environment is None else environment.parts.get(("browser", verifier.dom))
    if environment is not None and isinstance(part, model.Browser) and part.network == "none":
        yield from check_address(source, (*path, "url"), verifier.url, environment)
    for key in ("text", "value", "count"):
        yield from _check_value(source, (*path, key), getattr(verifier, key))
    for name, value in (verifier.attributes or {}).items():
        yield from _check_value(source, (*path, "attributes", name), value)


def _check_values_at(
    source: SourceFile, path: KeyPath, values: Mapping[str, Any] | None
) -> Iterator[Problem]:
    """Yield what is wrong with values by their JSON paths."""
    for json_path, value in (values or {}).items():
        at = (*path, json_path)
        if fault_of_path := json_path_fault(json_path):
            fact = f"'{json_path}' is not a JSON path to one value: {fault_of_path}"
            yield source.problem(at, fact, "write it like $.order.state or $.orders[0].state")
        yield from _check_value(source, at, value)


def _check_equals(source: SourceFile, path: KeyPath, equals: Any) -> Iterator[Problem]:
    listed = rows(equals)
    if listed is None and isinstance(equals, list):
        fact = f"{dotted(path)} is a list with what is no list in it"
        yield source.problem(path, fact, "write a list of rows, each a list of its values")
        return
    if listed is None:
        yield from _check_value(source, path, equals)
    for i, row in enumerate(listed or ()):
        for j, value in enumerate(row):
            yield from _check_value(source, (*path, i, j), value)


def _check_value(source: SourceFile, path: KeyPath, value: Any) -> Iterator[Problem]:
    for name in bound_names(value):
        fact = f"{dotted(path)}: nothing binds '{name}' in a suite"
        yield source.problem(path, fact, "give the value itself")
    for fact, way_out in faults(value):
        yield source.problem(path, f"{dotted(path)}: {fact}", way_out)


def check_program(source: SourceFile, path: KeyPath, program: str) -> Iterator[Problem]:
    """Yield a problem if a program is one that an agent could have written."""
    if "/" in program and not PurePosixPath(program).is_absolute() and program[0] != "{":
        fact = f"{dotted(path)} '{program}' is a program of the environment, which agents write"
        yield source.problem(path, fact, f"write {{suite}}/{PurePosixPath(program)}")
