"""The headers of the judges' queries are true."""

from pathlib import Path

import pytest
from tests.headers import bare, columns_of, header, parameters_used, relations_read

from tracegrade_judges.layer import JUDGES
from tracegrade_judges.sql import QUERIES
from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.layer import SCORES

PARAMETERS = {
    "trajectory_ids": [f"{1:032x}-{1:016x}"],
    "judge": "nodes",
    "judge_source": "judge:nodes",
}
SORTED = {"one row"}


@pytest.mark.parametrize("path", QUERIES.paths.values(), ids=lambda path: path.stem)
def test_header_is_true(scored_lake: Lake, path: Path) -> None:
    """It names what is read, the parameters, the columns with their types and a total order."""
    sql = path.read_text(encoding="utf-8")
    said, used = header(sql), parameters_used(sql)
    given = {name[1:]: PARAMETERS[name[1:]] for name in used}
    with connect(scored_lake, layers=(SCORES, JUDGES)) as con:
        result = con.sql(bare(sql), params=given or None)
        columns, found = columns_of(result), result.fetchall()
        names = result.columns

    assert said.columns == columns
    assert said.parameters == used
    assert said.reads == relations_read(sql)
    if set(said.order) <= SORTED:
        assert len(found) == 1
        return
    keys = [tuple(str(row[names.index(name)]) for name in said.order) for row in found]
    assert len(set(keys)) == len(keys)
