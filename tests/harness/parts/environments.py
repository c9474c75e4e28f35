"""Small environments for tests, made from real folders and databases."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tracegrade_harness.loading.model import suite_classes
from tracegrade_harness.parts.environment import EnvironmentTemplate, OpenedEnvironment
from tracegrade_harness.suite.model import Environment

LEDGER = """
CREATE TABLE runs (id INTEGER PRIMARY KEY, name TEXT, started_at TEXT);
CREATE TABLE lines (run INTEGER, line TEXT, amount REAL, PRIMARY KEY (run, line)) WITHOUT ROWID;
CREATE TABLE notes (text TEXT);
CREATE INDEX by_name ON runs (name);
INSERT INTO runs VALUES (1, 'first', 'monday'), (2, 'second', 'tuesday');
INSERT INTO lines VALUES (1, 'a', 1.5), (1, 'b', 2), (2, 'a', NULL);
INSERT INTO notes VALUES ('one'), (x'00ff');
"""


def make_sources(folder: Path) -> None:
    """Write a folder `uploads` and a script `ledger.sql`."""
    uploads = folder / "uploads"
    (uploads / "raw").mkdir(parents=True)
    (uploads / "empty").mkdir()
    (uploads / "raw" / "a.csv").write_text("a,b\n1,2\n")
    (uploads / "raw" / "b.csv").write_text("a,b\n")
    (uploads / "run.sh").write_text("true\n")
    (uploads / "run.sh").chmod(0o750)
    (uploads / "latest").symlink_to("raw/a.csv")
    (folder / "ledger.sql").write_text(LEDGER)


def declare(**parts: Any) -> Environment:
    """Return an environment as a suite file would declare it."""
    return suite_classes().environment.model_validate(parts)


def template(folder: Path, **parts: Any) -> EnvironmentTemplate:
    """Return a frozen environment; by default of the folder and, inside it, the database."""
    if not (folder / "uploads").exists():
        make_sources(folder)
    files = {"data": {"from": "uploads", "at": "data", "path_env": "DATA"}}
    sqlite = {"ledger": {"from": "ledger.sql", "at": "data/ledger.db", "path_env": "LEDGER"}}
    made = EnvironmentTemplate(declare(**({"files": files, "sqlite": sqlite} | parts)), folder)
    made.freeze(folder / "frozen")
    return made


@contextmanager
def opened(folder: Path, **parts: Any) -> Iterator[tuple[OpenedEnvironment, Path]]:
    """Open an environment of `template` in the folder `trial`."""
    environment = template(folder, **parts).open(folder / "trial")
    try:
        yield environment, folder / "trial"
    finally:
        environment.close()


def execute(database: Path, *statements: str) -> None:
    """Run statements, each committed, and close the database."""
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
