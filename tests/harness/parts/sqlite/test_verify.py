"""Queries of an SQLite database are asked of a copy, and give what a suite expects."""

import hashlib
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.harness.parts.verifying.build import context, said, write

from tracegrade_harness.parts.sqlite import verify as sqlite
from tracegrade_harness.parts.verifying.result import Context

MADE = """
CREATE TABLE runs (id INTEGER PRIMARY KEY, state TEXT, cost REAL, raw BLOB);
INSERT INTO runs VALUES (1, 'done', 1.5, x'00'), (2, NULL, 9e999, NULL);
"""


@pytest.fixture
def env(tmp_path: Path) -> Context:
    """An environment with a database."""
    env = context(tmp_path)
    with closing(sqlite3.connect(env.root / "data/ledger.db")) as con:
        con.executescript(MADE)
    return env


def asked(env: Context, query: str, equals: Any) -> tuple[str, str]:
    """Return the outcome and the evidence of a query."""
    return said(env, sqlite="ledger", query=query, equals=equals)


@pytest.mark.parametrize(
    ("query", "equals", "evidence"),
    [
        ("SELECT count(*) FROM runs", 2, "is 2"),
        ("SELECT state FROM runs WHERE id = 1", {"matches": "^do"}, 'is "done"'),
        ("SELECT cost FROM runs WHERE id = 1", {"about": 1.4, "within": 0.1}, "is 1.5"),
        ("SELECT state FROM runs WHERE id = 2", None, "is null"),
        ("SELECT state FROM runs WHERE id = 3", {"optional": "x"}, "no row"),
        ("SELECT id, state FROM runs ORDER BY id", [[1, "done"], [2, None]], "2 rows fit"),
        ("SELECT id FROM runs ORDER BY id", [[{"any_of": [1, 3]}], [2.0]], "2 rows fit"),
        ("SELECT id FROM runs WHERE id > 2", [], "0 rows fit"),
        (
            "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 9) "
            "SELECT sum(i) FROM n",
            45,
            "is 45",
        ),
    ],
)
def test_a_query_gives_what_is_expected(
    env: Context, query: str, equals: Any, evidence: str
) -> None:
    """A value, a rule, or rows of them."""
    assert asked(env, query, equals) == ("pass", evidence)


@pytest.mark.parametrize(
    ("query", "equals", "evidence"),
    [
        ("SELECT count(*) FROM runs", 1, "the value is 2, expected 1"),
        ("SELECT id FROM runs WHERE id = 1", "1", 'the value is 1, expected "1"'),
        ("SELECT state FROM runs WHERE id = 3", None, "the value is nothing, expected null"),
        ("SELECT id FROM runs ORDER BY id", [[1]], "more rows, expected 1"),
        (
            "SELECT id FROM runs ORDER BY id",
            [[2], [1], [3]],
            "2 rows, expected 3; row 1, value 1 is 1, expected 2; row 2, value 1 is 2, expected 1",
        ),
        ("SELECT id FROM runs WHERE id = 1", [[1, 2]], "row 1 has 1 values, expected 2"),
    ],
)
def test_a_query_gives_something_else(
    env: Context, query: str, equals: Any, evidence: str
) -> None:
    """The evidence says what."""
    assert asked(env, query, equals) == ("fail", evidence)


@pytest.mark.parametrize(
    ("query", "evidence"),
    [
        ("SELECT * FROM run", "the query cannot be run: no such table: run; correct it"),
        ("SELEC 1", 'the query cannot be run: near "SELEC": syntax error; correct it'),
        ("DELETE FROM runs", "the query cannot be run: not authorized; correct it"),
        ("ATTACH 'x' AS y", "the query cannot be run: not authorized; correct it"),
        ("PRAGMA journal_mode = OFF", "the query cannot be run: not authorized; correct it"),
        (
            "SELECT 1; SELECT 2",
            "the query cannot be run: You can only execute one statement at a time.; correct it",
        ),
        ("-- nothing", "the query gives no rows; write a SELECT"),
        (
            "SELECT raw FROM runs WHERE id = 1",
            "the query gives a BLOB, which equals no value; ask for hex(COLUMN)",
        ),
        (
            "SELECT cost FROM runs WHERE id = 2",
            "the query gives an infinite number, which equals no value; ask for COLUMN > 1e308",
        ),
        (
            "SELECT id FROM runs",
            "the query gives more than one value; expect a list of rows, or ask for one value",
        ),
    ],
)
def test_a_query_that_cannot_tell_is_an_error(env: Context, query: str, evidence: str) -> None:
    """It never passes, and it never blames the agent."""
    assert asked(env, query, 1) == ("error", evidence)


