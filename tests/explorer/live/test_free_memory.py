"""Memory that the engine no longer uses, between pages."""

import duckdb
import psutil

from tracegrade_explorer.upkeep.free_memory import return_free_memory

MADE_BYTES = 200_000_000
TABLE = "CREATE TABLE made AS SELECT random() AS value FROM range(25_000_000)"


def test_free_memory_goes_back_to_the_system() -> None:
    """What a dropped table took is not kept, while the connection that made it goes on."""
    process = psutil.Process()
    before = process.memory_info().rss
    with duckdb.connect() as con:
        con.execute(TABLE)
        assert process.memory_info().rss - before > MADE_BYTES // 2
        con.execute("DROP TABLE made")
        return_free_memory()
        assert process.memory_info().rss - before < MADE_BYTES // 4
        assert con.execute("SELECT 1").fetchall() == [(1,)]
