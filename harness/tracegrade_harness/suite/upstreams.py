"""The keys of a suite for upstreams: services outside of its environments."""

from typing import Annotated, Literal

from pydantic import Field

from tracegrade_harness.suite.strict import Name, Strict


class Upstream(Strict):
    """A service outside of the environment; an agent comes to it through the harness alone."""

    url: Annotated[str, Field(pattern="^https?://")]
    """Where it is; the paths of requests are added to it."""
    url_env: Name
    """Environment variable that gets the URL at which the agent reaches it."""
    protocol: Literal["service", "model", "mcp"] = "service"
    """`service`: each request is a call of a tool; `model`: none is; `mcp`: it is an MCP server
    over streamable HTTP, and its calls of tools are."""
    headers: dict[Name, str] = Field(default_factory=dict)
    """Sent instead of the agent's own. `$NAME` stands for a variable of the harness, such as a
    key, which the agent does not see."""
    rate: Annotated[float, Field(gt=0, le=1000)] | None = None
    """How many requests a second it may get at most, of all trials together; those that are too
    early wait. Without it, as many as there are."""
    calls: list[Name] = Field(default_factory=list)
    """What requests of a `service` are called as calls of tools: `GET /orders/{id}`. The first
    that fits counts; others are called by their method and path."""
