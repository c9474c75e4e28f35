"""Lakes of other versions: older ones are read, built and scored, a newer one is refused.

`older_lakes/DATE-COMMIT.tar.xz` is what that commit made of one imported run, scored: agent
`weather` of release 1.0 calls `get_weather` for task `paris` and answers. None notes a version.
"""

import json
import shutil
import tarfile
from pathlib import Path

import pytest
from tests.commands import tracegrade
from tests.slow import slow_after

from tracegrade_lake import Lake
from tracegrade_lake.lake_version import VERSION_FILE

OLDER = sorted((Path(__file__).parent / "older_lakes").glob("*.tar.xz"))
STEPS = [
    {"kind": "message", "tool_name": None, "content": "I have to look."},
    {"kind": "tool_call", "tool_name": "get_weather", "content": None},
    {"kind": "observation", "tool_name": "get_weather", "content": "22C"},
    {"kind": "answer", "tool_name": None, "content": "It is 22C."},
]


def report(lake: Path) -> tuple[str, str, int]:
    """Return agent, release and number of runs of the only release that a lake has."""
    done = tracegrade("report", "--lake", lake, "--format", "json")
    assert done.returncode == 0, done.stderr
    (release,) = json.loads(done.stdout)["releases"]
    return release["agent_name"], release["release"], release["runs"]["runs"]


@pytest.mark.parametrize(
    "archive", slow_after(1, OLDER), ids=lambda path: path.name.partition(".")[0]
)
def test_an_older_lake_is_read_and_scored_again(archive: Path, tmp_path: Path) -> None:
    """Reading it changes nothing; a build replaces tables of another layout by its own."""
    lake = tmp_path / "lake"
    lake.mkdir(0o700)
    with tarfile.open(archive) as file:
        file.extractall(lake, filter="tar")
    assert report(lake) == ("weather", "1.0", 1)
    values = tracegrade("sql", "SELECT count(value) > 0 AS known FROM scores", "--lake", lake)
    assert "true" in values.stdout, values.stderr
    assert not (lake / VERSION_FILE).exists()

    scored = tracegrade("score", "--lake", lake)
    assert scored.returncode == 0, scored.stderr
    assert "scored 1 trajectories of 1 traces" in scored.stderr
    assert (lake / VERSION_FILE).exists()
    assert report(lake) == ("weather", "1.0", 1)
    query = "SELECT kind, tool_name, content FROM steps ORDER BY step_index"
    found = tracegrade("sql", query, "--lake", lake, "--format", "json")
    assert json.loads(found.stdout) == STEPS
    assert tracegrade("lake", "verify", "--lake", lake).returncode == 0


def test_there_are_lakes_of_three_older_commits() -> None:
    """Else the test above would test less without a word."""
    assert len(OLDER) == 3


COMMANDS = [
    ("score",),
    ("report",),
    ("compare", "1.0", "1.1"),
    ("sql", "SELECT 1"),
    ("lake", "files", "--table", "spans"),
    ("lake", "compact"),
    ("lake", "verify"),
    ("lake", "repair"),
    ("export", "--to", "otlp-json"),
]


@pytest.mark.parametrize("command", [*COMMANDS, ("collect",)], ids=" ".join)
def test_every_command_refuses_a_newer_lake(command: tuple[str, ...], tmp_path: Path) -> None:
    """It ends with 3 and one line, and leaves the lake as it is."""
    (tmp_path / VERSION_FILE).write_text('{"version": 2, "written_by": "9.9.0"}')
    done = tracegrade(*command, "--lake", tmp_path)

    (line,) = done.stderr.splitlines()
    assert done.returncode == 3
    assert f"the lake {tmp_path} has version 2, written by tracegrade 9.9.0" in line
    assert [path.name for path in tmp_path.iterdir()] == [VERSION_FILE]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_names_the_tenants_of_a_lake_that_has_nothing_else(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    """It ends with 2 instead of finding nothing, and one line says how to name a tenant's lake."""
    for name in ("beta", "acme"):
        Lake.create(tmp_path / "tenants" / name)
    done = tracegrade(*command, "--lake", tmp_path)

    (line,) = done.stderr.splitlines()
    assert done.returncode == 2
    assert line.endswith(f"lakes of tenants: acme, beta; name one, such as --lake "
                         f"{tmp_path}/tenants/acme")  # fmt: skip
    shutil.rmtree(tmp_path / "tenants")
    assert not list(tmp_path.iterdir())
