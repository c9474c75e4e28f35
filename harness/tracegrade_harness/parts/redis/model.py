"""Redis databases and their verifiers, as suites declare them."""

from pydantic import Field

from tracegrade_harness.suite.strict import Glob, Name, Strict
from tracegrade_scoring.tasks.model import Wanted


class Redis(Strict):
    """A Redis database, on a server that the harness starts."""

    from_: Name = Field(alias="from")
    """A file, relative to the suite, with the commands that fill it, one per line, as in
    `redis-cli`: `SET greeting "hello world"`."""
    url_env: Name | None = None
    """Environment variable that gets the database's URL."""
    ignore: list[Glob] = Field(default_factory=list)
    """Keys whose changes do not matter."""


class RedisVerifier(Strict):
    """A key of a Redis database has a value."""

    redis: Name
    """Name of the part."""
    key: Name
    equals: Wanted
    """Value or rule: a text, a list, a sorted list for a set, a mapping for a hash, one of numbers
    for a sorted set."""
