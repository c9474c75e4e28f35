"""Tables, views and queries that scoring adds to a lake; entry point of `tracegrade.layers`."""

from typing import Final

from tracegrade_queries.engine.layers import Layer, RunOrder
from tracegrade_scoring.issue_marks import ISSUE_MARKS
from tracegrade_scoring.metric_definition import METRIC_DEFINITIONS
from tracegrade_scoring.noted_files import SCORED_FILES
from tracegrade_scoring.schema import SCORE_TABLES, TRAJECTORY_SCORES
from tracegrade_scoring.sql import QUERIES
from tracegrade_scoring.unscorable import UNSCORABLE_TRACES

RUN_ORDER: Final = RunOrder(application="score", last_table=TRAJECTORY_SCORES.name)
"""All score tables are read as one scoring run left them."""

SCORES: Final = Layer(
    (*SCORE_TABLES, SCORED_FILES, UNSCORABLE_TRACES, METRIC_DEFINITIONS, ISSUE_MARKS),
    QUERIES,
    views=(
        *("continued_runs", "issue_runs", "killed_runs", "observed_optima"),
        *("observed_step_scores", "scores", "superseded_runs", "attempt_usage"),
    ),
    run_order=RUN_ORDER,
    why_absent="no run of it was scored yet; run `tracegrade score --lake LAKE` on its traces",
)
