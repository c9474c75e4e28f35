"""The headers of the explorer's queries are true."""

from datetime import date, datetime, time, timedelta
from pathlib import Path

import pytest
from duckdb import DuckDBPyConnection
from tests.headers import bare, columns_of, header, parameters_used, relations_read

from tracegrade_explorer.app import Explorer
from tracegrade_explorer.comparison.nearest import fill_call_counts
from tracegrade_explorer.filters.conditions import matching_runs
from tracegrade_explorer.filters.grammar import Filter
from tracegrade_explorer.issues.known import fill_places
from tracegrade_explorer.money.tables import fill_tables
from tracegrade_explorer.snapshots.index import OF_SUB_AGENTS
from tracegrade_explorer.snapshots.metric_parts import metric_parts
from tracegrade_explorer.sql import QUERIES
from tracegrade_queries.costs.pricing import NO_PRICES
from tracegrade_scoring.run_states import LIMITS
from tracegrade_scoring.sql import RELATIONS, query

DAY = date(2026, 11, 1)
MIDNIGHT = datetime.combine(DAY, time())
PARAMETERS = {
    "after_key": 0.0, "after_run": "", "after_seq": 0, "before": 5, "bins": 10,
    "conversation_id": "k", "date": DAY, "days": 7, "dimensions": "arm",
    "first_date": DAY, "high": 1.0, "ids": ["t1"],
    "last_date": DAY, "length": 9, "low": 0.0, "max_runs": 10, "name": "t1",
    "names": 8, "of_run": 3, "part": "k", "rows": 5, "seq": 3, "step_index": 2,
    "task_id": "malformed-header", "task_means": False, "text": "x", "most": 2, "split": "arm",
    "span_id": "t1", "trace_id": "trace1", "trajectory_id": "t1",
    "kill_point": "late", "labeled": ["t1"], "sampled": None, "queue_order": "newest",
    "source": "human:ann",
    "issue": "k", "seqs": [1, 2],
    "grouped_by": "agent", "midnight": MIDNIGHT,
    "now": MIDNIGHT, **LIMITS,
    "bucket": timedelta(hours=1), "since": MIDNIGHT, "until": MIDNIGHT + timedelta(days=1),
}  # fmt: skip
OF_NOW = {"before": MIDNIGHT - timedelta(days=1)}
"""What is another thing in queries of the page Now."""
ENUM = "ENUM"


@pytest.fixture(scope="module")
def con(pages: Explorer) -> DuckDBPyConnection:
    """A cursor over the sample's index and tables, with the runs of a filter."""
    with pages.latest.reading() as snapshot:
        cursor = snapshot.con.cursor()
    runs = matching_runs(Filter(), "tsa")
    RELATIONS.make(cursor, "superseded_runs")
    open_runs = QUERIES.unordered("open_runs")
    cursor.execute(f"CREATE TEMP TABLE open_runs AS {open_runs}", {"now": MIDNIGHT, **LIMITS})
    cursor.execute(query("verdict_answer"))
    fill_tables(cursor, NO_PRICES)
    fill_places(cursor, {})
    fill_call_counts(cursor)
    for name in OF_SUB_AGENTS:
        cursor.execute(f"CREATE TEMP TABLE {name} AS {QUERIES.unordered(name)}")
    cursor.execute(
        "CREATE TEMP TABLE run_positions AS SELECT trajectory_id, date, seq FROM run_index"
    )
    cursor.execute(f"CREATE OR REPLACE TEMP VIEW matching_runs AS {runs.text}")
    cursor.execute(f"CREATE OR REPLACE TEMP VIEW metric_parts AS {metric_parts('tsa').text}")
    return cursor


@pytest.mark.parametrize("path", QUERIES.paths.values(), ids=lambda path: path.stem)
def test_header_is_true(con: DuckDBPyConnection, path: Path) -> None:
    """It names what is read, the parameters, and the columns with their types."""
    sql = path.read_text("utf-8")
    said, used = header(sql), parameters_used(sql)
    values = PARAMETERS | (OF_NOW if path.parent.name == "now" else {})
    given = {name[1:]: values[name[1:]] for name in used}
    result = con.sql(bare(sql), params=given or None)

    assert said.columns == columns_of(result)
    assert said.parameters == used
    assert said.reads == relations_read(sql)
