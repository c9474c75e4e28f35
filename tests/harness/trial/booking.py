"""A suite whose agent books through services: what it does is its task."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml
from tests.harness.parts.http.bank import bank_beside
from tests.harness.trial.agents import HarnessRun

AGENT = """
import http.client
import json
import os
import socket
import sys

import tracegrade

TASK = sys.argv[1]


def ask(line, body=None):
    connection = http.client.HTTPConnection(os.environ["BANK_URL"].removeprefix("http://"))
    method, path = line.split(" ")
    connection.request(method, path, None if body is None else json.dumps(body))
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    if answer.status >= 300:
        raise RuntimeError(f"{line} was answered with {answer.status}")
    return json.loads(text)


@tracegrade.tool(effect="read")
def credits():
    return ask("GET /credits")


@tracegrade.tool
def hold(name, price):
    return ask("POST /holds?by=me", {"id": name, "price": price})


def careless(run):
    credits()
    hold("h2", 3)
    hold("h3", 4)


def tidy(run):
    credits()
    for name, price in (("h2", 3), ("h3", 4)):
        undo = {"http": f"DELETE /holds/{name}", "at": "BANK_URL"}
        run.rollback(f"http:bank/$.holds.{name}", undo=undo)
        run.rollback("http:bank/$.credits", undo=undo)
        hold(name, price)


def curious(run):
    credits()
    try:
        socket.create_connection(("127.0.0.1", int(os.environ["PORT"]))).close()
        hold("out", 1)
    except OSError:
        hold("kept", 1)


tracegrade.init(service="ignored")
with tracegrade.agent_run("worker", task=TASK, user_input="Work.") as run:
    globals()[TASK.partition("-")[0]](run)
    run.answer("Done.")
"""

BOOKED: list[dict[str, Any]] = [
    {"http": "bank", "state": {"$.credits": 3, "$.holds.h3.price": 4}},
    {"http": "bank", "calls": {"method": "POST", "path": "/holds", "times": 2}},
]
KILLS: dict[str, Any] = {"kill": {"points": ["early", "mid", "late"]}, "verify": BOOKED}
RECOVER = ["{python}", "-m", "tracegrade", "rollback", ".tracegrade/rollback.jsonl"]


def made(
    folder: Path,
    cases: Mapping[str, Mapping[str, Any]],
    agent: Mapping[str, Any] = MappingProxyType({}),
    **services: Any,
) -> HarnessRun:
    """Write a suite whose cases are tasks of the agent."""
    (folder / "agent.py").write_text(AGENT)
    bank = {**bank_beside(folder), "locks": ["$.holds.*"], "quota": ["$.credits"]}
    worker = {
        "command": ["{python}", "{suite}/agent.py", "{task}"],
        "recover": RECOVER,
        "release": "1",
        "records": [{"journal": ".tracegrade/rollback.jsonl"}],
        "environment": {"pass": ["PYTHONPATH"]},
        **agent,
    }
    suite = {
        "version": 1,
        "suite": "booking",
        "agents": {"worker": worker},
        "environments": {"town": {"http": {"bank": bank}, **services}},
        "cases": {
            task_id: {"environment": "town", "agent": "worker", **case}
            for task_id, case in cases.items()
        },
    }
    (folder / "suite.yaml").write_text(yaml.safe_dump(suite, sort_keys=False))
    return HarnessRun(folder / "suite.yaml", folder / "lake", folder / "home")
