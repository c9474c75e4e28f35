"""Processes that send are killed at random points, and another finishes: nothing lost or doubled.

By hand with more kills: `KILLS=100 pytest -q tests/send/test_killed.py`.
"""

import os
import random
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Final

import pytest
from tests.queries.traces import land
from tests.scoring.job.lakes import TASKS, run
from tests.send.peers import Peer
from tests.send.test_send import PROJECT, expected, has, query, send, specification
from tests.slow import slow_after

from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import score
from tracegrade_send import ledger
from tracegrade_send.destinations.destination import DestinationAddress
from tracegrade_send.run import destination_of, send_scores
from tracegrade_send.scores import ScoreSelection

RUNS: Final = 40
KILLS: Final = int(os.environ.get("KILLS", "6"))
BATCH: Final = 8
"""Scores of a call, so that there are many."""
MOST_REQUESTS: Final = 12
"""After which a process is killed at the latest."""
processes = get_context("forkserver")
processes.set_forkserver_preload(["tracegrade_send.run"])


def address_of(kind: str, url: str) -> DestinationAddress:
    """Return the address of a peer."""
    return DestinationAddress(kind, url, PROJECT[kind][1] if kind in PROJECT else None)


def send_in_small_calls(root: str, kind: str, url: str, note_secs: float) -> None:
    """Send what a peer lacks, in many calls with many notes of its answers."""
    vars(ledger)["NOTE_SECS"] = note_secs  # of this process alone; usually 5 s
    address = address_of(kind, url)
    destination = destination_of(address, os.environ)
    destination.batch = BATCH
    send_scores(Lake.open(root), address, destination, ScoreSelection())


@pytest.fixture(scope="module")
def scored_once(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """Runs that took one of four ways."""
    root = tmp_path_factory.mktemp("killed") / "lake"
    lake = Lake.create(root)
    tools = (("look", "pay"), ("pay",), ("look",) * 5, ("pay", "look"))
    land(lake, *(run(number, *tools[number % 4]) for number in range(1, RUNS + 1)))
    score(lake, specification(root))
    return lake


@contextmanager
def killed_at(server: Peer, rng: random.Random, pid: Callable[[], int]) -> Iterator[None]:
    """Let a process be killed at one of its next requests: before, at or after the answer."""
    at = server.requests + rng.randint(1, MOST_REQUESTS)
    delay = rng.choice([0.0, 0.0, 0.002, 0.01, 0.05])

    def kill(number: int) -> None:
        if number == at and delay:
            threading.Timer(delay, os.kill, [pid(), signal.SIGKILL]).start()
        elif number == at:
            os.kill(pid(), signal.SIGKILL)

    if rng.random() < 0.3:
        server.answer_first = kill
    else:
        server.on_request = kill
    try:
        yield
    finally:
        server.on_request = server.answer_first = lambda _: None


def kill_one(lake: Lake, server: Peer, kind: str, rng: random.Random) -> bool:
    """Send, and be killed on the way; return whether the process was not through before."""
    process = processes.Process(
        target=send_in_small_calls,
        args=(str(lake.root), kind, server.url, rng.choice([0.0, 0.0, 5.0])),
    )
    with killed_at(server, rng, lambda: process.pid or 0):
        process.start()
        process.join()
    return process.exitcode == -signal.SIGKILL


KINDS = slow_after(1, ["mlflow", "langfuse", "phoenix", "otlp", "datadog"])


@pytest.mark.parametrize("kind", KINDS)
def test_killed_runs_lose_nothing_and_double_nothing(
    scored_once: Lake, server: Peer, tmp_path: Path, kind: str
) -> None:
    """Scores change on the way; where all are sent, the lake forgets it, and sends them again."""
    rng = random.Random(39)  # noqa: S311 - no secret
    lake = Lake.open(shutil.copytree(scored_once.root, tmp_path / "lake"))
    killed = 0
    while killed < KILLS:
        if kill_one(lake, server, kind, rng):
            killed += 1
        else:
            ledger.forget(lake, address_of(kind, server.url).hash)
        if killed == KILLS // 2:
            score(lake, specification(lake.root, TASKS.replace("cost: 1", "cost: 2")))
    time.sleep(0.1)  # a timer of the last kill
    assert send(lake, server, kind).returncode in {0, 3}

    wanted = {key: value for key, value in expected(lake, kind).items() if value is not None}
    assert has(server, kind).items() >= wanted.items()
    assert has(server, kind).keys() <= expected(lake, kind).keys()
    named = {
        (
            row.get("traceId") or row.get("trace_id") or key[0],
            row.get("name") or row["assessment_name"],
        )
        for key, row in server.rows.items()
    }
    assert len(named) == len(server.rows)
    keys = "FROM sent_scores WHERE state = 'sent' GROUP BY key, id HAVING count(*) > 1"
    assert query(lake, f"SELECT key {keys}") == []
