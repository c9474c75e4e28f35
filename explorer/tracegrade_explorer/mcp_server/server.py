"""The server: its tools, resources and prompts, over stdio or as an address of the explorer."""

from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import Final

from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import ToolAnnotations
from starlette.applications import Starlette

from tracegrade_explorer.app import Explorer
from tracegrade_explorer.guard import MCP_PATH
from tracegrade_explorer.mcp_server.frame import RULE
from tracegrade_explorer.mcp_server.lake_answers import LakeAnswers
from tracegrade_explorer.mcp_server.lake_tools import LakeTools
from tracegrade_explorer.mcp_server.prompts import add_prompts
from tracegrade_explorer.mcp_server.resources import add_resources
from tracegrade_explorer.mcp_server.run_tools import RunTools

READS: Final = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
MAX_BODY_BYTES: Final = 65_536
"""Size of a request over HTTP."""
INSTRUCTIONS: Final = (
    "Runs of AI agents in a lake, scored by rule. search_runs finds runs, explain_failure says "
    f"why one failed, get_run and get_text have its steps, compare_releases compares. {RULE}"
)


def mcp_server(explorer: Explorer, *, sql: bool) -> MCPServer:
    """Return the server over the lake of an explorer.

    Args:
        explorer: The explorer.
        sql: Whether it takes SQL of the caller's own.
    """
    server = MCPServer(
        "tracegrade", instructions=INSTRUCTIONS, version=version("tracegrade"),
        log_level="ERROR", subscriptions=False,
    )  # fmt: skip
    answers = LakeAnswers(explorer)
    runs, lake = RunTools(answers), LakeTools(answers)
    tools: list[Callable[..., Awaitable[str]]] = [
        runs.search_runs, runs.get_run, runs.get_text, runs.explain_failure,
        lake.compare_releases, lake.list_issues, lake.search_text, lake.run_saved_query,
    ]  # fmt: skip
    for tool in [*tools, lake.sql] if sql else tools:
        server.add_tool(answers.framing(tool), annotations=READS, structured_output=False)
    add_resources(server, answers)
    add_prompts(server)
    return server


def mcp_app(explorer: Explorer, sql: bool) -> Starlette:
    """Return the server as an application with one address, which keeps no sessions."""
    return mcp_server(explorer, sql=sql).streamable_http_app(
        streamable_http_path=MCP_PATH, json_response=True, stateless_http=True,
        max_request_body_size=MAX_BODY_BYTES,
        # The guard checks host and origin.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )  # fmt: skip
