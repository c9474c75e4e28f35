"""A query always ends: on Ctrl-C, after its time, above its memory."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from tests.commands import tracegrade
from tests.slow import slow_after
from tests.waiting import PATIENCE_SECS

from tracegrade_lake import Lake
from tracegrade_queries.engine.stoppable import run, watch

CROSS_JOIN = "SELECT count(*) FROM range(9000000000) a, range(9000000000) b WHERE a.range = -1"
ONE_PIECE = "SELECT levenshtein(repeat('a', 900000), repeat('b', 900000))"
"""The engine does not look for interruptions before it has the value."""

LONG_LIST = "SELECT list_sum(range(2000000000))"
"""It does not count the memory of the list, either."""

PROGRAM = """
import signal, sys
from tracegrade.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # even if the caller ignores it
main(["sql", "-", "--memory-limit", "40GB", "--lake", sys.argv[1]])
"""
PADDING = "-- more than a pipe holds\n" * 20_000
"""So that writing the query ends when the command reads it."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of an empty lake."""
    return Lake.create(tmp_path / "lake").root


@pytest.fixture
def asking(folder: Path, request: pytest.FixtureRequest) -> Iterator["subprocess.Popen[str]"]:
    """The command while it asks the query of the test."""
    command = [sys.executable, "-c", PROGRAM, str(folder)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as child:  # type: ignore[call-overload]
        child.stdin.write(PADDING + request.param)
        child.stdin.close()
        time.sleep(0.5)
        assert child.poll() is None, child.stderr.read()
        yield child
        child.kill()


@pytest.mark.parametrize("asking", slow_after(1, [CROSS_JOIN, ONE_PIECE]), indirect=True)
def test_ctrl_c_ends_any_query(asking: "subprocess.Popen[str]") -> None:
    """Whether the engine listens or not."""
    asking.send_signal(signal.SIGINT)

    assert asking.wait(timeout=PATIENCE_SECS) == 130
    assert asking.stderr is not None
    assert asking.stderr.read() == ""


@pytest.mark.parametrize("asking", [ONE_PIECE], indirect=True)
def test_ctrl_c_again_does_not_wait_for_the_engine(asking: "subprocess.Popen[str]") -> None:
    """Nobody has to look for the process's number."""
    asking.send_signal(signal.SIGINT)
    time.sleep(0.3)
    asking.send_signal(signal.SIGINT)

    # Python ends by the signal itself if the second comes as it exits: a shell says 130, too.
    assert asking.wait(timeout=PATIENCE_SECS) in {130, -signal.SIGINT}
    assert asking.stderr is not None
    assert asking.stderr.read() == ""


@pytest.mark.parametrize(
    ("query", "limit", "says"),
    slow_after(
        1,
        [
            (ONE_PIECE, "--timeout=0.3", "took longer than 0.3 s; give a longer --timeout"),
            (
                LONG_LIST,
                "--memory-limit=64MB",
                "needs more memory than its limit of 61.0 MiB allows",
            ),
        ],
    ),
)
def test_query_that_does_not_listen_is_stopped_at_its_limit(
    folder: Path, query: str, limit: str, says: str
) -> None:
    """The command ends with a line on stderr and the code of what failed outside."""
    command = [str(Path(sys.executable).with_name("tracegrade")), "sql", query, limit]
    done = subprocess.run(
        [*command, "--lake", str(folder)],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_SECS,
    )

    assert (done.returncode, done.stdout) == (3, "")
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ([CROSS_JOIN, "--timeout", "0.3"], 3, "took longer than 0.3 s"),
        (
            ["SELECT len(list(a)) FROM range(9000000) t(a)", "--memory-limit", "8MB"],
            3,
            "needs more memory than its limit of 7.6 MiB allows",
        ),
        (["SELECT 1", "--memory-limit", "much"], 2, "give it as 4GB, 512MB or 40%"),
        (["SELECT 1", "--memory-limit", "0GB"], 2, "give it as 4GB, 512MB or 40%"),
        (["SELECT 1", "--timeout", "0"], 2, "give seconds, more than 0"),
    ],
)
def test_limits_are_told_in_one_line(
    folder: Path, arguments: list[str], code: int, says: str
) -> None:
    """With the value, and the option that changes it."""
    ended = tracegrade("sql", *arguments, "--lake", folder)

    assert ended.returncode == code
    assert says in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_errors_of_the_work_are_raised_where_it_was_asked_for() -> None:
    """As if there were no other thread."""
    with duckdb.connect() as con, pytest.raises(duckdb.ParserException):
        run(con, lambda: con.execute("SELEC 1"), watch(con, None))
