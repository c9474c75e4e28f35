"""The successful run that is most similar to another one."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing

import duckdb
import pytest
from duckdb import DuckDBPyConnection
from hypothesis import given
from hypothesis import strategies as st

from tracegrade_explorer.sql import query

TOOLS = st.sampled_from(["find", "read", "write", None])
RUNS = st.lists(
    st.tuples(st.lists(TOOLS, max_size=5), st.sampled_from(["succeeded", "failed"])),
    min_size=1,
    max_size=6,
)


@pytest.fixture(scope="module")
def con() -> Iterator[DuckDBPyConnection]:
    """Empty tables of runs and their calls."""
    with closing(duckdb.connect()) as found:
        found.execute(
            "CREATE TABLE run_index (seq INTEGER, trajectory_id VARCHAR, date DATE, "
            "release VARCHAR, agent_name VARCHAR, task_id VARCHAR, outcome VARCHAR);"
            "CREATE TABLE call_counts (seq INTEGER, tool_name VARCHAR, calls BIGINT)"
        )
        yield found


def likeness(one: Mapping[str | None, int], other: Mapping[str | None, int]) -> float:
    """Return the share of the calls of two runs that both make."""
    names = {*one, *other}
    both = sum(max(one.get(name, 0), other.get(name, 0)) for name in names)
    shared = sum(min(one.get(name, 0), other.get(name, 0)) for name in names)
    return shared / both if both else 1


@given(RUNS)
def test_nearest_successes_are_sorted_by_the_calls_that_both_make(
    con: DuckDBPyConnection, runs: list[tuple[list[str | None], str]]
) -> None:
    """Calls of a tool that only one run calls are never shared."""
    con.execute("DELETE FROM run_index; DELETE FROM call_counts")
    calls = [Counter(tools) for tools, _ in runs]
    for seq, (_, outcome) in enumerate(runs):
        row = [seq, f"run{seq}", "2026-11-01", "1.0", "files", "sort", outcome]
        con.execute("INSERT INTO run_index VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        for tool, count in calls[seq].items():
            con.execute("INSERT INTO call_counts VALUES (?, ?, ?)", [seq, tool, count])

    found = con.execute(query("nearest_success"), {"seq": 0, "rows": 9}).fetchall()

    likely = {
        f"run{seq}": likeness(calls[0], calls[seq])
        for seq, (_, outcome) in enumerate(runs)
        if seq and outcome == "succeeded"
    }
    expected = sorted(likely, key=lambda name: (-likely[name], name))
    assert [row[0] for row in found] == expected
    assert [row[2] for row in found] == pytest.approx([likely[name] for name in expected])
