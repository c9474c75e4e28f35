"""What can be wrong with the services of an environment: sources, paths into their states."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tracegrade_harness.suite import json_paths, model, paths
from tracegrade_harness.suite.doors import check_calls
from tracegrade_harness.suite.hosts import check_browser
from tracegrade_harness.suite.readable import ReadableEnvironment
from tracegrade_harness.suite.routes import check_routes
from tracegrade_harness.suite.sources import check_source
from tracegrade_queries.files.shape import dotted
from tracegrade_queries.files.yaml_source import KeyPath, Problem, SourceFile

_APP: Final = re.compile(r"[\w.]+:\w+", re.ASCII)


def check_service(
    source: SourceFile,
    folder: Path,
    path: KeyPath,
    service: model.Postgres | model.Redis | model.Http | model.Browser,
    environment: ReadableEnvironment,
) -> Iterator[Problem]:
    """Yield the problems of a service of an environment."""
    if isinstance(service, model.Postgres | model.Redis):
        yield from check_source(source, folder, (*path, "from"), service.from_, "file")
    elif isinstance(service, model.Browser):
        yield from check_browser(source, path, service, environment)
    else:
        yield from _check_http(source, folder, path, service)


def _check_http(
    source: SourceFile, folder: Path, path: KeyPath, service: model.Http
) -> Iterator[Problem]:
    for key, name in (("state", service.state), ("routes", service.routes)):
        if name is not None:
            yield from check_source(source, folder, (*path, key), name, "file")
    if service.app is not None and not _APP.fullmatch(service.app):
        fact = f"{dotted((*path, 'app'))} '{service.app}' is no name of a function"
        yield source.problem((*path, "app"), fact, "write it as MODULE:NAME, like mocks.bank:app")
    if service.routes is not None and _is_there(folder, service.routes):
        yield from check_routes(paths.source(folder, service.routes))
    yield from check_calls(source, (*path, "calls"), service.calls)
    for key in ("locks", "quota", "ignore"):
        for i, text in enumerate(getattr(service, key)):
            if fault := json_paths.fault(text, wildcards=True):
                fact = f"{dotted((*path, key, i))}: {fault[0]}"
                yield source.problem((*path, key, i), fact, fault[1])


def _is_there(folder: Path, name: str) -> bool:
    return paths.source_fault(name) is None and paths.source(folder, name).is_file()
