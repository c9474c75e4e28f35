"""How a scoring run shares its work out, and what it reads of the lake, changes no row."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.queries.executors import EXECUTORS
from tests.queries.traces import land
from tests.scoring.build import specification
from tests.slow import slow_after

from tracegrade_lake import RAW_SPANS, Lake
from tracegrade_lake.crash_points import EXIT_CODE, VARIABLE
from tracegrade_lake.errors import LakeUnwritable
from tracegrade_queries.build.build import build
from tracegrade_queries.engine import machine
from tracegrade_queries.engine.connection import connect
from tracegrade_queries.engine.executor import Executor
from tracegrade_queries.schema import TRAJECTORIES
from tracegrade_scoring.job.run_scoring import ScoreSummary, score

from .lakes import TASKS, child, copied, run, tables, values

SINCE_DECLARED = (
    "root_failed",
    "finish_reasons",
    "trace_records",
    "trace_received_ns",
    "imported",
    "parent_step",
)
SMALL = 6
"""Steps of a bucket, so that a few runs make several."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake of built steps that were not scored: two dates, a sub-agent, a crash, no task."""
    lake = Lake.create(tmp_path_factory.mktemp("built") / "lake")
    runs = [run(i, *["look", "pay", "look"][: 1 + i % 3]) for i in range(1, 7)]
    land(lake, *runs)
    land(lake, child(7), run(8, "look", error="boom"), run(9, task=None), seq=2, day=1)
    build(lake)
    return lake


class AtOnce(NamedTuple):
    """What scoring the lake in one bucket gave."""

    lake: Lake
    """Scored so; tests take a copy of it."""

    told: ScoreSummary
    rows: dict[str, list[Any]]


@pytest.fixture(scope="module")
def at_once(built: Lake, tmp_path_factory: pytest.TempPathFactory) -> AtOnce:
    """The rows of all score tables, from one bucket, and what was said of it."""
    lake = copied(built, tmp_path_factory.mktemp("expected"))
    return AtOnce(lake, score(lake, specification(TASKS)), tables(lake))


@pytest.fixture(scope="module")
def expected(at_once: AtOnce) -> dict[str, list[Any]]:
    """The rows of all score tables, from one bucket."""
    return at_once.rows


@pytest.fixture
def lake(built: Lake, tmp_path: Path) -> Lake:
    """A lake of built steps of one's own."""
    return copied(built, tmp_path)


@pytest.mark.parametrize(("cores", "steps"), slow_after(1, [(2, SMALL), (1, SMALL), (3, 10_000)]))
def test_rows_are_the_same_however_buckets_are_shared_out(
    lake: Lake,
    expected: dict[str, list[Any]],
    monkeypatch: pytest.MonkeyPatch,
    cores: int,
    steps: int,
) -> None:
    """Any number of cores and of buckets gives the same rows, sums bit for bit."""
    monkeypatch.setattr(machine, "cores", lambda *_: cores)
    progress = []

    score(
        lake,
        specification(TASKS),
        bucket_steps=steps,
        progress=lambda done, of: progress.append((done, of)),
    )

    assert tables(lake) == expected
    buckets = len(progress)
    assert progress == [(done, buckets) for done in range(1, buckets + 1)]
    assert (buckets > cores) == (steps == SMALL)


@pytest.mark.slow
@pytest.mark.parametrize("executor", EXECUTORS, ids=lambda each: type(each).__name__)
def test_buckets_may_be_scored_anywhere(lake: Lake, at_once: AtOnce, executor: Executor) -> None:
    """In any order, twice, or in a process of their own they give the same rows and counts."""
    told = score(lake, specification(TASKS), bucket_steps=SMALL, executor=executor)

    assert told == at_once.told
    assert tables(lake) == at_once.rows


SCORE = f"""
import sys
from tests.scoring.build import specification
from tests.scoring.job.lakes import TASKS
from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import ScoreSummary, score
score(Lake.open(sys.argv[1]), specification(TASKS), bucket_steps={SMALL})
"""


@pytest.mark.slow
def test_run_killed_between_buckets_is_not_seen_and_is_repeated(
    lake: Lake, expected: dict[str, list[Any]]
) -> None:
    """What one worker has staged while another dies belongs to no table."""
    died = subprocess.run(
        [sys.executable, "-c", SCORE, str(lake.root)],
        check=False,
        env={**os.environ, VARIABLE: "scores_staged:2"},
    )

    assert died.returncode == EXIT_CODE
    assert not any(tables(lake).values())
    score(lake, specification(TASKS), bucket_steps=SMALL)
    assert tables(lake) == expected


@pytest.mark.slow
def test_error_in_one_bucket_ends_the_run(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is raised, and the buckets that were done are not committed."""
    monkeypatch.setattr(machine, "cores", lambda *_: 2)
    in_the_way = lake.root / "sub_goals"
    in_the_way.touch()
    with pytest.raises(LakeUnwritable, match="sub_goals"):
        score(lake, specification(TASKS), bucket_steps=SMALL)
    in_the_way.unlink()

    assert not any(tables(lake).values())


@pytest.mark.slow
def test_scoring_reads_no_spans(lake: Lake, expected: dict[str, list[Any]]) -> None:
    """What was built is scored alike where its spans are gone."""
    lake.drop(RAW_SPANS.name)
    score(lake, specification(TASKS))

    assert tables(lake) == expected


@pytest.mark.slow
def test_trajectories_of_an_earlier_version_are_built_again(
    at_once: AtOnce, tmp_path: Path
) -> None:
    """Rows without the columns that scoring needs get them; what was scored stays as it is."""
    lake = copied(at_once.lake, tmp_path)
    forget(lake, SINCE_DECLARED)

    assert score(lake, specification(TASKS)).trajectories == 0
    assert values(lake, "SELECT count(*) FROM trajectories WHERE imported IS NULL") == [(0,)]
    assert tables(lake) == at_once.rows


def forget(lake: Lake, columns: tuple[str, ...]) -> None:
    """Let the trajectories be as a version left them that did not know these columns."""
    earlier = replace(
        TRAJECTORIES, columns=tuple(c for c in TRAJECTORIES.columns if c.name not in columns)
    )
    noted = {"built/c": lake.transaction_version(TRAJECTORIES.name, "built/c") or 0}
    with connect(lake) as con:
        rows = con.table(TRAJECTORIES.name).to_arrow_table()
    lake.drop(TRAJECTORIES.name)
    lake.append(earlier, rows.select(earlier.arrow().names).cast(earlier.arrow()), noted)
