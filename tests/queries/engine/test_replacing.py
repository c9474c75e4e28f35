"""Rows of traces leave tables with the files that hold some, and no other file is touched."""

import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from tests.queries.executors import InTheLake, Twice
from tests.queries.traces import agent, land, request_of, rows, tool
from tests.slow import slow_after

from tracegrade_lake import Lake, Table
from tracegrade_lake.maintenance.compaction import CompactOptions, compact
from tracegrade_lake.maintenance.replaced_files import replaced_files
from tracegrade_lake.tables import rows_of
from tracegrade_queries.build.build import build
from tracegrade_queries.engine import replacing
from tracegrade_queries.engine.executor import Executor, Threads
from tracegrade_queries.engine.pinned import pin
from tracegrade_queries.engine.replacing import Replacement
from tracegrade_queries.engine.staged import stage_rows
from tracegrade_queries.schema import BUILT_TRACES, STEPS, TRAJECTORIES

BUILT = (STEPS, TRAJECTORIES, BUILT_TRACES)


@pytest.fixture(scope="module")
def one_day(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake of three builds of two runs each, all of one date: a file of each table for each."""
    lake = Lake.create(tmp_path_factory.mktemp("day") / "lake")
    for seq in range(1, 4):
        spans = [agent(1, trace=trace) for trace in (seq, seq + 10)]
        land(lake, request_of([*spans, tool(2, 1, trace=seq, at=1)]), seq=seq)
        build(lake)
    return lake


@pytest.fixture
def day(one_day: Lake, tmp_path: Path) -> Lake:
    """A copy of that lake of one's own."""
    return Lake.open(shutil.copytree(one_day.root, tmp_path / "lake"))


def calls(lake: Lake, trace: int) -> int:
    """Return how many calls the run of a trace has; its one row says how many steps are there."""
    found = f"trace_id = '{trace:032x}'"
    (run,) = rows(lake, f"SELECT tool_call_count AS calls FROM trajectories WHERE {found}")
    (steps,) = rows(lake, f"SELECT count(*) AS calls FROM steps WHERE {found}")
    assert run == steps
    return int(run["calls"])


def holds(lake: Lake, path: str, trace: int) -> bool:
    """Return whether a file has a step of a trace."""
    with lake.open_parquet(STEPS.name, path) as parquet:
        return f"{trace:032x}" in parquet.read(["trace_id"])["trace_id"].to_pylist()


def staged(lake: Lake, table: Table) -> list[str]:
    """Return the names of files that were staged for a table and are in no version of it."""
    needed = {Path(file).name for file in lake.files(table.name)}
    needed |= {Path(file.path).name for file in replaced_files(lake, table.name, keep_hours=0)}
    return sorted({Path(file.path).name for file in lake.stored_files(table.name)} - needed)


@pytest.mark.parametrize(
    "executor", slow_after(1, [Twice(), InTheLake()]), ids=lambda each: type(each).__name__
)
def test_only_files_with_rows_of_the_traces_are_written_again(
    day: Lake, executor: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A late span of one run costs the file of its build, for every worker on the date's files."""
    monkeypatch.setattr(replacing, "LEAST_BYTES", 1)
    before = {table: set(day.files(table.name)) for table in BUILT}
    land(day, request_of([tool(3, 1, trace=2, at=5)]), seq=9)
    build(day, executor=executor)
    kept = {table: before[table] & set(day.files(table.name)) for table in BUILT}

    assert [len(before[table] - kept[table]) for table in BUILT] == [1, 1, 1]
    assert [len(set(day.files(table.name)) - kept[table]) for table in BUILT] == [1, 1, 1]
    assert [calls(day, trace) for trace in (1, 2, 3, 11, 12, 13)] == [1, 2, 1, 0, 0, 0]


def test_nothing_is_lost_where_files_are_compacted_meanwhile(day: Lake) -> None:
    """Files that others wrote after the rest was shared out are seen to before the commit."""
    traces = pa.table({"trace_id": [f"{trace:032x}" for trace in (2, 3, 99)]})
    leaving = Replacement(day, traces, pin(day, [TRAJECTORIES.name]))
    leaving.share_out(Threads(2))
    compact(day, CompactOptions(tables=(TRAJECTORIES.name,), min_age_secs=0), lambda _: None)
    assert len(day.files(TRAJECTORIES.name)) == 1
    leaving.commit(TRAJECTORIES, (), {"leaving": 1})

    left = rows(day, "SELECT trace_id FROM trajectories ORDER BY trace_id")
    numbers = [int(row["trace_id"], 16) for row in left]
    assert numbers == [1, 11, 12, 13]


def test_a_commit_is_tried_again_where_it_was_too_late(
    day: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compaction that wins the race costs another try, in which nothing staged is lost."""
    traces = pa.table({"trace_id": [f"{2:032x}"]})
    leaving = Replacement(day, traces, pin(day, [STEPS.name]))
    replaced, races = Lake.replace_files, list[int]()

    def beaten(lake: Lake, *args: object, **options: object) -> None:
        """Replace files after a compaction, the first time."""
        if options.get("comes_again") and not races:
            races.append(1)
            compact(lake, CompactOptions(tables=(STEPS.name,), min_age_secs=0), lambda _: None)
        replaced(lake, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Lake, "replace_files", beaten)
    leaving.commit(STEPS, (), {"leaving": 1})

    left = rows(day, "SELECT trace_id FROM steps ORDER BY trace_id")
    assert [int(row["trace_id"], 16) for row in left] == [1, 3]
    assert staged(day, STEPS) == []


def test_new_rows_and_others_are_one_file_after_a_lost_race(
    day: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first file was joined from a file that a compaction replaced, and is removed."""
    traces = pa.table({"trace_id": [f"{2:032x}"]})
    leaving = Replacement(day, traces, pin(day, [STEPS.name]))
    leaving.share_out(Threads(1))
    (old,) = [file for file in day.live_files(STEPS.name) if holds(day, file.path, 2)]
    new = stage_rows(day, STEPS, rows_of(day, STEPS, [old]))
    replaced, races = Lake.replace_files, list[int]()

    def beaten(lake: Lake, *args: object, **options: object) -> None:
        """Replace files after a compaction, the first time."""
        if options.get("comes_again") and not races:
            races.append(1)
            compact(lake, CompactOptions(tables=(STEPS.name,), min_age_secs=0), lambda _: None)
        replaced(lake, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Lake, "replace_files", beaten)
    leaving.commit(STEPS, new, {"leaving": 1})

    assert [calls(day, trace) for trace in (1, 2, 3)] == [1, 1, 1]
    assert len(day.files(STEPS.name)) == 1
    assert staged(day, STEPS) == []
