"""HTTP services as a kind of parts."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tracegrade_harness.parts.http import json_paths
from tracegrade_harness.parts.http.model import Http, HttpVerifier
from tracegrade_harness.parts.http.part import HttpLocation, HttpPart, HttpSource
from tracegrade_harness.parts.http.route_file import check_routes, read_routes
from tracegrade_harness.parts.http.verify import verify_http
from tracegrade_harness.parts.kind import Around, MadePart, PartKind
from tracegrade_harness.parts.verifying.result import Context, Finding
from tracegrade_harness.suite import paths
from tracegrade_harness.suite.channels import check_calls
from tracegrade_harness.suite.readable import ReadableEnvironment
from tracegrade_harness.suite.sources import check_source
from tracegrade_harness.suite.suite_position import At
from tracegrade_harness.suite.values import check_value, check_values_at
from tracegrade_queries.files.shape import dotted
from tracegrade_queries.files.yaml_source import Problem

_STEP: Final = r"""(?:\.[^.\[\]"*?]+|\."(?:[^"\\]|\\.)+"|\[\d+\])"""
"""A step from a document to a collection in it."""
_APP: Final = re.compile(r"[\w.]+:\w+", re.ASCII)


class HttpKind(PartKind):
    """HTTP services with a state, whose objects are values in it."""

    name = "http"
    rank = 50
    model = Http
    verifier = HttpVerifier
    collection = rf"\${_STEP}[.\[]"
    speaks_http = True

    def check(self, at: At, declared: Http, around: ReadableEnvironment) -> Iterator[Problem]:
        """Yield problems of files, an app, names of calls and paths into the state."""
        for key, name in (("state", declared.state), ("routes", declared.routes)):
            if name is not None:
                yield from check_source(at.source, at.folder, at.below(key), name, "file")
        if declared.app is not None and not _APP.fullmatch(declared.app):
            fact = f"'{declared.app}' is not the name of a function"
            yield at.problem("app", fact, "write it as MODULE:NAME, like mocks.bank:app")
        if declared.routes is not None and _is_there(at.folder, declared.routes):
            yield from check_routes(paths.source(at.folder, declared.routes))
        yield from check_calls(at.source, at.below("calls"), declared.calls)
        for key in ("locks", "quota", "ignore"):
            for i, text in enumerate(getattr(declared, key)):
                if fault := json_paths.fault(text, wildcards=True):
                    path = at.below(key, i)
                    yield at.source.problem(path, f"{dotted(path)}: {fault[0]}", fault[1])

    def check_verifier(
        self, at: At, verifier: HttpVerifier, around: ReadableEnvironment | None
    ) -> Iterator[Problem]:
        """Yield problems of expected values."""
        yield from check_values_at(at.source, at.below("state"), verifier.state)
        if verifier.calls is not None:
            yield from check_values_at(at.source, at.below("calls", "body"), verifier.calls.body)
            for key in ("method", "path", "status", "times"):
                path = at.below("calls", key)
                yield from check_value(at.source, path, getattr(verifier.calls, key))

    def part(self, name: str, declared: Http, around: Around) -> MadePart:
        """Return a service with its routes or its app."""
        location = HttpLocation(
            name,
            declared.url_env,
            tuple(declared.locks),
            tuple(declared.quota),
            tuple(declared.ignore),
        )
        folder = around.suite_folder
        source = HttpSource(
            None if declared.state is None else folder / declared.state,
            None if declared.routes is None else folder / declared.routes,
            None if declared.app is None else (declared.app, folder),
            tuple(declared.faults),
        )
        return MadePart(HttpPart(location, source), (location.ignore,))

    def verify(self, verifier: HttpVerifier, context: Context) -> Finding:
        """Return whether a state, or the requests of a trial, are as expected."""
        return verify_http(verifier, context)

    def outside_code(self, declared: Http) -> str | None:
        """Return the app, which runs outside of the sandbox."""
        return None if declared.app is None else f"app '{declared.app}'"

    def answers(self, declared: Http) -> Iterator[str]:
        """Yield the files of a service."""
        yield from filter(None, (declared.state, declared.routes))
        if declared.app is not None:
            module = declared.app.partition(":")[0].replace(".", "/")
            yield from (f"{module}.py", module)

    def call_names(self, declared: Http, folder: Path) -> list[str]:
        """Return the suite's names for the requests of a service, then its routes' names."""
        named = declared.routes
        routes = [] if named is None else read_routes(paths.source(folder, named))
        return [*declared.calls, *(f"{route.method} {route.path}" for route in routes)]


def _is_there(folder: Path, name: str) -> bool:
    return paths.source_fault(name) is None and paths.source(folder, name).is_file()
