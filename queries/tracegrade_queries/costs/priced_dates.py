"""Notes the dates with up-to-date costs, and the counts behind those costs.

Files never change, so the counts of a date stay true while its files and the prices are the same.
A date without such a note is counted again.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from tracegrade_lake import Lake
from tracegrade_lake.tables import is_known, rows_of
from tracegrade_queries.engine.pinned import PinnedLake
from tracegrade_queries.schema import PRICED_DATES, TRAJECTORIES


def inputs_digest(prices: Iterable[object], paths: Iterable[str]) -> str:
    """Return a digest of prices and of the files of a date."""
    inputs = [repr(sorted(map(repr, prices))), *sorted(paths)]
    return hashlib.sha256("\n".join(inputs).encode()).hexdigest()[:32]


def sources(pinned: PinnedLake, prices: Iterable[object]) -> dict[str, str]:
    """Return the current sources of the costs of each date of `trajectories`."""
    paths = defaultdict[str, list[str]](list)
    table = pinned.tables.get(TRAJECTORIES.name)
    for file in table.files if table else ():
        paths[str(file.date)].append(file.path)
    return {date: inputs_digest(prices, files) for date, files in paths.items()}


def priced_dates(lake: Lake) -> pa.Table:
    """Return the notes; none if another version made them."""
    schema = PRICED_DATES.arrow()
    if not is_known(lake, PRICED_DATES):
        return schema.empty_table()
    return rows_of(lake, PRICED_DATES).cast(schema)


def of_sources(noted: pa.Table, made: Iterable[str]) -> pa.Table:
    """Return the rows that are made from one of these."""
    return noted.filter(pc.is_in(noted["inputs_digest"], pa.array(list(made), pa.string())))


def with_sources(counts: pa.Table, made: Mapping[str, str]) -> pa.Table:
    """Return the counts in the form of a note.

    Args:
        counts: Rows of `cost_counts.sql`.
        made: The sources of the costs, by date.
    """
    digests = [made[str(date)] for date in counts["date"].to_pylist()]
    return counts.append_column("inputs_digest", pa.array(digests, pa.string())).cast(
        PRICED_DATES.arrow()
    )


def note_dates(lake: Lake, noted: pa.Table) -> None:
    """Let these rows be all that is noted."""
    if lake.columns(PRICED_DATES.name) not in (None, PRICED_DATES.arrow().names):
        lake.drop(PRICED_DATES.name)  # of another version
    lake.replace(PRICED_DATES, noted)
