"""The parts of a suite that have a right shape, so that one run shows all that is wrong with it.

What stands under a name keeps the name, and items of a list keep their places: nothing seems
missing that is only wrong. What is wrong itself is None here, and checked no further.
"""

from collections.abc import Mapping
from typing import NamedTuple

from tracegrade_harness.suite import model, records
from tracegrade_harness.suite.strict import Strict
from tracegrade_harness.suite.upstreams import Upstream


class ReadableEnvironment(NamedTuple):
    """An environment's parts, by kind and name."""

    parts: Mapping[tuple[str, str], Strict | None]
    locks: list[str]
    servers: Mapping[str, model.McpServer | None]
    """By name."""
    upstreams: Mapping[str, Upstream | None]
    """By name."""
    taped_tools: list[str]


class ReadableSuite(NamedTuple):
    """A suite's agents, environments and cases by name."""

    agents: Mapping[str, model.Agent | None]
    records: Mapping[str, list[records.Record | None]]
    """Of each agent."""
    environments: Mapping[str, ReadableEnvironment]
    cases: Mapping[str, model.Case | None]
    verifiers: Mapping[str, list[Strict | None]]
    """Of each case."""
    tasks: str | None
    read: list[str]
    """What all agents may read."""
