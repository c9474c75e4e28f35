"""What models cost is measured, limited for each trial, and paid from a budget of the run."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import yaml
from starlette.requests import Request
from starlette.responses import JSONResponse
from tests.commands import tracegrade
from tests.harness.trial.agents import HarnessRun

from tracegrade_harness.parts.servers.http_server import HttpServer

ASKING = """
import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path

TASK, TIMES = sys.argv[1], {"cheap": 1, "told": 0}
MODEL = "unknown" if TASK == "unpriced" else "m-1"
for number in range(TIMES.get(TASK, 50)):
    body = json.dumps({"model": MODEL, "prompt": number}).encode()
    asked = urllib.request.Request(os.environ["MODEL_URL"] + "/chat/completions", body)
    try:
        urllib.request.urlopen(asked).read()
    except urllib.error.HTTPError:
        pass  # it continues without the model's answer
Path("data/done").touch()
"""

TELLING = """
import tracegrade
from opentelemetry import trace

@tracegrade.tool
def look():
    pass

tracegrade.init(service="ignored")
start = trace.get_tracer("some.framework").start_as_current_span
used = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1",
        "gen_ai.usage.input_tokens": 6, "gen_ai.usage.output_tokens": 4}
with tracegrade.agent_run("teller", task="told"):
    for _ in range(50):
        with start("chat", attributes=used):
            pass
        look()
"""
PRICES = "version: 1\nmodels: {m-*: {input: 1000, output: 1000}}\n"
"""An answer of ten tokens costs a cent."""
CASES = {
    "cheap": {"usd": 0.5},
    "dear": {"usd": 0.025},
    "wordy": {"tokens": 25},
    "unpriced": {"usd": 0.5},
    "told": {"usd": 0.025},
}


class Model:
    """A model whose answers take ten tokens."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def __call__(self, scope, receive, send) -> None:  # type: ignore[no-untyped-def]
        """Answer as chat completions do."""
        if scope["type"] == "http":
            model = json.loads(await Request(scope, receive).body())["model"]
            self.asked.append(model)
            answer = {"model": model, "usage": {"prompt_tokens": 6, "completion_tokens": 4}}
            await JSONResponse(answer)(scope, receive, send)


@pytest.fixture
def model() -> Iterator[tuple[Model, str]]:
    """A model, and its URL while it is there."""
    found = Model()
    with closing(HttpServer(found)) as server:
        yield found, f"http://127.0.0.1:{server.address.port}"


@pytest.fixture
def suite(tmp_path: Path, model: tuple[Model, str]) -> HarnessRun:
    """A suite whose agents ask a model again and again; its prices are beside it."""
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "asking.py").write_text(ASKING)
    (tmp_path / "telling.py").write_text(TELLING)
    (tmp_path / "prices.yaml").write_text(PRICES)
    upstream = {"url": model[1], "url_env": "MODEL_URL", "protocol": "model"}
    files = {"data": {"from": "fixtures", "at": "data"}}
    asking = {"command": ["{python}", "{suite}/asking.py", "{task}"], "channels": ["http"]}
    telling = {
        "command": ["{python}", "{suite}/telling.py"],
        "environment": {"pass": ["PYTHONPATH"]},
    }
    written = {
        "version": 1,
        "suite": "spending",
        "agents": {"asking": asking, "telling": telling},
        "environments": {"desk": {"files": files, "upstreams": {"model": upstream}}},
        "cases": {
            name: {
                "environment": "desk",
                "agent": "telling" if name == "told" else "asking",
                "limits": limits,
            }
            for name, limits in CASES.items()
        },
    }
    (tmp_path / "suite.yaml").write_text(yaml.safe_dump(written, sort_keys=False))
    return HarnessRun(tmp_path / "suite.yaml", tmp_path / "lake", tmp_path / "home")


def prices(suite: HarnessRun) -> Path:
    """Return the file with the prices."""
    return suite.suite.with_name("prices.yaml")


def test_limits_of_money_and_tokens_end_trials(
    suite: HarnessRun, model: tuple[Model, str]
) -> None:
    """After the answer that exceeds them, from every source; the cost is known."""
    tried = suite.run("--prices", prices(suite), "--jobs", 2)
    keys = ("status", "reason", "tokens", "usd")

    assert tried.ended is not None
    assert {row["task_id"]: tuple(row[key] for key in keys) for row in tried.rows} == {
        "cheap": ("done", None, 10, 0.01),
        "dear": ("budget", "usd: more than 0.025", 30, 0.03),
        "wordy": ("budget", "tokens: more than 25", 30, 0.03),
        "told": ("budget", "usd: more than 0.025", 30, 0.03),
        "unpriced": (
            "error",
            "no_price: model 'unknown' has no price; give it one with --prices, "
            "or leave out the limit",
            10,
            None,
        ),
    }
    assert sorted(model[0].asked) == ["m-1"] * 7 + ["unknown"]
    assert "cheap trial 1: ended, 10 tokens, $0.0100" in tried.ended.stderr
    assert "used: 110 tokens, $0.1000, and 1 of 5 at unknown cost" in tried.ended.stdout


def test_what_cannot_be_paid_is_not_run_until_there_is_more(suite: HarnessRun) -> None:
    """Each trial reserves its limit; what was spent is counted when the run is gone on with."""
    options = ("--case", "cheap", "--trials", 2)
    tried = suite.run(*options, "--prices", prices(suite), "--max-usd", 0.505)
    assert tried.ended is not None
    run = tried.rows[0]["run"]

    assert tried.ended.returncode == 1
    assert [row["status"] for row in tried.rows] == ["done", "not_run"]
    assert tried.rows[1]["reason"] == (
        "max_usd: $0.4950 of $0.5050 are left, and it may cost $0.5000; give a greater --max-usd"
    )
    assert f"; then `--resume {run}` tries them again" in tried.ended.stderr
    assert "used: 10 tokens, $0.0100 of $0.5050" in tried.ended.stdout

    still = suite.run(*options, "--max-usd", 0.505, "--resume", run)
    assert [row["status"] for row in still.rows] == ["done", "not_run"]

    more = suite.run(*options, "--max-usd", 0.51, "--resume", run)
    assert more.ended is not None
    assert more.ended.returncode == 0, more.ended.stderr
    assert [row["status"] for row in more.rows] == ["done", "done"]
    assert "used: 20 tokens, $0.0200 of $0.5100" in more.ended.stdout


def test_money_is_reserved_for_cases_that_say_how_much(suite: HarnessRun) -> None:
    """Nothing is run otherwise."""
    tried = suite.run("--prices", prices(suite), "--max-usd", 5)

    assert tried.ended is not None
    assert tried.ended.returncode == 2
    assert "no limit in US dollars: wordy; give these cases limits" in tried.ended.stderr
    assert not suite.lake.exists()


@pytest.mark.slow
def test_played_answers_cost_nothing(suite: HarnessRun) -> None:
    """Not even of a model without a price."""
    words = (suite.suite, "--folder", suite.home, "--case", "cheap")
    recorded = tracegrade("harness", "record", "--yes-as-root", *words)
    assert recorded.returncode == 3, "it has a limit in money, and no prices"
    recorded = tracegrade("harness", "record", "--yes-as-root", *words, "--prices", prices(suite))
    assert recorded.returncode == 0, recorded.stderr
    assert "used: 10 tokens, $0.0100" in recorded.stdout

    options = ("--case", "cheap", "--mode", "mocked", "--max-usd", 0.5)
    tried = suite.run(*options)

    assert (tried.row("cheap")["tokens"], tried.row("cheap")["usd"]) == (10, 0.0)
