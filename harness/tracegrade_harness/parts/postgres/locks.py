"""Finds open transactions, locks, advisory locks and prepared transactions in a database."""

import time
from collections.abc import Iterator
from typing import Any, Final

import psycopg

from tracegrade_harness.parts.names import path_text
from tracegrade_harness.parts.postgres.catalog import qualified

QUIET_SECS: Final = 2.0
"""Seconds that transactions may continue after their agent has ended."""

_TRANSACTIONS: Final = """
SELECT 'transaction' FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
UNION
SELECT 'prepared transaction ' || gid FROM pg_prepared_xacts
WHERE database = current_database()
"""
_ADVISORY: Final = """
SELECT
  CASE objsubid WHEN 1 THEN ((classid::bigint << 32) | objid::bigint)::text
  ELSE classid::bigint || ',' || objid::bigint END
FROM pg_locks
WHERE locktype = 'advisory' AND granted AND pid IS DISTINCT FROM pg_backend_pid()
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
_TABLES: Final = """
SELECT n.nspname::text, c.relname::text, l.mode
FROM pg_locks AS l
JOIN pg_class AS c ON c.oid = l.relation
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE l.locktype = 'relation' AND l.granted AND l.pid IS DISTINCT FROM pg_backend_pid()
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND c.relkind IN ('r', 'p', 'm', 'f', 'S') AND l.mode <> 'AccessShareLock'
  AND left(n.nspname::text, 3) <> 'pg_'
"""


def held_names(connection: "psycopg.Connection[Any]", title: str) -> list[str]:
    """Return the held objects, sorted and once each, after a wait for transactions to end.

    Args:
        connection: A connection that may see the activity of others.
        title: Prefix of the names of objects, such as `postgres:shop`.

    Raises:
        psycopg.Error: The server has ended.
    """
    ends = time.monotonic() + QUIET_SECS
    while names := {*_names(connection, title)}:
        if time.monotonic() > ends:
            break
        time.sleep(0.1)
    return sorted(names)


def _names(connection: "psycopg.Connection[Any]", title: str) -> Iterator[str]:
    for (what,) in connection.execute(_TRANSACTIONS):
        yield f"{title} ({path_text(what)})"
    for (number,) in connection.execute(_ADVISORY):
        yield f"{title} (advisory lock {number})"
    for schema, table, mode in connection.execute(_TABLES):
        yield f"{title}/{qualified(schema, table)} ({mode})"
