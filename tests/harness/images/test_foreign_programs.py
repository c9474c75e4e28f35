"""An agent in an image with another libc and another Python, whose own spans stop it."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.harness.images.foreign import (
    PACKAGES,
    OtherPython,
    musl_in,
    musl_program,
    other_python,
    python_entries,
)
from tests.harness.images.making import entry, layer, layout, plain
from tests.harness.overlays import ran, why_not
from tests.harness.trial.agents import HarnessRun
from tests.harness.trial.test_overlays import command

from tracegrade_harness.sandbox.bwrap import Bubblewrap

SOURCE = """
#include <stdio.h>
#include <unistd.h>
#ifdef __GLIBC__
#error "this is not musl"
#endif
int main(int count, char **words) {
  if (count < 3) {
    unlink("first");
    unlink("second");
    unlink(".tracegrade/rollback.jsonl");
    rmdir(".tracegrade");
    return 0;
  }
  FILE *file = fopen(words[1], "w");
  return !file || fprintf(file, "%s\\n", words[2]) < 0 || fclose(file);
}
"""
"""Writes a text to a file; without arguments it removes what the agent wrote."""
AGENT = f"""
import os, subprocess, sys
import tracegrade

assert not os.path.exists({sys.executable!r})

@tracegrade.tool(effect="read")
def look():
    with open("old") as file:
        return file.read()

@tracegrade.tool(effect="write")
def write(name):
    subprocess.run(["/bin/program", name, sys.version], check=True)

tracegrade.init()
with tracegrade.agent_run("worker") as run:
    look()
    for name in ("first", "second"):
        run.rollback("data/" + name, undo={{"delete": "data/" + name}})
        write(name)
    run.answer("written")
"""
JOURNAL = "data/.tracegrade/rollback.jsonl"


@pytest.fixture(scope="module")
def python() -> OtherPython:
    """Another Python; where images cannot be used or there is none, tests are skipped."""
    found = why_not() or Bubblewrap().why_no_image() or other_python()
    if isinstance(found, str):
        pytest.skip(found)
    return found


def image_in(folder: Path, python: OtherPython, root: Path) -> str:
    """Write an image with both, an agent and its data; return its digest."""
    made = layer(
        *musl_program(SOURCE, folder, root),
        *python_entries(python),
        entry("agent.py", AGENT.encode()),
        entry("srv/data/old", b"old"),
    )
    settings = {"Env": [f"PYTHONPATH={PACKAGES}"], "User": "1000:1000", "WorkingDir": "/srv/data"}
    return layout(folder / "image", [made], settings, pack=plain)


def suite_in(folder: Path, digest: str, python: OtherPython) -> HarnessRun:
    """Write a suite with a case in the image, killed at three points."""
    agent: dict[str, Any] = {
        "command": [str(python.program), "-B", "/agent.py"],
        "records": [{"journal": JOURNAL}],
        "recover": ["/bin/program"],
    }
    text = {"files": "data", "path": "second", "text": f"{python.version}\n"}
    case = {
        "environment": "ship",
        "agent": "worker",
        "kill": {"points": ["early", "mid", "late"]},
        "verify": [text],
    }
    environment = {
        "image": {"path": "image", "digest": digest},
        "files": {"data": {"inside": "/srv/data", "at": "data"}},
    }
    suite = {
        "version": 1,
        "suite": "foreign",
        "agents": {"worker": agent},
        "environments": {"ship": environment},
        "cases": {"write": case},
    }
    (folder / "suite.yaml").write_text(yaml.safe_dump(suite, sort_keys=False))
    return HarnessRun(folder / "suite.yaml", folder / "lake", folder / "home")


@pytest.mark.slow
def test_an_agent_of_another_python_and_libc_is_killed_restored_verified_and_scored(
    tmp_path: Path, python: OtherPython, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Its spans reach the lake out of the image, and its process waits at the gate."""
    root = musl_in(tmp_path_factory.mktemp("musl"))
    if isinstance(root, str):
        pytest.skip(root)
    suite = suite_in(tmp_path, image_in(tmp_path, python, root), python)

    ended = ran(command(suite, "--sandbox", "bwrap", "--jobs", 2))

    assert ended.returncode == 0, ended.stderr
    rows = {row["kill_point"]: row for row in suite.rows}
    assert (rows[None]["status"], rows[None]["success"]) == ("done", True), rows[None]
    assert set(json.loads(rows[None]["changed"])["added"]) >= {"files:data/first"}
    found = {point: (row["immediate"], row["after_recovery"]) for point, row in rows.items()}
    assert found == {None: (None, None), "early": (10, 10), "mid": (7, 10), "late": (7, 10)}
    scored = suite.score()
    calls = scored.query(
        "SELECT tool_name FROM steps JOIN trajectories USING (trajectory_id) "
        "WHERE kind = 'tool_call' AND kill_point IS NULL ORDER BY step_index"
    )
    assert [call["tool_name"] for call in calls] == ["look", "write", "write"]
    axis = "SELECT value FROM scores WHERE metric = 'ra_after_recovery' AND value IS NOT NULL"
    assert [score["value"] for score in scored.query(axis)] == [10]
