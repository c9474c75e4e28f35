"""SQLite databases as a kind of parts."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from tracegrade_harness.parts.kind import Around, MadePart, PartKind
from tracegrade_harness.parts.sqlite.copy import COMPANIONS
from tracegrade_harness.parts.sqlite.model import Sqlite, SqliteVerifier
from tracegrade_harness.parts.sqlite.part import SqliteLocation, SqlitePart
from tracegrade_harness.parts.sqlite.verify import verify_sqlite
from tracegrade_harness.parts.verifying.result import Context, Finding
from tracegrade_harness.suite.readable import ReadableEnvironment
from tracegrade_harness.suite.sources import check_source
from tracegrade_harness.suite.suite_position import At
from tracegrade_harness.suite.values import check_equals
from tracegrade_queries.files.yaml_source import Problem


class SqliteKind(PartKind):
    """SQLite databases, whose objects are rows."""

    name = "sqlite"
    rank = 20
    model = Sqlite
    verifier = SqliteVerifier
    placed = "file"
    collection = "[^/]+/"

    def check(self, at: At, declared: Sqlite, around: ReadableEnvironment) -> Iterator[Problem]:
        """Yield problems of the initial database."""
        yield from check_source(at.source, at.folder, at.below("from"), declared.from_, "file")

    def check_verifier(
        self, at: At, verifier: SqliteVerifier, around: ReadableEnvironment | None
    ) -> Iterator[Problem]:
        """Yield problems of the expected value."""
        yield from check_equals(at.source, at.below("equals"), verifier.equals)

    def part(self, name: str, declared: Sqlite, around: Around) -> MadePart:
        """Return a database at its path."""
        at, *_ = around.placed[f"{self.name}:{name}"]
        location = SqliteLocation(name, at, declared.path_env, tuple(declared.ignore))
        source = (around.suite_folder / declared.from_).resolve()
        return MadePart(SqlitePart(location, source), (str(at), location.ignore, ()))

    def verify(self, verifier: SqliteVerifier, context: Context) -> Finding:
        """Return whether a query gives the expected result."""
        return verify_sqlite(verifier, context)

    def companions(self, at: PurePosixPath) -> list[PurePosixPath]:
        """Return the paths of the files that SQLite writes next to a database."""
        return [at.with_name(at.name + suffix) for suffix in COMPANIONS]
