"""The relations of this package, with their dependencies and order."""

from typing import Final

from tracegrade_queries.engine.sql import QUERIES
from tracegrade_queries.graph import RelationPlan

RELATIONS: Final = RelationPlan(QUERIES, "build", is_sorted=True)
"""`build/split.py` makes those of a bucket of traces, `costs/pricing.py` the costs."""
