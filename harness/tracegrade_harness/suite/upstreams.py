"""The keys of a suite for upstreams: services outside of its environments."""

from typing import Annotated, Literal

from pydantic import Field

from tracegrade_harness.suite.strict import Name, Strict


class Upstream(Strict):
    """A service outside of the environment; an agent reaches it only through the harness."""

    url: Annotated[str, Field(pattern="^https?://")]
    """URL of the service; the paths of requests are added to it."""
    url_env: Name
    """Environment variable that gets the URL for the agent."""
    protocol: Literal["service", "model", "mcp"] = "service"
    """`service`: each request is a tool call. `model`: no request is a tool call. `mcp`: an MCP
    server over streamable HTTP, whose tool calls count."""
    headers: dict[Name, str] = Field(default_factory=dict)
    """Headers that replace the agent's own. `$NAME` is replaced by a variable of the harness, such
    as a key, which the agent does not see."""
    rate: Annotated[float, Field(gt=0, le=1000)] | None = None
    """Most requests per second, of all trials together; requests that are too early wait. Without
    it, the rate has no limit."""
    calls: list[Name] = Field(default_factory=list)
    """Tool names of requests to a `service`: `GET /orders/{id}`. The first match counts; other
    requests are named by their method and path."""
