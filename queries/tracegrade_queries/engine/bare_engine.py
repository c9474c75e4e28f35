"""An engine without tables or access to files, for SQL text that others wrote.

Its own module because processes that start for one query import it, and little else.
"""

from typing import Final

import duckdb

MEMORY_LIMIT: Final = "512MB"
"""Memory for a task file's own SQL: counts and short lists need a fraction of it."""


def bare_engine(memory_limit: str | None = None) -> duckdb.DuckDBPyConnection:
    """Return an engine without tables that reaches no file or network and never spills.

    Args:
        memory_limit: As the engine takes it; None: MEMORY_LIMIT.
    """
    con = duckdb.connect(
        config={
            "enable_external_access": False,
            "threads": 1,
            "memory_limit": memory_limit or MEMORY_LIMIT,
            "temp_directory": "",
            "python_enable_replacements": False,  # a Python variable is not a table
        }
    )
    con.execute("LOAD icu")  # part of the wheel
    con.execute("SET GLOBAL TimeZone = 'UTC'")  # else the machine's would be part of a result
    con.execute("SET lock_configuration = true")
    return con
