"""An agent in bubblewrap that misses a file of its own: the user learns what to write."""

from pathlib import Path

import pytest
import yaml
from tests.harness.trial.agents import HarnessRun

from tracegrade_harness.loading.load import load
from tracegrade_harness.sandbox.bwrap import Bubblewrap

AGENT = """
import sys
from pathlib import Path

if sys.argv[1] == "module":
    import beside
print(Path(sys.argv[2], "prompts", "first").read_text())
"""


def made(folder: Path, missing: str, read: list[str]) -> HarnessRun:
    """Write a suite whose agent needs a module and a file beside it, which are there."""
    (folder / "fixtures").mkdir()
    (folder / "prompts").mkdir()
    (folder / "prompts/first").write_text("Hello.")
    (folder / "beside.py").touch()
    (folder / "agent.py").write_text(AGENT)
    command = ["{python}", "{suite}/agent.py", missing, "{suite}"]
    suite = {
        "version": 1,
        "suite": "missing",
        "agents": {"worker": {"command": command, "read": read}},
        "environments": {"notes": {"files": {"data": {"from": "fixtures", "at": "data"}}}},
        "cases": {
            "work": {
                "environment": "notes",
                "agent": "worker",
                "verify": [{"files": "data", "only_changed": []}],
            }
        },
    }
    (folder / "suite.yaml").write_text(yaml.safe_dump(suite))
    return HarnessRun(folder / "suite.yaml", folder / "lake", folder / "home")


@pytest.mark.parametrize(
    ("missing", "read", "named"),
    [("file", [], "prompts/first"), ("module", ["prompts"], "beside.py")],
)
def test_what_is_out_of_sight_is_named(
    bwrap: Bubblewrap, tmp_path: Path, missing: str, read: list[str], named: str
) -> None:
    """With the key of the suite that brings it into sight, which it then does."""
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    blind = made(tmp_path / "first", missing, read).run("--sandbox", bwrap.name).ended
    seeing = made(tmp_path / "second", missing, ["prompts", "beside.py"])
    seeing = seeing.run("--sandbox", bwrap.name)

    assert blind is not None
    assert seeing.ended is not None
    said = f"'{tmp_path}/first/{named}' is not in the sandbox; name its folder under 'read' of"
    assert said in blind.stderr
    assert "is not in the sandbox" not in seeing.ended.stderr
    assert seeing.row("work")["exit_code"] == 0


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("nowhere", "does not exist; expected the file or folder"),
        ("../beside", "leads out of the suite's folder; move it there, or give an absolute path"),
        ("/", "is the whole machine; name what is needed"),
    ],
)
def test_what_cannot_be_read_is_an_error_of_the_suite(
    tmp_path: Path, name: str, fault: str
) -> None:
    """With its line."""
    loaded = load(made(tmp_path, "file", [name]).suite)

    (error,) = loaded.errors
    assert f"agents.worker.read[0] '{name}' {fault}" in str(error)
