"""Redis databases as a kind of parts."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from tracegrade_harness.parts.kind import Around, MadePart, PartKind
from tracegrade_harness.parts.redis.model import Redis, RedisVerifier
from tracegrade_harness.parts.redis.programs import why_not
from tracegrade_harness.parts.verifying.result import Context, Finding
from tracegrade_harness.suite.readable import ReadableEnvironment
from tracegrade_harness.suite.sources import check_source
from tracegrade_harness.suite.suite_position import At
from tracegrade_harness.suite.values import check_value
from tracegrade_queries.files.yaml_source import Problem


class RedisKind(PartKind):
    """Redis databases, whose objects are keys.

    The client library belongs to an extra, so it is imported when a part is made.
    """

    name = "redis"
    rank = 40
    model = Redis
    verifier = RedisVerifier
    collection = "."

    def check(self, at: At, declared: Redis, around: ReadableEnvironment) -> Iterator[Problem]:
        """Yield problems of the file that makes the database."""
        yield from check_source(at.source, at.folder, at.below("from"), declared.from_, "file")

    def check_verifier(
        self, at: At, verifier: RedisVerifier, around: ReadableEnvironment | None
    ) -> Iterator[Problem]:
        """Yield problems of the expected value."""
        yield from check_value(at.source, at.below("equals"), verifier.equals)

    def missing(self, declared: Mapping[str, Redis], folder: Path | None) -> str | None:
        """Return the missing parts of Redis and its client on this machine."""
        return why_not()

    def part(self, name: str, declared: Redis, around: Around) -> MadePart:
        """Return a database on a server that the harness starts."""
        from tracegrade_harness.parts.redis.part import RedisLocation, RedisPart

        location = RedisLocation(name, declared.url_env, tuple(declared.ignore))
        return MadePart(
            RedisPart(location, around.suite_folder / declared.from_), (location.ignore,)
        )

    def verify(self, verifier: RedisVerifier, context: Context) -> Finding:
        """Return whether the database has the expected content."""
        from tracegrade_harness.parts.redis.verify import verify_redis

        return verify_redis(verifier, context)
