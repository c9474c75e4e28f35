"""The tokens of texts and the forms of words; SQL does the rest of failure modes.

Source: [Harness], "Failure-mode taxonomy"; docs/metrics.md, section 9.
"""

from typing import Final

import polars as pl
import pyarrow as pa

from tracegrade_lake.columns import BOOLEAN, TEXT, TEXTS
from tracegrade_queries.engine.relations import table
from tracegrade_queries.graph import Run, relation
from tracegrade_scoring.attempts.distinctive_tokens import distinctive_tokens
from tracegrade_scoring.scorers.failure_modes.claims import claim_words

_CLAIM_WORDS: Final = pa.schema(
    [("name", TEXT), ("is_tool", BOOLEAN), ("participles", TEXTS), ("nouns", TEXTS)]
)


@relation("claim_words", reads=("claim_names",))
def _claim_words(run: Run) -> pa.Table:
    """Return the words of each name that an answer may use to claim that something was done."""
    names = run.con.sql("FROM claim_names ORDER BY name, is_tool").fetchall()
    return table(_CLAIM_WORDS, [(*name, *claim_words(*name)) for name in names])


@relation("cascade_tokens", reads=("cascade_candidate_texts",))
def _cascade_tokens(run: Run) -> pa.Table:
    """Return the distinctive words of texts, each once."""
    texts = pl.DataFrame(run.table("cascade_candidate_texts"))
    return distinctive_tokens(texts).unique().to_arrow()
