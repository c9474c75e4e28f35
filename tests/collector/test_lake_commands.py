"""The commands `tracegrade lake …`: what they print where, and their exit codes."""

import json
import os
import pty
import resource
import select
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.commands import Ended, tracegrade
from tests.waiting import PATIENCE_SECS

from tracegrade.errors import BadInput
from tracegrade_collector.lake_commands import parse_days
from tracegrade_lake import RAW_SPANS, Lake

from .running import COMMAND, collecting, landed, trace_body

TRACEGRADE = COMMAND[0]


def run(*arguments: str) -> Ended:
    """Run a command of the lake to its end."""
    return tracegrade("lake", *arguments)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake with three spans."""
    path = tmp_path_factory.mktemp("commands") / "lake"
    with collecting(path) as collector:
        collector.post("/v1/traces", trace_body(1, 2, 3))
        assert collector.stop() == 0
    return path


def test_files_prints_the_live_files(lake: Path) -> None:
    """One path per line on stdout, and nothing else."""
    done = run("files", "--lake", str(lake), "--table", "spans")

    assert done.stdout.splitlines() == Lake.open(lake).files(RAW_SPANS.name)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["files", "--table", "spams"], "has no table 'spams'; found: raw_spans"),
        (["files", "--table", "raw"], "has no table 'raw'; did you mean 'raw_spans'? found: raw_"),
        (["compact", "--table", "spams"], "has no table 'spams'; found: raw_spans"),
        (["compact", "--target-bytes", "0"], "--target-bytes"),
        (["expire", "--older-than", "soon"], "such as 30d, got 'soon'"),
        (["expire", "--older-than", "30d", "--table", "spams"], "has no table 'spams'"),
        (["expire"], "--older-than"),
        (["repair", "--table", "wal"], "has no table 'wal'; found: raw_spans"),
        (["repair", "--table", "../lake"], "has no table '../lake'; found: raw_spans"),
        (["delete"], "give --trace ID or --where CONDITION"),
        (["delete", "--trace", "x"], "--trace must be 32 hex digits, got 'x'"),
        (["verify", "--fast"], "--fast"),
    ],
    ids=lambda each: each if isinstance(each, str) else " ".join(each),
)
def test_bad_usage_is_exit_code_2(lake: Path, arguments: list[str], said: str) -> None:
    """One line on stderr says what is wrong."""
    command, *rest = arguments
    done = run(command, "--lake", str(lake), *rest)

    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "command",
    [
        ["files", "--table", "spans"],
        ["compact"],
        ["expire", "--older-than", "1d"],
        ["delete", "--trace", "f" * 32],
        ["verify"],
        ["repair"],
    ],
    ids=lambda each: each[0],
)
def test_a_missing_lake_is_exit_code_2(tmp_path: Path, command: list[str]) -> None:
    """And the lake is not made by looking for it."""
    name, *rest = command
    done = run(name, "--lake", str(tmp_path / "none"), *rest)

    assert done.returncode == 2
    assert "there is no lake at" in done.stderr
    assert not (tmp_path / "none").exists()


@pytest.mark.skipif(not shutil.which("setpriv"), reason="takes root's rights away on Linux")
def test_a_lake_of_somebody_else_is_one_line(lake: Path, tmp_path: Path) -> None:
    """It says whose it is to read."""
    shut = tmp_path / "shut"
    shutil.copytree(lake, shut)
    shut.chmod(0)
    rights = "--bounding-set=-dac_override,-dac_read_search"
    command = [TRACEGRADE, "lake", "verify", "--lake", str(shut)]
    done = subprocess.run(
        command if os.geteuid() else ["setpriv", rights, "--", *command],
        capture_output=True,
        text=True,
        check=False,
    )
    shut.chmod(0o700)

    said = f"the lake {shut} may not be read by this user; run this as its owner"
    assert (done.returncode, done.stderr) == (3, f"tracegrade: {said}\n")


@pytest.mark.parametrize(
    "command",
    [
        ["compact", "--dry-run"],
        ["expire", "--older-than", "48h", "--dry-run"],
        ["delete", "--trace", "f" * 32, "--dry-run"],
        ["repair", "--dry-run"],
    ],
    ids=lambda each: each[0],
)
def test_stdout_is_one_json_object_if_asked_for(lake: Path, command: list[str]) -> None:
    """Progress and the summary in words are on stderr; a dry run changes no row."""
    name, *rest = command
    done = run(name, "--lake", str(lake), *rest, "--json")

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["dry_run"] is True
    assert done.stderr.splitlines()[-1].startswith("dry run: ")
    assert landed(lake).num_rows == 3


def test_stdout_is_empty_without_json(lake: Path) -> None:
    """What is for people goes to stderr."""
    done = run("compact", "--lake", str(lake))

    assert (done.returncode, done.stdout) == (0, "")
    assert "files before: 0" in done.stderr


@pytest.mark.parametrize("flags", [["--dry-run"], []])
def test_a_torn_staged_file_is_erased(lake: Path, flags: list[str]) -> None:
    """A writer that died repeats it; `delete` counts the file once, and ends with 0."""
    file = lake / "raw_spans" / "_stage" / "date=2026-11-01-torn.parquet"
    file.write_bytes(b"PAR1 torn")
    os.utime(file, (1, 1))

    done = run("delete", "--lake", str(lake), "--trace", "f" * 32, "--json", *flags)
    assert done.returncode == 0
    counts = json.loads(done.stdout)
    assert (counts["unreadable_files"], counts["old_files"]) == (0, 1)
    assert file.exists() == bool(flags)


def test_progress_stays_in_one_line_on_a_terminal(lake: Path) -> None:
    """It is drawn over itself and gone at the end; the summary is left."""
    primary, secondary = pty.openpty()
    process = subprocess.Popen(
        [TRACEGRADE, "lake", "delete", "--lake", str(lake), "--trace", "f" * 32],
        stderr=secondary,
        stdout=subprocess.PIPE,
    )
    os.close(secondary)
    shown = b""
    while select.select([primary], [], [], PATIENCE_SECS)[0]:
        try:
            shown += os.read(primary, 4096)
        except OSError:  # the other end is closed
            break
    os.close(primary)

    assert process.wait() == 0
    assert process.stdout
    assert process.stdout.read() == b""
    process.stdout.close()
    assert b"\x1b[" in shown
    assert b"traces: 1, rows: 0" in shown


@pytest.mark.parametrize(("text", "days"), [("1d", 1), ("30d", 30), ("48h", 2)])
def test_a_duration_is_whole_days(text: str, days: int) -> None:
    """Hours are fine if they make days."""
    assert parse_days(text) == days


@pytest.mark.parametrize(
    "text", ["", "d", "0d", "-1d", "1.5d", "30", "30 d", "36h", "1w", "9" * 9 + "d"]
)
def test_other_durations_are_refused(text: str) -> None:
    """The text says what one looks like."""
    with pytest.raises(BadInput, match="got"):
        parse_days(text)


def test_delete_on_a_full_disk_names_the_lake_and_is_finished_by_the_next(
    lake: Path, tmp_path: Path
) -> None:
    """It ends with one line, and what it began is erased once there is space."""
    shutil.copytree(lake, tmp_path / "full")
    place = ("--lake", str(tmp_path / "full"))
    (trace,) = set(landed(tmp_path / "full")["trace_id"].to_pylist())
    no_space = (0, resource.RLIM_INFINITY)

    done = subprocess.run(
        [TRACEGRADE, "lake", "delete", *place, "--trace", trace],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, no_space),
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 3
    assert f"cannot write to the lake {tmp_path / 'full'}" in done.stderr.splitlines()[-1]
    assert run("delete", *place, "--trace", trace).returncode == 0
    assert landed(tmp_path / "full").num_rows == 0
