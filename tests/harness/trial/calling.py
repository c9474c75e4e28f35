"""A suite whose agent calls tools of its own process that act outside of its environment."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from tests.harness.trial.agents import HarnessRun

AGENT = '''
"""An agent whose tools, each time they run, say so in a file beside the suite."""

import asyncio
import json
import sys
from pathlib import Path

import tracegrade

TASK, BESIDE = sys.argv[1], Path(sys.argv[2])
ASKED = json.loads(Path("data/asked").read_text())


def ran(name):
    """Leave a mark that a tool's body has run; return how often any has."""
    with (BESIDE / "ran").open("a") as file:
        file.write(name + "\\n")
    return len((BESIDE / "ran").read_text().splitlines())


class NoSuchOrder(Exception):
    def __init__(self, order):
        super().__init__(f"there is no order {order}")
        self.order = order


@tracegrade.tool(effect="read")
def search(word, **more):
    return {"number": ran("search"), "word": word, "api_key": "sk-proj-" + "aB3" * 16, **more}


@tracegrade.tool(effect="read")
async def fetch(page):
    await asyncio.sleep(0)
    return [await inner(page), ran("fetch"), None, 1.5]


@tracegrade.tool
async def inner(page):
    return f"{page} {ran('inner')}"


def plainly(function):
    """Hide that a function is a coroutine function."""
    return lambda *args: function(*args)


@tracegrade.tool(name="hidden", effect="read")
@plainly
async def hidden(word):
    if word == "bad":
        raise ValueError(word)
    return [word, ran("hidden")]


@tracegrade.tool(effect="read")
def order(number):
    ran("order")
    raise NoSuchOrder(number)


@tracegrade.tool(effect="write")
def pay(amount):
    return ran("pay")


@tracegrade.tool(effect="read")
def write(name):
    Path("data", name).write_text("x")


@tracegrade.tool(effect="read")
def local():
    return {1, 2}


def looking():
    found = [search(ASKED), search(ASKED), search("plain", kind="tea")]
    found += asyncio.run(both())
    try:
        order(7)
    except NoSuchOrder as error:
        found.append([type(error).__qualname__, str(error), error.order])
    write("mark")
    return found


async def both():
    bad, good = await asyncio.gather(hidden("bad"), hidden("good"), return_exceptions=True)
    return [*await asyncio.gather(fetch("a"), fetch("b")), repr(bad), good]


def careful():
    try:
        return search(ASKED)
    except RuntimeError as error:
        return f"{type(error).__name__}: {error}"


tracegrade.init(service="ignored")
with tracegrade.agent_run("worker", task=TASK, user_input="Look.") as run:
    found = {"look": looking, "miss": careful, "set": local, "pay": lambda: pay(3)}[TASK]()
    Path("data", "found").write_text(json.dumps(found, default=str))
    run.answer("Done.")
'''


def made(folder: Path, cases: Mapping[str, Mapping[str, Any]], tools: list[str]) -> HarnessRun:
    """Write a suite whose cases are tasks of the agent."""
    (folder / "fixtures").mkdir(parents=True)
    (folder / "fixtures/asked").write_text('"tea"')
    (folder / "agent.py").write_text(AGENT)
    written = {
        "version": 1,
        "suite": "calling",
        "agents": {
            "worker": {
                "command": ["{python}", "{suite}/agent.py", "{task}", "{suite}"],
                "environment": {"pass": ["PYTHONPATH"]},
            }
        },
        "environments": {
            "desk": {"files": {"data": {"from": "fixtures", "at": "data"}}, "taped_tools": tools}
        },
        "cases": {
            name: {"environment": "desk", "agent": "worker", **case}
            for name, case in cases.items()
        },
    }
    (folder / "suite.yaml").write_text(yaml.safe_dump(written, sort_keys=False))
    return HarnessRun(folder / "suite.yaml", folder / "lake", folder / "home")
