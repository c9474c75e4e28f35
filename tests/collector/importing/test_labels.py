"""People's labels: dated verdicts on runs and steps; the newest counts."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracegrade_lake import VERDICTS, Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_queries.engine.relations import given as given_relation
from tracegrade_queries.engine.sql import unordered

from .test_verdicts import RUN, TRACE, Row, add, verdict

SPAN = "a" * 16
STEP: Row = {"subject": "step", "span_id": SPAN, "step_index": 14, "value": 0}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """An empty lake."""
    return Lake.create(tmp_path / "lake")


def label(minute: int = 0, **fields: Any) -> Row:
    """Return what ann said of a run at a minute."""
    return verdict(
        **{"source": "human:ann", "made_at": f"2026-10-01T09:{minute:02}:00Z", **fields}
    )


def values(lake: Lake, relation: str = "counted_verdicts") -> list[tuple[Any, ...]]:
    """Return who says what in a relation of verdicts."""
    with connect(lake) as con:
        return con.sql(f"SELECT source, subject, value FROM {relation} ORDER BY ALL").fetchall()


def test_a_label_keeps_its_step_tag_and_time(lake: Lake, tmp_path: Path) -> None:
    """Times of any zone stand in UTC; a step's span and run are kept, in JSON as in CSV."""
    worker = f"{TRACE}-{'3' * 16}"
    given_label = label(**STEP, step_trajectory_id=worker, tag="looped", evidence="thrice")
    given_label["made_at"] = "2026-10-01T11:30:00.000001+02:00"
    add(lake, tmp_path / "labels.jsonl", given_label)
    rows = tmp_path / "labels.csv"
    rows.write_text(
        "trajectory_id,subject,span_id,step_index,step_trajectory_id,value,source,tag,evidence,"
        "made_at,withdrawn\n"
        f"{RUN},step,{SPAN},14,{worker},0,human:ann,looped,thrice,2026-10-01T09:30:00.000001,\n"
    )
    imported, notes = add(lake, rows)

    assert (dict(imported.verdicts), notes) == ({"added": 0, "replaced": 0, "known": 1}, [])
    with connect(lake) as con:
        found = con.sql(
            "SELECT step_trajectory_id, span_id, step_index, tag, made_at::VARCHAR, withdrawn "
            "FROM verdicts"
        ).fetchall()
    assert found == [(worker, SPAN, 14, "looped", "2026-10-01 09:30:00.000001", None)]


def test_the_newest_of_one_person_counts_whenever_it_came(lake: Lake, tmp_path: Path) -> None:
    """What was said before is kept; other people's labels stand beside it."""
    file = tmp_path / "labels.jsonl"
    add(lake, file, label(2, value=0), label(1), label(1, source="human:bob"))
    add(lake, file, label(0))

    assert values(lake) == [("human:ann", "success", 0.0), ("human:bob", "success", 1.0)]
    assert len(values(lake, "verdicts")) == 4


def test_what_was_taken_back_does_not_count(lake: Lake, tmp_path: Path) -> None:
    """Nor does what the same person said before it; what they say later does."""
    file = tmp_path / "labels.jsonl"
    add(lake, file, label(0), label(1, value=None, withdrawn=True))
    assert values(lake) == []
    add(lake, file, label(2, value=0))
    assert values(lake) == [("human:ann", "success", 0.0)]


def test_steps_are_labeled_each_for_itself(lake: Lake, tmp_path: Path) -> None:
    """By their spans, or where only indexes are given by these."""
    by_index = {"subject": "step", "value": 0}
    add(
        lake, tmp_path / "labels.jsonl",
        label(0, **STEP), label(1, **{**STEP, "span_id": "b" * 16}),
        label(0, **by_index, step_index=3), label(1, **by_index, step_index=4),
        label(2, **{**STEP, "withdrawn": True}),
    )  # fmt: skip
    with connect(lake) as con:
        found = con.sql("SELECT span_id, step_index FROM counted_verdicts ORDER BY ALL").fetchall()
    assert found == [("b" * 16, 14), (None, 3), (None, 4)]


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"subject": "step"}, "a verdict on step must name its span_id or its step_index"),
        ({**STEP, "span_id": "xyz"}, "span_id must be 16 hex digits"),
        ({**STEP, "step_trajectory_id": TRACE}, "step_trajectory_id must be 32 hex digits, '-'"),
        ({"made_at": "yesterday"}, "made_at must be a time like 2026-10-01T09:30:00Z"),
    ],
)
def test_labels_that_cannot_be_read_are_refused(
    lake: Lake, tmp_path: Path, fields: Row, fault: str
) -> None:
    """The line is noted, and nothing of it stands in the lake."""
    imported, notes = add(lake, tmp_path / "labels.jsonl", {**label(), **fields})
    assert (imported.faults, len(notes)) == (1, 1)
    assert fault in notes[0]


