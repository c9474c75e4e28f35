"""An HTTP service as a part of an environment; `json_objects.py` defines its objects.

Its state is a JSON document that the requests of an agent change. Each trial has a service of its
own, with a fresh copy of the document.
"""

import copy
import importlib
import json
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from starlette.types import ASGIApp
from xxhash import xxh3_128_hexdigest

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.parts.http.json_objects import (
    digest,
    object_name,
    read_document,
    read_values,
)
from tracegrade_harness.parts.http.json_paths import matches, parsed
from tracegrade_harness.parts.http.model import HttpFault
from tracegrade_harness.parts.http.recorder import (
    RecordedRequest,
    Recorder,
    RoutedApp,
    parsed_json,
)
from tracegrade_harness.parts.http.route_file import Route, read_routes
from tracegrade_harness.parts.http.routes import RoutedService
from tracegrade_harness.parts.names import own_names, part_text
from tracegrade_harness.parts.part import ServiceAddress
from tracegrade_harness.parts.servers.http_server import HttpServer
from tracegrade_harness.parts.state_reading import ReadableState, StateReading

QUIET_SECS: Final = 1.0
"""Seconds that requests may continue after their agent has ended, before they count as held."""
_STATE: Final = "state.json"
_ROUTES: Final = "routes.yaml"

App: TypeAlias = Callable[[Any], ASGIApp]


@dataclass(frozen=True)
class HttpLocation:
    """The variable and rules of a service in a suite."""

    name: str
    """Name of the part."""
    variable: str | None = None
    """Environment variable that gets the URL."""
    locks: tuple[str, ...] = ()
    """JSON paths of values that are held while they are new or changed."""
    quota: tuple[str, ...] = ()
    """JSON paths of numbers that are held while they are less than before."""
    ignore: tuple[str, ...] = ()
    """JSON paths of ignored values."""

    @property
    def title(self) -> str:
        """Prefix of the names of its objects."""
        return f"http:{part_text(self.name)}"


@dataclass(frozen=True)
class HttpSource:
    """The files of a service; it has routes or an app."""

    state: Path | None
    routes: Path | None
    app: tuple[str, Path] | None
    """`MODULE:NAME`, and the folder of the module."""
    faults: tuple[HttpFault, ...] = ()


class HttpPart:
    """A service; each trial gets one of its own."""

    def __init__(self, location: HttpLocation, source: HttpSource) -> None:
        self._location = location
        self._source = source
        self._before: Any = {}
        self._serve: App | None = None
        self._routes: list[Route] = []

    def source_digest(self) -> str:
        """Return a digest of all sources of the template, except an app's code.

        Raises:
            EnvironmentFailed: The state or the routes are missing or cannot be read.
        """
        texts = [_text(path) for path in (self._source.state, self._source.routes)]
        return xxh3_128_hexdigest(ascii(texts).encode())

    def freeze(self, folder: Path) -> None:
        """Build the template in a new, empty folder; see `part.py`."""
        _document(self._source.state)
        (folder / _STATE).write_text(_text(self._source.state) or "{}", encoding="utf-8")
        if self._source.routes is not None:
            (folder / _ROUTES).write_text(_text(self._source.routes) or "", encoding="utf-8")
        self.use(folder)

    def use(self, folder: Path) -> None:
        """Use an existing template of `freeze`.

        Raises:
            EnvironmentFailed: The app cannot be imported.
            SuiteUnusable: The routes are wrong.
        """
        self._before = _document(folder / _STATE)
        if self._source.app is not None:
            self._serve = _imported(*self._source.app)
        else:
            self._routes = read_routes(folder / _ROUTES)

    def frozen(self) -> StateReading:
        """Return the template as a trial finds it."""
        return read_document(self._before, self._location.title, self._location.ignore)

    def contents(self, names: Collection[str], most_bytes: int) -> Iterator[tuple[str, bytes]]:
        """Yield the values of objects of the template; see `part.py`."""
        own = own_names(self._location.title, names)
        return _values(self._location, self._before, own, most_bytes)

    def open(self, root: Path) -> "OpenedHttp":
        """Return a service with a fresh copy of the state; the folder is not used."""
        return self._opened(copy.deepcopy(self._before), self._source.faults)

    def close(self) -> None:
        """Do nothing: each trial has a service of its own."""

    def _opened(self, document: Any, faults: Sequence[HttpFault]) -> "OpenedHttp":
        if self._serve is not None:
            app, read = self._serve(document), lambda: document
        else:
            service = RoutedService(self._routes, document)
            app, read = RoutedApp(service), lambda: service.document
        # A clone is for undos, which must not fail by the suite's faults.
        clone = lambda document: self._opened(document, ())  # noqa: E731
        return OpenedHttp(self._location, Recorder(app, faults), read, self._before, clone)


