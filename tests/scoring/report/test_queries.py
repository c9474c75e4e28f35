"""The headers of the report's queries are true."""

import re
from itertools import takewhile
from pathlib import Path

import pytest
from tests.scoring.report.build import Tables

import tracegrade_queries

FOLDER = Path(tracegrade_queries.__file__).parent / "report"
QUERIES = sorted(FOLDER.glob("*.sql"))


def header(sql: str) -> dict[str, list[tuple[str, str]]]:
    """Return the (name, type) pairs listed under each heading of a query's header."""
    sections: dict[str, list[tuple[str, str]]] = {}
    entries: list[tuple[str, str]] = []
    for line in takewhile(lambda line: line.startswith("--"), sql.splitlines()):
        if heading := re.fullmatch(r"-- (\w+):", line):
            entries = sections[heading[1]] = []
        elif entry := re.match(r"--   (\S+)(?: +(\S+))?", line):
            entries.append((entry[1], entry[2] or ""))
    return sections


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_header_is_true(sample: Tables, path: Path) -> None:
    """It names the columns with their types, the parameters that are used, and what is read."""
    sql = path.read_text()
    code = re.sub(r"--.*", "", sql)
    said = header(sql)

    result = sample.con.sql(
        sql.rstrip().removesuffix(";"), params={"rows": 5} if "$rows" in code else None
    )

    assert said["Columns"] == list(zip(result.columns, map(str, result.types), strict=True))
    assert {name for name, _ in said.get("Parameters", [])} == set(re.findall(r"\$\w+", code))
    inner = set(re.findall(r"(\w+) AS \(", code))
    read = set(re.findall(r"(?:FROM|JOIN)\s+(\w+)", code)) - inner
    assert read == {name for name, _ in said["Reads"]}