def test_a_query_that_takes_too_long_is_an_error(
    env: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if the agent made a view that never ends."""
    monkeypatch.setattr(sqlite, "MAX_SECS", 0.05)
    with closing(sqlite3.connect(env.root / "data/ledger.db")) as con:
        endless = "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i FROM n) SELECT i FROM n"
        con.executescript(f"DROP TABLE runs; CREATE VIEW runs AS {endless};")

    assert asked(env, "SELECT count(*) FROM runs", 1) == (
        "error",
        "the query cannot be run: it takes more than 0.05 s; correct it",
    )


@pytest.mark.parametrize("left", ["nothing", "text", "cut", "link", "fifo"])
def test_a_database_that_is_none_fails(env: Context, left: str) -> None:
    """The agent was to keep it."""
    file = env.root / "data/ledger.db"
    content = file.read_bytes()
    file.unlink()
    match left:
        case "text":
            file.write_text("no database " * 100)
        case "cut":
            file.write_bytes(content[: len(content) // 2])
        case "link":
            file.with_name("other").write_bytes(content)
            file.symlink_to("other")
        case "fifo":
            os.mkfifo(file)

    outcome, evidence = asked(env, "SELECT count(*) FROM runs", 2)

    assert outcome == "fail"
    assert "data/ledger.db" in evidence


def test_a_text_that_is_not_utf_8_fails(env: Context) -> None:
    """It equals no text that a suite can have."""
    with closing(sqlite3.connect(env.root / "data/ledger.db")) as con, con:
        con.execute("UPDATE runs SET state = CAST(x'ff' AS TEXT)")

    assert asked(env, "SELECT state FROM runs WHERE id = 1", "x") == (
        "fail",
        "the query gives a text that is not UTF-8",
    )


KILLED = """
import os, signal, sqlite3, sys
con = sqlite3.connect(sys.argv[1], isolation_level=None)
con.execute(f"PRAGMA journal_mode = {sys.argv[2]}")
con.execute("PRAGMA cache_size = 1")
con.execute("BEGIN")
con.execute("UPDATE runs SET state = 'half'")
if sys.argv[2] == "WAL":
    con.execute("COMMIT")
else:
    con.execute("CREATE TABLE big AS WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 "
                "FROM n WHERE i < 999) SELECT hex(randomblob(500)) AS x FROM n")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize(("mode", "state"), [("DELETE", "done"), ("WAL", "half")])
def test_what_a_killed_writer_left_beside_a_database_counts(
    env: Context, mode: str, state: str
) -> None:
    """Its journal is rolled back and its log read, in the copy; the original stays as it is."""
    file = env.root / "data/ledger.db"
    subprocess.run([sys.executable, "-c", KILLED, str(file), mode], check=False)
    left = digests(env.root)
    assert len(left) > 1

    assert asked(env, "SELECT state FROM runs WHERE id = 1", state) == ("pass", f'is "{state}"')
    assert digests(env.root) == left


def test_a_journal_cannot_name_another(env: Context) -> None:
    """SQLite would read the file of that name, and delete it."""
    write(env.root, {"data/ledger.db-journal": b"x" * 512 + bytes.fromhex("d9d505f920a163d7")})

    outcome, evidence = asked(env, "SELECT count(*) FROM runs", 2)

    assert outcome == "error"
    assert "names another" in evidence


def digests(folder: Path) -> dict[str, str]:
    """Return a digest of each file below a folder."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
