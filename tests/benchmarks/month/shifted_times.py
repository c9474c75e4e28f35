"""Prints the dates that Python, DuckDB and a process that it starts read from a set clock."""

import subprocess
import sys
from datetime import UTC, datetime

import duckdb

from .wall_clock import WallClock, is_shifted, run_shifted

CHILD = "from datetime import *; print(datetime.now(UTC).date())"


def main() -> None:
    """Set the clock, and print the dates."""
    if not is_shifted():
        sys.exit(run_shifted("tests.benchmarks.month.shifted_times", ()))
    WallClock().set(10**18)
    print(datetime.now(UTC).date())
    with duckdb.connect() as con:
        print(*(con.execute("SELECT current_date").fetchone() or ()))
    subprocess.run([sys.executable, "-c", CHILD], check=True)


if __name__ == "__main__":
    main()
