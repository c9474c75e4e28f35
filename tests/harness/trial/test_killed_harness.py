"""Harnesses are killed at random moments, again and again, and resumed until their run is whole.

The final rows equal those of an undisturbed run. `HARNESS_KILLS=100` kills so often (`make
chaos`), `KILL_SEED` repeats a run's choices.
"""

import json
import os
import random
import secrets
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.commands import tracegrade
from tests.harness.overlays import why_not as overlay_why_not
from tests.harness.parts.http.bank import bank_beside
from tests.harness.parts.redis.cache import CACHE
from tests.harness.trial.agents import WROTE, HarnessRun, living, made
from tests.waiting import PATIENCE_SECS, wait_until

from tracegrade_harness.parts.postgres.programs import why_not as postgres_why_not
from tracegrade_harness.parts.redis.programs import why_not as redis_why_not

CLERK = """
import http.client, json, os, sqlite3, subprocess, sys

TASK, SUITE = sys.argv[1:]
bank = http.client.HTTPConnection(os.environ["BANK_URL"].removeprefix("http://"))


def ask(line, body=None):
    bank.request(*line.split(" "), None if body is None else json.dumps(body))
    bank.getresponse().read()


ask("GET /credits")
with open("journal.jsonl", "w") as journal:
    entry = {"object": "files:data/a", "undo": {"delete": "data/a"}, "done": False}
    journal.write(json.dumps(entry) + "\\n")
open("data/a", "x").close()
if os.path.isdir("papers"):
    os.rename("papers/notes", "papers/read")
ask("POST /holds?by=me", {"id": "h2", "price": 3})
with sqlite3.connect("ledger.db") as ledger:
    ledger.execute("INSERT INTO runs (name) VALUES (?)", [TASK])
if TASK == "daemon":
    command = [sys.executable, "-S", "-c", "import time; time.sleep(3600)", SUITE]
    subprocess.Popen(command, start_new_session=True)
ask("GET /credits")
"""
"""It writes no spans and needs no package, so that most of a run is the harness's own time."""

KILLS = int(os.environ.get("HARNESS_KILLS", "1"))
CASES: dict[str, dict[str, Any]] = {
    "tidy": {"kill": {"points": ["late"]}, "verify": [WROTE]},
    "order": {
        "agent": "clerk",
        "trials": 2,
        "kill": {"points": ["early", "late"]},
        "verify": [WROTE, {"http": "bank", "state": {"$.credits": 7}}],
    },
    "daemon": {"agent": "clerk", "verify": [WROTE]},
}
KEPT = ("task_id", "trial", "kill_point", "status", "reason", "success", "boundary", "immediate")
ALSO = ("after_recovery", "exit_code", "verifiers", "leftovers", "changed")


def suite_in(folder: Path) -> HarnessRun:
    """Write a suite with files, a database, a service, and what else there is here."""
    suite = made(folder, CASES)
    (folder / "clerk.py").write_text(CLERK)
    (folder / "ledger.sql").write_text("CREATE TABLE runs (id INTEGER PRIMARY KEY, name TEXT);")
    (folder / "cache.redis").write_text(CACHE)
    content = yaml.safe_load(suite.suite.read_text())
    content["agents"]["clerk"] = {
        "command": ["{python}", "-S", "{suite}/clerk.py", "{task}", "{suite}"],
        "channels": ["http"],
        "recover": ["rm", "-f", "data/a"],
        "records": [{"journal": "journal.jsonl"}],
    }
    notes = content["environments"]["notes"]
    notes["sqlite"] = {"ledger": {"from": "ledger.sql", "at": "ledger.db"}}
    notes["http"] = {"bank": bank_beside(folder)}
    if overlay_why_not() is None:
        notes["files"]["papers"] = {"from": "fixtures", "at": "papers", "overlay": True}
    if redis_why_not() is None:
        notes["redis"] = {"cache": {"from": "cache.redis", "url_env": "REDIS_URL"}}
    if postgres_why_not() is None:
        (folder / "shop.sql").write_text("CREATE TABLE orders (id int PRIMARY KEY, state text);")
        notes["postgres"] = {"shop": {"from": "shop.sql", "url_env": "DATABASE_URL"}}
    suite.suite.write_text(yaml.safe_dump(content, sort_keys=False))
    return suite


