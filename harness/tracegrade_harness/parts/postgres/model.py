"""PostgreSQL databases and their verifiers, as suites declare them."""

from pydantic import Field

from tracegrade_harness.suite.strict import Glob, Name, Strict
from tracegrade_scoring.tasks.model import Wanted


class Postgres(Strict):
    """A PostgreSQL database, on a server that the harness starts."""

    from_: Name = Field(alias="from")
    """An SQL script beside the suite that makes it, as `pg_dump --no-owner --no-privileges`
    writes it, too. It is run by a role without special rights."""
    url_env: Name | None = None
    """Environment variable that gets the database's URL."""
    ignore: list[Glob] = Field(default_factory=list)
    """`SCHEMA.TABLE`, `SCHEMA.TABLE.COLUMN`, or objects such as `function:public.*`, whose changes
    are of no interest."""


class PostgresVerifier(Strict):
    """A query of a PostgreSQL database gives a value."""

    postgres: Name
    """The part."""
    query: Name
    equals: Wanted
    """A value or rule for the only value of the only row; a list of lists for several."""
