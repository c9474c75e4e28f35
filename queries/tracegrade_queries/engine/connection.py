"""Opens DuckDB over a lake: one view per table, pinned to one version, without other access.

Analysts' SQL runs with the rights of the lake's owner. So a connection reads only the Parquet
files of the tables (not the write-ahead log, whose content is not yet redacted), installs nothing
and cannot be reconfigured. The objects of a lake on an object store are read through pyarrow
datasets, so that no extension of the engine has to be downloaded.
"""

import contextlib
import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import duckdb
from pyarrow.fs import FileType

from tracegrade_lake import VERDICTS, Lake, Table
from tracegrade_lake.job_lake import JobLake
from tracegrade_queries.engine.layers import BUILT, Layer, higher_layers
from tracegrade_queries.engine.no_writes import forbid_writes, in_thread
from tracegrade_queries.engine.pinned import PinnedLake, pin
from tracegrade_queries.engine.sql import QUERIES
from tracegrade_queries.engine.table_views import (
    Found,
    column_types,
    create_view,
    found_table,
    named_today,
    text_list,
    view_sql,
    with_alike_files,
)

# A view without the rows that a client sent twice: a flag, never a window over everything.
DEDUPLICATED: Final = {"spans": "raw_spans", "logs": "raw_logs"}

COUNTED: Final = "counted_verdicts"
"""A view of the verdicts that count: of each source the newest, and none that it took back."""

_SETTINGS: Final[Mapping[str, str | int]] = {
    "preserve_insertion_order": True,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "python_enable_replacements": False,  # a Python variable is not a table
    # Tables in memory would be compressed once they are filled, which takes as long as that.
    "checkpoint_threshold": "1TB",
}


class Limits(NamedTuple):
    """Limits on an engine's use of the machine."""

    memory: str | None = None
    """Memory before it spills, as `4GB`; None for most of the machine's."""
    threads: int | None = None
    """Threads for queries, including the calling ones; None for all cores."""
    serving: bool = False
    """For a server with tables in memory: a thread of the allocator returns free memory to the
    system at once, not with the next query.
    """
    confined: bool = False
    """The engine's threads may write only into the spill, if the kernel supports that. The thread
    that queries the engine must restrict itself.
    """

    def settings(self) -> dict[str, str | int]:
        """Return them as the engine's settings."""
        given = {"memory_limit": self.memory, "threads": self.threads}
        limits = {name: limit for name, limit in given.items() if limit is not None}
        return {**limits, "allocator_background_threads": True} if self.serving else limits


NO_LIMITS: Final = Limits()


def open_lake(location: str | Path, note: Callable[[str], object]) -> Lake:
    """Return the lake at a path or URL, and note how it is read if that is slow.

    Raises:
        BadLakePath: No lake can have this path or URL.
        LakeMissing: There is none.
        LakeUnreachable: The object store does not answer.
    """
    lake = Lake.open(location)
    if not lake.is_local:
        note(f"reading {lake.location} through pyarrow datasets; spill goes to {lake.state}")
    return lake


def spill_folder(lake: Lake) -> Path:
    """Return where the engine writes what does not fit into memory."""
    return lake.state / "_spill"


def connect(
    lake: Lake, *, layers: Sequence[Layer] = (), memory_limit: str | None = None
) -> duckdb.DuckDBPyConnection:
    """Return a connection that reads the lake as it is now, and keeps reading that.

    Args:
        lake: The lake; its tables are read at their current versions.
        layers: Higher layers whose tables must exist, even without rows.
        memory_limit: Memory of the engine before it spills; None for most of the machine's.

    Returns:
        An in-memory DuckDB with a view for each table (empty if the lake has no such table yet),
        for each other table of the lake, `spans` and `logs` without rows sent twice, the verdicts
        that count as `counted_verdicts`, and the views of all layers whose tables exist. It reads
        only the files of these tables. If a layer's runs write several tables, all of them are
        from one run, the last complete one.
    """
    return connect_whole(lake, layers, Limits(memory_limit))[0]


def connect_whole(
    lake: Lake, layers: Sequence[Layer] = (), limits: Limits = NO_LIMITS
) -> tuple[duckdb.DuckDBPyConnection, PinnedLake]:
    """Return a connection as `connect` does, and the lake as it sees it."""
    declared = _declared(layers)
    names = sorted({table.name for table in declared}.union(lake.tables()))
    con, pinned = _connect(lake, declared, names, _known(layers), limits)
    _create_lacking_tables(con, layers, {*names})
    create_layer_views(con, _known(layers))
    return con, pinned


