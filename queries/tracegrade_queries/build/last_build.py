"""What builds note for the next one: files whose rows are built, and when each trace came in.

Its own module because a note that is wrong would lose rows. A build numbers itself and commits
under its number the trajectories, then the traces, then the files. All three have one number if
the last build got to its end and nobody removed one of the tables since. Otherwise nothing of the
notes counts: the next build reads everything, and notes it again.
"""

from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

import pyarrow as pa

from tracegrade_lake import RAW_LOGS, RAW_SPANS, Lake
from tracegrade_queries.engine.pinned import PinnedLake
from tracegrade_queries.schema import BUILT_FILES, BUILT_TRACES, TRAJECTORIES

RAW: Final = (RAW_SPANS, RAW_LOGS)
"""The tables that a build reads."""

BUILDS: Final = "builds"
"""Under which a build notes its number."""

NOTING: Final = (TRAJECTORIES, BUILT_TRACES, BUILT_FILES)
"""The tables that note it, in the order of their commits."""


class LastBuild(NamedTuple):
    """What earlier builds noted."""

    number: int
    """Of the last one; 0 if there was none."""
    files: Mapping[str, Collection[str]] | None
    """Paths of the files whose rows are built, by raw table; None if that is not known."""


def last_build(lake: Lake) -> LastBuild:
    """Return what earlier builds noted; the files only if the last one noted all there is."""
    with ThreadPoolExecutor() as pool:
        noted = pool.map(lambda table: lake.transaction_version(table.name, BUILDS), NOTING)
        numbers = [number or 0 for number in noted]
    if not numbers[0] or len(set(numbers)) > 1:
        return LastBuild(max(numbers), None)
    return LastBuild(numbers[0], _built_files(lake))


def _built_files(lake: Lake) -> Mapping[str, Collection[str]]:
    found: dict[str, set[str]] = {table.name: set() for table in RAW}
    dataset = lake.dataset(BUILT_FILES.name)
    for row in dataset.to_table().to_pylist() if dataset else []:
        found[row["table_name"]].add(row["path"])
    return found


def note_files(lake: Lake, pinned: PinnedLake, number: int) -> None:
    """Note that all rows are built that the raw tables had when the lake was pinned."""
    rows = [
        {"table_name": table.name, "path": file.path}
        for table in RAW
        if table.name in pinned.tables
        for file in pinned.tables[table.name].files
    ]
    lake.replace(BUILT_FILES, pa.Table.from_pylist(rows, BUILT_FILES.arrow()), {BUILDS: number})
