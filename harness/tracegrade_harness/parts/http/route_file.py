"""Routes of an HTTP mock: a YAML file that says what each request reads and changes.

- {method: GET, path: "/holds/{id}", read: "$.holds.{id}"}
- method: POST
  path: /holds
  set: {"$.holds.h{number}": {item: "{body.item}", price: "{body.price}"}}
  subtract: {$.credits: "{body.price}"}
  status: 201
  respond: {id: "h{number}"}
- {method: DELETE, path: "/holds/{id}", read: "$.holds.{id}", add: {$.credits: "{found.price}"},
   remove: ["$.holds.{id}"]}

A text that is one placeholder becomes the value itself, with its type; in a longer text the value
is written out. `{NAME}` is a part of the route's path, `{body}` the request's JSON, and
`{body.a.b}` a value in it. `{query.NAME}` is a value of the query, `{found}` the result of `read`,
`{number}` the number of the request, from 1, and `{$.credits}` a value of the state. Use an app
for more logic.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tracegrade_harness.errors import SuiteUnusable
from tracegrade_harness.parts.http import json_paths
from tracegrade_harness.suite.strict import Name
from tracegrade_queries.files import yaml_source
from tracegrade_queries.files.shape import dotted
from tracegrade_queries.files.yaml_source import Problem, SourceFile

METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")
PLACEHOLDER: Final = re.compile(r"\{([^{}]+)\}")
_OURS: Final = ("body", "query", "found", "number", "$")
_WAY_OUT: Final = "see docs/guides/environments.md for what a route may have"


class Route(BaseModel):
    """The effect of requests with one method and path, if `when` holds; the first match counts."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True
    )

    method: Annotated[str, Field(pattern=f"^({'|'.join(METHODS)})$")]
    path: Annotated[str, Field(pattern="^/")]
    """`/holds/{id}`: a placeholder matches one segment."""
    when: dict[Name, Any] = Field(default_factory=dict)
    """Path of the state → the value there; null for none. If it differs, the next route is tried.
    """
    read: Name | None = None
    """Path of the state to the value of `{found}`, which is also the answer; 404 if there is none.
    """
    set: dict[Name, Any] = Field(default_factory=dict)
    """Path of the state → the new value there."""
    append: dict[Name, Any] = Field(default_factory=dict)
    """Path to a list → the item that is added at its end."""
    add: dict[Name, Any] = Field(default_factory=dict)
    """Path to a number → the amount to add."""
    subtract: dict[Name, Any] = Field(default_factory=dict)
    """Path to a number → the amount to subtract."""
    remove: list[Name] = Field(default_factory=list)
    """Paths of values to remove, if they exist."""
    status: Annotated[int, Field(ge=200, le=599)] = 200
    respond: Any = None
    """The response's JSON; without it, the value that `read` found, or nothing."""


def check_routes(file: Path) -> list[Problem]:
    """Return the problems of a file of routes."""
    return list(_problems(_read(file)))


def read_routes(file: Path) -> list[Route]:
    """Return the routes of a file.

    Raises:
        SuiteUnusable: Something is wrong with it; the first line that is.
    """
    found = _read(file)
    for problem in _problems(found):
        raise SuiteUnusable(str(problem))
    return [Route.model_validate(each) for each in found.values]


def _read(file: Path) -> SourceFile:
    try:
        return yaml_source.read(str(file), file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        msg = f"routes '{file}' cannot be read: {error}; write them as UTF-8 next to the suite"
        raise SuiteUnusable(msg) from error


def _problems(file: SourceFile) -> Iterator[Problem]:
    yield from file.problems
    if not file.problems and not isinstance(file.values, list):
        yield file.problem((), "routes are a list", "write: - {method: GET, path: /holds, ...}")
    for i, value in enumerate(file.values if isinstance(file.values, list) else ()):
        try:
            route = Route.model_validate(value)
        except ValidationError as error:
            for each in error.errors(include_url=False):
                where = (i, *each["loc"])
                yield file.problem(where, f"route {dotted(where)}: {each['msg']}", _WAY_OUT)
            continue
        yield from _problems_of(file, i, route)


def _problems_of(file: SourceFile, position: int, route: Route) -> Iterator[Problem]:
    for text in _paths(route):
        if found := json_paths.fault(text):
            yield file.problem((position,), f"route [{position}]: {found[0]}", found[1])
    known = {*PLACEHOLDER.findall(route.path), *_OURS}
    parts = route.model_dump(exclude={"method", "path"})
    for name in sorted({each for each in _placeholders(parts) if _root(each) not in known}):
        fact = f"route [{position}]: '{{{name}}}' is not known"
        names = ", ".join(sorted(known - {"$"}))
        yield file.problem((position,), fact, f"known: {names}, and paths of the state")


def _paths(route: Route) -> Iterator[str]:
    for changes in (route.when, route.set, route.append, route.add, route.subtract):
        yield from changes
    yield from route.remove
    yield from [] if route.read is None else [route.read]


def _placeholders(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from PLACEHOLDER.findall(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _placeholders([key, item])
    elif isinstance(value, list):
        for item in value:
            yield from _placeholders(item)


def _root(name: str) -> str:
    """Return the source of a placeholder's value."""
    return "$" if name.startswith("$") else name.partition(".")[0]
