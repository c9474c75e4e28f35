"""Compares results of mocked calls with those of live calls.

Its own module because results are equal as JSON. The order of keys, blanks and forms of numbers do
not matter, so it compares canonical forms. Source: docs/metrics.md, sections 0.5 and 10.4.
"""

from typing import Final

import pyarrow as pa
from duckdb import DuckDBPyConnection

from tracegrade_queries.build.canonical import canonical_texts
from tracegrade_queries.engine.relations import make_table
from tracegrade_queries.engine.result_rows import ResultRow
from tracegrade_scoring.rendering.rows import read_rows
from tracegrade_scoring.sql import query


def read_mocked_calls(con: DuckDBPyConnection, base: str, candidate: str) -> list[ResultRow]:
    """Return a row for each agent and tool with mocked calls in one of two releases.

    Args:
        con: Holds `steps` and `trajectories` of a lake.
        base: One release.
        candidate: The other.
    """
    releases = {"base": base, "candidate": candidate}
    make_table(con, "mock_live_results", query("mock_live_results"), releases)
    texts = con.sql(
        "SELECT DISTINCT result FROM mock_live_results WHERE json_valid(result) ORDER BY result"
    ).to_arrow_table()["result"]
    con.register("_canonical", pa.table({"text": texts, "canonical": canonical_texts(texts)}))
    con.execute(_WRITE_ALIKE)
    con.unregister("_canonical")
    return read_rows(con, "mock_live_calls")


_WRITE_ALIKE: Final = """
  UPDATE mock_live_results SET result = coalesce(_canonical.canonical, result)
  FROM _canonical
  WHERE result = _canonical.text
"""
