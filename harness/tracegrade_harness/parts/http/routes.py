"""Answers requests by the routes of a service, and changes its state.

A request makes all changes of its route, or none. If it lacks something, the answer is 400; if its
changes cannot be made for another reason, the answer is 409.
"""

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from tracegrade_harness.parts.http.json_objects import remove
from tracegrade_harness.parts.http.json_paths import (
    JsonPath,
    matches,
    parsed,
    text_of,
    with_names,
)
from tracegrade_harness.parts.http.route_file import PLACEHOLDER, Route

NOTHING: Final = object()
"""A marker for no value, because `None` is a value."""


class Request(NamedTuple):
    """A request as routes see it."""

    number: int
    """Number of the request to the service, from 1."""
    method: str
    path: str
    """The path with its percent escapes: an escaped slash is part of a segment."""
    query: Mapping[str, str]
    body: Any
    """Its JSON; `NOTHING` if it has none."""


class HttpAnswer(NamedTuple):
    """A response; the content is sent as JSON, and `NOTHING` as no body."""

    status: int
    content: Any = NOTHING


class _Refused(Exception):
    """A request cannot be carried out."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.answer = HttpAnswer(status, {"error": reason})


class RoutedService:
    """A service whose state only its routes change."""

    def __init__(self, routes: Sequence[Route], document: Any) -> None:
        self._routes = routes
        self.document = document
        """Each change replaces it; it is never changed in place."""

    def answer(self, request: Request) -> HttpAnswer:
        """Carry out a request and return the response."""
        known = False
        for route in self._routes:
            names = _names(route.path, request.path)
            if names is None:
                continue
            known = True
            if route.method != request.method:
                continue
            try:
                handling = _Handling(route, request, names, copy.deepcopy(self.document))
                if handling.applies():
                    answer = handling.carry_out()
                    self.document = handling.document
                    return answer
            except _Refused as refused:
                return refused.answer
        reason = f"no route for {request.method} {request.path}"
        return HttpAnswer(405 if known else 404, {"error": reason})


class _Handling:
    """One request, as one route handles it."""

    def __init__(
        self, route: Route, request: Request, names: Mapping[str, str], document: Any
    ) -> None:
        self._route = route
        self._request = request
        self._names = names
        self.document = document
        self._found: Any = NOTHING

    def applies(self) -> bool:
        """Return whether the route's `when` holds."""
        return all(
            self._at(self._path(path), None) == self._filled(value)
            for path, value in self._route.when.items()
        )

    def carry_out(self) -> HttpAnswer:
        """Change the document, and return the response."""
        route = self._route
        if route.read is not None:
            path = self._path(route.read)
            self._found = self._at(path, NOTHING)
            if self._found is NOTHING:
                raise _Refused(404, f"nothing is at {text_of(path)}")
            self._found = copy.deepcopy(self._found)
        responds = "respond" in route.model_fields_set
        answer = self._filled(route.respond) if responds else self._found
        self._each(route.set, self._set)
        self._each(route.append, self._append)
        self._each(route.add, self._add)
        self._each(route.subtract, lambda path, value: self._add(path, -_number(value)))
        for text in route.remove:
            remove(self.document, self._path(text))
        return HttpAnswer(route.status, answer)

    def _each(self, changes: Mapping[str, Any], change: Callable[[JsonPath, Any], None]) -> None:
        for text, value in changes.items():
            change(self._path(text), self._filled(value))

    def _set(self, path: JsonPath, value: Any) -> None:
        if not path:
            self.document = value
            return
        holder = self._at(path[:-1], NOTHING)
        is_place = isinstance(holder, list) and path[-1] in range(len(holder))
        if not is_place and not (isinstance(holder, dict) and isinstance(path[-1], str)):
            raise _Refused(409, f"nothing at {text_of(path[:-1])} can hold {text_of(path)}")
        holder[path[-1]] = value

    def _append(self, path: JsonPath, value: Any) -> None:
        items = self._at(path, NOTHING)
        if not isinstance(items, list):
            raise _Refused(409, f"no list is at {text_of(path)}")
        items.append(value)

    def _add(self, path: JsonPath, value: Any) -> None:
        self._set(path, _number(self._at(path, NOTHING), 409) + _number(value))

    def _at(self, path: JsonPath, otherwise: Any) -> Any:
        return next((value for _, value in matches(self.document, path)), otherwise)

    def _path(self, text: str) -> JsonPath:
        return with_names(parsed(text), lambda name: _text(self._filled(name)))

    def _filled(self, value: Any) -> Any:
        """Return a value of a route with its placeholders replaced."""
        if isinstance(value, dict):
            return {_text(self._filled(key)): self._filled(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self._filled(each) for each in value]
        if not isinstance(value, str):
            return value
        alone = PLACEHOLDER.fullmatch(value)
        if alone:
            return copy.deepcopy(self._meaning(alone[1]))
        return PLACEHOLDER.sub(lambda found: _text(self._meaning(found[1])), value)

    def _meaning(self, name: str) -> Any:
        root, _, rest = name.partition(".")
        if name in self._names:
            return self._names[name]
        holders = {
            "number": self._request.number,
            "body": self._request.body,
            "found": self._found,
            "query": dict(self._request.query),
        }
        holder, path = (
            (self.document, name) if name.startswith("$") else (holders[root], f"$.{rest}")
        )
        steps = parsed(path) if rest or name.startswith("$") else ()
        value = next((value for _, value in matches(holder, steps)), NOTHING)
        if value is NOTHING:
            raise _Refused(400, f"the request gives no '{name}'")
        return value


def _names(pattern: str, path: str) -> dict[str, str] | None:
    """Return the values of the placeholders in a route's path; None if the paths differ."""
    ours, theirs = pattern.split("/"), [unquote(segment) for segment in path.split("/")]
    if len(ours) != len(theirs):
        return None
    names: dict[str, str] = {}
    for our, their in zip(ours, theirs, strict=True):
        placeholder = PLACEHOLDER.fullmatch(our)
        if placeholder and their:
            names[placeholder[1]] = their
        elif our != their:
            return None
    return names


def _number(value: Any, status: int = 400) -> int | float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _Refused(status, f"{json.dumps(value, default=str)[:100]} is not a number")
    return value


def _text(value: Any) -> str:
    """Return a value as it is written in a longer text, or in a path."""
    return value if isinstance(value, str) else json.dumps(value)
