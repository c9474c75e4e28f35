"""An agent on OpenAI's Agents SDK, which knows of no harness, is killed at its boundaries.

OpenInference writes its spans, under `tracegrade run`; its model is the demo's, by rules. It needs
what `make demo` installs, and skips without.
"""

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from tests.citations import ROOT
from tests.harness.trial.agents import HarnessRun

pytestmark = pytest.mark.slow

NEEDED = ("agents", "openinference.instrumentation.openai_agents")
AGENT = """
import asyncio
import json
import os
from pathlib import Path

from agents import Agent, Runner, function_tool, set_default_openai_client
from demo.framework_agent import shop
from openai import AsyncOpenAI


@function_tool
def search_orders(customer: str) -> str:
    return json.dumps(shop.orders_of(customer))


@function_tool
def get_refund_policy(order: str) -> str:
    return json.dumps(shop.policy_for(order))


@function_tool
def issue_refund(order: str, amount: float, method: str) -> str:
    Path("data", f"refund-{order}").write_text(str(amount))
    return json.dumps(shop.refund(order, amount, method))


@function_tool
def send_message(customer: str, text: str) -> str:
    Path("data", f"message-{customer}").write_text(text)
    return json.dumps({"sent": True})


client = AsyncOpenAI(base_url=os.environ["MODEL_URL"], api_key="none")
set_default_openai_client(client, use_for_tracing=False)
tools = [search_orders, get_refund_policy, issue_refund, send_message]
agent = Agent(name="support", instructions="Refund.", tools=tools, model="rules")
asyncio.run(Runner.run(agent, "Please refund the last order of customer c-7."))
"""
TOOLS = ["search_orders", "get_refund_policy", "issue_refund", "send_message"]


def is_there(module: str) -> bool:
    """Return whether a module can be imported."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


@contextmanager
def model() -> Iterator[str]:
    """Run the demo's model for as long as the block lasts, which gets its address."""
    command = [sys.executable, "-m", "demo.model_server"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().removeprefix("model: ").strip()
        finally:
            server.kill()


def made(folder: Path, url: str) -> HarnessRun:
    """Write a suite whose agent refunds an order."""
    (folder / "fixtures").mkdir()
    (folder / "fixtures/orders").write_text("A-1001")
    (folder / "agent.py").write_text(AGENT)
    paths = [str(ROOT), os.environ.get("PYTHONPATH")]  # the demo is not installed
    agent = {
        "command": ["{python}", "-m", "tracegrade", "run", "--", "{python}", "{suite}/agent.py"],
        "environment": {"set": {"PYTHONPATH": os.pathsep.join(filter(None, paths))}},
    }
    environment = {
        "files": {"data": {"from": "fixtures", "at": "data"}},
        "upstreams": {"model": {"url": url, "url_env": "MODEL_URL", "protocol": "model"}},
    }
    refund = {
        "environment": "shop",
        "agent": "support",
        "kill": {"points": ["early", "mid", "late"]},
        "verify": [{"files": "data", "path": "message-c-7"}],
    }
    suite = {
        "version": 1,
        "suite": "support",
        "agents": {"support": agent},
        "environments": {"shop": environment},
        "cases": {"refund": refund},
    }
    (folder / "suite.yaml").write_text(yaml.safe_dump(suite, sort_keys=False))
    return HarnessRun(folder / "suite.yaml", folder / "lake", folder / "home")


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> HarnessRun:
    """The suite, run with its kills and scored."""
    if missing := [name for name in NEEDED if not is_there(name)]:
        pytest.skip(f"no {missing[0]}; `make demo` installs it")
    with model() as url:
        ended = made(tmp_path_factory.mktemp("gate"), url).run()
    assert ended.ended is not None
    assert ended.ended.returncode == 0, ended.ended.stderr
    return ended.score()


def calls(tried: HarnessRun, kill_point: str | None) -> list[str]:
    """Return the tools that a run called, as its own spans tell."""
    trajectory_id = tried.row("refund", kill_point)["trajectory_id"]
    rows = tried.query(
        "SELECT tool_name FROM steps WHERE kind = 'tool_call' "
        f"AND trajectory_id = '{trajectory_id}' ORDER BY step_index"
    )
    return [row["tool_name"] for row in rows]


def test_an_undisturbed_run_passes(tried: HarnessRun) -> None:
    """OpenInference reports all its calls."""
    assert tried.row("refund")["success"] is True
    assert calls(tried, None) == TOOLS


@pytest.mark.parametrize(
    ("kill_point", "boundary", "left"),
    [
        ("early", 1, []),
        ("mid", 3, ["files:data/refund-A-1001"]),
        ("late", 4, ["files:data/message-c-7", "files:data/refund-A-1001"]),
    ],
)
def test_it_is_killed_at_its_boundaries(
    tried: HarnessRun, kill_point: str, boundary: int, left: list[str]
) -> None:
    """No call begins after it, no span from before is lost, and what is left is found."""
    row = tried.row("refund", kill_point)
    leftovers = json.loads(row["leftovers"])

    assert (row["status"], row["boundary"], row["notes"]) == ("done", boundary, None)
    assert [each["object"] for each in leftovers] == left
    assert row["after_recovery"] == (0 if left else 10)
    assert calls(tried, kill_point) == TOOLS[:boundary]


def test_killed_runs_are_no_attempts(tried: HarnessRun) -> None:
    """The one attempt succeeded, and has the score of the three kills."""
    rows = tried.query(
        "SELECT trajectory_id, success.value AS success, ra_after_recovery.value AS rollback "
        "FROM trajectory_scores JOIN trajectories USING (trajectory_id) WHERE kill_point IS NULL"
    )

    (row,) = rows
    assert row["trajectory_id"] == tried.row("refund")["trajectory_id"]
    assert (row["success"], row["rollback"]) == (1, pytest.approx(10 / 3))
