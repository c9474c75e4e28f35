"""Processes that commit to one table at once, as fast as they can, and what became of each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from tracegrade_lake import Column, Lake, Table
from tracegrade_lake.errors import LakeError

NOTES = Table("notes", "one note", (Column("number", pa.int64(), "Order."),), partition_by=())


class Written(NamedTuple):
    """What the writers did together."""

    secs: list[float]
    """Of each call that commits, ascending."""

    errors: list[str]
    """What reached the callers."""

    took_secs: float
    """From the first call to the end of the last."""


def write(place: str, state: Path, writers: int, commits: int) -> Written:
    """Let so many processes commit so many notes each: writer * 1000 + 0, 1, ...

    One Python imports the libraries and forks the writers, before any library has threads.
    """
    command = [sys.executable, "-m", "tests.lake.writers", place, str(state)]
    started = subprocess.run(
        [*command, str(writers), str(commits)], stdout=subprocess.PIPE, text=True, check=True
    )
    reports = [json.loads(line) for line in started.stdout.splitlines()]
    secs = sorted(each for report in reports for each in report["secs"])
    errors = [error for report in reports for error in report["errors"]]
    took_secs = max(each["end"] for each in reports) - min(each["begin"] for each in reports)
    return Written(secs, errors, took_secs)


def _write(lake: Lake, writer: int, commits: int) -> str:
    report: dict[str, list[float | str]] = {"secs": [], "errors": []}
    begin = time.monotonic()
    for number in range(commits):
        called = time.monotonic()
        rows = pa.table({"number": pa.array([writer * 1000 + number], pa.int64())})
        try:
            staged = lake.stage(NOTES, rows, f"writer{writer}-{number}")
            lake.add_files(NOTES, staged, f"writer{writer}/notes", number)
        except LakeError as error:
            report["errors"].append(str(error))
        report["secs"].append(time.monotonic() - called)
    return json.dumps({**report, "begin": begin, "end": time.monotonic()})


def main(place: str, state: str, writers: int, commits: int) -> None:
    """Fork the writers; each prints its report as one line."""
    children = []
    for writer in range(writers):
        child = os.fork()
        if child == 0:
            lake = Lake.create(place, Path(state, str(writer)))
            os.write(sys.stdout.fileno(), f"{_write(lake, writer, commits)}\n".encode())
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
