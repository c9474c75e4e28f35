"""Marks rows that were sent twice and that the lander did not recognize, among sorted rows.

Among equal unmarked rows, the first by (time received, collector, sequence number) stays unmarked.
A mark is never taken back: the copy that counts may have another date.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracegrade_lake.schema import RAW_LOGS, RAW_SPANS

RESENT = "resent"
RECEIVED = ("received_ns", "collector_id", "wal_seq")
"""Columns that order equal rows; they also identify the request that brought a row."""


class Identity(NamedTuple):
    """Identity of a row: rows equal in these columns were sent twice."""

    columns: tuple[str, ...]
    within_request: bool
    """Whether equal rows of one request are one; log records have no id, so they are two."""


IDENTITIES = {
    RAW_SPANS.name: Identity(("trace_id", "span_id", "content_hash"), within_request=True),
    RAW_LOGS.name: Identity(("trace_id", "span_id", "content_hash"), within_request=False),
}


def mark_resent(rows: pa.Table, identity: Identity) -> pa.Table:
    """Return the rows, `resent` where an equal unmarked row comes before.

    Args:
        rows: All rows of each identity that they hold, side by side, by `RECEIVED`.
        identity: When two are one.
    """
    unmarked = np.flatnonzero(~_booleans(rows[RESENT]))
    candidates = rows.select([*identity.columns, *RECEIVED]).take(pa.array(unmarked))
    repeats = same_as_previous(candidates, identity.columns)
    if not identity.within_request:
        first_of = np.maximum.accumulate(np.where(repeats, 0, np.arange(len(repeats))))
        firsts = candidates.select(RECEIVED).take(pa.array(first_of))
        repeats &= ~_equal(candidates, firsts, RECEIVED)
    marks = _booleans(rows[RESENT]).copy()
    marks[unmarked[repeats]] = True
    return rows.set_column(rows.schema.get_field_index(RESENT), RESENT, pa.array(marks))


def same_as_previous(rows: pa.Table, columns: Sequence[str]) -> np.ndarray:
    """Return for each row whether it equals the one before in these columns; NULL equals NULL."""
    if rows.num_rows == 0:
        return np.zeros(0, bool)
    same = _equal(rows.slice(1), rows.slice(0, rows.num_rows - 1), columns)
    return np.concatenate([[False], same])


def _equal(left: pa.Table, right: pa.Table, columns: Sequence[str]) -> np.ndarray:
    same = np.ones(left.num_rows, bool)
    for name in columns:
        one, other = left[name], right[name]
        equal = pc.fill_null(pc.equal(one, other), fill_value=False)
        same &= _booleans(pc.or_(equal, pc.and_(pc.is_null(one), pc.is_null(other))))
    return same


def _booleans(values: pa.ChunkedArray) -> np.ndarray:
    return np.asarray(pc.fill_null(values, fill_value=False).combine_chunks(), dtype=bool)
