"""Code of a kind of another package that fails costs the trial alone that it fails in."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tests.citations import ROOT
from tests.commands import Ended
from tests.harness.parts.test_kinds import install
from tests.harness.trial.agents import HarnessRun

WAY_OUT = "report it to its maintainers"
FAULTS = {
    "        try:\n            return tree.read": """\
        if "spoils-part" in (self.root / self.at).read_text():
            raise KeyError("no such job")
""",
    "        queue = context.opened": """\
        if "spoils-verifier" in verifier.jobs:
            raise ZeroDivisionError("division\\n by zero")
""",
}
"""What stands in the kind → the fault that is put before it."""


def broken_kind() -> str:
    """Return the kind of CONTRIBUTING.md, with faults that some jobs bring out."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    found = re.search(r"`acme_queue/acme_queue.py`:\n\n```python\n(.*?)```", text, re.DOTALL)
    assert found
    module = found[1]
    for before, fault in FAULTS.items():
        assert module.count(before) == 1
        module = module.replace(before, fault + before)
    return f"{module}\n\nKind = QueueKind\n"


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HarnessRun:
    """A suite whose agent adds its task to a queue of a foreign kind, run once.

    The command runs in a process of its own, since each finds the kinds that there are once.
    """
    install(tmp_path / "site", monkeypatch, "acme-queue", broken_kind(), "queue")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    (tmp_path / "jobs.txt").write_text("letter\n")
    tasks = ("report", "spoils-part", "spoils-verifier")
    suite = {
        "version": 1,
        "suite": "office",
        "agents": {"clerk": {"command": ["sh", "-c", 'echo "$0" >> jobs.txt', "{task}"]}},
        "environments": {"office": {"queue": {"jobs": {"from": "jobs.txt", "at": "jobs.txt"}}}},
        "cases": {
            task: {
                "environment": "office",
                "agent": "clerk",
                "verify": [{"queue": "jobs", "jobs": ["letter", task]}],
            }
            for task in tasks
        },
    }
    (tmp_path / "suite.yaml").write_text(yaml.safe_dump(suite))
    office = HarnessRun(tmp_path / "suite.yaml", tmp_path / "lake", tmp_path / "home")
    command = [sys.executable, "-m", "tracegrade", *office.command()]
    done = subprocess.run(command, capture_output=True, check=False)
    return office._replace(ended=Ended(done.returncode, done.stdout, done.stderr.decode()))


def test_a_kind_that_raises_costs_its_trial_alone(office: HarnessRun) -> None:
    """One line names the kind and the exception; all other trials are judged."""
    assert office.ended is not None
    assert office.ended.returncode == 3
    assert "Traceback" not in office.ended.stderr

    passed, of_part, of_verifier = (
        office.row(task) for task in ("report", "spoils-part", "spoils-verifier")
    )
    assert passed["success"] is True
    raised = "the code of the kind of parts 'queue' raised"
    assert (of_part["status"], of_part["reason"]) == (
        "invalid",
        f"{raised} KeyError: 'no such job'; {WAY_OUT}",
    )
    assert of_verifier["status"] == "error"
    assert f"{raised} ZeroDivisionError: division by zero; {WAY_OUT}" in of_verifier["reason"]