def _known(layers: Sequence[Layer]) -> Collection[Layer]:
    """Return each layer once; known by identity, since equality reads all tables' columns."""
    return {id(layer): layer for layer in (*layers, *higher_layers())}.values()


def _create_lacking_tables(
    con: duckdb.DuckDBPyConnection, layers: Sequence[Layer], names: Collection[str]
) -> None:
    """Create tables that an earlier version did not write, without rows: views read them."""
    for layer in _known(layers):
        order = layer.run_order
        if order is not None and order.last_table in names and layer not in layers:
            for table in layer.tables:
                if table.name not in names:
                    con.execute(view_sql(table, None))


def create_layer_views(con: duckdb.DuckDBPyConnection, layers: Iterable[Layer]) -> None:
    """Create the views of these layers whose tables are there."""
    for layer in layers:
        for name in layer.views:
            # Its tables are not there yet, or are of an earlier version until written again.
            with contextlib.suppress(duckdb.BinderException, duckdb.CatalogException):
                con.execute(f"CREATE VIEW {name} AS {layer.queries.unordered(name)}")


def _declared(layers: Iterable[Layer]) -> list[Table]:
    return [table for layer in (BUILT, *layers) for table in layer.tables]


def _connect(
    lake: Lake,
    declared: Sequence[Table],
    names: Collection[str],
    layers: Iterable[Layer],
    limits: Limits,
) -> tuple[duckdb.DuckDBPyConnection, PinnedLake]:
    """Pin these tables and connect to them."""
    return read_pinned(
        lake, names, lambda pinned: (connect_pinned(pinned, declared, limits), pinned), layers
    )


Read = TypeVar("Read")


def read_pinned(
    lake: Lake,
    names: Collection[str],
    read: Callable[[PinnedLake], Read],
    layers: Iterable[Layer] = (),
) -> Read:
    """Return the result of reading these pinned tables; repeat if files were removed during it.

    An erasure removes files at once, so a reader may find them missing.

    Args:
        lake: The lake.
        names: Tables; those that it does not have are left out.
        read: Reads the pinned files.
        layers: As for `pin`.
    """
    pinned = pin(lake, names, layers)
    while True:
        try:
            return read(pinned)
        except duckdb.Error:
            now = _pinned_again(lake, pinned, names, layers)
            if now is None:
                raise
            pinned = now


def _pinned_again(
    lake: Lake, pinned: PinnedLake, names: Collection[str], layers: Iterable[Layer]
) -> PinnedLake | None:
    """Return the lake, pinned again if files were removed since, as by an erasure.

    Returns:
        None if each file that left its table is still there, so that another try would be in vain.
    """
    if isinstance(lake, JobLake):
        lake.forget(names)
    now = pin(lake, names, layers)
    any_removed = any(_was_removed(lake, name, _left(pinned, now, name)) for name in pinned.tables)
    return now if any_removed else None


def _left(before: PinnedLake, now: PinnedLake, name: str) -> list[str]:
    """Return the paths of files that left a table."""
    files = now.tables[name].files if name in now.tables else ()
    return sorted({file.path for file in before.tables[name].files} - {f.path for f in files})


def _was_removed(lake: Lake, name: str, paths: Sequence[str]) -> bool:
    """Return whether one of these files of a table, or objects, is not there any more."""
    table = lake.storage.table(name)
    with table.reading():
        found = table.filesystem.get_file_info(paths) if paths else []
    return any(file.type is FileType.NotFound for file in found)


def connect_pinned(
    pinned: PinnedLake, declared: Iterable[Table], limits: Limits = NO_LIMITS
) -> duckdb.DuckDBPyConnection:
    """Return a connection with a view for each declared and each pinned table.

    Args:
        pinned: The only files to read.
        declared: Tables with their declared columns; a table that is not pinned has no rows.
        limits: Limits of the engine.
    """
    lake = pinned.open()
    candidates = {name: found_table(lake, name, table) for name, table in pinned.tables.items()}
    found = {name: table for name, table in candidates.items() if table}
    con = _open_engine(lake, found, limits)
    found = with_alike_files(con, found)
    tables = {table.name: table for table in declared}
    for name, table in tables.items():
        create_view(con, table, found.get(name))
    for name, raw in DEDUPLICATED.items():
        if raw in tables:
            con.execute(f"CREATE VIEW {name} AS SELECT * FROM {raw} WHERE NOT resent")
    if VERDICTS.name in tables:
        con.execute(f"CREATE VIEW {COUNTED} AS {QUERIES.unordered(COUNTED)}")
    higher = {table.name: table for layer in higher_layers() for table in layer.tables}
    for name in sorted(found.keys() - tables.keys()):
        declaration, whole = higher.get(name), found[name]
        if declaration and declaration.former_names():
            whole = named_today(declaration, whole, column_types(con, whole))
        con.execute(f"CREATE VIEW {name} AS SELECT * FROM {whole.relation}")
    return con


