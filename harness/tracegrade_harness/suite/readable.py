"""The well-formed parts of a suite, so that one run shows all problems.

A value under a name keeps the name, and items of a list keep their positions. So a wrong value
does not seem to be missing. It is None here, and is not checked further.
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
    """MCP servers by name."""
    upstreams: Mapping[str, Upstream | None]
    """Upstreams by name."""
    taped_tools: list[str]
    has_image: bool = False
    """Agents run in an image."""
    image: model.Image | None = None
    """The image, if it is well-formed."""


class ReadableSuite(NamedTuple):
    """A suite's agents, environments and cases by name."""

    agents: Mapping[str, model.Agent | None]
    records: Mapping[str, list[records.Record | None]]
    """Records of each agent."""
    environments: Mapping[str, ReadableEnvironment]
    cases: Mapping[str, model.Case | None]
    verifiers: Mapping[str, list[Strict | None]]
    """Verifiers of each case."""
    tasks: str | None
    read: list[str]
    """Paths that all agents may read."""
