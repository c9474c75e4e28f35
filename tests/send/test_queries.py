"""The header of the query that chooses scores to send is true."""

from pathlib import Path

import pytest
from tests.headers import bare, columns_of, header, parameters_used, relations_read
from tests.queries.traces import land
from tests.scoring.job.lakes import TASKS, run

from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.tasks.specification import usable_specification
from tracegrade_send.scores import ScoredLake, ScoreToSend
from tracegrade_send.sql import QUERIES

PARAMETERS = {
    "destination": "0" * 12,
    "lake_id": "lake",
    "metrics": ["tsa", "success"],
    "only_if_shown": ["success"],
    "since": None,
    "all_scores": True,
    "refused_again": False,
    "evidence": True,
}


@pytest.mark.parametrize("path", QUERIES.paths.values(), ids=lambda path: path.stem)
def test_header_is_true(tmp_path: Path, path: Path) -> None:
    """It names what is read, the parameters, the columns with their types and a total order."""
    lake = Lake.create(tmp_path / "lake")
    land(lake, run(1, "look", "pay"), run(2, "pay"))
    (tmp_path / "tasks.yaml").write_text(f"version: 1\n{TASKS}")
    score(lake, usable_specification(tmp_path / "tasks.yaml")[0])
    sql = path.read_text(encoding="utf-8")
    found = header(sql)
    con = ScoredLake(lake).con
    result = con.sql(bare(sql), params=PARAMETERS)
    rows, names = result.fetchall(), result.columns

    assert found.columns == columns_of(result)
    assert found.parameters == parameters_used(sql)
    assert found.reads == relations_read(sql)
    assert tuple(names) == ScoreToSend._fields
    keys = [tuple(str(row[names.index(name)]) for name in found.order) for row in rows]
    assert len(set(keys)) == len(keys) > 1
