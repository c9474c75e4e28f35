"""Suites that are run in earnest, each with one small agent that behaves as its task asks."""

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import yaml
from duckdb import DuckDBPyConnection
from tests.commands import Ended, tracegrade
from tests.waiting import wait_until

from tracegrade_lake import Lake
from tracegrade_queries.build.build import build
from tracegrade_queries.engine.connection import connect

AGENT = '''
"""An agent: what it does is its task, which is its only argument."""

import contextvars
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import tracegrade

TASK = sys.argv[1]


@tracegrade.tool(effect="read")
def look(what="notes"):
    return Path("data", what).read_text() if what == "notes" else what


@tracegrade.tool
def write(name, text="x"):
    with open(f"data/{name}", "x") as file:
        file.write(text)


@tracegrade.tool(effect="read")
def peek():
    Path("data", "seen").touch()


@tracegrade.tool
def hang():
    Path("data", "hanging").touch()
    while True:
        time.sleep(1)


def tidy(run):
    look()
    for name in ("a", "b"):
        run.rollback(f"files:data/{name}", undo={"delete": f"data/{name}"})
        write(name)
        look()


def careless(run):
    look()
    write("a")
    write("b")


def liar(run):
    look()
    run.rollback("files:data/a", undo={"command": ["sh", "-c", "exit 7"]})
    write("a")


def restless(run):
    urllib.request.urlopen(os.environ["CLOCK"]).close()
    look()
    write("a")


def first_writes(run):
    write("a")
    look()


def reader(run):
    look()


def sly(run):
    look()
    peek()
    peek()


def many_calls(run):
    for _ in range(5):
        look()


def hungry(run):
    look()
    bytearray(2**30)


def fickle(run):
    look(str(time.time_ns()))
    write("a")
    write("b")
    look()


def which_time():
    """Return how often the task was begun, by what is beside the suite."""
    begun = Path(sys.argv[2], f"{TASK}-begun")
    with begun.open("a") as file:
        file.write("x")
    return len(begun.read_text())


def shrinking(run):
    if which_time() == 1:
        look()
        write("a")


def balky(run):
    look()
    if which_time() == 2:
        hang()
    write("a")


def daemon(run):
    command = [sys.executable, "-c", "import time; time.sleep(3600)", "left-behind"]
    subprocess.Popen(command, start_new_session=True)
    write("a")


def orphans(run):
    """Start what outlives it: one that never ends, and one that writes once it is alone."""
    look()
    late = f"""if True:
        import os, pathlib, time
        while os.getppid() == {os.getpid()}:
            time.sleep(0.01)
        pathlib.Path("data/late").touch()
    """
    for program in ("import time; time.sleep(3600)", late):
        subprocess.Popen([sys.executable, "-c", program, "orphan"], start_new_session=True)
    write("a")


def stuck(run):
    look()
    hang()


def twice(run):
    """Does its work in two runs; the second would replace the first."""
    look()

    def other():
        with tracegrade.agent_run("other", task=TASK) as second:
            second.answer("Done.")

    contextvars.Context().run(other)


GENAI = (
    {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "x"},
    {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "note"},
)
OPENINFERENCE = (
    {"openinference.span.kind": "AGENT", "agent.name": "x"},
    {"openinference.span.kind": "TOOL", "tool.name": "note"},
)


def foreign(agent, call):
    """Is instrumented by OpenTelemetry alone, by some conventions."""
    from opentelemetry import trace

    tracegrade.init(service="other")
    start = trace.get_tracer("some.framework").start_as_current_span
    with start("x", attributes=agent):
        for name in ("notes", "a", "b"):
            with start("note", attributes=call):
                Path("data", name).touch()


def chain(**known):
    """Is instrumented by OpenInference, which may say what a span is as late as at its end."""
    from opentelemetry import trace

    tracegrade.init(service="other")
    tracer = trace.get_tracer("openinference.instrumentation.langchain")
    with tracer.start_as_current_span("LangGraph", attributes=known) as graph:
        for name in ("notes", "a", "b"):
            with tracer.start_as_current_span("note") as call:
                Path("data", name).touch()
                call.set_attribute("openinference.span.kind", "TOOL")
        graph.set_attribute("openinference.span.kind", "CHAIN")


if TASK == "silent":
    Path("data", "a").touch()
elif TASK == "genai":
    foreign(*GENAI)
elif TASK == "chain":
    chain(**{"openinference.span.kind": "CHAIN"})
elif TASK == "chain_late":
    chain()
elif TASK == "openinference":
    foreign(*OPENINFERENCE)
else:
    tracegrade.init(service="ignored")
    with tracegrade.agent_run("worker", task=TASK, user_input="Work.") as run:
        globals()[TASK.partition("-")[0]](run)
        run.answer("Done.")
'''

AS_ROOT = "--yes-as-root"
"""Tests that do not need the sandbox run without one if there is none, as every user."""
WROTE = {"files": "data", "path": "a"}


