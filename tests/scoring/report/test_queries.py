"""The headers of the report's queries are true."""

from pathlib import Path

import pytest
from tests.headers import bare, columns_of, header, parameters_used, relations_read
from tests.scoring.report.build import START, Tables

from tracegrade_scoring.report.counted import make_counted_usage
from tracegrade_scoring.sql import QUERIES as ALL
from tracegrade_scoring.sql import RELATIONS

QUERIES = [
    path
    for path in ALL.paths.values()
    if {"report", "timeline"}.intersection(path.relative_to(ALL.root).parts)
]
PARAMETERS = {
    "calibrated": ["judge:a"],
    "characters": 100,
    "date": START.date(),
    "first": 0,
    "metrics": [],
    "name": "t",
    "releases": None,
    "rows": 5,
    "trajectory_id": "t1",
    "since": None,
    "until": None,
}


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_header_is_true(sample: Tables, path: Path) -> None:
    """It names the columns with their types, the parameters that are used, and what is read."""
    sql = path.read_text()
    said = header(sql)
    given = {name[1:]: PARAMETERS[name[1:]] for name in parameters_used(sql)}
    con = sample.con
    if not said.reads.isdisjoint({"superseded_runs", "run_turns"}):
        RELATIONS.make(con, "superseded_runs")
    if "run_turns" in said.reads:
        RELATIONS.make(con, "run_turns")
    if "run_usage" in said.reads:
        make_counted_usage(con)
    result = con.sql(bare(sql), params=given or None)

    assert said.columns == columns_of(result)
    assert said.parameters == parameters_used(sql)
    assert said.reads == relations_read(sql)