class OpenedHttp(ReadableState):
    """A service of one trial."""

    def __init__(
        self,
        location: HttpLocation,
        recorder: Recorder,
        read: Callable[[], Any],
        before: Any,
        clone: Callable[[Any], "OpenedHttp"],
    ) -> None:
        self._location = location
        self._recorder = recorder
        self._read = read
        self._before = before
        self._clone = clone
        self._server = HttpServer(recorder)

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment variables with which an agent finds the service."""
        address = self._server.address
        url = f"http://{address.host}:{address.port}"
        return {self._location.variable: url} if self._location.variable else {}

    @property
    def addresses(self) -> Sequence[ServiceAddress]:
        """The addresses at which an agent must reach it."""
        return [self._server.address]

    def document(self) -> Any:
        """Return a copy of the state, after waiting some time for requests to end.

        Raises:
            EnvironmentFailed: The app does not answer, or its state is not JSON.
        """
        self._is_quiet()
        return self._document()

    def _document(self) -> Any:
        try:
            return parsed_json(self._server.call(lambda: json.dumps(self._read())))
        except (TypeError, ValueError, RecursionError) as error:
            msg = f"{self._location.title}: the state of its app is not JSON ({error}); correct it"
            raise EnvironmentFailed(msg) from error

    def calls(self) -> list[RecordedRequest]:
        """Return the requests so far, in order of arrival.

        Raises:
            EnvironmentFailed: There were too many to record.
        """
        if self._recorder.refused:
            msg = (
                f"{self._location.title}: {self._recorder.refused} requests were too much to keep"
            )
            raise EnvironmentFailed(f"{msg}; give the agent less to send")  # noqa: EM102 - named
        return self._server.call(lambda: [*self._recorder.calls])

    def read(self) -> StateReading:
        """Return the state's objects as they are now.

        Raises:
            EnvironmentFailed: The app does not answer, or its state is not JSON.
        """
        return read_document(self.document(), self._location.title, self._location.ignore)

    def contents(self, names: Collection[str], most_bytes: int) -> Iterator[tuple[str, bytes]]:
        """Yield the values of objects as they are now; see `part.py`."""
        own = own_names(self._location.title, names)
        if own:
            yield from _values(self._location, self.document(), own, most_bytes)

    def held(self) -> list[str]:
        """Return values under locks and quotas, and `http:PART (request)` for an open one."""
        under_way = [] if self._is_quiet() else [f"{self._location.title} (request)"]
        now = self._document()
        return sorted({*under_way, *self._locked(now), *self._spent(now)})

    def clone(self, root: Path) -> "OpenedHttp":
        """Return a service with a copy of the present state, and without faults."""
        return self._clone(self.document())

    def close(self) -> None:
        """End the service. Idempotent."""
        self._server.close()

    def _is_quiet(self) -> bool:
        """Wait until no request is in progress; return whether that happened."""
        ends = time.monotonic() + QUIET_SECS
        while self._server.call(lambda: self._recorder.in_flight):
            if time.monotonic() > ends:
                return False
            time.sleep(0.01)
        return True

    def _locked(self, now: Any) -> list[str]:
        return [
            object_name(self._location.title, path)
            for rule in self._location.locks
            for path, value in matches(now, parsed(rule, wildcards=True))
            if all(digest(value) != digest(old) for _, old in matches(self._before, path))
        ]

    def _spent(self, now: Any) -> list[str]:
        return [
            object_name(self._location.title, path)
            for rule in self._location.quota
            for path, before in matches(self._before, parsed(rule, wildcards=True))
            if _is_less(next((value for _, value in matches(now, path)), None), before)
        ]


def _values(
    location: HttpLocation, document: Any, names: Collection[str], most_bytes: int
) -> Iterator[tuple[str, bytes]]:
    found = read_values(document, location.title, names, location.ignore)
    return ((name, value) for name, value in found if len(value) <= most_bytes)


def _is_less(now: Any, before: Any) -> bool:
    """Return whether a quota is lower, or, if not a number, whether it changed."""
    numbers = (now, before)
    if any(isinstance(each, bool) or not isinstance(each, (int, float)) for each in numbers):
        return bool(now != before)
    return bool(now < before)


def _text(file: Path | None) -> str | None:
    try:
        return None if file is None else file.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        msg = f"'{file}': {error}; name a readable file in UTF-8"
        raise EnvironmentFailed(msg) from error


def _document(file: Path | None) -> Any:
    """Return the mapping in a file; an empty one without a file."""
    try:
        document = parsed_json(_text(file) or "{}")
    except ValueError as error:
        msg = f"state '{file}' is not JSON: {error}; correct it"
        raise EnvironmentFailed(msg) from error
    if not isinstance(document, dict):
        msg = f"state '{file}' is not a mapping; write it as {{...}}"
        raise EnvironmentFailed(msg)
    return document


def _imported(name: str, folder: Path) -> App:
    """Return the function that makes an app."""
    module, _, attribute = name.partition(":")
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    try:
        found: App = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # any error in the suite's own code
        msg = f"app '{name}' cannot be imported from '{folder}': {error!r}; correct it"
        raise EnvironmentFailed(msg) from error
    return found
