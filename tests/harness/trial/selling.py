"""A suite whose agent sells through PostgreSQL: what it does is its task."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from tests.harness.parts.postgres.shop import SHOP
from tests.harness.trial.agents import HarnessRun
from tests.harness.trial.booking import RECOVER

AGENT = """
import os
import sys

import psycopg
import tracegrade

TASK = sys.argv[1]
database = psycopg.connect(os.environ["DATABASE_URL"], autocommit=True)


@tracegrade.tool(effect="read")
def look():
    return database.execute("SELECT count(*) FROM orders").fetchone()[0]


@tracegrade.tool(effect="write")
def refund(order):
    database.execute("UPDATE orders SET state = 'refunded' WHERE id = %s", [order])


@tracegrade.tool(effect="write")
def end(statement):
    database.execute(statement)


def careless(run):
    look()
    refund(1)
    refund(2)


def tidy(run):
    look()
    for order, state in ((1, "paid"), (2, "new")):
        statement = f"UPDATE orders SET state = '{state}' WHERE id = {order}"
        undo = {"sql": statement, "at": "DATABASE_URL"}
        run.rollback(f"postgres:shop/public.orders/{order}", undo=undo)
        refund(order)


def atomic(run):
    look()
    database.execute("BEGIN")
    refund(1)
    refund(2)
    end("COMMIT")


def halfway(run):
    look()
    database.execute("BEGIN")
    refund(1)
    end("PREPARE TRANSACTION 'refunds'")


tracegrade.init(service="ignored")
with tracegrade.agent_run("worker", task=TASK, user_input="Work.") as run:
    globals()[TASK](run)
    run.answer("Done.")
"""

REFUNDED = {
    "postgres": "shop",
    "query": "SELECT count(*) FROM orders WHERE state = 'refunded'",
    "equals": 2,
}
KILLS: Mapping[str, Any] = {"kill": {"points": ["early", "mid", "late"]}, "verify": [REFUNDED]}


def made(folder: Path, cases: Mapping[str, Mapping[str, Any]], **shop: Any) -> HarnessRun:
    """Write a suite whose cases are tasks of the agent."""
    (folder / "agent.py").write_text(AGENT)
    (folder / "shop.sql").write_text(SHOP)
    agent = {
        "command": ["{python}", "{suite}/agent.py", "{task}"],
        "recover": RECOVER,
        "release": "1",
        "records": [{"journal": ".tracegrade/rollback.jsonl"}],
        "environment": {"pass": ["PYTHONPATH"]},
    }
    database = {"from": "shop.sql", "url_env": "DATABASE_URL", **shop}
    suite = {
        "version": 1,
        "suite": "selling",
        "agents": {"worker": agent},
        "environments": {"shop": {"postgres": {"shop": database}}},
        "cases": {
            task_id: {"environment": "shop", "agent": "worker", **case}
            for task_id, case in cases.items()
        },
    }
    (folder / "suite.yaml").write_text(yaml.safe_dump(suite, sort_keys=False))
    return HarnessRun(folder / "suite.yaml", folder / "lake", folder / "home")
