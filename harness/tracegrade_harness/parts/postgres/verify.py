"""Verifies the result of a query in a PostgreSQL database.

The query reads the trial's own database, by a role that may change nothing, in a read-only
transaction. A copy would give the same result, and PostgreSQL cannot copy a database that has a
connection.
"""

from collections.abc import Iterator
from typing import Any, Final

import psycopg

from tracegrade_harness.errors import VerifierFailed
from tracegrade_harness.parts.postgres.model import PostgresVerifier
from tracegrade_harness.parts.postgres.part import OpenedPostgres
from tracegrade_harness.parts.verifying import value
from tracegrade_harness.parts.verifying.result import Context, Finding, printable
from tracegrade_harness.parts.verifying.rows import compared, rows_read

MAX_SECS: Final = 30.0
"""Time limit of one query."""

_BOOL, _BYTEA, _JSON = 16, 17, (114, 3802)
_NUMBERS: Final = (20, 21, 23, 26, 700, 701, 1700)
"""Numbers of types, which no release changes. Other types are texts, as PostgreSQL writes them."""


def verify_postgres(verifier: PostgresVerifier, context: Context) -> Finding:
    """Return whether a query gives the expected result.

    The verifier fails if a table is locked, or if the agent has given a name in the query another
    meaning.

    Raises:
        EnvironmentFailed: The server does not answer.
        VerifierFailed: The environment has no such database; the query cannot be run, does more
            than read, takes too long, or gives what cannot be compared.
    """
    title = f"postgres:{verifier.postgres}"
    database = context.opened.get(title)
    if not isinstance(database, OpenedPostgres):
        msg = f"the environment has no postgres '{verifier.postgres}'; declare it there"
        raise VerifierFailed(msg)
    left = [name.removeprefix(f"{title}/") for name in sorted(context.added | context.changed)]
    try:
        with database.reading() as connection:
            if other := next(_other_meanings(connection, left), None):
                return Finding(False, f"'{printable(other)}' may give the query another meaning")
            found = _rows(connection, verifier.query, rows_read(verifier.equals))
    except psycopg.errors.LockNotAvailable:
        return Finding(False, "a table that the query reads is locked")
    except psycopg.Error as error:
        msg = f"the query cannot be run: {_reason(error)}; correct it"
        raise VerifierFailed(msg) from error
    return compared(found, verifier.equals)


def _other_meanings(connection: "psycopg.Connection[Any]", left: list[str]) -> Iterator[str]:
    """Yield the agent's new or changed objects that have a name of PostgreSQL's own.

    PostgreSQL chooses `count(x)` and `a = b` by the types of their arguments. A better match of
    the agent's is chosen before PostgreSQL's own.
    """
    own = "SELECT 1 FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND proname = %s"
    for name in left:
        kind, _, rest = name.partition(":")
        if kind in ("aggregate", "cast", "operator"):
            yield name
        if kind in ("function", "window"):
            called = rest.partition("(")[0].rpartition(".")[2]
            if connection.execute(own, [called]).fetchone() is not None:
                yield name


def _rows(connection: "psycopg.Connection[Any]", query: str, limit: int) -> list[list[str | None]]:
    connection.execute("SET search_path = public")
    connection.execute(f"SET statement_timeout = '{MAX_SECS:g}s'")
    with connection.transaction():
        # A binary result, because only this protocol accepts a single statement.
        declared = f"DECLARE verifier NO SCROLL CURSOR FOR {query}"
        connection.execute(declared.encode(), binary=True)
        result = connection.execute(f"FETCH {limit} FROM verifier").pgresult
        assert result is not None  # noqa: S101 - it was executed
        types = [result.ftype(column) for column in range(result.nfields)]
        return [
            [_json(types[column], result.get_value(row, column)) for column in range(len(types))]
            for row in range(result.ntuples)
        ]


def _json(type_: int, text: bytes | None) -> str | None:
    """Return a value as canonical JSON, from PostgreSQL's text."""
    if text is None:
        return value.canonical(None)
    if type_ == _BYTEA:
        msg = "the query gives a bytea, which equals no value; ask for encode(COLUMN, 'hex')"
        raise VerifierFailed(msg)
    if type_ == _BOOL:
        return value.canonical(text == b"t")
    if type_ not in (*_NUMBERS, *_JSON):
        return value.canonical(text.decode())
    found = value.json_of(text.decode())
    if found is None:
        msg = f"the query gives '{value.short(text.decode())}', which equals no value"
        raise VerifierFailed(f"{msg}; ask for COLUMN::text")  # noqa: EM102 - has a name
    return found


def _reason(error: psycopg.Error) -> str:
    if isinstance(error, psycopg.errors.QueryCanceled):
        return f"it takes more than {MAX_SECS:g} s"
    return " ".join((error.diag.message_primary or str(error)).split())
