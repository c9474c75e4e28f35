"""Spans that are scored in memory give the rows that a lake has after `import` and `score`."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from tests.queries.traces import CAPTURES, capture, capture_path, captures, logs_of
from tests.row_digests import OF_THE_DAY, TABLES
from tests.testing.agents import TASKS

from tracegrade_collector.encoding.otlp import Encoding, Signal, decode
from tracegrade_collector.importing.importer import import_files
from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.job.in_memory import score_when_asked
from tracegrade_scoring.job.lazy_scores import LazyScores
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.metrics import METRICS
from tracegrade_scoring.schema import DECISIONS, RUN_REASONS
from tracegrade_scoring.tasks import Specification, load
from tracegrade_scoring.tasks.stored import NO_TASKS
from tracegrade_scoring.timeline.model import RunScore
from tracegrade_testing.requests import CaptureRequests, raw_rows

COLUMNS = ("trajectory_id", *RunScore._fields, "task_id")

COMPARED = ("scores", "verdicts", *(name for name in TABLES if name != "release_scores"))
"""Sums over runs are of a lake alone."""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """Return a lake into which all captures were imported."""
    found = Lake.create(tmp_path_factory.mktemp("captures") / "lake")
    files = [capture_path(name) for name in captures()]
    import_files(found, [*files, *sorted(CAPTURES.glob("logs/*.json"))], pytest.fail)
    return found


@pytest.fixture(scope="module")
def raw() -> tuple[pa.Table, pa.Table]:
    """Return the rows of all captures, as they are scored in memory."""
    return raw_rows(map(requests, captures()))


def metrics_alone(
    built: duckdb.DuckDBPyConnection, specification: Specification
) -> Iterator[list[tuple[object, ...]]]:
    """Yield the scores of each scorer, without anything that the other ones make."""
    for metric in {each.relation: each.name for each in METRICS.values()}.values():
        yield LazyScores(built, specification).of_metric(metric, COLUMNS)


def rows(con: duckdb.DuckDBPyConnection, name: str) -> list[tuple[object, ...]]:
    """Return the rows of a table in the order of all their columns."""
    left_out = ", ".join(column for column in con.table(name).columns if column in OF_THE_DAY)
    return con.sql(f"SELECT * EXCLUDE ({left_out}) FROM {name} ORDER BY ALL").fetchall()


def requests(name: str) -> CaptureRequests:
    """Return a captured trace as the requests in which it was sent."""
    spans = decode(capture(name), Signal.TRACES, Encoding.JSON).SerializeToString()
    logs = [decode(each, Signal.LOGS, Encoding.JSON).SerializeToString() for each in logs_of(name)]
    return CaptureRequests(spans, b"".join(logs), frozenset())


def task_for_all(folder: Path) -> Specification:
    """Return a task that every run is held against."""
    path = folder / "tasks.yaml"
    path.write_text(TASKS.replace("expected:", "match: {user_input: '.*'}\n    expected:", 1))
    return load([path]).specification


@pytest.mark.parametrize(
    "specified",
    [
        pytest.param(False, id="without tasks", marks=pytest.mark.slow),
        pytest.param(True, id="with a task"),
    ],
)
def test_every_capture_has_the_rows_of_a_lake(
    lake: Lake, raw: tuple[pa.Table, pa.Table], tmp_path: Path, *, specified: bool
) -> None:
    """All dialects, bit for bit: steps, runs, verdicts, scores, evidence and reasons."""
    specification = task_for_all(tmp_path) if specified else NO_TASKS
    score(lake, specification)
    asked = score_when_asked(*raw, specification)
    alone = {row for each in metrics_alone(asked.built, specification) for row in each}

    with connect(lake, layers=(SCORES,)) as con, asked.whole as found:
        assert len(captures()) > 50
        for name in COMPARED:
            assert rows(found, name) == rows(con, name), name
        assert alone == {*con.execute(f"SELECT {', '.join(COLUMNS)} FROM scores").fetchall()}
        assert alone


def test_parts_of_a_scoring_are_those_of_the_whole(
    raw: tuple[pa.Table, pa.Table], tmp_path: Path
) -> None:
    """Evidence and metrics that are asked for one after another are what scoring at once makes."""
    asked = score_when_asked(*raw, task_for_all(tmp_path))
    parts = [asked.of_metric("tsa", COLUMNS), asked.of_metric("success", COLUMNS)]
    evidence = {table: asked.evidence(table) for table in (RUN_REASONS, DECISIONS)}
    again = asked.of_metric("tsa", COLUMNS)

    with asked.whole as found:
        scores = {*found.execute(f"SELECT {', '.join(COLUMNS)} FROM scores").fetchall()}
        assert scores.issuperset(row for part in parts for row in part)
        assert {*again} == {*parts[0]}
        for table, part in evidence.items():
            whole = found.table(table.name).to_arrow_table().select(part.column_names)
            assert sorted(map(str, part.to_pylist())) == sorted(map(str, whole.to_pylist()))
