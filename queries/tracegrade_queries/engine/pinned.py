"""A lake pinned to fixed table versions and files, so that all workers of a job read the same.

It can be pickled: another process, or another machine that reaches the lake, reads the same rows.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tracegrade_lake import Lake
from tracegrade_lake.commit import LiveFile, live_files
from tracegrade_lake.job_lake import lake_for_work
from tracegrade_lake.log_entries import transaction_version
from tracegrade_queries.engine.layers import Layer, RunOrder

FileCondition: TypeAlias = Callable[[LiveFile], bool]
"""The files of a table that are read."""


class PinnedTable(NamedTuple):
    """A table at one version, or a part of it."""

    version: int
    files: tuple[LiveFile, ...]
    """By path."""


class PinnedLake(NamedTuple):
    """A lake as it was at one moment, or a part of it."""

    location: str
    """Location for `Lake.open`."""
    state: str
    """Its folder on this machine."""
    tables: Mapping[str, PinnedTable]
    """By name; those that were not there are left out."""

    def open(self) -> Lake:
        """Return the lake itself, where rows are staged; a store was asked when it was pinned."""
        return lake_for_work(self.location, self.state)

    def only(self, keep: Mapping[str, FileCondition]) -> "PinnedLake":
        """Return only the named tables, each with the files that match its condition."""
        tables = {
            name: table._replace(files=tuple(filter(keep[name], table.files)))
            for name, table in self.tables.items()
            if name in keep
        }
        return self._replace(tables={name: table for name, table in tables.items() if table.files})


def received_between(first_ns: int, last_ns: int) -> FileCondition:
    """Return the condition for files that may hold rows received then; both ends count."""

    def keep(file: LiveFile) -> bool:
        low, high = file.ranges.get("received_ns", (first_ns, last_ns))
        return low <= last_ns and high >= first_ns

    return keep


def received_in_any(
    first_ns: npt.NDArray[np.int64], last_ns: npt.NDArray[np.int64]
) -> FileCondition:
    """Return the condition for files that may hold rows received in one of many intervals.

    Args:
        first_ns: When each begins, ns since 1970.
        last_ns: When each ends, which counts.
    """
    order = np.argsort(first_ns)
    begins = first_ns[order]
    latest_end = np.maximum.accumulate(last_ns[order])

    def keep(file: LiveFile) -> bool:
        if "received_ns" not in file.ranges:
            return True
        low, high = file.ranges["received_ns"]
        begun = int(np.searchsorted(begins, high, side="right"))
        return begun > 0 and int(latest_end[begun - 1]) >= low

    return keep


def dated_between(first: str, last: str) -> FileCondition:
    """Return the condition for files of these dates (`2026-11-21`); both ends count."""
    return lambda file: file.date is None or first <= file.date <= last


def dated_on(dates: Iterable[str]) -> FileCondition:
    """Return the condition for files of one of these dates."""
    selected = frozenset(dates)
    return lambda file: file.date is None or file.date in selected


def among(paths: Collection[str]) -> FileCondition:
    """Return the condition for the files at these paths."""
    selected = frozenset(paths)
    return lambda file: file.path in selected


def either(one: FileCondition, other: FileCondition) -> FileCondition:
    """Return the condition for files that fulfill at least one of two."""
    return lambda file: one(file) or other(file)


def pin(lake: Lake, names: Collection[str], layers: Iterable[Layer] = ()) -> PinnedLake:
    """Return these tables of a lake at their versions now; looked up side by side.

    Args:
        lake: The lake.
        names: Tables; those that it does not have are left out.
        layers: Layers whose runs write several tables; these are pinned as of the last complete
            run.
    """
    runs = _last_runs(lake, layers)
    with ThreadPoolExecutor() as pool:
        found = pool.map(lambda name: _pin(lake, name, runs.get(name)), names)
        tables = {name: table for name, table in zip(names, found, strict=True) if table}
    return PinnedLake(lake.location, str(lake.state), tables)


def _last_runs(lake: Lake, layers: Iterable[Layer]) -> dict[str, tuple[str, int]]:
    """Return for tables that are written by runs the application and its last whole run.

    A layer is queried once, so that all its tables include a run that ends at that time, or none
    does.
    """
    runs = [
        (layer, (layer.run_order.application, last_run(lake, layer.run_order)))
        for layer in layers
        if layer.run_order
    ]
    return {table.name: run for layer, run in runs for table in layer.tables}


def last_run(lake: Lake, order: RunOrder) -> int:
    """Return the number of the last run that is whole; 0 if there was none."""
    return lake.noted_version(order.last_table, order.application)[1]


def _pin(lake: Lake, name: str, run: tuple[str, int] | None) -> PinnedTable | None:
    """Return the table, as this application's run of this number left it."""
    now = lake.opened(name)
    if now is None:
        return None
    if run is None or (transaction_version(now, run[0]) or 0) <= run[1]:
        files = sorted(live_files(now), key=lambda file: file.path)
        return PinnedTable(now.version(), tuple(files))
    version = lake.version_noting(name, *run)
    if version is None:
        return None
    return PinnedTable(version, tuple(lake.live_files(name, version)))
