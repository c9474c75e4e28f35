"""Tables on how far to trust sources of verdicts, as measured and stored in the lake.

Declared here because reports and comparisons read it; they need not know who measures.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from tracegrade_lake import Column, Lake, Table
from tracegrade_lake.columns import BIGINT, BOOLEAN, DOUBLE, TEXT, TIMESTAMP
from tracegrade_lake.tables import rows_of

_SOURCE: Final = Column("source", TEXT, "Source of the verdicts, as `verdicts.source`.")
_CALIBRATED: Final = Column(
    "calibrated", BOOLEAN, "Whether enough labels of people agree well enough with it."
)
_TIME: Final = Column("calibrated_at", TIMESTAMP, "UTC.")


def _share(name: str, meaning: str) -> tuple[Column, Column, Column]:
    return (
        Column(name, DOUBLE, f"{meaning} NULL if it cannot be known."),
        Column(f"{name}_low", DOUBLE, "Lower end of its 95 % interval; NULL if there is none."),
        Column(f"{name}_high", DOUBLE, "Upper end."),
    )


VERDICT_CALIBRATIONS: Final = Table(
    name="verdict_calibrations",
    grain="one source of verdicts, compared with labels of people on a random sample of them",
    columns=(
        _SOURCE,
        _CALIBRATED,
        Column(
            "reason",
            TEXT,
            "Why not: too_few_labels | too_few_of_one_answer | no_interval | low_agreement; NULL "
            "if it is.",
        ),
        Column("labels", BIGINT, "Verdicts of the sample that people labeled."),
        Column("undecided", BIGINT, "Verdicts of the sample on which people are evenly split."),
        Column("both_yes", BIGINT, "The source says yes, and so do people."),
        Column("only_source_yes", BIGINT, "The source says yes, people no."),
        Column("only_people_yes", BIGINT, "The source says no, people yes."),
        Column("both_no", BIGINT, "Both say no."),
        *_share("agreement", "Share of labels that say the same, in [0, 1]."),
        *_share("kappa", "Cohen's kappa, at most 1."),
        *_share("ac1", "Gwet's AC1, at most 1."),
        *_share("true_yes_rate", "Share of what people say yes to that it says yes to."),
        *_share("true_no_rate", "Share of what people say no to that it says no to."),
        Column(
            "labeled_by_two",
            BIGINT,
            "Verdicts that two people labeled.",
            former="labelled_twice",
        ),
        Column("people_kappa", DOUBLE, "Cohen's kappa of these two; NULL if not known."),
        _TIME,
    ),
    partition_by=(),
)

CORRECTED_RATES: Final = Table(
    name="corrected_rates",
    grain="how often a source says yes of a release of an agent, and how often people would",
    columns=(
        _SOURCE,
        Column("subject", TEXT, "success | sub_goal."),
        Column("agent_name", TEXT, "NULL if none is named."),
        Column("release", TEXT, "NULL if not sent."),
        Column("judged", BIGINT, "Verdicts that say yes or no; at least 1."),
        Column("judged_yes", BIGINT, "Verdicts of these that say yes."),
        Column("judged_rate", DOUBLE, "judged_yes / judged, in [0, 1]."),
        *_share("corrected_rate", "Share that people would say yes to, in [0, 1]."),
        Column("labels", BIGINT, "Verdicts on the release that people labeled."),
        *_share("ppi_rate", "The same by PPI++, from these labels alone, in [0, 1]."),
        _CALIBRATED,
        _TIME,
    ),
    partition_by=(),
)


def put_source_rows(
    lake: Lake, table: Table, source: str, rows: Sequence[Mapping[str, Any]]
) -> None:
    """Replace the rows of one source in a table, and leave the rows of others unchanged."""
    others = [row for row in source_rows(lake, table) if row["source"] != source]
    found = pa.Table.from_pylist([*others, *map(dict, rows)], table.arrow())
    lake.replace(table, found)


def source_rows(lake: Lake, table: Table) -> list[dict[str, Any]]:
    """Return the rows of one of these tables; none if nothing was measured."""
    rows: list[dict[str, Any]] = rows_of(lake, table).to_pylist()
    return rows