def exits(code: int) -> Mapping[str, Any]:
    """Return a verifier that ends with this code."""
    return {"command": ["{python}", "-c", f"raise SystemExit({code})"]}


@lru_cache(maxsize=1)
def connected(lake: Path, files: frozenset[tuple[Path, int]]) -> DuckDBPyConnection:
    """Return a connection to a lake, the same as long as its files are these."""
    assert files
    return connect(Lake.open(lake))


class HarnessRun(NamedTuple):
    """A suite that was run, and the lake that knows of it."""

    suite: Path
    lake: Path
    home: Path
    ended: Ended | None = None

    @property
    def rows(self) -> list[dict[str, Any]]:
        """What the harness wrote of its trials, by task, trial and kill."""
        dataset = Lake.open(self.lake).dataset("harness_trials")
        found = dataset.to_table().to_pylist() if dataset else []
        return sorted(
            found, key=lambda row: (row["task_id"], row["trial"], row["kill_point"] or "")
        )

    def row(self, task_id: str, kill_point: str | None = None, trial: int = 1) -> dict[str, Any]:
        """Return the only row of a trial, or of a kill of it."""
        wanted = task_id, kill_point, trial
        keys = ("task_id", "kill_point", "trial")
        (found,) = [row for row in self.rows if tuple(row[key] for key in keys) == wanted]
        return found

    def query(self, sql: str) -> list[dict[str, Any]]:
        """Return what a query of the lake gives."""
        files = (path for path in self.lake.rglob("*") if path.is_file())
        stood = frozenset((path, path.stat().st_mtime_ns) for path in files)
        found = connected(self.lake, stood).cursor().sql(sql)
        return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]

    def verdicts(self, trajectory_id: str) -> list[dict[str, Any]]:
        """Return the verdicts on a trajectory."""
        rows = self.query(f"SELECT * FROM verdicts WHERE trajectory_id = '{trajectory_id}'")
        return sorted(rows, key=lambda row: (row["subject"], row["kill_point"] or ""))

    def command(self, *options: object) -> list[str]:
        """Return the words of the command that runs the suite."""
        words = ("harness", "run", self.suite, "--lake", self.lake, "--folder", self.home, AS_ROOT)
        return [*map(str, words), *map(str, options)]

    def run(self, *options: object) -> "HarnessRun":
        """Run the suite to its end."""
        return self._replace(ended=tracegrade(*self.command(*options)))

    def build(self) -> "HarnessRun":
        """Build the steps of what was run, which takes less than to score it."""
        build(Lake.open(self.lake))
        return self

    def score(self) -> "HarnessRun":
        """Score what was run."""
        ended = tracegrade("score", "--lake", self.lake)
        assert ended.returncode == 0, ended.stderr
        return self


def made(
    folder: Path, cases: Mapping[str, Mapping[str, Any]], recover: Sequence[str] | None = None
) -> HarnessRun:
    """Write a suite whose cases are tasks of the agent."""
    (folder / "fixtures").mkdir(parents=True)
    (folder / "fixtures/notes").write_text("Buy milk.")
    (folder / "agent.py").write_text(AGENT)
    agent = {
        "command": ["{python}", "{suite}/agent.py", "{task}", "{suite}"],
        "release": "1",
        "records": [{"journal": ".tracegrade/rollback.jsonl"}],
        "environment": {"pass": ["PYTHONPATH"]},
    }
    suite = {
        "version": 1,
        "suite": "small",
        "agents": {"worker": agent if recover is None else {**agent, "recover": [*recover]}},
        "environments": {"notes": {"files": {"data": {"from": "fixtures", "at": "data"}}}},
        "cases": {
            task_id: {"environment": "notes", "agent": "worker", **case}
            for task_id, case in cases.items()
        },
    }
    (folder / "suite.yaml").write_text(yaml.safe_dump(suite, sort_keys=False))
    return HarnessRun(folder / "suite.yaml", folder / "lake", folder / "home")


@contextmanager
def hanging(suite: HarnessRun) -> Iterator[subprocess.Popen[bytes]]:
    """Start the suite, and give its process once one agent has ended and the next one hangs."""
    with subprocess.Popen(
        [sys.executable, "-m", "tracegrade", *suite.command("--sandbox", "none")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=suite.suite.parent,
        start_new_session=True,
    ) as harness:
        try:
            wait_until(lambda: list(suite.home.glob("runs/*/trials/*/work/data/hanging")))
            yield harness
        finally:
            harness.kill()


def living(suite: HarnessRun) -> list[str]:
    """Return the commands of processes that have to do with the suite."""
    return [line for each in psutil.process_iter() if str(suite.home.parent) in (line := of(each))]


def of(process: psutil.Process) -> str:
    """Return a process's command; an empty text if it has ended."""
    with suppress(psutil.Error):
        return " ".join(process.cmdline())
    return ""
