"""An agent that books through services is verified by what they hold, killed and judged by it."""

import json
import socket
from pathlib import Path

import pytest
from tests.harness.trial.agents import HarnessRun
from tests.harness.trial.booking import KILLS, made
from tests.slow import slow_after

from tracegrade_harness.sandbox.bwrap import Bubblewrap


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> HarnessRun:
    """The suite, run once, in the safest sandbox that there is."""
    folder = tmp_path_factory.mktemp("booking")
    return made(folder, {"careless": KILLS, "tidy": {**KILLS, "kill": {"points": ["late"]}}}).run()


def kills(tried: HarnessRun, task_id: str) -> dict[str, tuple[object, ...]]:
    """Return boundary, immediate score and score after recovery of each kill of a task."""
    keys = ("boundary", "immediate", "after_recovery")
    return {
        row["kill_point"]: tuple(row[key] for key in keys)
        for row in tried.rows
        if row["task_id"] == task_id and row["kill_point"]
    }


def left(tried: HarnessRun, task_id: str, kill_point: str) -> list[str]:
    """Return what a kill left."""
    return [each["object"] for each in json.loads(tried.row(task_id, kill_point)["leftovers"])]


def test_bookings_are_verified(tried: HarnessRun) -> None:
    """By the state of the service and by the requests that it got."""
    assert tried.ended is not None
    assert tried.ended.returncode == 0, tried.ended.stderr
    assert [tried.row(task_id)["success"] for task_id in ("careless", "tidy")] == [True, True]


def test_holds_that_nobody_names_score_0(tried: HarnessRun) -> None:
    """The credits that they took are held, too."""
    holds = [f"http:bank/$.holds.{name}" for name in ("h2", "h3")]

    assert kills(tried, "careless") == {"early": (1, 10, 10), "mid": (2, 0, 0), "late": (3, 0, 0)}
    assert left(tried, "careless", "mid") == ["http:bank/$.credits", *holds[:1]]
    assert left(tried, "careless", "late") == ["http:bank/$.credits", *holds]


def test_holds_that_a_journal_takes_back_score_7_and_10_after_recovery(tried: HarnessRun) -> None:
    """The undos are proven on a copy of the service, then carried out by the recovery."""
    assert kills(tried, "tidy") == {"late": (3, 7, 10)}


@pytest.mark.parametrize(("network", "ends"), slow_after(1, [("open", "out"), ("none", "kept")]))
def test_an_agent_reaches_its_services_alone(
    bwrap: Bubblewrap, tmp_path: Path, network: str, ends: str
) -> None:
    """Unless its suite opens the network to it."""
    with socket.create_server(("127.0.0.1", 0)) as elsewhere:
        port = str(elsewhere.getsockname()[1])
        agent = {
            "environment": {"pass": ["PYTHONPATH"], "set": {"PORT": port}},
            "network": network,
        }
        held = {"verify": [{"http": "bank", "state": {f"$.holds.{ends}.price": 1}}]}
        tried = made(tmp_path, {"curious": held}, agent).run("--sandbox", bwrap.name)

    assert tried.row("curious")["success"] is True


def test_an_app_runs_only_if_it_is_trusted(tmp_path: Path) -> None:
    """It is code of the suite, outside of the sandbox."""
    suite = made(tmp_path, {"careless": {}}, {}, http={"bank": {"app": "bank_app:app"}})
    ended = suite.run("--sandbox", "none").ended

    assert ended is not None
    assert ended.returncode == 2
    assert "app 'bank_app:app' is code of the suite" in ended.stderr
    assert "--trust" in ended.stderr
