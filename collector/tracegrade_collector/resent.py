"""Recognises rows that have landed before, because a client that got no answer sent them again.

The content hash of a row covers its ids, resource and scope, so equal hashes are equal rows. Only
the last rows are remembered, a fixed number; what comes again later than that is for compaction.
"""

import itertools
from collections import deque
from collections.abc import Callable, Iterable

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

MAX_FILES = 200  # read at a start, 1 ms each; while busy that is some minutes of landing
HASH = "content_hash"
RESENT = "resent"


class LandedRows:
    """The content hashes of the rows that landed last."""

    def __init__(self, max_rows: int, order: Callable[[pa.Table], pa.Array]) -> None:
        """Remember so many rows; of equal new ones, all but the first in `order` are resent."""
        self._max_rows = max_rows
        self._order = order
        self._rows = 0
        self._hashes: deque[pa.Array] = deque()

    def recall(self, files: Iterable[pq.ParquetFile]) -> None:
        """Remember the rows of a table's newest files, as a process that has just started.

        Args:
            files: Newest first; no more are taken than needed.
        """
        for file in itertools.islice(files, MAX_FILES):
            self._remember_older(file.read(columns=[HASH])[HASH].combine_chunks())
            if self._rows >= self._max_rows:
                break

    def mark(self, rows: pa.Table) -> pa.Table:
        """Return the rows, `resent` where an equal one landed before; remember them all."""
        hashes = rows[HASH].combine_chunks()
        is_known = pc.is_in(hashes, value_set=pa.chunked_array(list(self._hashes), hashes.type))
        is_resent = pc.or_(is_known, _is_repeated(hashes, self._order(rows)))
        self._remember(hashes)
        return rows.set_column(rows.schema.get_field_index(RESENT), RESENT, is_resent)

    def _remember(self, hashes: pa.Array) -> None:
        self._hashes.append(hashes)
        self._rows += len(hashes)
        while self._rows - len(self._hashes[0]) >= self._max_rows:
            self._rows -= len(self._hashes.popleft())

    def _remember_older(self, hashes: pa.Array) -> None:
        self._hashes.appendleft(hashes)
        self._rows += len(hashes)


def place(rows: pa.Table) -> pa.Array:
    """Return where each row stands: a span has one identity, so a second equal one is no other."""
    return pa.arange(0, rows.num_rows)


def request(rows: pa.Table) -> pa.Array:
    """Return the request each row came in: equal log records in one request are two events."""
    return rows["wal_seq"].combine_chunks()


def _is_repeated(hashes: pa.Array, order: pa.Array) -> pa.Array:
    """Return for each value whether an equal one comes before it in the order."""
    codes = hashes.dictionary_encode().indices
    by_code = pa.table({"code": codes, "order": order}).group_by("code")
    firsts = by_code.aggregate([("order", "min")]).sort_by("code")["order_min"]
    return pc.greater(order, firsts.take(codes).combine_chunks())
