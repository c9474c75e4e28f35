"""The headers of the queries of watching are true."""

from pathlib import Path

import pytest
from tests.headers import bare, columns_of, header, parameters_used, relations_read
from tests.watch.lakes import release_days, scored_lake

from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.issues.read import read_issues
from tracegrade_scoring.layer import SCORES
from tracegrade_watch.reading import prepare, watched_sums
from tracegrade_watch.sql import QUERIES

PARAMETERS = {
    "agent_name": "support",
    "any_release": False,
    "better": 1,
    "date": None,
    "dimension": None,
    "dimension_value": None,
    "issue": "0" * 12,
    "metric": "success",
    "others": ["step_efficiency"],
    "release": "1.1",
    "releases": ["1.0", None],
    "rows": 3,
    "run_mode": "production",
    "stored": ["success"],
}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake with two releases."""
    days = [*release_days("1.0", 0, 2, 2, 1), *release_days("1.1", 2, 1, 1, 1)]
    return scored_lake(tmp_path_factory.mktemp("lakes") / "lake", days)


OWN = [path for path in QUERIES.paths.values() if path.parent.name == "queries"]


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_header_is_true(lake: Lake, path: Path) -> None:
    """It names what is read, the parameters, the columns with their types and a total order."""
    sql = path.read_text(encoding="utf-8")
    found = header(sql)
    with connect(lake, layers=(SCORES,)) as con:
        prepare(con)
        read_issues(con, {})
        with watched_sums(con, None, ["success"]):
            used = {name.removeprefix("$") for name in parameters_used(sql)}
            given = {name: PARAMETERS[name] for name in used}
            result = con.sql(bare(sql), params=given)
            columns, rows, names = columns_of(result), result.fetchall(), result.columns

    assert found.columns == columns
    assert found.parameters == parameters_used(sql)
    assert found.reads == relations_read(sql)
    if found.order != ["none"]:
        places = [names.index(name) for name in found.order]
        keys = [tuple(str(row[place]) for place in places) for row in rows]
        assert len(set(keys)) == len(keys)
