"""Writes a first metric of a user's own, which runs unchanged and serves as a template."""

import re
from typing import Final

from tracegrade_scoring.errors import MetricInvalid
from tracegrade_scoring.metric_definition import NAME

_DRAFT: Final = """\
-- Calls that failed / tool calls, 0 to 1.
-- Metric: {name}   Version: 1   Range: 0..1   Better: less   Kind: share   Unit: calls
-- Reads: attempts, calls
WITH counted AS (
  SELECT
    attempt_id,
    count(*) AS calls,
    count_if(failed) AS failed,
    list(
      {{
        'trajectory_id': trajectory_id,
        'step_index': step_index,
        'weight': 1,
        'note': 'failed: ' || tool_name
      }}
      ORDER BY call_index
    ) FILTER (WHERE failed) AS evidence
  FROM calls
  GROUP BY attempt_id
)

SELECT
  attempts.attempt_id,
  counted.failed AS numerator,
  counted.calls AS denominator,
  if(counted.calls IS NULL, 'no_calls', NULL) AS nothing,
  counted.evidence
FROM attempts
LEFT JOIN counted USING (attempt_id);
"""


def drafted(name: str) -> str:
    """Return the text of a file that defines a metric of this name.

    Raises:
        MetricInvalid: No metric can have the name.
    """
    if not re.fullmatch(NAME, name):
        msg = (
            f"'{name}' cannot name a metric; use 3 to 60 small letters, digits and underscores, a "
            "letter first"
        )
        raise MetricInvalid(msg)
    return _DRAFT.format(name=name)
