"""An agent that works on Redis is verified by what it holds, killed and judged by it."""

import json
from pathlib import Path

import pytest
import yaml
from tests.harness.parts.redis.cache import CACHE, needs_redis
from tests.harness.trial.agents import HarnessRun
from tests.harness.trial.booking import RECOVER

pytestmark = [needs_redis, pytest.mark.slow]

AGENT = """
import os
import sys

import redis
import tracegrade

TASK = sys.argv[1]
cache = redis.Redis.from_url(os.environ["REDIS_URL"])
BACK = "import os, redis; redis.Redis.from_url(os.environ['REDIS_URL']).delete('{}')"


@tracegrade.tool(effect="read")
def look():
    return cache.llen("queue")


@tracegrade.tool
def keep(key):
    cache.set(key, "me")


tracegrade.init(service="ignored")
with tracegrade.agent_run("worker", task=TASK, user_input="Work.") as run:
    look()
    for key in ("lock:orders", "result"):
        if TASK == "tidy":
            undo = {"command": [sys.executable, "-c", BACK.format(key)]}
            run.rollback(f"redis:cache/{key}", undo=undo)
        keep(key)
    run.answer("Done.")
"""

LEFT = ["redis:cache/lock:orders", "redis:cache/result"]


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> HarnessRun:
    """The suite, run once, two trials at a time."""
    folder: Path = tmp_path_factory.mktemp("caching")
    (folder / "agent.py").write_text(AGENT)
    (folder / "cache.redis").write_text(CACHE)
    agent = {
        "command": ["{python}", "{suite}/agent.py", "{task}"],
        "recover": RECOVER,
        "records": [{"journal": ".tracegrade/rollback.jsonl"}],
        "environment": {"pass": ["PYTHONPATH"]},
    }
    cache = {"from": "cache.redis", "url_env": "REDIS_URL"}
    case = {
        "environment": "town",
        "agent": "worker",
        "kill": {"points": ["late"]},
        "verify": [{"redis": "cache", "key": "result", "equals": "me"}],
    }
    suite = {
        "version": 1,
        "suite": "caching",
        "agents": {"worker": agent},
        "environments": {"town": {"redis": {"cache": cache}, "locks": ["redis:*/lock:*"]}},
        "cases": {"careless": case, "tidy": case},
    }
    (folder / "suite.yaml").write_text(yaml.safe_dump(suite, sort_keys=False))
    made = HarnessRun(folder / "suite.yaml", folder / "lake", folder / "home")
    return made.run("--jobs", 2)


def test_what_agents_kept_is_verified(tried: HarnessRun) -> None:
    """By the value of a key."""
    assert tried.ended is not None
    assert tried.ended.returncode == 0, tried.ended.stderr
    assert [tried.row(task)["success"] for task in ("careless", "tidy")] == [True, True]


@pytest.mark.parametrize(("task_id", "scores"), [("careless", (0, 0)), ("tidy", (7, 10))])
def test_keys_are_left_unless_a_command_takes_them_back(
    tried: HarnessRun, task_id: str, scores: tuple[int, int]
) -> None:
    """The commands are proven on a copy of the server, then carried out by the recovery."""
    row = tried.row(task_id, "late")
    left = [each["object"] for each in json.loads(row["leftovers"])]

    assert (row["boundary"], row["immediate"], row["after_recovery"]) == (3, *scores)
    assert left == ([] if task_id == "tidy" else LEFT)
