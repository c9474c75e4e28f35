"""Checks the channels of agents, and the servers behind them."""

import re
from collections.abc import Collection, Iterator, Mapping, MutableMapping, Sequence
from typing import Final

from tracegrade_harness.suite import model
from tracegrade_harness.suite.command import OF_SERVERS, substitutions
from tracegrade_harness.suite.commands import check_command, check_program, check_variables
from tracegrade_harness.suite.readable import ReadableEnvironment, ReadableSuite
from tracegrade_queries.files.shape import dotted
from tracegrade_queries.files.yaml_source import KeyPath, Problem, SourceFile

_CALL: Final = re.compile(r"[A-Z]+ /\S*")


def check_channels(
    source: SourceFile, path: KeyPath, channels: Sequence[str]
) -> Iterator[Problem]:
    """Yield problems of the combination of an agent's channels."""
    for i, channel in enumerate(channels):
        if channel in channels[:i]:
            fact = f"{dotted((*path, i))}: the channel '{channel}' is already listed"
            yield source.problem((*path, i), fact, "remove it")
    if "sdk" in channels and set(channels) != {"sdk"}:
        fact = f"{dotted(path)} has 'sdk' and other channels: each call would count twice"
        yield source.problem(path, fact, "give 'sdk' alone, or leave it out")


def check_servers(
    source: SourceFile,
    path: KeyPath,
    environment: ReadableEnvironment,
    variables: Mapping[str, str],
) -> Iterator[Problem]:
    """Yield the problems of an environment's MCP servers and upstreams.

    Args:
        source: The lines of its values.
        path: The path of the environment.
        environment: The environment as an object.
        variables: Variable → the part that an agent finds by it.
    """
    taken = {**variables}
    for name, server in environment.servers.items():
        if server is not None:
            at = (*path, "mcp", name)
            yield from _check_server(source, at, server)
            yield from _check_variable(source, (*at, "command_env"), server.command_env, taken)
    for name, upstream in environment.upstreams.items():
        if upstream is not None:
            at = (*path, "upstreams", name)
            yield from check_calls(source, (*at, "calls"), upstream.calls)
            yield from _check_variable(source, (*at, "url_env"), upstream.url_env, taken)


def check_calls(source: SourceFile, path: KeyPath, calls: Sequence[str]) -> Iterator[Problem]:
    """Yield a problem for each name of a call that fits no request."""
    for i, name in enumerate(calls):
        if not _CALL.fullmatch(name):
            fact = f"{dotted((*path, i))} '{name}' fits no request"
            yield source.problem((*path, i), fact, "write it like GET /orders/{id}")


def _check_server(source: SourceFile, path: KeyPath, server: model.McpServer) -> Iterator[Problem]:
    yield from check_command(source, (*path, "command"), server.command, OF_SERVERS)
    yield from check_program(source, (*path, "command", 0), server.command[0])
    yield from check_variables(source, (*path, "environment"), server.environment)


def _check_variable(
    source: SourceFile, path: KeyPath, name: str | None, taken: MutableMapping[str, str]
) -> Iterator[Problem]:
    """Yield a problem if a variable is taken; afterwards it is taken."""
    if name is not None and name in taken:
        fact = f"{dotted(path)} is the variable of {taken[name]}, too"
        yield source.problem(path, fact, "give each a variable of its own")
    elif name is not None:
        taken[name] = dotted(path[:-1])


def check_reachable(
    source: SourceFile,
    path: KeyPath,
    case: model.Case,
    suite: ReadableSuite,
    http: Collection[str],
) -> Iterator[Problem]:
    """Yield a problem if a case's agent has a channel with no service.

    Args:
        source: The lines of the suite's values.
        path: The path of the case.
        case: The case as an object.
        suite: The whole suite.
        http: The kinds of parts that speak HTTP.
    """
    agent, environment = suite.agents.get(case.agent), suite.environments.get(case.environment)
    if agent is None or environment is None:
        return
    is_named = any("mcp" in substitutions(argument) for argument in agent.command)
    if ("mcp" in agent.channels or is_named) and not environment.servers:
        what = "names {mcp}" if is_named else "has the channel 'mcp'"
        fact = f"{dotted(path)}: agent '{case.agent}' {what}, but environment "
        fact += f"'{case.environment}' has no MCP server"
        way_out = "declare one under 'mcp' there"
        yield source.problem((*path, "environment"), fact, way_out)
    if "http" in agent.channels and not _has_url(environment, http):
        fact = f"{dotted(path)}: agent '{case.agent}' has the channel 'http', but environment "
        fact += f"'{case.environment}' has no service with a url_env"
        way_out = "declare one under 'http' or 'upstreams' there"
        yield source.problem((*path, "environment"), fact, way_out)


def _has_url(environment: ReadableEnvironment, http: Collection[str]) -> bool:
    services = [part for (kind, _), part in environment.parts.items() if kind in http]
    served = any(getattr(part, "url_env", None) is not None for part in services)
    return served or bool(environment.upstreams)
