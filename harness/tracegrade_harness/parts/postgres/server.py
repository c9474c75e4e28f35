"""A PostgreSQL server of the harness: one template, and one database for each trial.

Everything in a database belongs to the role `owner`, which cannot log in. A trial's agent logs in
with a role of the trial, which acts as `owner` and can connect to its own database alone. The
database itself belongs to the superuser: an agent can neither drop nor configure it.

The harness reads as `reader`, which may read everything and change nothing. So functions, casts
and operators that an agent leaves never get rights that they had not.
"""

import secrets
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import psycopg
from psycopg import sql

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.parts.part import ServiceAddress
from tracegrade_harness.parts.postgres.programs import programs
from tracegrade_harness.parts.postgres.script import ScriptPiece, pieces
from tracegrade_harness.parts.servers.managed_server import (
    HOST,
    START_SECS,
    ManagedServer,
    ServerFolder,
    free_port,
    password,
)

ACCOUNTS: Final = ("postgres", "nobody")
TEMPLATE: Final = "frozen"
OWNER: Final = "owner"
READER: Final = "reader"
MAX_CONNECTIONS: Final = 40
"""Most connections of one agent."""

_SUPERUSER: Final = "postgres"
_DATA: Final = "data"
_TRIES: Final = 5
_NO_SOCKET: Final = "could not create any TCP/IP sockets"  # the level of its reason is not logged
_INITDB: Final = (
    *("-U", _SUPERUSER, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8"),
    *("--wal-segsize=1", "--no-sync", "--no-instructions"),
)
_SETTINGS: Final = {
    "listen_addresses": HOST,
    "unix_socket_directories": "",
    "max_connections": "250",
    "max_prepared_transactions": "50",
    "client_connection_check_interval": "50ms",  # if its client was killed, it ends
    "autovacuum": "off",  # it would disturb copies, and the databases live only briefly
    "fsync": "off",  # after a crash of the machine, nothing needs to be kept
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_logical_replication_workers": "0",
    "max_parallel_workers": "0",
    "temp_file_limit": "1GB",
    "jit": "off",
    "log_min_messages": "fatal",  # agents' mistakes would fill the disk
    "log_min_error_statement": "panic",
}
_READING: Final = {
    # Agents' code is not found by any name, and values have one format despite agents' settings.
    "search_path": "pg_catalog,pg_temp",
    "default_transaction_read_only": "on",
    "row_security": "off",
    "bytea_output": "hex",
    "DateStyle": "ISO,YMD",
    "IntervalStyle": "postgres",
    "TimeZone": "UTC",
    "extra_float_digits": "1",
    "lc_monetary": "C",
    "xmlbinary": "base64",
    "quote_all_identifiers": "off",
    "transform_null_equals": "off",
    "constraint_exclusion": "off",
    "lock_timeout": "250ms",
    "statement_timeout": "60s",
}


class TrialDatabase(NamedTuple):
    """A database, and the login with which an agent connects."""

    name: str
    """Name of the database, and of its role."""
    password: str


class PortTaken(EnvironmentFailed):
    """Another process took the server's port first."""


class PostgresServer:
    """A server that runs until it is closed, or until the harness ends."""

    def __init__(self, folder: ServerFolder) -> None:
        """Start it.

        Args:
            folder: Has the cluster; removed with the server.

        Raises:
            EnvironmentFailed: It cannot be started.
        """
        self._password = password()
        self.seed = secrets.randbits(62)
        """Makes digests of tables that no agent can predict."""
        self.address = ServiceAddress(HOST, free_port())
        data = folder.path / _DATA
        (data / "pg_hba.conf").write_text(f"host all all {HOST}/32 scram-sha-256\n")
        folder.run(_command("--single", "-j", data), self._secret_of(_SUPERUSER))
        settings = {**_SETTINGS, "port": str(self.address.port)}
        self._managed = ManagedServer(folder, _command(data, settings=settings), signal.SIGINT)
        self._wait()

    @classmethod
    def of_template(cls, template: Path) -> "PostgresServer":
        """Start one with a copy of a cluster that `build_cluster` has built.

        Raises:
            EnvironmentFailed: It cannot be started.
        """

        def fill(folder: ServerFolder) -> None:
            copy_cluster(template, folder.path / _DATA)
            folder.own(folder.path / _DATA)
            (folder.path / _DATA).chmod(0o700)

        server = cls._of(fill)
        server.admit_reader()
        return server

    @classmethod
    def empty(cls) -> "PostgresServer":
        """Start an empty server.

        Raises:
            EnvironmentFailed: It cannot be started.
        """

        def fill(folder: ServerFolder) -> None:
            command = [programs().path("initdb"), "-D", str(folder.path / _DATA), *_INITDB]
            folder.run(command)

        return cls._of(fill)

    @classmethod
    def _of(cls, fill: Callable[[ServerFolder], None]) -> "PostgresServer":
        for tries_left in reversed(range(_TRIES)):
            folder = ServerFolder(*ACCOUNTS)
            try:
                fill(folder)
                return cls(folder)
            except PortTaken:
                if not tries_left:
                    raise
            except EnvironmentFailed:
                folder.remove()
                raise
        raise AssertionError

    @property
    def data(self) -> Path:
        """The folder of the cluster."""
        return self._managed.folder / _DATA

    def admit_reader(self) -> None:
        """Let the reader log in, with the superuser's secret."""
        with self.connected() as admin:
            admin.execute(self._secret_of(READER))

    def create(self, template: str = TEMPLATE) -> TrialDatabase:
        """Return a new database, a copy of the template or of another.

        Raises:
            psycopg.errors.ObjectInUse: Somebody is connected to the other.
        """
        made = TrialDatabase(f"trial_{secrets.token_hex(6)}", password())
        names = {
            "new": sql.Identifier(made.name),
            "template": sql.Identifier(template),
            "password": sql.Literal(made.password),
            "limit": sql.Literal(MAX_CONNECTIONS),
            "owner": sql.Identifier(OWNER),
            "reader": sql.Identifier(READER),
        }
        with self.connected() as admin:
            for statement in _CREATE:
                admin.execute(sql.SQL(statement).format(**names))
        return made

    def drop(self, database: TrialDatabase) -> None:
        """Remove a database, its role and its connections. Idempotent."""
        with suppress(psycopg.OperationalError):  # it ended with its server
            self._roll_back_prepared(database.name)
            name = sql.Identifier(database.name)
            with self.connected() as admin:
                admin.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))
                with suppress(psycopg.errors.DependentObjectsStillExist):  # granted to another
                    admin.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(name))

    def url(self, database: TrialDatabase) -> str:
        """Return the URL with which an agent connects."""
        who = f"{database.name}:{database.password}"
        return f"postgresql://{who}@{self.address.host}:{self.address.port}/{database.name}"

    @contextmanager
    def connected(self, database: str = "postgres") -> Iterator["psycopg.Connection[Any]"]:
        """Connect as the superuser, who reads nothing that agents can have made."""
        path = {"search_path": _READING["search_path"]}
        with self._connected(database, _SUPERUSER, self._password, path) as connection:
            yield connection

    @contextmanager
    def reading(self, database: TrialDatabase) -> Iterator["psycopg.Connection[Any]"]:
        """Connect with rights to read only.

        Raises:
            EnvironmentFailed: The server does not answer.
        """
        with ExitStack() as stack:
            try:
                opened = self._connected(database.name, READER, self._password, _READING)
                connection = stack.enter_context(opened)
            except psycopg.OperationalError as error:
                msg = f"PostgreSQL does not answer: {_line(error)}; see that memory is not full"
                raise EnvironmentFailed(msg) from error
            yield connection

    @contextmanager
    def loading(self) -> Iterator["psycopg.Connection[Any]"]:
        """Connect to the template as its owner, who can log in until the block ends."""
        owner, secret = sql.Identifier(OWNER), password()
        with self.connected() as admin:
            login = sql.SQL("ALTER ROLE {} LOGIN PASSWORD {}").format(owner, sql.Literal(secret))
            admin.execute(login)
            with self._connected(TEMPLATE, OWNER, secret, {}) as connection:
                yield connection
            admin.execute(sql.SQL("ALTER ROLE {} NOLOGIN PASSWORD NULL").format(owner))
            admin.execute(sql.SQL("ALTER ROLE {} RESET ALL").format(owner))
            admin.execute(f"REVOKE CONNECT ON DATABASE {TEMPLATE} FROM {OWNER}")  # and from agents

    def stop(self) -> None:
        """Let it end in good order; its folder stays until `close`."""
        self._managed.stop()

    def close(self) -> None:
        """End it and remove its folder. Idempotent."""
        self._managed.close()

    def _secret_of(self, role: str) -> str:
        return f"ALTER ROLE {role} PASSWORD '{self._password}'\n\n"

    def _wait(self) -> None:
        """Wait until it answers."""
        ends = time.monotonic() + START_SECS
        while time.monotonic() < ends and not self._managed.has_ended():
            with suppress(psycopg.OperationalError), self.connected():
                return
            time.sleep(0.02)
        words = self._managed.last_words()
        self._managed.close()
        if _NO_SOCKET in words:
            msg = f"PostgreSQL cannot listen on {self.address.port}: {words}; try again"
            raise PortTaken(msg)
        msg = f"PostgreSQL cannot be started: {words}; see that memory and disk are not full"
        raise EnvironmentFailed(msg)

    def _roll_back_prepared(self, database: str) -> None:
        """Roll back prepared transactions, which prevent the removal of a database."""
        found = "SELECT gid FROM pg_prepared_xacts WHERE database = %s"
        with self.connected() as admin:
            left = admin.execute(found, [database]).fetchall()
        if left:
            with self.connected(database) as admin:
                for (gid,) in left:
                    admin.execute(sql.SQL("ROLLBACK PREPARED {}").format(sql.Literal(gid)))

    @contextmanager
    def _connected(
        self, database: str, role: str, secret: str, settings: Mapping[str, str]
    ) -> Iterator["psycopg.Connection[Any]"]:
        with psycopg.connect(
            host=self.address.host,
            port=self.address.port,
            dbname=database,
            user=role,
            password=secret,
            options=" ".join(f"-c {name}={value}" for name, value in settings.items()),
            sslmode="disable",
            gssencmode="disable",
            connect_timeout=10,
            client_encoding="UTF8",
            autocommit=True,
        ) as connection:
            yield connection


