"""Decides which recorded calls can safely be repeated, and explains why others cannot."""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from tracegrade.redact.marks import MARK_START
from tracegrade_harness.diverge.answers import MCP
from tracegrade_harness.mcp.messages import CALL
from tracegrade_harness.proxy.messages import CallNames
from tracegrade_harness.suite.model import Environment, McpServer
from tracegrade_harness.suite.upstreams import Upstream
from tracegrade_harness.tape.entries import TapeKey
from tracegrade_harness.tape.tools import CHANNEL
from tracegrade_scoring.tasks.model import Tool

READING_METHODS: Final = frozenset({"GET", "HEAD"})
READING_MESSAGES: Final = frozenset(
    {
        "initialize",
        "ping",
        "prompts/get",
        "prompts/list",
        "resources/list",
        "resources/read",
        "resources/templates/list",
        "tools/list",
    }
)
"""Methods that only read, by the definition of MCP."""
_LINE: Final = re.compile(r"[A-Z]+ /\S*", re.ASCII)


class RecordedCall(NamedTuple):
    """A call on a tape, and its position."""

    key: TapeKey
    path: str | None
    """None if the tape does not record it, or if it is in the key."""


def service_of(environment: Environment, channel: str) -> tuple[Upstream | McpServer | None, str]:
    """Return the service of a channel, or None and why the channel has none to ask."""
    kind, _, name = channel.partition(":")
    if kind == CHANNEL:
        return None, "tool of the agent's own process"
    if kind == "mcp" and name in environment.mcp:
        server = environment.mcp[name]
        return (server, "") if server.taped else (None, "its server is now in the environment")
    found = environment.upstreams.get(name)
    if found is None:
        return None, "the suite no longer has its service"
    if found.protocol == "model":
        return None, "model"
    if (found.protocol == "mcp") != (kind == "mcp"):
        return None, "its service is now of another kind"
    return found, ""


def why_not(
    call: RecordedCall, service: Upstream | McpServer, tools: Mapping[str, Tool], *, writes: bool
) -> str | None:
    """Return why a call must not be repeated; None if it may be.

    Args:
        call: The call.
        service: The service that would answer.
        tools: The tools that the task file declares, by name.
        writes: Calls that may write may be repeated, too.
    """
    key = call.key
    if any(MARK_START in text for text in (key.name, key.arguments, call.path or "")):
        return "it held a secret, which tapes do not have"
    is_mcp = key.channel.startswith(MCP)
    if not is_mcp and not _LINE.fullmatch(key.name):
        return "no method and path"
    if writes or _reads(key, service, tools):
        return None
    return "may write; --writes asks it all the same"


def _reads(key: TapeKey, service: Upstream | McpServer, tools: Mapping[str, Tool]) -> bool:
    """Return whether a call only reads, by the task file or else by the protocol."""
    is_mcp = key.channel.startswith(MCP)
    name = key.name.removeprefix(f"{CALL} ") if is_mcp else key.name
    calls = [] if isinstance(service, McpServer) else service.calls
    named = name if is_mcp else CallNames(calls).named(key.name)[0]
    declared = tools[named].effect if named in tools else None
    if declared is not None and (not is_mcp or name != key.name):
        return declared == "read"
    if is_mcp:
        return key.name in READING_MESSAGES
    return key.name.partition(" ")[0] in READING_METHODS
