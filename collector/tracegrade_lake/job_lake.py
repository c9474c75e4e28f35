"""A lake whose tables one job opens once, because each opening reads a log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from weakref import WeakValueDictionary

from deltalake import DeltaTable

from tracegrade_lake.columns import Table
from tracegrade_lake.commit import Owner
from tracegrade_lake.lake import NOTHING_BEFORE, Lake
from tracegrade_lake.lake_root import lake_url
from tracegrade_lake.log_entries import transaction_version
from tracegrade_lake.storage import StagedFile

_at_work: Final[WeakValueDictionary[tuple[str, Path], JobLake]] = WeakValueDictionary()
"""Lakes of the jobs that run in this process, by location and state; of each the newest job."""


@dataclass(frozen=True)
class JobLake(Lake):
    """A lake as its tables were when a job first read them, and as the job itself changed them.

    Later commits of other jobs are not seen. A commit of the job is made on the newest version, as
    of any lake, and the table is opened afresh after it. Threads that work for the job share what
    it has read of a store (`lake_for_work`); processes and machines open lakes of their own.
    """

    _handles: dict[str, DeltaTable | None] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, lake: Lake) -> JobLake:
        """Return the same lake for one job."""
        job = cls(lake.storage, lake.state)
        _at_work[lake.location, lake.state] = job
        return job

    def opened(self, table: str, version: int | None = None) -> DeltaTable | None:
        """Return a handle of the table; of its newest version, that of the first call."""
        if version is not None:
            return super().opened(table, version)
        if table not in self._handles:
            self._handles[table] = super().opened(table)
        return self._handles[table]

    def forget(self, tables: Iterable[str]) -> None:
        """Open these tables again when they are read next, since some files were removed."""
        for table in tables:
            self._handles.pop(table, None)

    def transaction_version(
        self, table: str, app_id: str, owner: Owner | None = None
    ) -> int | None:
        """As of any lake; it may put aside a torn commit, which a handle has read.

        An object store has none, so the handle of the job is up to date enough there.
        """
        if self.is_local or owner:
            self._handles.pop(table, None)
            return super().transaction_version(table, app_id, owner)
        return self.transaction_versions(table, [app_id]).get(app_id)

    def transaction_versions(self, table: str, app_ids: Iterable[str]) -> dict[str, int]:
        """As of any lake; see above."""
        if self.is_local:
            self._handles.pop(table, None)
            return super().transaction_versions(table, app_ids)
        delta = self.opened(table)
        found = {app_id: transaction_version(delta, app_id) for app_id in app_ids if delta}
        return {app_id: version for app_id, version in found.items() if version is not None}

    def drop(self, table: str) -> None:
        """Remove a table with its files and its log."""
        try:
            super().drop(table)
        finally:
            self._handles.pop(table, None)

    def add_files(self, table: Table, *args: Any, **options: Any) -> bool:
        """Commit staged files as any lake does."""
        try:
            return super().add_files(table, *args, **options)
        finally:
            self._handles.pop(table.name, None)

    def replace_files(self, table: Table, *args: Any, **options: Any) -> None:
        """Replace files as any lake does."""
        try:
            super().replace_files(table, *args, **options)
        finally:
            self._handles.pop(table.name, None)

    def _commit(
        self,
        table: Table,
        staged: Sequence[StagedFile],
        leaves: Callable[[str | None], bool] | None,
        transactions: Mapping[str, int],
        follows: Mapping[str, int] = NOTHING_BEFORE,
    ) -> None:
        try:
            super()._commit(table, staged, leaves, transactions, follows)
        finally:
            self._handles.pop(table.name, None)


def lake_for_work(location: str, state: str) -> Lake:
    """Return a lake for work of a job, whose tables are pinned: nothing is asked of a store.

    If the job runs in this process, it shares the small objects that were read of a store.
    """
    if lake_url(location) is None:
        return Lake.open(location, state)
    job = _at_work.get((location, Path(state)))
    return Lake(job.storage, job.state) if job else Lake.create(location, state)
