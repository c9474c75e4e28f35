"""Rewrites rows of the lake into new files that replace old ones.

Each new file's footer names the files that it replaces, so that a log can be rebuilt from the
files alone (`log_rebuild.py`). The files of one rewrite have an id, a number and a mark on the
last. The first lists all files that they replace, directly or through earlier rewrites.
"""

import base64
import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from tracegrade_lake.files import make_folder, private_opener, sync_data, sync_folder
from tracegrade_lake.staging import FileStats, parquet_options
from tracegrade_lake.storage import StagedFile

LINEAGE = b"tracegrade.replaces"
ERASED_FROM = b"tracegrade.erased_from"
"""Footer key of a JSON list of the removed files that had these rows, in sequence."""


class Lineage(NamedTuple):
    """The files that a rewritten file replaces."""

    rewrite: str
    """Id of the rewrite, equal in all its files."""

    part: int
    """Number of the file among them, from 0."""

    is_last: bool
    names: frozenset[str]
    """Files that all of them replace, as paths inside the table; only in part 0."""


def lineage_of(file: pq.ParquetFile) -> Lineage | None:
    """Return the files that a file replaces; None if it was not rewritten."""
    text = (file.metadata.metadata or {}).get(LINEAGE)
    if text is None:
        return None
    fields = json.loads(text)
    names = json.loads(zlib.decompress(base64.b64decode(fields["names"])))
    return Lineage(fields["rewrite"], fields["part"], fields["is_last"], frozenset(names))


def rewrite_id(names: Iterable[str], purpose: str) -> str:
    """Return a rewrite's id, the same for the same files and purpose, so repeats replace."""
    return hashlib.blake2b(
        "\n".join([purpose, *sorted(names)]).encode(), digest_size=8
    ).hexdigest()


class Rewriter:
    """Writes sorted tables to synced files of about a target size, staged for a commit."""

    def __init__(
        self,
        stage_folder: Path,
        partition: Mapping[str, str],
        name: str,
        replaces: frozenset[str],
        target_bytes: int,
        most_rows: int,
    ) -> None:
        """Stage files `<name>-<part>.parquet` of one partition, which replace others.

        Args:
            stage_folder: The table's stage folder.
            partition: Value by column; empty for a table without partitions.
            name: Prefix of the files' names; ends in the id of the rewrite.
            replaces: All files that they replace, including files that those replaced.
            target_bytes: Size after which a new file begins.
            most_rows: All files together have so many rows, or fewer.
        """
        make_folder(stage_folder)
        self._folder = stage_folder
        self._partition = dict(partition)
        self._name = name
        self._replaces = replaces
        self._target_bytes = target_bytes
        self._most_rows = most_rows
        self._open: _Part | None = None
        self.staged: list[StagedFile] = []

    def write(self, rows: pa.Table) -> None:
        """Append rows as one row group."""
        if self._open and self._open.bytes() >= self._target_bytes:
            self._finish_part(is_last=False)
        if self._open is None:
            self._open = _Part(self._path(), rows.schema, self._most_rows)
        self._open.write(rows)

    def finish(self) -> list[StagedFile]:
        """Return all files, synced; none if no row was written."""
        if self._open:
            self._finish_part(is_last=True)
        sync_folder(self._folder)
        return self.staged

    def discard(self) -> None:
        """Remove the written files."""
        if self._open:
            self._open.abandon()
            self._open = None
        for file in self.staged:
            file.path.unlink(missing_ok=True)

    def _path(self) -> Path:
        folders = [f"{column}={value}" for column, value in self._partition.items()]
        return self._folder / "-".join([*folders, self._file_name()])

    def _file_name(self) -> str:
        return f"{self._name}-{len(self.staged):04d}.parquet"

    def _finish_part(self, *, is_last: bool) -> None:
        if self._open is None:
            return
        part = self._open
        names = sorted(self._replaces) if not self.staged else []
        packed = base64.b64encode(zlib.compress(json.dumps(names).encode())).decode()
        lineage = {
            "rewrite": self._name,
            "part": len(self.staged),
            "is_last": is_last,
            "names": packed,
        }
        size = part.finish({LINEAGE.decode(): json.dumps(lineage)})
        self._open = None
        folders = [f"{column}={value}" for column, value in self._partition.items()]
        name = "/".join([*folders, self._file_name()])
        self.staged.append(
            StagedFile(part.path, name, self._partition, size, part.stats.rows, part.stats.text())
        )


class _Part:
    """One file that is being written."""

    def __init__(self, path: Path, schema: pa.Schema, most_rows: int) -> None:
        self.path = path
        self.stats = FileStats()
        self._file: BinaryIO = open(path, "wb", opener=private_opener)  # noqa: SIM115 - see finish
        options = parquet_options(schema, most_rows)
        self._writer = pq.ParquetWriter(self._file, schema, **options)

    def write(self, rows: pa.Table) -> None:
        self._writer.write_table(rows, row_group_size=rows.num_rows)
        self.stats.add(rows)

    def bytes(self) -> int:
        return self._file.tell()

    def finish(self, metadata: Mapping[str, str]) -> int:
        self._writer.add_key_value_metadata(metadata)
        self._writer.close()
        self._file.flush()
        sync_data(self._file.fileno())
        size = self._file.tell()
        self._file.close()
        return size

    def abandon(self) -> None:
        self._writer.close()
        self._file.close()
        self.path.unlink(missing_ok=True)