@contextlib.contextmanager
def part_of_tables(
    con: duckdb.DuckDBPyConnection, part: PinnedLake, declared: Collection[Table]
) -> Iterator[None]:
    """Let tables of a connection hold only the rows of some of their files, also in views of them.

    The engine reads the columns of each file of a table to plan a query of it, so a query of few
    rows in few files is planned sooner so.

    Args:
        con: Reads the tables; may read these files, as those of `connect_pinned` do.
        part: The files; a table that is not in it has no rows.
        declared: The tables, with their declared columns.
    """
    lake = part.open()
    candidates = {name: found_table(lake, name, table) for name, table in part.tables.items()}
    found = with_alike_files(con, {name: each for name, each in candidates.items() if each})
    objects = {f"_{name}_part": each.dataset for name, each in found.items() if each.dataset}
    for name, dataset in objects.items():
        con.register(name, dataset)
    names = [table.name for table in declared]
    for table in declared:
        each = found.get(table.name)
        if each and each.dataset:
            each = each._replace(relation=f"_{table.name}_part")
        create_view(con, table, each, "TEMP VIEW")
    try:
        yield
    finally:
        for name in names:
            con.execute(f"DROP VIEW temp.{name}")
        for name in objects:
            con.unregister(name)


def _open_engine(
    lake: Lake, found: Mapping[str, Found], limits: Limits
) -> duckdb.DuckDBPyConnection:
    """Return an in-memory DuckDB that reads only these tables; its settings are locked.

    Data that does not fit into memory is spilled into the lake's state folder, which only its
    owner can read.
    """
    spill = spill_folder(lake)
    config = {**_SETTINGS, **limits.settings(), "temp_directory": str(spill)}
    if limits.confined:
        con = in_thread(partial(_open_confined, spill, config))
    else:
        con = duckdb.connect(config={**config})
    _set_up(con)
    con.execute("SET GLOBAL parquet_metadata_cache = true")  # files never change
    datasets = {table.relation: table.dataset for table in found.values() if table.dataset}
    for name, dataset in datasets.items():
        con.register(name, dataset)
    files = itertools.chain.from_iterable(table.files for table in found.values())
    con.execute(f"SET disabled_optimizers = '{_disabled(datasets)}'")
    con.execute(f"SET allowed_paths = {text_list(files)}")
    con.execute("SET enable_external_access = false")
    con.execute("SET lock_configuration = true")
    return con


def connect_in_memory(limits: Limits = NO_LIMITS) -> duckdb.DuckDBPyConnection:
    """Return an in-memory DuckDB without tables that reads no file and never spills."""
    con = duckdb.connect(config={**_SETTINGS, **limits.settings(), "temp_directory": ""})
    _set_up(con)
    con.execute(f"SET disabled_optimizers = '{_disabled(())}'")
    con.execute("SET enable_external_access = false")
    con.execute("SET lock_configuration = true")
    return con


def _set_up(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("LOAD icu")  # part of the wheel; without it there are no time zones
    con.execute("SET GLOBAL TimeZone = 'UTC'")  # of every cursor
    with contextlib.suppress(duckdb.InvalidInputException):  # a notebook without widgets
        con.execute("SET enable_progress_bar = false")  # it would write to stdout


def _open_confined(spill: Path, config: Mapping[str, str | int]) -> duckdb.DuckDBPyConnection:
    """Return an engine whose threads inherit the restriction of this thread.

    The thread does nothing else, since shared thread pools would inherit the restriction.
    """
    forbid_writes([spill])
    return duckdb.connect(config={**config})


def _disabled(datasets: Collection[object]) -> str:
    """Return the optimizers of DuckDB 2.0 that break or slow our queries, as a setting."""
    disabled = [
        "late_materialization",  # fails where a field of a struct is the filter
        "compressed_materialization",  # costs builds 2 to 3 % more than it saves
    ]
    if datasets:  # scans of Arrow refuse a kind of filter that joins hand down
        disabled.append("join_filter_pushdown")
    return ",".join(disabled)
