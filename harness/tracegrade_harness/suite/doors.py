"""What can be wrong with the doors of agents, and with the servers behind them."""

from collections.abc import Iterator, Mapping, MutableMapping, Sequence

from tracegrade_harness.suite import model
from tracegrade_harness.suite.command import OF_SERVERS, substitutions
from tracegrade_harness.suite.commands import check_command, check_variables
from tracegrade_harness.suite.readable import ReadableSuite
from tracegrade_harness.suite.verifiers import check_program
from tracegrade_scoring.tasks.shape import dotted
from tracegrade_scoring.tasks.source import Path, Problem, SourceFile


def check_doors(source: SourceFile, path: Path, doors: Sequence[str]) -> Iterator[Problem]:
    """Yield the problems of an agent's doors among each other."""
    for i, door in enumerate(doors):
        if door in doors[:i]:
            fact = f"{dotted((*path, i))}: the door '{door}' is there already"
            yield source.problem((*path, i), fact, "remove it")
    if "sdk" in doors and set(doors) != {"sdk"}:
        fact = f"{dotted(path)} has 'sdk' beside others: each call would count twice"
        yield source.problem(path, fact, "give 'sdk' alone, or leave it out")


def check_servers(
    source: SourceFile,
    path: Path,
    servers: Mapping[str, model.McpServer | None],
    variables: Mapping[str, str],
) -> Iterator[Problem]:
    """Yield the problems of MCP servers.

    Args:
        source: Where their values stand.
        path: Where they stand themselves.
        servers: The same as objects, by name.
        variables: Variable → the part that an agent finds by it.
    """
    taken = {**variables}
    for name, server in servers.items():
        if server is not None:
            yield from _check_server(source, (*path, name), server, taken)


def _check_server(
    source: SourceFile, path: Path, server: model.McpServer, variables: MutableMapping[str, str]
) -> Iterator[Problem]:
    """Yield the problems of one, and add its variable to those that are taken."""
    yield from check_command(source, (*path, "command"), server.command, OF_SERVERS)
    yield from check_program(source, (*path, "command", 0), server.command[0])
    yield from check_variables(source, (*path, "environment"), server.environment)
    name = server.command_as
    if name is not None and name in variables:
        fact = f"{dotted((*path, 'command_as'))} is the variable of {variables[name]}, too"
        yield source.problem((*path, "command_as"), fact, "give each a variable of its own")
    elif name is not None:
        variables[name] = dotted(path)


def check_reachable(
    source: SourceFile, path: Path, case: model.Case, suite: ReadableSuite
) -> Iterator[Problem]:
    """Yield a problem if a case's agent has a door with nothing behind it."""
    agent, environment = suite.agents.get(case.agent), suite.environments.get(case.environment)
    if agent is None or environment is None:
        return
    is_named = any("mcp" in substitutions(argument) for argument in agent.command)
    if ("mcp" in agent.doors or is_named) and not environment.servers:
        what = "names {mcp}" if is_named else "has the door 'mcp'"
        fact = f"{dotted(path)}: agent '{case.agent}' {what}, but environment "
        fact += f"'{case.environment}' has no MCP server"
        way_out = "declare one under 'mcp' there"
        yield source.problem((*path, "environment"), fact, way_out)
