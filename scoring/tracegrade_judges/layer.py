"""Tables and queries that judges add to a lake; entry point of `tracegrade.layers`."""

from typing import Final

from tracegrade_judges.schema import JUDGE_CALLS, JUDGE_FLIP_RATES, JUDGE_SAMPLES, JUDGE_TWINS
from tracegrade_judges.sql import QUERIES
from tracegrade_queries.engine.layers import Layer
from tracegrade_scoring.calibrations import CORRECTED_RATES, VERDICT_CALIBRATIONS

JUDGES: Final = Layer(
    (
        JUDGE_CALLS,
        JUDGE_SAMPLES,
        JUDGE_TWINS,
        JUDGE_FLIP_RATES,
        VERDICT_CALIBRATIONS,
        CORRECTED_RATES,
    ),
    QUERIES,
    why_absent="no judge has been asked; run `tracegrade judge run FILE --lake LAKE` first",
)
