"""What a build finds by the notes of the last one is what it finds by reading everything."""

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.queries.test_build import contents
from tests.queries.traces import Row, agent, as_dicts, land, land_logs, request_of, rows, tool
from tests.slow import slow_after

from tracegrade_lake import RAW_LOGS, RAW_SPANS, Lake
from tracegrade_lake.maintenance.compaction import CompactOptions, compact
from tracegrade_queries.build.build import build
from tracegrade_queries.build.build_bucket import build_bucket
from tracegrade_queries.build.discovery import discovered, unbuilt_spans
from tracegrade_queries.engine.bucket_work import Bucket, BucketFunction, Outcome
from tracegrade_queries.engine.connection import NO_LIMITS
from tracegrade_queries.engine.executor import Threads
from tracegrade_queries.schema import BUILT_FILES, BUILT_TRACES, STEPS, TRAJECTORIES

BUILT = (STEPS, TRAJECTORIES, BUILT_TRACES, BUILT_FILES)


class Nobody:
    """Builds nothing, so that a build notes what it found and that is all."""

    slots = 2

    def run(self, work: BucketFunction, buckets: Sequence[Bucket[Any]]) -> Iterator[Outcome]:
        """Yield nothing; only rows that a build replaces are left out of files."""
        return iter(()) if work is build_bucket else Threads(1).run(work, buckets)


class Arrival(NamedTuple):
    """Rows that land together."""

    collector: str
    day: int
    traces: frozenset[int]
    logs: bool


class Upkeep(NamedTuple):
    """Files are compacted."""


class Build(NamedTuple):
    """What is there is built."""


arrivals = st.builds(
    Arrival,
    collector=st.sampled_from(["a", "b", "import"]),
    day=st.integers(0, 3),
    traces=st.frozensets(st.integers(1, 5), min_size=1, max_size=3),
    logs=st.booleans(),
)
histories = st.lists(
    st.one_of(arrivals, arrivals, st.just(Build()), st.just(Upkeep())), min_size=3, max_size=7
)


def log_of(trace: int) -> dict[str, Any]:
    """Return a log record of a trace."""
    return {"traceId": f"{trace:032x}", "body": {"stringValue": "said"}}


