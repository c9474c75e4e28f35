"""`tracegrade lake status`: each trace without scores has its reason, and nothing is written."""

import json
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.commands import tracegrade
from tests.queries.traces import NOON_NS, agent, land, request_of, tool
from tests.scoring.build import specification
from tests.scoring.job.lakes import TASKS, run
from tests.scoring.job.test_unscorable import HOSTILE, claims_too_much

from tracegrade_collector.encoding.otlp import Encoding, Signal
from tracegrade_collector.rows.rows import Record, span_rows
from tracegrade_lake import RAW_SPANS, Lake
from tracegrade_queries.build.build import build
from tracegrade_scoring.follow.follower import LOCK_NAME
from tracegrade_scoring.job.run_scoring import score

SPECIFICATION = specification(TASKS)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """An empty lake."""
    return Lake.create(tmp_path / "lake")


def land_now(lake: Lake, *requests: bytes, seq: int = 1) -> None:
    """Land requests that were received just now."""
    records = [
        Record(number, time.time_ns(), Signal.TRACES, Encoding.JSON, "", request)
        for number, request in enumerate(requests, seq)
    ]
    lake.append(RAW_SPANS, span_rows(records, "c"))


def status(lake: Lake) -> dict[str, Any]:
    """Return what the command prints for programs."""
    done = tracegrade("lake", "status", "--lake", lake.root, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_each_waiting_trace_has_its_reason(lake: Lake) -> None:
    """The parent of a span, the root, or an end has not come; a run that ended does not wait."""
    open_root = agent(1, trace=4) | {"endTimeUnixNano": "0"}
    land_now(
        lake,
        request_of([tool(2, 1, tool_name="look", trace=1)]),
        request_of([agent(1, 9, trace=2), tool(2, 1, tool_name="look", trace=2)]),
        request_of([agent(1, trace=3), tool(2, 1, tool_name="look", trace=3)]),
        request_of([open_root, tool(2, 1, tool_name="look", trace=4)]),
    )
    assert score(lake, SPECIFICATION).trajectories >= 1
    found = {int(each["trace_id"], 16): each for each in status(lake)["waiting"]}
    reasons = {trace: each["reason"] for trace, each in found.items()}
    assert reasons.items() <= {1: "no_root", 2: "no_root", 4: "not_ended"}.items()
    assert {1, 4} <= reasons.keys()
    assert all(each["is_running"] and each["runs"] for each in found.values())
    lines = tracegrade("lake", "status", "--lake", lake.root).stdout
    assert f"traces: {len(found)} running, 0 waiting, 0 to be scored by the next run" in lines
    assert f"{1:032x} running: its root span has not come; quiet at " in lines


def test_a_missing_parent_below_a_root_is_named(lake: Lake) -> None:
    """Of two agents' spans one has come whole, and one without the span that it belongs to."""
    whole, part = agent(1, trace=1), agent(5, 9, trace=1, at=200, agent_name="b")
    land_now(lake, request_of([whole, part | {"endTimeUnixNano": "0"}]))
    score(lake, SPECIFICATION)
    (waiting,) = status(lake)["waiting"]
    assert waiting["reason"] == "parent_missing"


def test_what_is_new_is_counted_and_nothing_is_written(lake: Lake) -> None:
    """Spans that no build has read, then a trace that the next run scores."""
    land(lake, run(1, "look", "pay"))
    before = lake.tables()
    assert (status(lake)["spans_unread"], status(lake)["newest_scored"]) == (3, None)
    assert lake.tables() == before
    build(lake)
    found = status(lake)
    assert (found["spans_unread"], found["traces_unscored"]) == (0, 1)
    score(lake, SPECIFICATION)
    found = status(lake)
    assert (found["traces_unscored"], found["waiting"], found["failed"]) == (0, [], [])
    assert found["newest_scored"] is not None


def test_a_trace_that_failed_is_listed(lake: Lake) -> None:
    """With the error that it made."""
    land(lake, run(1, "look"), claims_too_much(60))
    score(lake, SPECIFICATION)
    (failed,) = status(lake)["failed"]
    assert failed["trace_id"] == f"{HOSTILE:032x}"
    assert failed["reason"].startswith("SumsTooLarge: ")
    lines = tracegrade("lake", "status", "--lake", lake.root).stdout
    assert f"{HOSTILE:032x} failed: SumsTooLarge" in lines


def test_the_follower_is_named(lake: Lake) -> None:
    """As long as it runs."""
    with closing(lake.lock(LOCK_NAME)) as lock:
        lock.acquire()
        lock.sign()
        assert status(lake)["follower"].startswith("process ")
    assert status(lake)["follower"] is None


@pytest.mark.parametrize("prepare", [lambda _: None, build], ids=["empty", "built"])
def test_any_lake_has_a_status(lake: Lake, prepare: Callable[[Lake], object]) -> None:
    """Also one in which nothing is."""
    prepare(lake)
    assert status(lake)["waiting"] == []


def test_a_quiet_trace_is_no_longer_named(lake: Lake) -> None:
    """The next run scores it as it is."""
    land(lake, request_of([tool(2, 1, tool_name="look", trace=1)]))
    score(lake, SPECIFICATION, now_ns=NOON_NS)
    found = status(lake)
    assert (found["waiting"], found["traces_unscored"]) == ([], 1)
