"""Prompts: the questions that people ask most, each with the tools that answer it."""

from typing import Final

from mcp.server.mcpserver import MCPServer

from tracegrade_explorer.mcp_server.frame import RULE

WHY: Final = (
    "Call explain_failure for run {id}, then get_run around the step that it names, and get_text "
    "where a text is cut. Name the first wrong step, what was expected there on what evidence, "
    "where the nearest success parts from it, and the smallest change that would have "
    "prevented it."
)
SHIP: Final = (
    "Call compare_releases for agent {agent} with base {base} and candidate {candidate}. Give "
    "the decision in its own words, what changed beyond chance, and what is not known. For each "
    "task that fell, call explain_failure on one of its failed runs. Call no difference real that "
    "the answer does not."
)
DRAFT: Final = (
    "Call get_run for run {id} and, where texts are cut, get_text. Draft a task for a task file "
    "that `tracegrade score --tasks` reads: the request, the expected decisions with tool and "
    "arguments in order, and the sub-goals with what serves each. Mark each guess by a comment, "
    "and name the step that each line was taken from."
)


def add_prompts(server: MCPServer) -> None:
    """Add the prompts to a server."""
    for prompt in (why_did_it_fail, should_we_ship, draft_task):
        server.prompt()(prompt)


def why_did_it_fail(id: str) -> str:
    """Explain one failed run from its evidence."""
    return f"{WHY.format(id=id)} {RULE}"


def should_we_ship(agent: str, base: str, candidate: str) -> str:
    """Decide on a release from the comparison with the one before it."""
    return f"{SHIP.format(agent=agent, base=base, candidate=candidate)} {RULE}"


def draft_task(id: str) -> str:
    """Draft a task of a task file from one run."""
    return f"{DRAFT.format(id=id)} {RULE}"
