"""The table that watching writes: the alerts of a lake."""

from typing import Final

from tracegrade_lake import Column, Table
from tracegrade_lake.columns import TEXT, TIMESTAMP

ALERTS: Final = Table(
    name="alerts",
    grain="one change that a rule of `watch.yaml` found, and its state",
    columns=(
        Column(
            "alert_id",
            TEXT,
            "12 hex digits: hash of rule, agent_name, run_mode, metric, base, candidate, "
            "dimension and dimension_value.",
        ),
        Column("rule", TEXT, "Id of the rule."),
        Column("agent_name", TEXT, "Agent; NULL if the rule is about the whole lake."),
        Column("run_mode", TEXT, "Run mode; NULL if the rule is about the whole lake."),
        Column(
            "metric", TEXT, "Metric, failure mode or key of an issue; NULL if the rule has none."
        ),
        Column("base", TEXT, "Release that the candidate is compared with; NULL if none."),
        Column("candidate", TEXT, "Release that changed; NULL if the rule is about none."),
        Column("dimension", TEXT, "Dimension of the rule; NULL if it has none."),
        Column("dimension_value", TEXT, "Value of the dimension; NULL if the rule has none."),
        Column("state", TEXT, "firing | acknowledged (firing, and a person knows) | resolved."),
        Column(
            "first_run",
            TIMESTAMP,
            "Time of the newest received run when the alert first fired, UTC.",
        ),
        Column(
            "last_run",
            TIMESTAMP,
            "Time of the newest received run when the alert last changed, UTC.",
        ),
        Column("evidence", TEXT, "JSON: why it fires, with counts of both sides."),
        Column("notified", TEXT, "JSON: by destination, what it was sent."),
    ),
    partition_by=(),
)
