"""Checks that agents in an image need nothing of this machine's programs."""

from collections.abc import Iterator

from tracegrade_harness.suite import model, paths
from tracegrade_harness.suite.command import substitutions
from tracegrade_harness.suite.readable import ReadableEnvironment, ReadableSuite
from tracegrade_harness.suite.suite_position import At
from tracegrade_queries.files.shape import dotted
from tracegrade_queries.files.yaml_source import KeyPath, Problem, SourceFile


def check_image(at: At, environment: ReadableEnvironment) -> Iterator[Problem]:
    """Yield problems of an environment's image, and of its MCP servers."""
    if environment.image is not None and environment.image.path is not None:
        image = at._replace(path=at.below("image"))
        name = environment.image.path
        if fault := paths.source_fault(name):
            yield image.problem("path", f"'{name}' {fault[0]}", fault[1])
        elif not paths.source(at.folder, name).exists():
            place = paths.source(at.folder, name)
            yield image.problem("path", f"'{name}' does not exist", f"expected it at '{place}'")
    if environment.has_image and environment.servers:
        fact = "has servers, which are started by this machine's Python, and an image has its own"
        yield at.problem("mcp", fact, "remove them, or the image")


def check_agent_in_image(
    source: SourceFile, path: KeyPath, case: model.Case, suite: ReadableSuite
) -> Iterator[Problem]:
    """Yield problems of an agent that a case runs in an image."""
    environment, agent = suite.environments.get(case.environment), suite.agents.get(case.agent)
    if environment is None or agent is None or not environment.has_image:
        return
    recover = agent.recover if isinstance(agent.recover, list) else []
    if any("python" in substitutions(word) for word in (*agent.command, *recover)):
        fact = f"{dotted((*path, 'agent'))}: '{case.agent}' names {{python}}, which is this "
        fact += "machine's Python, and runs in an image"
        yield source.problem((*path, "agent"), fact, "name a program of the image")
