"""The parts of an environment, made from what its suite declares."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.parts.browser.part import BrowserPart, BrowserPlace
from tracegrade_harness.parts.browser.programs import why_not as browser_missing
from tracegrade_harness.parts.files.overlay import why_not as overlay_missing
from tracegrade_harness.parts.files.part import FilesPart, FilesPlace
from tracegrade_harness.parts.http.part import HttpPart, HttpPlace, HttpSource
from tracegrade_harness.parts.part import Part
from tracegrade_harness.parts.places import Places, database_files, places
from tracegrade_harness.parts.postgres.programs import why_not as postgres_missing
from tracegrade_harness.parts.redis.programs import why_not as redis_missing
from tracegrade_harness.parts.sqlite.part import SqlitePart, SqlitePlace
from tracegrade_harness.suite.model import Environment

_TEMPLATE_VERSION = 1
"""Raised when templates are built, or states read, in another way."""


class DeclaredPart(NamedTuple):
    """A part, and what tells it from others."""

    title: str
    """Kind and name, such as `files:data`."""
    key: str
    """Tells its template from others of the same source."""
    part: Part
    uses: tuple[str, ...] | None = None
    """Titles of the parts without which it shows nothing; None: it needs no others."""


def declared_parts(declared: Environment, suite_folder: Path) -> Iterator[DeclaredPart]:
    """Yield the parts of an environment; folders come before the databases in them.

    Raises:
        EnvironmentFailed: This machine lacks what serves one of them.
        SuiteUnusable: The places of parts lead out of the trial's folder, or overlap.
    """
    files, databases = places(declared)
    yield from _files(declared, suite_folder, files, databases)
    for name, database in declared.sqlite.items():
        where = SqlitePlace(name, databases[name], database.path_as, tuple(database.ignore))
        source = (suite_folder / database.from_).resolve()
        key = _key("sqlite", name, str(where.at), where.ignore, ())
        yield DeclaredPart(f"sqlite:{name}", key, SqlitePart(where, source))
    yield from _postgres_databases(declared, suite_folder.resolve())
    yield from _redis_databases(declared, suite_folder.resolve())
    yield from _http_services(declared, suite_folder.resolve())
    yield from _browsers(declared)


def missing(declared: Environment, folder: Path | None = None) -> str | None:
    """Return what this machine lacks for an environment, and how to get it; None if nothing.

    Args:
        declared: What the suite says.
        folder: One that is there, on the file system of the trials' folders; without one, it is
            not seen whether overlays can be mounted.
    """
    overlays = any(part.overlay for part in declared.files.values())
    reasons = [
        overlay_missing(folder) if overlays and folder is not None else None,
        postgres_missing() if declared.postgres else None,
        redis_missing() if declared.redis else None,
        browser_missing() if declared.browser else None,
    ]
    return ", ".join(filter(None, reasons)) or None


def _files(
    declared: Environment, suite_folder: Path, files: Places, databases: Places
) -> Iterator[DeclaredPart]:
    for name, folder in declared.files.items():
        place = FilesPlace(
            name,
            files[name],
            folder.path_as,
            tuple(folder.ignore),
            _databases_below(files[name], databases),
        )
        source = (suite_folder / folder.from_).resolve()
        key = _key("files", name, str(place.at), place.ignore, tuple(sorted(place.leave_out)))
        yield DeclaredPart(f"files:{name}", key, FilesPart(place, source, overlay=folder.overlay))


def _postgres_databases(declared: Environment, suite_folder: Path) -> Iterator[DeclaredPart]:
    if not declared.postgres:
        return
    if reason := missing(declared):
        raise EnvironmentFailed(reason)
    # The client library is an extra's, and not there for those who have no such part.
    from tracegrade_harness.parts.postgres.part import (  # noqa: PLC0415
        PostgresPart,
        PostgresPlace,
    )

    for name, database in declared.postgres.items():
        place = PostgresPlace(name, database.url_as, tuple(database.ignore))
        key = _key("postgres", name, place.ignore)
        yield DeclaredPart(
            f"postgres:{name}", key, PostgresPart(place, suite_folder / database.from_)
        )


def _redis_databases(declared: Environment, suite_folder: Path) -> Iterator[DeclaredPart]:
    if not declared.redis:
        return
    if reason := missing(declared):
        raise EnvironmentFailed(reason)
    from tracegrade_harness.parts.redis.part import (  # noqa: PLC0415 - as above
        RedisPart,
        RedisPlace,
    )

    for name, database in declared.redis.items():
        place = RedisPlace(name, database.url_as, tuple(database.ignore))
        key = _key("redis", name, place.ignore)
        yield DeclaredPart(f"redis:{name}", key, RedisPart(place, suite_folder / database.from_))


def _http_services(declared: Environment, suite_folder: Path) -> Iterator[DeclaredPart]:
    for name, service in declared.http.items():
        place = HttpPlace(
            name,
            service.url_as,
            tuple(service.locks),
            tuple(service.quota),
            tuple(service.ignore),
        )
        source = HttpSource(
            None if service.state is None else suite_folder / service.state,
            None if service.routes is None else suite_folder / service.routes,
            None if service.app is None else (service.app, suite_folder),
            tuple(service.faults),
        )
        yield DeclaredPart(
            f"http:{name}", _key("http", name, place.ignore), HttpPart(place, source)
        )


def _browsers(declared: Environment) -> Iterator[DeclaredPart]:
    if not declared.browser:
        return
    if reason := browser_missing():
        raise EnvironmentFailed(reason)
    services = tuple(declared.http)
    for name, browser in declared.browser.items():
        place = BrowserPlace(
            name,
            browser.url_as,
            services,
            browser.network == "open",
            tuple(browser.watch),
            tuple(browser.ignore),
        )
        yield DeclaredPart(
            f"browser:{name}",
            _key("browser", name),
            BrowserPart(place, browser),
            tuple(f"http:{service}" for service in services),
        )


def _key(*values: object) -> str:
    return ascii((_TEMPLATE_VERSION, *values))


def _databases_below(folder: PurePosixPath, databases: Places) -> frozenset[str]:
    return frozenset(
        str(path.relative_to(folder))
        for at in databases.values()
        for path in database_files(at)
        if path.is_relative_to(folder)
    )