def arrive(lake: Lake, arrival: Arrival, seq: int) -> None:
    """Land the rows as a request of that number."""
    how: dict[str, Any] = {"seq": seq, "day": arrival.day, "collector": arrival.collector}
    if arrival.logs:
        records = [log_of(trace) for trace in sorted(arrival.traces)]
        body = {"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}
        land_logs(lake, json.dumps(body).encode(), **how)
        return
    spans = [
        agent(seq, trace=trace) if seq % 2 else tool(seq, 1, trace=trace, at=seq)
        for trace in sorted(arrival.traces)
    ]
    land(lake, request_of(spans), **how)


def keep_up(lake: Lake) -> None:
    """Compact all dates of the raw tables that have several files."""
    names = tuple({RAW_SPANS.name, RAW_LOGS.name}.intersection(lake.tables()))
    if names:
        compact(lake, CompactOptions(tables=names, min_age_secs=0), lambda _: None)


def found(lake: Lake) -> list[Row]:
    """Return the traces that a build would build now, in a fixed order."""
    with discovered(lake, NO_LIMITS) as discovery:
        if discovery is None:
            return []
        return as_dicts(discovery.con.sql("FROM affected_traces ORDER BY trace_id"))


def found_in_everything(lake: Lake) -> list[Row]:
    """Return the same by reading every file, as a build without notes does."""
    with TemporaryDirectory() as folder:
        copy = Lake.open(shutil.copytree(lake.root, Path(folder) / "lake"))
        if BUILT_FILES.name in copy.tables():
            copy.drop(BUILT_FILES.name)
        return found(copy)


@given(histories)
@settings(max_examples=12)
def test_notes_find_what_is_found_in_everything(
    history: list[Arrival | Upkeep | Build],
) -> None:
    """Rows arrive in any order, from any collector, with compaction in between."""
    with TemporaryDirectory() as folder:
        lake = Lake.create(Path(folder) / "lake")
        for seq, event in enumerate([*history, Build()], 1):
            if isinstance(event, Arrival):
                arrive(lake, event, seq)
            elif isinstance(event, Upkeep):
                keep_up(lake)
            else:
                assert found(lake) == found_in_everything(lake)
                build(lake, executor=Nobody())
        assert found(lake) == []


LATE = (
    Arrival("a", 1, frozenset({1, 2}), logs=False),
    Arrival("b", 0, frozenset({1, 3}), logs=True),
    Arrival("import", 2, frozenset({2, 4}), logs=False),
    Arrival("a", 3, frozenset({3}), logs=False),
    Arrival("b", 3, frozenset({1, 4}), logs=False),
)


def test_rows_are_those_of_a_full_build(lake: Lake) -> None:
    """Built piece by piece with compaction in between, every column is as if built at once."""
    for seq, arrival in enumerate(LATE, 1):
        arrive(lake, arrival, seq)
        if seq % 2:
            build(lake)
            keep_up(lake)
    build(lake)
    piecewise = [*contents(lake), rows(lake, "FROM built_traces ORDER BY trace_id")]
    build(lake, full=True)

    assert [*contents(lake), rows(lake, "FROM built_traces ORDER BY trace_id")] == piecewise
    assert len(piecewise[2]) == 4


def test_what_is_built_is_read_no_more(lake: Lake) -> None:
    """Of the raw files only those are opened that landed since, and of known traces' time."""
    for day in range(4):
        arrive(lake, Arrival("a", day, frozenset({day + 1}), logs=False), day + 1)
    build(lake)
    arrive(lake, Arrival("a", 3, frozenset({2, 9}), logs=False), 7)
    with discovered(lake, NO_LIMITS) as discovery:
        assert discovery
        read = as_dicts(discovery.con.sql("SELECT DISTINCT date FROM raw_spans ORDER BY date"))

    assert [str(row["date"]) for row in read] == ["2026-09-22", "2026-09-24"]


def test_log_records_alone_are_found_again(lake: Lake) -> None:
    """A trace that has only log records is built with them once it has a span."""
    arrive(lake, Arrival("a", 0, frozenset({1}), logs=True), 1)
    assert build(lake)[:4] == (0, 0, 0, 0)
    arrive(lake, Arrival("a", 2, frozenset({1}), logs=False), 3)
    build(lake)

    assert rows(lake, "SELECT trace_records FROM trajectories") == [{"trace_records": 2}]


def test_compaction_makes_nothing_new(lake: Lake) -> None:
    """Files with rows that are built are looked at once, and nothing is built of them."""
    for seq in range(1, 4):
        arrive(lake, Arrival("ab"[seq % 2], 0, frozenset({seq}), logs=False), seq)
    build(lake)
    keep_up(lake)

    assert unbuilt_spans(lake, NO_LIMITS) == 0
    assert build(lake)[:4] == (0, 0, 0, 0)
    with discovered(lake, NO_LIMITS) as discovery:
        assert discovery is None


@pytest.mark.parametrize("table", slow_after(1, BUILT), ids=lambda table: table.name)
def test_lost_notes_cost_time_and_no_row(lake: Lake, table: Any) -> None:
    """Whichever table of a build is gone, late spans are built with all rows of their traces."""
    arrive(lake, Arrival("a", 0, frozenset({1, 2}), logs=False), 1)
    build(lake)
    arrive(lake, Arrival("a", 1, frozenset({1}), logs=False), 2)
    lake.drop(table.name)
    build(lake)
    told = "SELECT step_count, trace_records FROM trajectories WHERE trace_id[-1] = '1'"

    assert rows(lake, told) == [{"step_count": 1, "trace_records": 2}]
    assert rows(lake, "SELECT count(*) AS traces FROM built_traces") == [{"traces": 2}]


@pytest.fixture(scope="module")
def built_twice(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake of two traces that were built separately; tests take a copy of it."""
    lake = Lake.create(tmp_path_factory.mktemp("twice") / "lake")
    for seq, trace in enumerate((1, 2), start=1):
        arrive(lake, Arrival("a", seq, frozenset({trace}), logs=False), seq)
        build(lake)
    return lake


@pytest.mark.parametrize("table", slow_after(1, BUILT), ids=lambda table: table.name)
@pytest.mark.parametrize("content", [b"", b"{", b"\xff"], ids=["emptied", "cut", "garbage"])
def test_a_damaged_newest_commit_of_a_build_is_made_up_for(
    built_twice: Lake, tmp_path: Path, table: Any, content: bytes
) -> None:
    """Its rows are built again though nothing new has come, and are those that were there."""
    before = contents(built_twice)
    lake = Lake.open(shutil.copytree(built_twice.root, tmp_path / "lake"))
    log = lake.root / table.name / "_delta_log"
    max(log.glob("*.json")).write_bytes(content)
    build(lake)

    assert contents(lake) == before
    assert rows(lake, "SELECT count(*) AS traces FROM built_traces") == [{"traces": 2}]
    assert build(lake)[:4] == (0, 0, 0, 0)
