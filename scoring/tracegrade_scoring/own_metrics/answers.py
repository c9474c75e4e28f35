"""The columns in which a metric of a user's own answers: one row for each attempt."""

from collections.abc import Mapping
from typing import Final

import pyarrow as pa

from tracegrade_lake.columns import DOUBLE, TEXT, list_of
from tracegrade_queries.engine.table_views import duckdb_type
from tracegrade_scoring.metric_definition import METRIC_EVIDENCE

COLUMNS: Final = pa.schema(
    [
        pa.field("attempt_id", TEXT),
        pa.field("numerator", DOUBLE),
        pa.field("denominator", DOUBLE),
        pa.field("nothing", TEXT),
        pa.field("fault", TEXT),
        pa.field("label", TEXT),
        pa.field("evidence", list_of(METRIC_EVIDENCE.type)),
    ]
)
"""The columns of an answer, in order."""

TYPES: Final[Mapping[str, str]] = {each.name: duckdb_type(each.type) for each in COLUMNS}
"""The same as types of the engine."""
