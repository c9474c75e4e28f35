"""Runs relations in the order that their headers imply: sources are made first."""

from tracegrade_queries.graph.plan import RelationPlan
from tracegrade_queries.graph.relation import relation
from tracegrade_queries.graph.run import Run

__all__ = ["RelationPlan", "Run", "relation"]
