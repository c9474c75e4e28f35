"""Rows of several dates are staged as one file for each, in any order and form."""

from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tracegrade_lake import Column, Lake, Table
from tracegrade_lake.columns import TEXT
from tracegrade_queries.engine.staged import stage_rows

SCORE = pa.struct({"value": pa.float64(), "label": TEXT})
MADE = Table(
    "made",
    "one row",
    (
        Column("id", TEXT, "Its name."),
        Column("score", SCORE, "A score."),
        Column("date", pa.date32(), "Its date."),
    ),
)
FIRST, SECOND = date(2026, 11, 1), date(2026, 11, 2)


def chunk(ids: str, numbers: list[int], dates: list[date]) -> pa.Table:
    """Return a row for each letter; scores are numbers of a dictionary of two."""
    scores = pa.array([{"value": 1.0, "label": "a"}, {"value": None, "label": None}], SCORE)
    indices = pa.array(numbers, pa.int32())
    return pa.table(
        {"score": pa.DictionaryArray.from_arrays(indices, scores), "date": dates, "id": [*ids]}
    )


def test_each_date_has_its_file_and_each_row_stands_in_one(tmp_path: Path) -> None:
    """Dates alternate, and the rows come in two chunks with dictionaries of their own."""
    lake = Lake.create(tmp_path / "lake")
    rows = pa.concat_tables(
        [chunk("abc", [0, 1, 0], [SECOND, FIRST, SECOND]), chunk("de", [1, 0], [FIRST, SECOND])]
    )

    files = stage_rows(lake, MADE, rows)

    found = {file.partition["date"]: pq.read_table(file.path).to_pylist() for file in files}
    a, none = {"value": 1.0, "label": "a"}, {"value": None, "label": None}
    assert found == {
        "2026-11-01": [{"id": "b", "score": none}, {"id": "d", "score": none}],
        "2026-11-02": [{"id": name, "score": a} for name in "ace"],
    }


def test_no_rows_are_no_files(tmp_path: Path) -> None:
    """A bucket may have no evidence."""
    lake = Lake.create(tmp_path / "lake")

    assert stage_rows(lake, MADE, MADE.arrow().empty_table()) == []
