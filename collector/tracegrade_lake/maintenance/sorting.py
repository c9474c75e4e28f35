"""Sorts more rows than fit into memory: splits them into files by key range, then sorts each.

Rows that fit are sorted at once. Other rows are split, by the keys of a sample, into at most
`MAX_PARTS` files on the local disk. A file that is still too large is split again, so memory is
bounded for any total. Rows with equal keys are always in one part.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, count
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracegrade_lake.files import private_opener

CHUNK_BYTES = 16 << 20
"""Bytes of rows sorted in memory. Sorting copies them, and writing copies them again."""

MAX_PARTS = 64
FILL = 0.5
"""Planned fill of a part: ranges of a sample do not hold equal amounts."""

SAMPLED = 64
"""Rows of a part per sampled row, in case it must be split again."""

_RANK = "rank"
_SPILL_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


class Sorter:
    """Sorts tables of one schema by their keys, NULL last, and within equal keys by more."""

    def __init__(
        self, keys: Sequence[str], ties: Sequence[str], spill: Path, chunk_bytes: int = CHUNK_BYTES
    ) -> None:
        """Sort by keys, then ties; rows that do not fit are kept in the folder `spill`."""
        self._keys = list(keys)
        self._order = [(name, "ascending") for name in (*keys, *ties)]
        self._spill = spill
        self._chunk_bytes = chunk_bytes
        self._numbers = count()

    def sort(self, tables: Iterator[pa.Table], sample: pa.Table, rows: int) -> Iterator[pa.Table]:
        """Yield all rows in order, in tables of at most about `chunk_bytes`.

        Args:
            tables: Each much smaller than that.
            sample: Keys of some of the rows, from all over.
            rows: How many there are, about.
        """
        gathered: list[pa.Table] = []
        gathered_bytes, limit = 0, self._chunk_bytes
        for table in tables:
            gathered.append(table)
            gathered_bytes += table.nbytes
            if gathered_bytes > limit:
                times = max(rows / sum(each.num_rows for each in gathered), 1)
                bounds = self._bounds(
                    sample, int(gathered_bytes * times / (FILL * self._chunk_bytes))
                )
                if bounds.num_rows:
                    first, gathered = iter(gathered), []  # so that they can be freed
                    yield from self._sort_apart(chain(first, tables), bounds)
                    return
                limit = 2 * gathered_bytes  # all keys are equal, so there is nothing to split by
        if gathered:
            yield self._sorted(pa.concat_tables(gathered))

    def _sorted(self, rows: pa.Table) -> pa.Table:
        rows = rows.combine_chunks()
        return rows.take(pc.sort_indices(rows, sort_keys=self._order))

    def _bounds(self, sample: pa.Table, parts: int) -> pa.Table:
        """Return keys that split the rows into about so many parts, ascending, each once."""
        keys = sample.group_by(self._keys, use_threads=False).aggregate([("__n", "sum")])
        keys = keys.sort_by([(key, "ascending") for key in self._keys])
        ends = np.cumsum(np.asarray(keys["__n_sum"]))
        parts = min(max(parts, 2), MAX_PARTS)
        ranks = ends[-1] * np.arange(1, parts) / parts if len(ends) else np.zeros(0)
        chosen = np.unique(np.searchsorted(ends, ranks, side="right"))
        chosen = chosen[(chosen > 0) & (chosen < len(ends))]  # nothing lies before the first
        return keys.select(self._keys).take(pa.array(chosen))

    def _sort_apart(self, tables: Iterator[pa.Table], bounds: pa.Table) -> Iterator[pa.Table]:
        parts = [self._part() for _ in range(bounds.num_rows + 1)]
        for rows in _gathered(tables, self._chunk_bytes // 2):  # fewer, larger batches in parts
            for part, its_rows in zip(parts, self._split(rows, bounds), strict=True):
                part.add(its_rows)
        for part in parts:
            part.close()
        for part in parts:
            yield from self.sort(part.read(), part.sample(), part.rows)
            part.remove()

    def _part(self) -> "_Part":
        return _Part(self._spill / f"{next(self._numbers)}.arrow", self._keys)

    def _split(self, table: pa.Table, bounds: pa.Table) -> Iterator[pa.Table]:
        """Yield the rows before the first bound, those up to the next, and so on."""
        ranked = pa.concat_tables(
            [
                table.select(self._keys).append_column(_RANK, pa.repeat(1, table.num_rows)),
                bounds.append_column(_RANK, pa.repeat(0, bounds.num_rows)),  # before its equals
            ]
        )
        keys = [(key, "ascending") for key in (*self._keys, _RANK)]
        order = np.asarray(pc.sort_indices(ranked, sort_keys=keys))
        is_row = order < table.num_rows
        ends = np.cumsum(is_row)[~is_row]
        table = table.take(pa.array(order[is_row]))
        for start, end in zip([0, *ends], [*ends, table.num_rows], strict=True):
            yield table.slice(start, end - start)


def _gathered(tables: Iterator[pa.Table], size: int) -> Iterator[pa.Table]:
    """Yield the rows of the tables in tables of a least size, except the last."""
    gathered: list[pa.Table] = []
    gathered_bytes = 0
    for table in tables:
        gathered.append(table)
        gathered_bytes += table.nbytes
        if gathered_bytes >= size:
            yield pa.concat_tables(gathered).combine_chunks()
            gathered, gathered_bytes = [], 0
    if gathered:
        yield pa.concat_tables(gathered).combine_chunks()


class _Part:
    """Rows of one range of keys, in a file."""

    def __init__(self, path: Path, keys: Sequence[str]) -> None:
        self._path = path
        self._keys = list(keys)
        self._file = open(path, "wb", opener=private_opener)  # noqa: SIM115 - many at a time
        self._writer: pa.ipc.RecordBatchStreamWriter | None = None
        self._sample: list[pa.Table] = []
        self.rows = 0

    def add(self, rows: pa.Table) -> None:
        """Append some rows."""
        if not rows.num_rows:
            return
        if self._writer is None:
            self._writer = pa.ipc.new_stream(self._file, rows.schema, options=_SPILL_OPTIONS)
        self._writer.write_table(rows)
        self._sample.append(sample_of(rows, self._keys, self.rows, SAMPLED))
        self.rows += rows.num_rows

    def close(self) -> None:
        """Finish the file."""
        if self._writer:
            self._writer.close()
        self._file.close()

    def sample(self) -> pa.Table:
        """Return keys of some of the rows."""
        sampled = [each for each in self._sample if each.num_rows]
        return pa.concat_tables(sampled) if sampled else pa.table({})

    def read(self) -> Iterator[pa.Table]:
        """Yield the rows as they were added."""
        if not self.rows:
            return
        with pa.OSFile(str(self._path)) as file, pa.ipc.open_stream(file) as reader:
            for batch in reader:
                yield pa.Table.from_batches([batch])

    def remove(self) -> None:
        """Remove the file."""
        self._path.unlink()


def sample_of(rows: pa.Table, keys: Sequence[str], before: int, every: int) -> pa.Table:
    """Return the keys of one of so many rows, copied, each counted once; `before` rows went."""
    taken = pa.array(np.arange(-before % every, rows.num_rows, every))
    sampled = rows.select(list(keys)).take(taken)
    return sampled.append_column("__n", pa.repeat(1, sampled.num_rows))
