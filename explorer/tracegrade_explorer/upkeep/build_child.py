"""The process that builds: `python -m tracegrade_explorer.upkeep.build_child LAKE`.

Each line of stdin asks for a build of what is new, as `tracegrade score` does it before it scores.
A line of JSON answers: how many traces were built, that another process builds the lake, or why it
failed. The process ends with stdin.
"""

import os
import sys
from typing import Any, Final

import duckdb
import orjson

from tracegrade.errors import TracegradeError
from tracegrade_lake import Lake
from tracegrade_queries.build.locked_build import build_if_free

NICE: Final = 5
"""Pages come first where cores are short."""


def main() -> None:
    """Build once for each line."""
    os.nice(NICE)
    lake = Lake.open(sys.argv[1])
    for _ in sys.stdin.buffer:
        sys.stdout.buffer.write(orjson.dumps(_answer(lake)) + b"\n")
        sys.stdout.buffer.flush()


def _answer(lake: Lake) -> dict[str, Any]:
    try:
        done = build_if_free(lake)
    except (TracegradeError, duckdb.Error, OSError) as error:
        return {"error": str(error)}
    return {"busy": True} if done is None else {"traces": done.built.traces}


if __name__ == "__main__":
    main()
