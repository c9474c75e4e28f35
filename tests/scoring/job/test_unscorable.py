"""A trace that makes scoring fail is isolated and named; all others have the scores of always."""

import json
from pathlib import Path

import pyarrow as pa
import pytest
from tests.commands import tracegrade
from tests.queries.traces import agent, land, request_of, tool
from tests.scoring.build import specification

from tracegrade_lake import Lake
from tracegrade_lake.errors import LakeDamaged
from tracegrade_lake.tables import rows_of
from tracegrade_queries.engine.bucket_work import Bucket, Outcome
from tracegrade_queries.engine.connection import NO_LIMITS
from tracegrade_queries.engine.pinned import pin
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.job.unscorable import FAILED, MOST_TRACES, without_failing_traces
from tracegrade_scoring.tasks import Specification
from tracegrade_scoring.unscorable import UNSCORABLE_TRACES

from .lakes import TASKS, run, tables

HOSTILE = 7
SPECIFICATION = specification(TASKS)


def claims_too_much(calls: int) -> bytes:
    """Return a run whose sampling says that it stands for 2**44 runs."""
    return heavy(HOSTILE, calls, "fffffffffff")


def heavy(trace: int, calls: int, rejected: str) -> bytes:
    """Return a run of one agent whose sampling rejects so many of 16**14 runs."""
    spans = [agent(1, trace=trace, ms=500)]
    spans += [
        tool(number, 1, tool_name="look", trace=trace, at=number) for number in range(2, calls + 2)
    ]
    return request_of([span | {"traceState": f"ot=th:{rejected}"} for span in spans])


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """A lake with six runs, the fourth of which cannot be added up."""
    lake = Lake.create(tmp_path / "lake")
    runs = [run(number, "look", "pay") for number in range(1, 6)]
    land(lake, *runs[:3], claims_too_much(60), *runs[3:])
    return lake


def test_others_are_scored_as_without_it(lake: Lake, tmp_path: Path) -> None:
    """All tables are equal; the trace is named with a reason, and not tried again."""
    done = score(lake, SPECIFICATION)
    alone = Lake.create(tmp_path / "alone")
    land(alone, *(run(number, "look", "pay") for number in range(1, 6)))
    score(alone, SPECIFICATION)
    assert list(done.failed_traces) == [f"{HOSTILE:032x}"]
    assert "too large" in done.failed_traces[f"{HOSTILE:032x}"]
    assert tables(lake) == tables(alone)
    again = score(lake, SPECIFICATION)
    assert (again.traces, again.failed_traces) == (0, {})
    assert len(rows_of(lake, UNSCORABLE_TRACES)) == 1


@pytest.mark.slow
def test_it_is_tried_again_when_it_or_the_tasks_change(lake: Lake) -> None:
    """Also by --full; erased, it leaves no note."""
    score(lake, SPECIFICATION)
    assert score(lake, SPECIFICATION, full=True).failed_traces
    other = specification(TASKS.replace("cost: 1", "cost: 2"))
    assert score(lake, other).failed_traces
    land(lake, request_of([tool(99, 1, tool_name="pay", trace=HOSTILE, at=9)]), seq=20)
    assert score(lake, other).failed_traces
    assert tracegrade("lake", "delete", "--lake", lake.root, "--trace", f"{HOSTILE:032x}"
                      ).returncode == 0  # fmt: skip
    assert len(rows_of(lake, UNSCORABLE_TRACES)) == 0
    assert not score(lake, other).failed_traces


@pytest.mark.slow
def test_scores_of_before_are_removed(lake: Lake, tmp_path: Path) -> None:
    """They are of spans that are no longer all that there is."""
    small = Lake.create(tmp_path / "small")
    land(small, run(1, "look"), claims_too_much(1))
    assert score(small, SPECIFICATION).failed_traces == {}
    more = [tool(number, 1, tool_name="look", trace=HOSTILE, at=number) for number in range(9, 99)]
    land(small, request_of(more), seq=9)
    assert score(small, SPECIFICATION).failed_traces
    alone = Lake.create(tmp_path / "alone")
    land(alone, run(1, "look"))
    score(alone, SPECIFICATION)
    assert tables(small) == tables(alone)


@pytest.mark.slow
def test_any_number_of_them_is_left_out_at_once(tmp_path: Path) -> None:
    """Their sender decides how many there are; no run of another sender waits for them."""
    lake, alone = Lake.create(tmp_path / "lake"), Lake.create(tmp_path / "alone")
    claims = [heavy(100 + number, 3, "f" * 14) for number in range(MOST_TRACES + 4)]
    land(lake, *claims, run(1, "look"), run(2, "pay"))
    land(alone, run(1, "look"), run(2, "pay"))
    assert len(score(lake, SPECIFICATION).failed_traces) == len(claims)
    score(alone, SPECIFICATION)
    assert tables(lake) == tables(alone)


def test_the_command_names_it(lake: Lake) -> None:
    """It ends well, unless --strict was given; the summary has the reason."""
    done = tracegrade("score", "--lake", lake.root, "--summary", "-")
    assert done.returncode == 0
    assert f"trace {HOSTILE:032x} made scoring fail and has no scores: SumsTooLarge" in done.stderr
    assert list(json.loads(done.stdout)["failed_traces"]) == [f"{HOSTILE:032x}"]
    strict = tracegrade("score", "--lake", lake.root, "--full", "--strict")
    assert strict.returncode == 1


def bucket_of(lake: Lake, traces: int) -> Bucket[Specification]:
    """Return a bucket of so many traces that are not there."""
    ids = [f"{number:032x}" for number in range(traces)]
    rows = pa.table({"trace_id": ids, "input_hash": ids})
    return Bucket(pin(lake, []), rows, NO_LIMITS, Specification())


@pytest.mark.parametrize("failing", [{0}, {5}, {12}, {0, 6, 12}, set(range(13))])
def test_halves_find_each_failing_trace(lake: Lake, failing: set[int]) -> None:
    """Wherever it is, and however many others fail; the others are worked on once."""
    worked_on: list[int] = []

    def work(bucket: Bucket[Specification]) -> Outcome:
        numbers = [int(trace, 16) for trace in bucket.traces["trace_id"].to_pylist()]
        if failing.intersection(numbers):
            msg = "of a trace"
            raise ValueError(msg)
        worked_on.extend(numbers)
        return Outcome({}, {})

    outcome = without_failing_traces(bucket_of(lake, 13), work)
    found = {int(trace, 16) for trace in outcome.tables[FAILED]["trace_id"].to_pylist()}
    assert found == failing
    assert sorted(worked_on) == sorted(set(range(13)) - failing)


def test_a_fault_of_the_lake_or_of_many_traces_is_none_of_a_trace(lake: Lake) -> None:
    """It ends the run, as a full disk or an error in a query must."""

    def of_lake(_: Bucket[Specification]) -> Outcome:
        msg = "a file is missing"
        raise LakeDamaged(msg)

    def of_all(_: Bucket[Specification]) -> Outcome:
        msg = "no such column"
        raise ValueError(msg)

    for work, error in ((of_lake, LakeDamaged), (of_all, ValueError)):
        with pytest.raises(error):
            without_failing_traces(bucket_of(lake, MOST_TRACES + 1), work)
