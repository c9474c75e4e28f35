"""Calls of tools in production become tapes of drafted cases, which then need no live services."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from tests.commands import Ended, tracegrade
from tests.harness.draft.conftest import serving, traces
from tests.harness.trial.agents import HarnessRun
from tests.waiting import wait_until

AGENT = '''
"""An agent whose tools say, in a file that production names, that they have run."""

import asyncio
import json
import os
import sys
from dataclasses import dataclass

from opentelemetry import trace

import tracegrade

TASKS, RAN = sys.argv[1:], os.environ.get("RAN")


def ran(name):
    """Leave a mark; where there is no place for it, fail as a service that is not there."""
    with open(RAN, "a") as file:
        file.write(name + "\\n")


class NoSuchOrder(LookupError):
    pass


@tracegrade.tool(effect="read")
def search(word: str) -> dict:
    ran("search")
    return {"word": word, "found": inner(word)}


@tracegrade.tool
def inner(word):
    ran("inner")
    return [1, 2.5, None]


@tracegrade.tool(effect="read")
async def page(number: int) -> str:
    ran("page")
    return json.dumps({"page": number})


@tracegrade.tool(effect="write")
def pay(order: str):
    ran("pay")
    raise NoSuchOrder(f"no order {order}")


@dataclass
class Price:
    cents: int


@tracegrade.tool(effect="read")
def price(item: str) -> Price:
    ran("price")
    return Price(7)


def said(role, text):
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


def look():
    found = [search("tea"), asyncio.run(page(2))]
    try:
        pay("A-1")
    except NoSuchOrder as error:
        found.append(str(error))
    return found


tracegrade.init(service="shop", release="1")
for task in TASKS:
    with tracegrade.agent_run("shop", task=task, user_input=task) as run:
        attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m",
                      "gen_ai.input.messages": said("user", task),
                      "gen_ai.output.messages": said("assistant", "Calling.")}
        with trace.get_tracer("client").start_as_current_span("chat m", attributes=attributes):
            pass
        run.answer({"look": look, "price": lambda: price("tea").cents}[task]())
        run.outcome("success")
'''


class Shop(NamedTuple):
    """A lake of production, the suite that was drafted of it, and what production's tools did."""

    lake: Path
    suite: Path
    ran: Path
    ended: Ended

    def play(self, case: str) -> HarnessRun:
        """Run a case, with nothing there that its tools need."""
        folder = self.suite.parent
        tried = HarnessRun(self.suite, folder / f"lake-{case}", folder / "home")
        return tried.run("--case", case).build()


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """Two runs in production, drafted."""
    folder = tmp_path_factory.mktemp("shop")
    lake, program, calls = folder / "lake", folder / "agent.py", folder / "ran"
    program.write_text(AGENT)
    collect = ("tracegrade", "collect", "--lake", str(lake), "--http", "127.0.0.1:0")
    with serving("http", *collect, "--grpc", "off") as endpoint:
        given = {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "RAN": str(calls)}
        words = [sys.executable, str(program), "look", "price"]
        subprocess.run(words, check=True, env={**os.environ, **given})
        wait_until(lambda: traces(lake) == 2)
    ended = tracegrade("score", "--lake", lake)
    assert ended.returncode == 0, ended.stderr
    out = folder / "drafted"
    command = ("--command", "{python} {suite}/agent.py {user_input}")
    ended = tracegrade("harness", "draft", "--lake", lake, "--out", out, *command)
    assert ended.returncode == 0, ended.stderr
    (out / "agent.py").write_text(AGENT)
    suite = yaml.safe_load((out / "suite.yaml").read_text())
    suite["agents"]["shop"]["environment"]["pass"] = ["PYTHONPATH"]
    (out / "suite.yaml").write_text(yaml.safe_dump(suite))
    return Shop(lake, out / "suite.yaml", calls, ended)


def test_a_drafted_case_has_the_calls_of_its_tools_on_tape(shop: Shop) -> None:
    """Those that it made itself, with what they gave; the suite names them."""
    text = (shop.suite.parent / "tapes/look.jsonl").read_text()
    lines = [line for line in map(json.loads, text.splitlines()[1:]) if line["channel"] == "tool"]

    assert [(line["name"], line["arguments"]) for line in lines] == [
        ("search", {"word": "tea"}),
        ("page", {"number": 2}),
        ("pay", {"order": "A-1"}),
    ]
    assert json.loads(lines[0]["reply"]["text"]) == {"word": "tea", "found": [1, 2.5, None]}
    assert lines[1]["reply"] == {"text": '{"page": 2}', "effect": "read"}
    assert lines[2]["reply"] == {
        "error": {"type": "__main__.NoSuchOrder", "message": "no order A-1"},
        "effect": "write",
    }
    environment = yaml.safe_load(shop.suite.read_text())["environments"]["outside"]
    assert environment["taped_tools"] == ["page", "pay", "price", "search"]
    assert "1 model answer, 3 calls of tools, expectations known" in shop.ended.stdout


@pytest.mark.slow
def test_a_drafted_case_takes_the_same_steps_without_its_services(shop: Shop) -> None:
    """No body of a tool runs: each would fail, since what it needs is not there."""
    tried = shop.play("look")
    steps = (
        "SELECT kind, tool_name, arguments, result, content, status, error_message FROM steps"
        " JOIN trajectories USING (trajectory_id)"
        " WHERE user_input = 'look' AND tool_name IS DISTINCT FROM 'inner'"
        " AND kind <> 'observation' ORDER BY step_index"
    )

    assert tried.ended is not None
    assert tried.ended.returncode == 0, tried.ended.stderr
    assert tried.row("look")["status"] == "done"
    assert tried.query(steps) == tried._replace(lake=shop.lake).query(steps)
    assert len(tried.query(steps)) > 4
    assert shop.ran.read_text().split() == ["search", "inner", "page", "pay", "price"]


@pytest.mark.slow
def test_a_tool_that_gives_more_than_its_text_is_a_miss(shop: Shop) -> None:
    """Nothing is made up, and its body does not run."""
    tried = shop.play("price")
    row = tried.row("price")

    assert row["status"] == "error"
    assert row["reason"] == (
        "tape_miss: 1 call, first tool price: it returns a Price, and the tape has its text "
        "alone; record it"
    )
