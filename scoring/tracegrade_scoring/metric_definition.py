"""The definition of a metric of a user's own, as a lake stores it."""

import hashlib
import json
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from tracegrade_lake import Column, Struct, Table
from tracegrade_lake.columns import DOUBLE, INTEGER, TEXT, TEXTS
from tracegrade_scoring.metrics import OWN_GROUP, Kind, Metric, Scale

API_VERSION: Final = 1
"""Version of the relations that own metrics read; it rises if one loses or changes a column."""

NAME: Final = r"^[a-z][a-z0-9_]{2,59}$"

Better: TypeAlias = Literal["less", "none", "more"]


class OwnMetric(BaseModel):
    """One metric that a user defines, in SQL or in Python."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(pattern=NAME)]
    version: str
    low: float | None
    """The least value there can be; None without a bound."""
    high: float | None
    """The greatest value there can be; None without a bound."""
    better: Better
    """Which way is better."""
    kind: Kind
    """How values add up."""
    unit: str
    """What is counted."""
    label: str
    """Its name for readers."""
    meaning: str
    """What it says, in a sentence."""
    reads: tuple[str, ...]
    """The relations that it reads."""
    sql: str | None = None
    """Its query; None of one in Python."""
    python: str | None = None
    """Entry point that names its function, as `package.module:function`; None of a query."""
    origin: str
    """The file or distribution that it comes from."""
    runs: bool = True
    """False: its query comes from the lake, which is not trusted."""

    @property
    def shown(self) -> Metric:
        """The metric as readers see it."""
        is_share = (self.low, self.high) == (0, 1)
        return Metric(
            name=self.name,
            label=self.label,
            group=OWN_GROUP,
            meaning=self.meaning,
            scale=Scale.SHARE if is_share else Scale.NUMBER,
            better={"less": -1, "none": 0, "more": 1}[self.better],
            unit=self.unit,
            definition=self.meaning,
            kind=self.kind,
        )

    @property
    def hash(self) -> str:
        """Sixteen hex digits that change when its values may."""
        names = ("name", "version", "low", "high", "kind", "sql", "python")
        text = json.dumps([API_VERSION, *(getattr(self, name) for name in names)])
        return hashlib.sha256(text.encode()).hexdigest()[:16]


METRIC_EVIDENCE: Final = Struct(
    "METRIC_EVIDENCE",
    "one step that a score of a user's own metric rests on",
    (
        Column("trajectory_id", TEXT, "Trajectory of the step."),
        Column("step_index", INTEGER, "The step in it."),
        Column("weight", DOUBLE, "Its weight in the score; NULL if the metric gives none."),
        Column("note", TEXT, "Note on what it shows; NULL if the metric gives none."),
    ),
)

METRIC_DEFINITIONS: Final = Table(
    name="metric_definitions",
    grain="one metric of a user's own",
    columns=(
        Column("position", INTEGER, "Place among them, from 0, by name."),
        Column("name", TEXT, "Its name: `metric` of its scores."),
        Column("version", TEXT, "As the user gives it."),
        Column("low", DOUBLE, "The least value; NULL without a bound."),
        Column("high", DOUBLE, "The greatest value; NULL without a bound."),
        Column("better", TEXT, "Direction that is better: less | none | more."),
        Column("kind", TEXT, "Way in which values add up: share | count | ratio | task_mean."),
        Column("unit", TEXT, "Name of what is counted."),
        Column("label", TEXT, "Its name for readers."),
        Column("meaning", TEXT, "Meaning of the metric."),
        Column("reads", TEXTS, "The relations that it reads."),
        Column("sql", TEXT, "Its query; NULL of one in Python, which is never kept."),
        Column("python", TEXT, "Place of its function; NULL of a query."),
        Column("origin", TEXT, "File or distribution that it came from."),
        Column("metric_hash", TEXT, "Changes when its values may: `metric_hash` of its scores."),
    ),
    partition_by=(),
)
"""The definitions that a lake was scored with last, without the built-in metrics."""
