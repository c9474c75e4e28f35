"""Estimates the size of spans by the time at which they were received.

Spans of agents that send their whole history with each call are a hundred times as large as
others, so their number alone says little of what a bucket of them takes. How large the attributes
of a file are stands in its footer; earlier versions wrote texts into a dictionary, and theirs tell
each text once. Which file a span stands in is not looked up: files of the time at which its trace
began tell enough.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracegrade_lake import RAW_SPANS, Lake
from tracegrade_lake.commit import LiveFile

COLUMNS: Final = ("attributes.", "events.")
"""How the names of those begin that hold what spans say; all others together are small."""

NAMES: Final = "key_value.key"
"""How the name of each column ends that holds names of attributes."""

NAME_BYTES: Final = 40
"""What an attribute's name takes in the engine, with its place and that of its value: names in
captured and benchmarked spans have 21 to 38 letters in the mean. A file tells each of them once,
the engine with every span."""

SCHEMA: Final = pa.schema([("from_ns", pa.int64()), ("span_bytes", pa.int64())])

Numbers = npt.NDArray[np.int64]


def span_sizes(lake: Lake, files: Sequence[LiveFile]) -> pa.Table:
    """Return the mean size of spans from a time on, until the next row's time.

    Args:
        lake: The lake.
        files: Of `raw_spans`.

    Returns:
        `from_ns`, since 1970, rising; `span_bytes`, as they are in the engine, 0 where no file is
        of that time.
    """
    dated = [file for file in files if "received_ns" in file.ranges]
    with ThreadPoolExecutor() as pool:
        sizes = np.array([*pool.map(lambda file: _size(lake, file), dated)], np.int64)
    rows = np.array([file.rows for file in dated], np.int64)
    ranges = np.array([file.ranges["received_ns"] for file in dated], np.int64).reshape(-1, 2)
    times, order = np.unique(np.concatenate([ranges[:, 0], ranges[:, 1] + 1]), return_inverse=True)
    bytes_then = _running(sizes, order, len(times))
    rows_then = np.maximum(_running(rows, order, len(times)), 1)
    return pa.table([times, bytes_then // rows_then], schema=SCHEMA)


def _running(amounts: Numbers, order: Numbers, times: int) -> Numbers:
    """Return for each time the sum over the files that have begun by then and not ended."""
    changes = np.zeros(times, np.int64)
    np.add.at(changes, order, np.concatenate([amounts, -amounts]))
    return np.cumsum(changes)


def _size(lake: Lake, file: LiveFile) -> int:
    """Return the bytes that what the spans of a file say takes in the engine."""
    with lake.open_parquet(RAW_SPANS.name, file.path) as opened:
        groups = [opened.metadata.row_group(n) for n in range(opened.metadata.num_row_groups)]
        columns = [group.column(n) for group in groups for n in range(group.num_columns)]
        sized = [column for column in columns if column.path_in_schema.startswith(COLUMNS)]
        names: int = sum(each.num_values for each in sized if each.path_in_schema.endswith(NAMES))
        texts: int = sum(each.total_uncompressed_size for each in sized)
        return texts + NAME_BYTES * names
