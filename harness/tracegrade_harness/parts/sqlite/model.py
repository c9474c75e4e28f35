"""SQLite databases and their verifiers, as suites declare them."""

from pydantic import Field

from tracegrade_harness.suite.strict import Glob, Name, Strict
from tracegrade_scoring.tasks.model import Wanted


class Sqlite(Strict):
    """An SQLite database."""

    from_: Name = Field(alias="from")
    """The database, or a file `*.sql` that makes it, relative to the suite."""
    at: Name
    """Path of the copy, below the folder in which the agent is run."""
    path_env: Name | None = None
    """Environment variable that gets the copy's absolute path."""
    ignore: list[Glob] = Field(default_factory=list)
    """`TABLE` or `TABLE.COLUMN` whose changes do not matter."""


class SqliteVerifier(Strict):
    """A query of an SQLite database gives a value."""

    sqlite: Name
    """Name of the part."""
    query: Name
    equals: Wanted
    """A value or rule for the only value of the only row; a list of lists for several rows."""
