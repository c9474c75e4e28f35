"""A baseline has what a comparison reads, and no text of any run."""

import datetime
import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tracegrade_ci.baseline import BaselineNotes, NoBaseline, StoredBaseline, read_baseline
from tracegrade_ci.errors import CheckRefused
from tracegrade_ci.release_rows import COMPARED, TEXTS, scored_by
from tracegrade_lake import Lake
from tracegrade_lake.columns import TEXT
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.metric_definition import METRIC_DEFINITIONS
from tracegrade_scoring.schema import CUSTOM_SCORES, FAILURES, RUN_REASONS, SUB_GOALS

from .lakes import BASE, Sample

WRITTEN = "user_input", "final_answer", "arguments", "result", "content", "error_message", "plan"
NOW = datetime.datetime(2026, 11, 30, tzinfo=datetime.UTC)
SHORT = 8
"""Characters below which a text may be a name as well."""


def texts(both: Sample) -> Iterator[str]:
    """Yield what users, models and tools wrote in the runs of a lake."""
    with connect(Lake.open(both.lake), layers=(SCORES,)) as con:
        for table, names in (("trajectories", WRITTEN[:2]), ("steps", WRITTEN[2:])):
            for name in names:
                yield from (text for (text,) in con.sql(f"SELECT {name} FROM {table}").fetchall())
        yield from (text for (text,) in con.sql("SELECT sentence FROM run_reasons").fetchall())
        yield from (text for (text,) in con.sql("SELECT detail FROM failures").fetchall())


def values(found: object) -> Iterator[str]:
    """Yield the texts in a value of a table."""
    if isinstance(found, str):
        yield found
    elif isinstance(found, dict):
        for each in found.values():
            yield from values(each)
    elif isinstance(found, list | tuple):
        for each in found:
            yield from values(each)


def test_no_text_of_a_run_is_in_a_baseline(both: Sample, exported: Path) -> None:
    """It is stored where everyone who reads the repository can read it."""
    wrote = {text for text in texts(both) if text and len(text) >= SHORT}
    stored = {
        value
        for path in exported.glob("*.parquet")
        for value in values(pq.read_table(path).to_pylist())
    }

    assert len(wrote) > 50
    assert {text for text in wrote if any(text in value for value in stored)} == set()


NAMES = {
    *("trajectory_id", "parent_trajectory_id", "trace_id", "root_span_id", "agent_name"),
    *("service_name", "release", "environment", "conversation_id", "task_id", "task_category"),
    *("run_mode", "outcome", "outcome_source", "finish_reasons", "kill_point", "dialects"),
    *("scorer_version", "task_hash", "specification_hash", "input_hash", "metric", "metric_hash"),
    *("sub_goal", "attribution", "completion_source", "mode", "step_trajectory_id", "span_id"),
    *("source", "kind", "object", "key", "step_key", "name", "version", "better", "unit", "label"),
    *("meaning", "flags", "open_calls", "resumed_calls", "reads", "deps"),
}
"""Columns of names, ids and codes, which a baseline may have."""


def test_every_column_of_texts_was_thought_of() -> None:
    """A new one has to be declared to be of names, or it is emptied."""
    tables = {table: {c.name for c in table.columns if c.type == TEXT} for table in COMPARED}
    emptied = {table: {*TEXTS.get(table, ())} for table in COMPARED}
    emptied[RUN_REASONS] = {"sentence"}

    assert {
        (t.name, n) for t, names in tables.items() for n in names - emptied[t] - NAMES
    } == set()
    assert {FAILURES, CUSTOM_SCORES, SUB_GOALS, METRIC_DEFINITIONS} <= {*COMPARED}


def test_notes_are_true(both: Sample, exported: Path) -> None:
    """Release, commit, runs and hashes are those of the lake."""
    found = read_baseline(exported)

    assert isinstance(found, StoredBaseline)
    with connect(Lake.open(both.lake), layers=(SCORES,)) as con:
        scored = scored_by(con, BASE)
    assert scored is not None
    assert (found.notes.release, found.notes.commit, found.notes.runs) == (BASE, "abc1234", 12)
    assert found.notes.task_hashes == scored.task_hashes
    assert len(scored.task_hashes) == 12


def test_baseline_is_replaced(both: Sample, baseline: Path) -> None:
    """The folder of a cache keeps its path."""
    assert both.export(baseline, release="1.1").returncode == 0

    found = read_baseline(baseline)
    assert isinstance(found, StoredBaseline)
    assert (found.notes.release, found.notes.commit) == ("1.1", None)


def test_other_files_are_not_touched(both: Sample, tmp_path: Path) -> None:
    """A wrong path deletes nothing."""
    (tmp_path / "precious.txt").write_text("x")

    done = both.export(tmp_path)

    assert done.returncode == 2
    assert "holds 'precious.txt', which no baseline has" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["precious.txt"]


def test_half_written_baseline_is_none(baseline: Path) -> None:
    """The notes are written last."""
    (baseline / "baseline.json").unlink()

    assert not isinstance(read_baseline(baseline), StoredBaseline)


def test_unknown_release_is_refused(both: Sample, tmp_path: Path) -> None:
    """The known ones are named."""
    done = both.export(tmp_path / "out", release="9")

    assert done.returncode == 2
    assert "no run of release '9' has been scored; scored releases: '1.0', '1.1'" in done.stderr
    assert not (tmp_path / "out").exists()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from(sorted(BaselineNotes.model_fields))


@given(st.dictionaries(FIELDS, JSON, max_size=3))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_notes_are_read_or_refused(exported: Path, changes: dict[str, object]) -> None:
    """A cache is not trusted: whatever it holds, nothing else is raised."""
    notes = json.loads((exported / "baseline.json").read_text())
    with tempfile.TemporaryDirectory() as made:
        other = Path(made)
        for path in exported.glob("*.parquet"):
            (other / path.name).symlink_to(path)
        (other / "baseline.json").write_text(json.dumps(notes | changes))
        with suppress(CheckRefused):
            found = read_baseline(other)
            assert isinstance(found, NoBaseline) or found.age(NOW).days is not None


@given(st.integers(0, 2**31), st.integers(1, 255))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
def test_any_tables_are_read_or_refused(exported: Path, at: int, change: int) -> None:
    """Wherever one of their bytes differs."""
    with tempfile.TemporaryDirectory() as made:
        other = Path(shutil.copytree(exported, Path(made) / "baseline"))
        path = other / "failures.parquet"
        content = bytearray(path.read_bytes())
        content[at % len(content)] ^= change
        path.write_bytes(content)
        with suppress(CheckRefused):
            read_baseline(other)


@pytest.mark.parametrize("file", ["trajectories", "run_reasons"])
def test_any_engine_reads_a_baseline(exported: Path, file: str) -> None:
    """It is plain Parquet."""
    with duckdb.connect() as con:
        (row,) = con.execute(f"SELECT count(*) FROM '{exported / file}.parquet'").fetchall()

    assert row[0] > 0
