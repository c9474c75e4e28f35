"""The set of traces that a lake already has rows of, from any sender."""

import threading
from collections.abc import Collection
from typing import Final

import duckdb
import pyarrow as pa

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_lake import RAW_LOGS, RAW_SPANS, Lake
from tracegrade_lake.errors import LakeError

_TABLES: Final = (RAW_SPANS.name, RAW_LOGS.name)


class KnownTraces:
    """The traces of a lake, for any thread; each call reads only new files.

    The set keeps 8 bytes per trace. Each file is read once, and only its column of trace ids.
    """

    def __init__(self, lake: str) -> None:
        """Prepare to read a lake."""
        self._lake = lake
        self._lock = threading.Lock()
        self._read: set[tuple[str, str]] = set()
        self._engine = duckdb.connect()
        self._engine.execute("CREATE TABLE known (trace UBIGINT)")

    def __call__(self, traces: Collection[str]) -> set[str]:
        """Return the given traces that the lake has, and wrongly one of 2^64 others.

        Raises:
            EnvironmentFailed: The lake cannot be read.
        """
        with self._lock:
            try:
                self._read_on()
            except (LakeError, OSError, pa.ArrowException) as error:
                msg = f"cannot tell whose traces these are, lake {self._lake}: {error}"
                raise EnvironmentFailed(msg) from error
            found = self._engine.execute(
                "SELECT trace FROM unnest($traces) AS asked(trace) "
                "WHERE hash(trace) IN (SELECT known.trace FROM known)",
                {"traces": [*traces]},
            ).fetchall()
            return {trace for (trace,) in found}

    def _read_on(self) -> None:
        lake = Lake.create(self._lake)
        for table in _TABLES:
            version = lake.version(table)
            files = lake.live_files(table, version)
            new = [file for file in files if (table, file.path) not in self._read]
            dataset = lake.dataset(table, version, new) if new else None
            for batch in dataset.to_batches(columns=["trace_id"]) if dataset else ():
                self._add(pa.table(batch.columns, names=["trace_id"]))
            self._read |= {(table, file.path) for file in new}

    def _add(self, rows: pa.Table) -> None:
        self._engine.register("rows", rows)
        self._engine.execute(
            "INSERT INTO known SELECT DISTINCT hash(trace_id) FROM rows WHERE trace_id <> ''"
        )
        self._engine.unregister("rows")
