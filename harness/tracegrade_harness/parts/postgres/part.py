"""A PostgreSQL database as a part of an environment; `rows.py` defines its objects.

The template is a whole cluster in the folder of frozen environments. Its script runs once, so
`now()` and `random()` in it give every trial the same values. A harness starts one server with a
copy of the template, and each trial gets a database of its own there.
"""

import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Final, TypeVar

import psycopg
from xxhash import xxh3_128_hexdigest

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.parts.names import own_names, part_text
from tracegrade_harness.parts.part import ServiceAddress
from tracegrade_harness.parts.postgres.locks import held_names
from tracegrade_harness.parts.postgres.programs import programs
from tracegrade_harness.parts.postgres.rows import DatabaseReader
from tracegrade_harness.parts.postgres.server import (
    TEMPLATE,
    PostgresServer,
    TrialDatabase,
    build_cluster,
)
from tracegrade_harness.parts.state_reading import ReadableState, StateReading

_CLUSTER: Final = "cluster"
_BUILT: Final = "built"
"""Identifies one build; a server that uses the template continues after the template is moved."""


Answer = TypeVar("Answer")


@dataclass(frozen=True)
class PostgresLocation:
    """The variable and rules of a database in a suite."""

    name: str
    """Name of the part."""
    variable: str | None = None
    """Environment variable that gets the URL."""
    ignore: tuple[str, ...] = ()
    """Globs over names of objects, without the part's name, and over `TABLE.COLUMN`."""

    @property
    def title(self) -> str:
        """Prefix of the names of its objects."""
        return f"postgres:{part_text(self.name)}"


class PostgresPart:
    """A database that a script makes; each trial gets a copy."""

    def __init__(self, location: PostgresLocation, source: Path) -> None:
        self._location = location
        self._source = source
        self._template = source.parent
        self._built = ""
        self._server: PostgresServer | None = None
        self._reader: DatabaseReader | None = None
        self._starting = Lock()

    def source_digest(self) -> str:
        """Return a digest of all sources of the template.

        Raises:
            EnvironmentFailed: The source cannot be read, or PostgreSQL is missing.
        """
        return xxh3_128_hexdigest(f"{programs().version}\n{self._script()}".encode())

    def freeze(self, folder: Path) -> None:
        """Build the template in a new, empty folder; see `part.py`."""
        try:
            build_cluster(folder / _CLUSTER, self._script())
            (folder / _BUILT).write_text(secrets.token_hex(16))
        except EnvironmentFailed as error:
            msg = f"database '{self._source}': {error}"
            raise EnvironmentFailed(msg) from error
        self.use(folder)

    def use(self, folder: Path) -> None:
        """Use an existing template of `freeze`."""
        built = (folder / _BUILT).read_text()
        if built != self._built:
            self.close()
        self._template, self._built = folder / _CLUSTER, built

    def frozen(self) -> StateReading:
        """Return the template as a trial finds it."""
        with closing(self.copy_of(TEMPLATE, None)) as opened:
            reading = opened.read()
            self._reader = opened.reader.copy()
        return reading

    def contents(self, names: Collection[str], most_bytes: int) -> Iterator[tuple[str, bytes]]:
        """Yield the contents of objects of the template; see `part.py`."""
        if own_names(self._location.title, names):
            with closing(self.copy_of(TEMPLATE, self._reader)) as opened:
                yield from opened.contents(names, most_bytes)

    def open(self, root: Path) -> "OpenedPostgres":
        """Return a fresh copy of the template for a trial; the folder is not used."""
        return self.copy_of(TEMPLATE, self._reader)

    def close(self) -> None:
        """End the server, and with it the databases of all trials. Idempotent."""
        server, self._server, self._reader = self._server, None, None
        if server is not None:
            server.close()

    def copy_of(self, source: str, reader: DatabaseReader | None) -> "OpenedPostgres":
        """Return a copy of a database.

        Args:
            source: The database.
            reader: The reader that has read it; None if there is none.

        Raises:
            EnvironmentFailed: The server cannot be started, or the disk is full.
            psycopg.errors.ObjectInUse: It has a connection or a prepared transaction.
        """
        server = self._running()
        new = DatabaseReader(self._location.title, self._location.ignore, server.seed)
        known = new if reader is None else reader.copy()
        try:
            database = server.create(source)
        except psycopg.errors.ObjectInUse:
            raise
        except psycopg.Error as error:
            msg = (
                f"{self._location.title} cannot be copied: {error}; see that the disk is not full"
            )
            raise EnvironmentFailed(msg) from error
        return OpenedPostgres(self._location, server, database, known, self)

    def _running(self) -> PostgresServer:
        with self._starting:
            if self._server is None:
                self._server = PostgresServer.of_template(self._template)
            return self._server

    def _script(self) -> str:
        try:
            return self._source.read_text(encoding="utf-8")
        except (OSError, UnicodeError) as error:
            msg = f"script '{self._source}': {error}; name a readable one in UTF-8"
            raise EnvironmentFailed(msg) from error


class OpenedPostgres(ReadableState):
    """A database of one trial."""

    def __init__(
        self,
        location: PostgresLocation,
        server: PostgresServer,
        database: TrialDatabase,
        reader: DatabaseReader,
        part: PostgresPart,
    ) -> None:
        self._location = location
        self._server = server
        self._database = database
        self._part = part
        self.reader = reader
        """Has the content of the last reading."""

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment variables with which an agent finds the database."""
        url = self._server.url(self._database)
        return {self._location.variable: url} if self._location.variable else {}

    @property
    def addresses(self) -> Sequence[ServiceAddress]:
        """The addresses at which an agent must reach it."""
        return [self._server.address]

    @contextmanager
    def reading(self) -> Iterator["psycopg.Connection[Any]"]:
        """Connect with rights to read everything and change nothing.

        Raises:
            EnvironmentFailed: The server does not answer.
        """
        with self._server.reading(self._database) as connection:
            yield connection

    def read(self) -> StateReading:
        """Return all rows and the whole schema, as far as they are committed.

        Raises:
            EnvironmentFailed: The server does not answer.
        """
        return self._ask(self.reader.read)

    def contents(self, names: Collection[str], most_bytes: int) -> Iterator[tuple[str, bytes]]:
        """Yield the contents of objects as they are now; see `part.py`."""
        own = own_names(self._location.title, names)
        if not own:
            return
        with suppress(psycopg.Error), self.reading() as connection:
            for name, content in self.reader.read_contents(connection, own):
                if len(content) <= most_bytes:
                    yield name, content

    def held(self) -> list[str]:
        """Return open and prepared transactions, and locked objects.

        Transactions of an agent that has ended get a moment to end.
        """
        return self._ask(lambda connection: held_names(connection, self._location.title))

    def _ask(self, read: Callable[["psycopg.Connection[Any]"], Answer]) -> Answer:
        try:
            with self.reading() as connection:
                return read(connection)
        except psycopg.Error as error:
            words = " ".join(str(error).split())
            msg = f"{self._location.title} cannot be read: {words}; see that memory is not full"
            raise EnvironmentFailed(msg) from error

    def clone(self, root: Path) -> "OpenedPostgres":
        """Return a copy of the present state.

        PostgreSQL cannot copy a database with a connection or a prepared transaction. Then the
        copy is a fresh database, in which no undo can prove anything.
        """
        try:
            return self._part.copy_of(self._database.name, self.reader)
        except psycopg.errors.ObjectInUse:
            return self._part.open(root)

    def close(self) -> None:
        """Remove the database and its connections. Idempotent."""
        self._server.drop(self._database)
