"""The headers of this package's queries are true."""

from pathlib import Path

import pytest
from tests.headers import bare, columns_of, header, parameters_used, relations_read

from tracegrade_ci.sql import QUERIES
from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.layer import SCORES

from .lakes import BASE, Sample


@pytest.mark.parametrize("path", QUERIES.paths.values(), ids=lambda path: path.stem)
def test_header_is_true(both: Sample, path: Path) -> None:
    """It names what is read, the parameters, the columns with their types and a total order."""
    sql = path.read_text(encoding="utf-8")
    found = header(sql)
    with connect(Lake.open(both.lake), layers=(SCORES,)) as con:
        result = con.sql(bare(sql), params={"release": BASE})
        rows, names = result.fetchall(), result.columns
        columns = columns_of(result)

    assert found.columns == columns
    assert found.parameters == parameters_used(sql)
    assert found.reads == relations_read(sql)
    keys = [tuple(str(row[names.index(name)]) for name in found.order) for row in rows]
    assert len(set(keys)) == len(keys) > 1
