"""PostgreSQL databases and their verifiers, as suites declare them."""

from pydantic import Field

from tracegrade_harness.suite.strict import Glob, Name, Strict
from tracegrade_scoring.tasks.model import Wanted


class Postgres(Strict):
    """A PostgreSQL database, on a server that the harness starts."""

    from_: Name = Field(alias="from")
    """An SQL script, relative to the suite, that makes the database; the output of `pg_dump
    --no-owner --no-privileges` works. A role without special rights runs it."""
    url_env: Name | None = None
    """Environment variable that gets the database's URL."""
    ignore: list[Glob] = Field(default_factory=list)
    """`SCHEMA.TABLE`, `SCHEMA.TABLE.COLUMN`, or objects such as `function:public.*`, whose changes
    do not matter."""


class PostgresVerifier(Strict):
    """A query of a PostgreSQL database gives a value."""

    postgres: Name
    """Name of the part."""
    query: Name
    equals: Wanted
    """A value or rule for the only value of the only row; a list of lists for several rows."""
