"""Makes scores unknown, not 0, for runs that made calls which were not recorded.

Its own module because it is the same for all scorers, which see only calls that were recorded.
"""

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from tracegrade_scoring.metrics import METRICS
from tracegrade_scoring.schema import SCORE

OF_OWN_CALLS: Final = frozenset(
    {"tool_allowed_rate", "parameter_validity", "destructive_when_safe_existed"}
)
"""Metrics of the calls of each trajectory alone."""

_SHOWN: Final = frozenset({"loop_trap", "tool_hallucination"})
"""Metrics that stay 1 even with more calls."""

_OF_PLANS: Final = frozenset(name for name in METRICS if name.startswith("pq"))
_WITHOUT_CALLS: Final = frozenset(
    {"success", "ra_after_recovery", "ra_immediate", "late_ra"}
    | {name for name in METRICS if name.startswith("replans_source")}
)
"""Metrics that calls do not decide on."""

_NOTHING_SEEN: Final = pa.array(
    [
        "no_attempts",
        "no_attribution",
        "no_calls",
        "no_decision_point",
        "no_distinctive_result",
        "no_failed_call",
        "no_failure",
        "no_needed_call",
        "no_results",
        "no_steps",
    ]
)
"""Reasons that claim that there was no call of some kind."""

_ENDS: Final = pa.array(["at_success", "late"])
"""Labels of termination that say what the last needed call was."""

_UNKNOWN: Final = pa.scalar(
    {"status": "error", "reason": "content_missing", "source": "static"}, SCORE
)


def with_unrecorded_calls(
    name: str, scores: pa.DictionaryArray, unrecorded: pa.BooleanArray
) -> pa.DictionaryArray:
    """Return the scores of a metric; where calls decide, those of such runs are unknown.

    Args:
        name: Of the metric.
        scores: One of each run.
        unrecorded: Whether calls of the run were not recorded.
    """
    if name in _WITHOUT_CALLS or not pc.any(unrecorded).as_py():
        return scores
    cases = scores.dictionary
    others = pc.if_else(_is_claim(name, cases), _UNKNOWN, cases)
    indices = pc.add(scores.indices, pc.multiply(unrecorded.cast(pa.int32()), len(cases)))
    return pa.DictionaryArray.from_arrays(
        indices.cast(pa.int32()), pa.concat_arrays([cases, others])
    )


def _is_claim(name: str, cases: pa.StructArray) -> pa.BooleanArray:
    """Return which scores rest on there being no other calls than those recorded."""
    scored = pc.equal(cases.field("status"), "scored")
    if name in _OF_PLANS:
        return pc.and_(scored, pc.equal(cases.field("label"), "no_plan").fill_null(False))
    if name == "termination":
        scored = pc.and_(scored, pc.is_in(cases.field("label"), _ENDS))
    if name in _SHOWN:
        scored = pc.and_(scored, pc.not_equal(cases.field("value"), 1).fill_null(False))
    return pc.or_(scored, pc.is_in(cases.field("reason"), _NOTHING_SEEN))
