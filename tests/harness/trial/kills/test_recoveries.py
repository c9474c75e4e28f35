"""Recovery commands that make it worse, or never end: what they leave is judged all the same."""

import json
from typing import Any

import pytest
from tests.harness.trial.agents import WROTE, HarnessRun, made

from tracegrade_harness.trial import killed

KILL: dict[str, Any] = {"kill": {"points": ["late"]}, "verify": [WROTE]}
WORSE = """
import pathlib
pathlib.Path(".tracegrade/rollback.jsonl").unlink()
pathlib.Path("data/notes").write_text("lost")
"""
HANGS = """
import pathlib, time
pathlib.Path("data/a").unlink()
time.sleep(3600)
"""


def recovered(folder: Any, code: str) -> HarnessRun:
    """Run an agent that is killed, and recovers by a program."""
    return made(folder, {"tidy": KILL}, ["{python}", "-c", code]).run()


@pytest.mark.slow
def test_a_recovery_that_makes_it_worse_costs_what_was_named(tmp_path: Any) -> None:
    """Its journal named all that was left; now nothing does."""
    row = recovered(tmp_path, WORSE).row("tidy", "late")
    left = {each["object"]: each["named_by"] for each in json.loads(row["leftovers"])}

    assert (row["status"], row["immediate"], row["after_recovery"]) == ("done", 7, 0)
    assert left == {"files:data/a": None, "files:data/b": None, "files:data/notes": None}


def test_a_recovery_that_hangs_is_ended_and_judged(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it had done by then counts."""
    monkeypatch.setattr(killed, "RECOVERY_SECS", 3.0)
    row = recovered(tmp_path, HANGS).row("tidy", "late")

    assert (row["status"], row["immediate"], row["after_recovery"]) == ("done", 7, 7)
    assert "recovery: took more than 3 s, and was ended" in json.loads(row["notes"])