def _command(*before: str | Path, settings: Mapping[str, str] = _SETTINGS) -> list[str]:
    """Return the command of a server, or of its single-user mode."""
    *first, data = map(str, before)
    options = [part for each in settings.items() for part in ("-c", "=".join(each))]
    name = ["postgres"] if first else []
    return [programs().path("postgres"), *first, "-D", data, *options, *name]


def copy_cluster(source: Path, target: Path) -> None:
    """Copy a cluster that no server uses.

    Raises:
        EnvironmentFailed: This machine failed.
    """
    # The program copies these thousand small files three times as fast as Python does.
    command = ["cp", "-R", str(source), str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        words = " ".join(done.stderr[-500:].split())
        msg = f"cluster '{source}' cannot be copied: {words}; see that the disk is not full"
        raise EnvironmentFailed(msg)


def build_cluster(target: Path, script: str) -> None:
    """Build a cluster whose template database a script fills.

    Args:
        target: A folder that is created.
        script: SQL; run as a role without special rights.

    Raises:
        EnvironmentFailed: The script does not run, or this machine failed.
    """
    server = PostgresServer.empty()
    try:
        with server.connected() as admin:
            for statement in _PREPARE:
                admin.execute(statement)
        with server.connected(TEMPLATE) as admin:
            admin.execute(f"ALTER SCHEMA public OWNER TO {OWNER}")
        _load(server, script)
        server.stop()
        copy_cluster(server.data, target)
    finally:
        server.close()


def _load(server: PostgresServer, script: str) -> None:
    with server.loading() as connection:
        for piece in pieces(script):
            try:
                _run(connection, piece)
            except psycopg.Error as error:
                msg = f"{_position(piece, error)}: {_line(error)}; mend the script"
                raise EnvironmentFailed(msg) from error


def _run(connection: "psycopg.Connection[Any]", piece: ScriptPiece) -> None:
    if piece.rows is None:
        connection.execute(piece.sql.encode())
        return
    with connection.cursor() as cursor, cursor.copy(piece.sql.encode()) as copy:
        copy.write(piece.rows)


def _position(piece: ScriptPiece, error: psycopg.Error) -> str:
    """Return the position of an error in a script, as far as PostgreSQL reports it."""
    character = error.diag.statement_position
    if character is None:
        return f"from line {piece.line} on"
    return f"line {piece.line + piece.sql[: int(character) - 1].count(chr(10))}"


def _line(error: psycopg.Error) -> str:
    return " ".join((error.diag.message_primary or str(error)).split())


_PREPARE: Final = (
    f"CREATE ROLE {OWNER} NOLOGIN",
    f"CREATE ROLE {READER} LOGIN BYPASSRLS",
    f"GRANT pg_read_all_data, pg_read_all_stats TO {READER}",
    f"CREATE DATABASE {TEMPLATE} TEMPLATE template0 STRATEGY FILE_COPY",
    f"REVOKE ALL ON DATABASE {TEMPLATE}, postgres FROM PUBLIC",
    f"GRANT CONNECT, CREATE, TEMPORARY ON DATABASE {TEMPLATE} TO {OWNER}",
    *(
        statement
        for unused in ("template0", "template1")  # half of the data that each run would copy
        for statement in (
            f"ALTER DATABASE {unused} IS_TEMPLATE false",
            f"DROP DATABASE {unused}",
        )
    ),
)
_CREATE: Final = (
    "CREATE DATABASE {new} TEMPLATE {template} STRATEGY FILE_COPY ALLOW_CONNECTIONS false",
    "CREATE ROLE {new} LOGIN PASSWORD {password} CONNECTION LIMIT {limit} IN ROLE {owner}",
    "ALTER ROLE {new} SET role TO {owner}",
    "REVOKE ALL ON DATABASE {new} FROM PUBLIC",
    "GRANT CONNECT, CREATE, TEMPORARY ON DATABASE {new} TO {new}",
    "GRANT CREATE, TEMPORARY ON DATABASE {new} TO {owner}",
    "GRANT CONNECT ON DATABASE {new} TO {reader}",
    "ALTER DATABASE {new} ALLOW_CONNECTIONS true",
)
