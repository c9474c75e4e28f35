"""PostgreSQL databases as a kind of parts."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from tracegrade_harness.parts.kind import Around, MadePart, PartKind
from tracegrade_harness.parts.postgres.model import Postgres, PostgresVerifier
from tracegrade_harness.parts.postgres.programs import why_not
from tracegrade_harness.parts.verifying.result import Context, Finding
from tracegrade_harness.suite.readable import ReadableEnvironment
from tracegrade_harness.suite.sources import check_source
from tracegrade_harness.suite.suite_position import At
from tracegrade_harness.suite.values import check_equals
from tracegrade_queries.files.yaml_source import Problem


class PostgresKind(PartKind):
    """PostgreSQL databases, whose objects are rows.

    The client library belongs to an extra, so it is imported when a part is made.
    """

    name = "postgres"
    rank = 30
    model = Postgres
    verifier = PostgresVerifier
    collection = "[^/]+/"

    def check(self, at: At, declared: Postgres, around: ReadableEnvironment) -> Iterator[Problem]:
        """Yield problems of the file that makes the database."""
        yield from check_source(at.source, at.folder, at.below("from"), declared.from_, "file")

    def check_verifier(
        self, at: At, verifier: PostgresVerifier, around: ReadableEnvironment | None
    ) -> Iterator[Problem]:
        """Yield problems of the expected value."""
        yield from check_equals(at.source, at.below("equals"), verifier.equals)

    def missing(self, declared: Mapping[str, Postgres], folder: Path | None) -> str | None:
        """Return the missing parts of PostgreSQL and its client on this machine."""
        return why_not()

    def part(self, name: str, declared: Postgres, around: Around) -> MadePart:
        """Return a database on a server that the harness starts."""
        from tracegrade_harness.parts.postgres.part import PostgresLocation, PostgresPart

        location = PostgresLocation(name, declared.url_env, tuple(declared.ignore))
        return MadePart(
            PostgresPart(location, around.suite_folder / declared.from_), (location.ignore,)
        )

    def verify(self, verifier: PostgresVerifier, context: Context) -> Finding:
        """Return whether the database has the expected content."""
        from tracegrade_harness.parts.postgres.verify import verify_postgres

        return verify_postgres(verifier, context)
