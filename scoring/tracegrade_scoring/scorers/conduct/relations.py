"""The results of repeated calls in canonical form; SQL does the rest of conduct.

Source: [Harness], "Trajectory scoring"; docs/metrics.md, section 3.
"""

import pyarrow as pa

from tracegrade_queries.build.canonical import canonical_texts
from tracegrade_queries.graph import Run, relation


@relation("canonical_repeats", reads=("repeated_results",))
def _canonical_repeats(run: Run) -> pa.Table:
    """Return (result, canonical): the results of repeated calls."""
    texts = run.table("repeated_results")["result"]
    return pa.table({"result": texts, "canonical": canonical_texts(texts)})
