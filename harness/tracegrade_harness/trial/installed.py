"""Finds programs that a suite's commands need and this machine does not have."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from tracegrade_harness.suite.model import Agent, Case, McpServer, Mode, Suite
from tracegrade_harness.trial.program import variables


def missing_programs(suite: Suite, case: Case, mode: Mode) -> Iterator[str]:
    """Yield why a case's agent, its recovery command or its MCP servers cannot be started.

    Programs in the environment or its image, and programs whose names have placeholders, exist
    only in trials, so they are not checked. Servers whose answers come from tapes are not checked
    either.
    """
    agent = suite.agents[case.agent]
    recover = agent.recover if isinstance(agent.recover, list) else []
    has_image = suite.environments[case.environment].image is not None
    for command in () if has_image else filter(None, (agent.command, recover)):
        yield from _missing(command[0], agent)
    servers = suite.environments[case.environment].mcp.values()
    for server in (each for each in servers if mode == "live" or not each.taped):
        yield from _missing(server.command[0], server)


def _missing(program: str, of: Agent | McpServer) -> Iterator[str]:
    if "{" in program or ("/" in program and not Path(program).is_absolute()):
        return
    path = variables(of.environment).get("PATH", os.environ.get("PATH", os.defpath))
    if shutil.which(program, path=path) is None:
        yield f"no program '{program}'; install it, or correct the suite"
