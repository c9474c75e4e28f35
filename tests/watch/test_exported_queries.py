"""The headers of the queries of exported metrics are true."""

from contextlib import closing
from pathlib import Path

import pytest
from tests.explorer.lakes import sample
from tests.headers import bare, columns_of, header, parameters_used, relations_read

from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.layer import SCORES
from tracegrade_watch.sql import QUERIES

PARAMETERS = {
    "exported_scores": {"releases": 5, "metrics": ["success", "tsa"]},
    "known_costs": None,
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_header_is_true(tmp_path: Path, name: str) -> None:
    """It names what is read, the parameters, the columns with their types and the order."""
    lake = sample(tmp_path / "lake")
    sql = QUERIES.text(name)
    found = header(sql)
    with closing(connect(lake, layers=(SCORES,))) as con:
        result = con.sql(bare(sql), params=PARAMETERS[name])
        names, rows = result.columns, result.fetchall()

        assert found.columns == columns_of(result)
    assert found.parameters == parameters_used(sql)
    assert found.reads == relations_read(sql)
    keys = [tuple(str(row[names.index(key)]) for key in found.order if key in names)
            for row in rows]  # fmt: skip
    assert len(set(keys)) == len(keys)
    assert keys or name == "known_costs"  # the sample has no prices
