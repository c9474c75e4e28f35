"""Recognises rows that have landed before, because a client that got no answer sent them again.

The content hash of a row covers its ids, resource and scope, so equal hashes are equal rows. Only
the last rows are remembered, a fixed number; what comes again later than that is for compaction.
"""

from collections import deque
from pathlib import Path
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

MAX_FILES = 200  # read at a start, 1 ms each; while busy that is some minutes of landing
HASH = "content_hash"
RESENT = "resent"


class LandedRows:
    """The content hashes of the rows that landed last."""

    def __init__(self, max_rows: int) -> None:
        self._max_rows = max_rows
        self._rows = 0
        self._hashes: deque[pa.Array] = deque()

    @classmethod
    def from_files(cls, files: list[str], max_rows: int) -> Self:
        """Return what a restarted process can know: the rows of the newest files."""
        landed = cls(max_rows)
        newest_last = sorted(map(Path, files), key=lambda file: file.stat().st_mtime_ns)
        for file in newest_last[: -MAX_FILES - 1 : -1]:
            if landed._rows >= max_rows:
                break
            landed._remember_older(pq.read_table(file, columns=[HASH])[HASH].combine_chunks())
        return landed

    def mark(self, rows: pa.Table) -> pa.Table:
        """Return the rows, `resent` where an equal one landed before; remember them all."""
        hashes = rows[HASH].combine_chunks()
        is_known = pc.is_in(hashes, value_set=pa.chunked_array(list(self._hashes), hashes.type))
        is_resent = pc.or_(is_known, _is_repeated(hashes))
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


def _is_repeated(hashes: pa.Array) -> pa.Array:
    """Return for each value whether an equal one stands before it."""
    places = pa.array(range(len(hashes)), pa.int64())
    firsts = (
        pa.table({"hash": hashes, "place": places}).group_by("hash").aggregate([("place", "min")])
    )
    return pc.invert(pc.is_in(places, value_set=firsts["place_min"]))
