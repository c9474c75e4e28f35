"""Breaks cycles among the parents of spans."""

from typing import Final

from tracegrade_queries.engine.relations import count, make_table
from tracegrade_queries.engine.statements import run as run_statements
from tracegrade_queries.graph import Run, relation

_JUMPED: Final = """
SELECT hops.key, onward.next
FROM _hops AS hops
INNER JOIN _hops AS onward ON hops.next = onward.key
"""

_CYCLE_EDGES: Final = """
SELECT key, next
FROM span_parents
WHERE rises OR key NOT IN (SELECT next FROM _hops)
"""


@relation("tree", reads=("cycle_candidates", "span_parents"))
def _break_cycles(run: Run) -> None:
    """Make `tree`: `span_parents` without the edges that close a cycle.

    In a cycle every edge whose parent does not start before its child is cut, so that the earliest
    span becomes a root. `cycle_candidates` are the edges of traces where one is possible.
    """
    make_table(run.con, "_hops", "SELECT key, next FROM cycle_candidates")
    for _ in range(count(run.con, "_hops").bit_length()):
        make_table(run.con, "_hops", _JUMPED)
    # After so many jumps only what leads into a cycle is left, and it points into the cycle.
    make_table(run.con, "tree", _CYCLE_EDGES)
    run_statements(run.con, "DROP TABLE temp._hops")
