"""Recognizes rows that have landed before, because a client that got no answer sent them again.

A row's content hash covers its ids, resource and scope, so equal hashes are equal rows. Only a
fixed number of recent rows is remembered; compaction finds later copies. All 128 bits of a hash
are compared, so different rows are never confused.
"""

import itertools
from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tracegrade_collector.rows.content_hash import HASH_BYTES

MAX_FILES = 200  # read at a start, 1 ms each; while busy that is some minutes of landing
BLOCKS = 4  # the oldest is forgotten as a whole; with more of them each row is looked for in more
HASH = "content_hash"
RESENT = "resent"

Halves: TypeAlias = npt.NDArray[np.uint64]
Flags: TypeAlias = npt.NDArray[np.bool_]


class Hashes(NamedTuple):
    """Some hashes, in rising order."""

    high: Halves
    low: Halves

    def among(self, others: "Hashes") -> Flags:
        """Return for each hash whether the others hold it, too.

        Two others with equal high halves would hide one another: 1 in 10^7 for a million rows.
        """
        if not len(others.high):
            return np.zeros(len(self.high), np.bool_)
        at = np.minimum(np.searchsorted(others.high, self.high), len(others.high) - 1)
        found: Flags = (others.high[at] == self.high) & (others.low[at] == self.low)
        return found

    def merged(self, others: "Hashes") -> "Hashes":
        """Return the hashes of both."""
        at = np.searchsorted(self.high, others.high)
        return Hashes(np.insert(self.high, at, others.high), np.insert(self.low, at, others.low))


NONE = Hashes(np.empty(0, np.uint64), np.empty(0, np.uint64))


class LandedRows:
    """The content hashes of the rows that landed last."""

    def __init__(self, max_rows: int, order: Callable[[pa.Table], pa.Array]) -> None:
        """Remember so many rows; of equal new ones, all but the first in `order` are resent."""
        self._max_rows = max_rows
        self._block_rows = -(-max_rows // BLOCKS)
        self._order = order
        self._blocks = deque([NONE])
        self._rows = 0

    def recall(self, files: Iterable[pq.ParquetFile]) -> None:
        """Remember the rows of a table's newest files, as a process that has just started.

        Args:
            files: Newest first; no more are taken than needed.
        """
        newest_first: list[pa.Array] = []
        for file in itertools.islice(files, MAX_FILES):
            newest_first += reversed(file.read(columns=[HASH])[HASH].chunks)
            if sum(map(len, newest_first)) >= self._max_rows:
                break
        for hashes in reversed(newest_first):
            self._remember(_sorted(hashes)[0])

    def mark(self, rows: pa.Table) -> pa.Table:
        """Return the rows, `resent` where an equal one landed before; remember them all."""
        texts = rows[HASH].combine_chunks()
        hashes, places = _sorted(texts)
        known = np.logical_or.reduce([hashes.among(block) for block in self._blocks])
        is_known = np.empty_like(known)
        is_known[places] = known
        is_resent = pa.array(is_known)
        if _has_equal(hashes):
            is_resent = pc.or_(is_resent, _is_repeated(texts, self._order(rows)))
        self._remember(Hashes(hashes.high[~known], hashes.low[~known]))
        return rows.set_column(rows.schema.get_field_index(RESENT), RESENT, is_resent)

    def _remember(self, hashes: Hashes) -> None:
        if len(self._blocks[-1].high) >= self._block_rows:
            self._blocks.append(NONE)
        self._blocks[-1] = self._blocks[-1].merged(hashes)
        self._rows += len(hashes.high)
        while self._rows - len(self._blocks[0].high) >= self._max_rows:
            self._rows -= len(self._blocks.popleft().high)


def row_positions(rows: pa.Table) -> pa.Array:
    """Return each row's position: of equal spans all but the first are resent."""
    return pa.arange(0, rows.num_rows)


def row_requests(rows: pa.Table) -> pa.Array:
    """Return each row's request: equal log records of one request are separate events."""
    return rows["wal_seq"].combine_chunks()


def _sorted(texts: pa.StringArray) -> tuple[Hashes, npt.NDArray[np.intp]]:
    """Return hashes from their hex digits, and where each stood."""
    digits = texts.cast(pa.binary()).cast(pa.binary(2 * HASH_BYTES))
    start, size = digits.offset * 2 * HASH_BYTES, len(digits) * 2 * HASH_BYTES
    hexed = digits.buffers()[1].slice(start, size).to_pybytes()
    halves = np.frombuffer(bytes.fromhex(hexed.decode()), np.uint64).reshape(-1, 2)
    places = np.argsort(halves[:, 0])
    return Hashes(halves[places, 0], halves[places, 1]), places


def _has_equal(hashes: Hashes) -> bool:
    return bool((hashes.high[1:] == hashes.high[:-1]).any())


def _is_repeated(hashes: pa.Array, order: pa.Array) -> pa.Array:
    """Return for each value whether an equal one comes before it in the order."""
    codes = hashes.dictionary_encode().indices
    by_code = pa.table({"code": codes, "order": order}).group_by("code")
    firsts = by_code.aggregate([("order", "min")]).sort_by("code")["order_min"]
    return pc.greater(order, firsts.take(codes).combine_chunks())
