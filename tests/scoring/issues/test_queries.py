"""The headers of the queries of issues are true."""

from pathlib import Path

import pytest
from tests.headers import bare, columns_of, header, parameters_used, relations_read
from tests.scoring.issues.test_templates import failed_call
from tests.scoring.report.build import Tables

from tracegrade_scoring.issues.read import read_issues
from tracegrade_scoring.sql import QUERIES as ALL

QUERIES = [p for p in ALL.paths.values() if "issues" in p.relative_to(ALL.root).parts]
PARAMETERS = {"issue": "", "rows": 5, "issues": ["a", "b"], "merged_into": ["c", "c"]}


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_header_is_true(tables: Tables, path: Path) -> None:
    """It names the columns with their types, the parameters, what is read, and a total order."""
    for release in ("1.0", "1.1"):
        failed_call(tables, f"no page {release}", release=release, task_id="t")
    (found,) = read_issues(tables.con, {})
    sql = path.read_text()
    said = header(sql)
    given = {name[1:]: {**PARAMETERS, "issue": found.issue}[name[1:]] for name in said.parameters}
    result = tables.con.sql(bare(sql), params=given or None)

    assert said.columns == columns_of(result)
    assert said.parameters == parameters_used(sql)
    assert said.reads == relations_read(sql)
    assert result.fetchall()
