"""An agent that works on PostgreSQL is verified by what it holds, killed and judged by it."""

import json
from pathlib import Path

import pytest
import yaml
from tests.commands import tracegrade
from tests.harness.parts.postgres.shop import needs_postgres
from tests.harness.parts.redis.cache import needs_redis
from tests.harness.trial.agents import HarnessRun
from tests.harness.trial.selling import KILLS, made

from tracegrade_harness.parts.postgres import programs

pytestmark = pytest.mark.slow

POINTS = {
    "careless": ["early", "mid", "late"],
    "tidy": ["mid", "late"],
    "atomic": ["mid", "late"],
    "halfway": ["late"],
}


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> HarnessRun:
    """The suite, run once, two trials at a time."""
    cases = {task: {**KILLS, "kill": {"points": points}} for task, points in POINTS.items()}
    return made(tmp_path_factory.mktemp("selling"), cases).run("--jobs", 2)


def kills(tried: HarnessRun, task_id: str) -> list[tuple[object, ...]]:
    """Return boundary, immediate score and score after recovery of a task's kills, in order."""
    keys = ("boundary", "immediate", "after_recovery")
    rows = (tried.row(task_id, each) for each in POINTS[task_id])
    return [tuple(row[key] for key in keys) for row in rows]


def left(tried: HarnessRun, task_id: str, kill_point: str) -> list[str]:
    """Return what a kill left."""
    return [each["object"] for each in json.loads(tried.row(task_id, kill_point)["leftovers"])]


@needs_postgres
def test_what_agents_sold_is_verified(tried: HarnessRun) -> None:
    """By a query; one whose transaction was never committed sold nothing."""
    assert tried.ended is not None
    assert tried.ended.returncode == 1, tried.ended.stderr
    assert {task: tried.row(task)["success"] for task in ("careless", "tidy", "atomic")} == {
        "careless": True,
        "tidy": True,
        "atomic": True,
    }
    assert tried.row("halfway")["success"] is False


@needs_postgres
def test_rows_that_nobody_names_score_0(tried: HarnessRun) -> None:
    """Each of them is left."""
    assert kills(tried, "careless") == [(1, 10, 10), (2, 0, 0), (3, 0, 0)]
    assert left(tried, "careless", "late") == [
        "postgres:shop/public.orders/1",
        "postgres:shop/public.orders/2",
    ]


@needs_postgres
def test_rows_that_a_journal_takes_back_score_7_and_10_after_recovery(tried: HarnessRun) -> None:
    """The statements are proven on a copy, then carried out by the recovery."""
    assert kills(tried, "tidy") == [(2, 7, 10), (3, 7, 10)]


@needs_postgres
def test_a_transaction_of_a_killed_agent_leaves_nothing(tried: HarnessRun) -> None:
    """Killed between two of its statements; only after its end is something left."""
    assert kills(tried, "atomic") == [(2, 10, 10), (4, 0, 0)]


@needs_postgres
def test_a_prepared_transaction_of_a_killed_agent_is_left(tried: HarnessRun) -> None:
    """It holds its locks for ever."""
    assert kills(tried, "halfway") == [(3, 0, 0)]
    assert left(tried, "halfway", "late") == [
        "postgres:shop (prepared transaction refunds)",
        "postgres:shop/public.orders (RowExclusiveLock)",
    ]


def test_check_says_what_is_missing_and_which_cases_need_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a machine without PostgreSQL; the message gives the way out."""
    suite = made(tmp_path, {"careless": KILLS, "tidy": KILLS})
    monkeypatch.setattr(programs, "_PATTERNS", ())
    monkeypatch.setenv("PATH", "/nowhere")
    programs._newest.cache_clear()
    ended = tracegrade("harness", "check", suite.suite, "--folder", suite.home)
    programs._newest.cache_clear()

    assert ended.returncode == 3
    assert "cannot run careless, tidy here: no PostgreSQL 15" in ended.stderr
    assert "`apt-get install postgresql`" in ended.stderr


REFUNDING = """
import os

import psycopg
import redis
import tracegrade

database = psycopg.connect(os.environ["DATABASE_URL"], autocommit=True)
cache = redis.Redis.from_url(os.environ["REDIS_URL"])


@tracegrade.tool(effect="read")
def look():
    return database.execute("SELECT count(*) FROM orders").fetchone()[0]


@tracegrade.tool(effect="write")
def refund(order):
    database.execute("UPDATE orders SET state = 'refunded' WHERE id = %s", [order])
    database.execute("DELETE FROM log WHERE ctid = (SELECT min(ctid) FROM log WHERE by = 'me')")
    cache.rpush("mail/out", order)


tracegrade.init(service="ignored")
with tracegrade.agent_run("worker", task="refund", user_input="Refund it.") as run:
    look()
    refund(1)
    run.answer("Done.")
"""

RUNBOOK = """
- {pattern: "postgres:shop/public.orders/*", undo: {manual: "set the order's state back"}}
- {pattern: "postgres:shop/public.log/*", undo: {manual: "insert the line again"}}
- {pattern: "redis:cache/mail/*", undo: {manual: "LREM {object}"}}
"""


@needs_postgres
@needs_redis
def test_a_runbook_names_rows_and_keys_that_a_killed_agent_changed(tmp_path: Path) -> None:
    """An order, one of two equal lines without a key, and a key with a slash."""
    tried = made(tmp_path, {"refund": {"kill": {"points": ["late"]}}})
    suite = yaml.safe_load(tried.suite.read_text())
    suite["agents"]["worker"]["records"] = [{"runbook": "runbook.yaml"}]
    cache = {"from": "cache.redis", "url_env": "REDIS_URL"}
    suite["environments"]["shop"]["redis"] = {"cache": cache}
    tried.suite.write_text(yaml.safe_dump(suite))
    (tmp_path / "agent.py").write_text(REFUNDING)
    (tmp_path / "runbook.yaml").write_text(RUNBOOK)
    (tmp_path / "cache.redis").write_text("RPUSH mail/out 7\nSET greeting hello\n")
    ended = tried.run().ended

    assert ended is not None
    assert ended.returncode == 0, ended.stderr
    row = tried.row("refund", "late")
    named = {each["object"]: each["named_by"] for each in json.loads(row["leftovers"])}
    changed = ["postgres:shop/public.log/row:", "postgres:shop/public.orders/1"]
    assert [name[:29] for name in sorted(named)] == [*changed, "redis:cache/mail/out"]
    assert [*named.values()] == ["runbook:runbook.yaml"] * 3
    assert (row["immediate"], row["after_recovery"]) == (7, 7)
