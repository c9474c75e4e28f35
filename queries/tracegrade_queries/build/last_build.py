"""Notes of a build for the next one: built files, and the arrival of each trace.

Its own module because a wrong note would lose rows. A build numbers itself and commits under its
number the steps, then the trajectories, the traces and the files. The last three have one number
if the last build completed and none of the tables was removed since. Otherwise the notes of files
do not count: the next build reads everything, and notes it again.

Steps that another version of this package made are built again, all of them (`STEPS_VERSION`),
and so are all if a build is asked for other steps of searches and operations on memory.
Steps or trajectories whose number is below that of a later commit have lost rows: their newest
commits were damaged and put aside. Then everything is built again, too.
"""

from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

import pyarrow as pa

from tracegrade_lake import RAW_LOGS, RAW_SPANS, Lake
from tracegrade_queries.engine.pinned import PinnedLake
from tracegrade_queries.schema import (
    BUILT_FILES,
    BUILT_TRACES,
    STEPS,
    STEPS_VERSION,
    TRAJECTORIES,
)

RAW: Final = (RAW_SPANS, RAW_LOGS)
"""The tables that a build reads."""

BUILDS: Final = "builds"
"""Under which a build notes its number."""

STEPS_NOTED: Final = "steps_version"
"""Name of the note with the version of a build's rows, in `trajectories`."""

RETRIEVAL_NOTED: Final = "retrieval"
"""Name of the note whether searches and operations on memory are steps (1), in `trajectories`."""

NOTING: Final = (STEPS, TRAJECTORIES, BUILT_TRACES, BUILT_FILES)
"""The tables that note it, in the order of their commits."""


class LastBuild(NamedTuple):
    """The notes of earlier builds."""

    number: int
    """Number of the last build; 0 if there was none."""
    files: Mapping[str, Collection[str]] | None
    """Paths of the files whose rows are built, by raw table; None if that is not known."""
    is_outdated: bool = False
    """Whether everything must be built again: another version made the steps, or a commit to steps
    or trajectories is missing although later ones exist.
    """
    retrieval: bool = False
    """Whether searches and operations on memory are steps."""


def last_build(lake: Lake, *, retrieval: bool | None = None) -> LastBuild:
    """Return what earlier builds noted; the files only if the last one noted all there is.

    Args:
        lake: The lake to read.
        retrieval: Whether searches and operations on memory shall be steps; None: as built last.
    """
    with ThreadPoolExecutor() as pool:
        noted = pool.map(lambda table: lake.transaction_version(table.name, BUILDS), NOTING)
        steps, *others = [number or 0 for number in noted]
    trajectories, newest = others[0], max(steps, *others)
    version = lake.transaction_version(TRAJECTORIES.name, STEPS_NOTED) or 0
    noted_retrieval = bool(lake.transaction_version(TRAJECTORIES.name, RETRIEVAL_NOTED))
    asked = noted_retrieval if retrieval is None else retrieval
    is_outdated = version < STEPS_VERSION or min(steps, trajectories) < max(others)
    if is_outdated or asked != noted_retrieval:
        return LastBuild(newest, None, is_outdated=True, retrieval=asked)
    if not newest or len(set(others)) > 1:
        return LastBuild(newest, None, retrieval=asked)
    return LastBuild(newest, _built_files(lake), retrieval=asked)


def last_build_number(lake: Lake) -> int:
    """Return the number of the last build that got to its end; 0 if there was none."""
    return lake.transaction_version(BUILT_FILES.name, BUILDS) or 0


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
