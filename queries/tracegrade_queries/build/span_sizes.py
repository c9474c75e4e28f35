"""Estimates the size of spans by their receipt time.

Some agents send their whole history with each call, in spans a hundred times as large as others.
So the number of spans does not determine the memory of a bucket. A file's footer states the size
of its attributes. Earlier versions wrote texts into a dictionary, so their footers count each text
once. The file of a single span is not looked up: the files from the time at which its trace began
are precise enough.
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
"""Prefix of the columns with the content of spans; all others together are small."""

NAMES: Final = "key_value.key"
"""Suffix of the columns that hold names of attributes."""

NAME_BYTES: Final = 40
"""Size of an attribute's name in the engine, with the offsets of name and value. Names in captured
and benchmarked spans have 21 to 38 letters on average. A file holds each name once; the engine
holds it for every span.
"""

SCHEMA: Final = pa.schema([("from_ns", pa.int64()), ("span_bytes", pa.int64())])

Numbers = npt.NDArray[np.int64]


def span_sizes(lake: Lake, files: Sequence[LiveFile]) -> pa.Table:
    """Return the mean size of spans from a time on, until the next row's time.

    Args:
        lake: The lake.
        files: Of `raw_spans`.

    Returns:
        `from_ns`, since 1970, rising; `span_bytes`, the size in the engine, 0 if no file is from
        that time.
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
    """Return for each time the sum over the files that cover it."""
    changes = np.zeros(times, np.int64)
    np.add.at(changes, order, np.concatenate([amounts, -amounts]))
    return np.cumsum(changes)


def _size(lake: Lake, file: LiveFile) -> int:
    """Return the bytes that the content of a file's spans takes in the engine."""
    with lake.open_parquet(RAW_SPANS.name, file.path) as opened:
        groups = [opened.metadata.row_group(n) for n in range(opened.metadata.num_row_groups)]
        columns = [group.column(n) for group in groups for n in range(group.num_columns)]
        sized = [column for column in columns if column.path_in_schema.startswith(COLUMNS)]
        names: int = sum(each.num_values for each in sized if each.path_in_schema.endswith(NAMES))
        texts: int = sum(each.total_uncompressed_size for each in sized)
        return texts + NAME_BYTES * names