def test_secrets_in_a_tag_are_redacted(lake: Lake, tmp_path: Path) -> None:
    """As those in a note are."""
    secret = "sk-" + "a1B2" * 12
    add(lake, tmp_path / "labels.jsonl", label(tag=secret, evidence=f"leaks {secret}"))
    with connect(lake) as con:
        found = con.sql("SELECT tag, evidence FROM verdicts").fetchall()
    assert secret not in str(found)
    assert len(found) == 1


def test_a_lake_of_before_takes_labels(lake: Lake, tmp_path: Path) -> None:
    """Rows that lack the columns have NULL there, and count."""
    young = {"step_trajectory_id", "span_id", "tag", "made_at", "withdrawn"}
    columns = tuple(column for column in VERDICTS.columns if column.name not in young)
    before = type(VERDICTS)(VERDICTS.name, VERDICTS.grain, columns)
    (old,) = [{"trajectory_id": RUN, "subject": "success", "value": 1.0, "source": "checker"}]
    add_old = pa.Table.from_pylist([old], before.arrow())
    date = pa.array(["2026-01-01"]).cast(pa.date32())
    lake.append(before, add_old.set_column(add_old.column_names.index("date"), "date", date))
    add(lake, tmp_path / "labels.jsonl", label(value=0, tag="looped"))

    assert values(lake) == [("checker", "success", 1.0), ("human:ann", "success", 0.0)]


KEYS = ("trajectory_id", "subject", "sub_goal", "step_index", "span_id", "question", "source")
SAID = st.fixed_dictionaries({
    "trajectory_id": st.sampled_from([RUN, TRACE]),
    "subject": st.sampled_from(["success", "step"]),
    "sub_goal": st.sampled_from([None, "pay"]),
    "step_index": st.sampled_from([None, 1, 2]),
    "span_id": st.sampled_from([None, SPAN, "b" * 16]),
    "question": st.none(),
    "source": st.sampled_from([None, "human:ann", "checker"]),
    "minute": st.sampled_from([None, 0, 1, 2]),
    "withdrawn": st.sampled_from([None, True]),
})  # fmt: skip


def counted(rows: Sequence[Row]) -> list[int]:
    """Return the places of the rows that count, by the words of docs/metrics.md, section 8.3."""

    def same(row: Row) -> tuple[Any, ...]:
        step = row["step_index"] if row["span_id"] is None else None
        return (*(row[key] for key in KEYS if key != "step_index"), step)

    def is_older(row: Row, than: Row) -> bool:
        return than["minute"] is not None and (
            row["minute"] is None or row["minute"] < than["minute"]
        )

    return [
        place
        for place, row in enumerate(rows)
        if not row["withdrawn"]
        and not any(same(row) == same(other) and is_older(row, other) for other in rows)
    ]


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(SAID, max_size=12))
def test_the_rows_that_count_are_those_of_the_definition(rows: Sequence[Row]) -> None:
    """Verdicts on the same subject count alike in any order, dated or not, taken back or not."""
    assert _counted_by_query(rows) == counted(rows)


def _counted_by_query(rows: Iterable[Row]) -> list[int]:
    day = 1_790_000_000_000_000
    made = [
        {
            **row,
            "value": float(place),
            "made_at": None if row["minute"] is None else day + row["minute"],
        }
        for place, row in enumerate(rows)
    ]
    table = pa.Table.from_pylist(made, VERDICTS.arrow())
    with duckdb.connect() as con, given_relation(con, "verdicts", table):
        found = con.sql(unordered("counted_verdicts"))
        return sorted(int(value) for (value,) in found.select("value").fetchall())
