"""How long a suite of 30 mocked cases takes, as a pull request waits for it: two trials at a time.

Run by hand or by `make bench`. Each case is an agent in Python that asks its model six times and
calls a tool after each answer; a model on this machine is recorded once, and gone when the suite
is run. Everything else is what `tracegrade harness run --mode mocked` does, its start included.
"""

import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Final

import yaml
from starlette.responses import JSONResponse
from tests.benchmarks.command_line import while_read

from tracegrade_harness.parts.servers.http_server import HttpServer

CASES: Final = 30
JOBS: Final = 2
MAX_SECS: Final = 120
AGENT: Final = """
import os
import sys
import urllib.request
from pathlib import Path

import tracegrade


def model(prompt):
    asked = urllib.request.Request(os.environ["MODEL_URL"] + "/chat", prompt.encode())
    with urllib.request.urlopen(asked) as answer:
        return answer.read().decode()


@tracegrade.tool(effect="read")
def look(what):
    return what


@tracegrade.tool
def write(name, text):
    Path("data", name).write_text(text)


tracegrade.init(service="ignored")
with tracegrade.agent_run("worker", task=sys.argv[1], user_input="Work.") as run:
    for number in range(3):
        look(model(f"What to look at, {sys.argv[1]} {number}?"))
        write(f"n{number}", model(f"What to write, {sys.argv[1]} {number}?"))
    run.answer("Done.")
"""


async def echo(scope, receive, send) -> None:  # type: ignore[no-untyped-def]
    """Answer any request alike."""
    if scope["type"] == "http":
        await JSONResponse({"choices": [{"message": {"content": "tea " * 50}}]})(
            scope, receive, send
        )


def write_suite(folder: Path, url: str) -> Path:
    """Write the suite, and return its file."""
    (folder / "fixtures").mkdir()
    for number in range(20):
        (folder / f"fixtures/notes{number}").write_text("Buy milk.\n" * 100)
    (folder / "agent.py").write_text(AGENT)
    agent = {
        "command": ["{python}", "{suite}/agent.py", "{task}"],
        "environment": {"pass": ["PYTHONPATH"]},
    }
    model = {"url": url, "url_env": "MODEL_URL", "protocol": "model"}
    files = {"data": {"from": "fixtures", "at": "data"}}
    case = {
        "environment": "desk",
        "agent": "worker",
        "kill": {"points": ["early", "mid", "late"]},
        "verify": [
            {"files": "data", "path": "n2", "text": {"matches": "tea"}},
            {"files": "data", "only_changed": ["n*"]},
        ],
    }
    suite = {
        "version": 1,
        "suite": "bench",
        "agents": {"worker": agent},
        "environments": {"desk": {"files": files, "upstreams": {"model": model}}},
        "cases": {f"case-{number}": case for number in range(CASES)},
    }
    (folder / "suite.yaml").write_text(yaml.safe_dump(suite, sort_keys=False))
    return folder / "suite.yaml"


def harness(*words: object) -> float:
    """Run a command of the harness; return how many seconds it took."""
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "tracegrade", "harness", *map(str, words)],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return time.perf_counter() - started


def main() -> None:
    """Record the suite, run it mocked, and print how long that took."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with closing(HttpServer(echo)) as server:
            suite = write_suite(folder, f"http://127.0.0.1:{server.address.port}")
            harness("record", suite, "--folder", folder / "home", "--jobs", JOBS)
        shared = ("--mode", "mocked", "--jobs", JOBS, "--folder", folder / "home")
        alone = harness("run", suite, "--lake", folder / "lake", *shared, "--kill", "none")
        killed = harness("run", suite, "--lake", folder / "lake-kills", *shared)
    print(f"\n{CASES} mocked cases, {JOBS} at a time     seconds    a run")
    for what, took, runs in (
        ("undisturbed", alone, CASES),
        ("and killed three times each", killed, CASES * 4),
    ):
        print(f"  {what:<32}{took:9.1f}{took / runs:9.2f}")
    print(f"  (at most {MAX_SECS} undisturbed)")


if __name__ == "__main__":
    with while_read():
        main()