def start(suite: HarnessRun, *options: str) -> subprocess.Popen[bytes]:
    """Start a harness."""
    return subprocess.Popen(
        [sys.executable, "-m", "tracegrade", *suite.command("--jobs", 2, *options)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=suite.suite.parent,
        start_new_session=True,
    )


def resumable(suite: HarnessRun) -> list[str]:
    """Return the options that resume the only run; none if it has not begun."""
    begun = [*suite.home.glob("runs/*/run.jsonl")]
    return ["--resume", begun[-1].parent.name] if begun and begun[-1].stat().st_size else []


def facts(suite: HarnessRun) -> list[dict[str, Any]]:
    """Return the rows, without what differs from run to run."""
    found = [{key: row[key] for key in (*KEPT, *ALSO)} for row in suite.rows]
    for row in found:
        row["changed"] = without_pids(row["changed"])
    return found


def without_pids(changed: str | None) -> Any:
    """Return what changed, without the command of a process that lived on."""
    said = json.loads(changed or "{}")
    return {key: len(value) if key == "lives_on" else value for key, value in said.items()}


def kill_until_whole(
    suite: HarnessRun, draw: random.Random, longest_secs: float, most: int
) -> int:
    """Kill and resume, until the run is whole; return how often it was killed."""
    kills = 0
    while True:
        with start(suite, *resumable(suite)) as harness:
            try:
                if kills == most:
                    _, errors = harness.communicate(timeout=PATIENCE_SECS)
                    assert harness.returncode == 0, errors
                    return kills
                harness.wait(draw.uniform(0, longest_secs))
            except subprocess.TimeoutExpired:
                kills += 1
            finally:
                harness.kill()
        if harness.returncode == 0:
            return kills
        wait_until(lambda: not living(suite))


@pytest.mark.slow
def test_a_run_whose_harness_is_killed_ends_as_if_it_was_not(
    tmp_path: Path, temporary_place: Path
) -> None:
    """All its rows are those of an undisturbed run, and `clean` finds nothing that it leaves."""
    seed = int(os.environ.get("KILL_SEED", "0")) or secrets.randbits(32)
    sys.stdout.write(f"KILL_SEED={seed}\n")
    temporary_place.chmod(0o755)  # servers are not the superuser's
    draw, kills, runs = random.Random(seed), 0, 0  # noqa: S311 - no secret
    undisturbed = suite_in(tmp_path / "undisturbed")
    began = time.monotonic()
    with start(undisturbed) as harness:
        _, errors = harness.communicate(timeout=PATIENCE_SECS)
    assert harness.returncode == 0, errors
    took, expected = time.monotonic() - began, facts(undisturbed)
    while kills < KILLS:
        suite = suite_in(tmp_path / f"run-{runs}")
        began = time.monotonic()
        found = kill_until_whole(suite, draw, took, min(10, KILLS - kills))
        took = took if found else min(took, time.monotonic() - began)  # the machine has less to do
        kills, runs = kills + found, runs + 1

        assert facts(suite) == expected
        assert len({row["run"] for row in suite.rows}) == 1
        ended = tracegrade("harness", "clean", "--folder", suite.home)
        assert ended.returncode == 0, ended.stderr
        left = {path.name for path in suite.home.glob("runs/*/*")}
        assert left <= {"run.jsonl", "logs", "collector.log"}, left
        assert not (suite.home / "frozen").exists()
        assert living(suite) == []
    assert [*temporary_place.glob("tracegrade-*")] == []
    assert str(tmp_path) not in Path("/proc/self/mountinfo").read_text()
    sys.stdout.write(f"{kills} harnesses killed in {runs} runs of {took:.1f} s; rows as ever\n")
