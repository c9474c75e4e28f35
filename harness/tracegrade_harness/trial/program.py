"""Builds the start of an agent or its recovery command: command, variables, limits."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from tracegrade import names
from tracegrade_harness.images.world import ImageWorld
from tracegrade_harness.loading.visible_files import USERS, readable
from tracegrade_harness.mcp import start as mcp_start
from tracegrade_harness.parts.environment import OpenedEnvironment
from tracegrade_harness.parts.part import ServiceAddress
from tracegrade_harness.parts.verifying.result import VerifierCommand
from tracegrade_harness.sandbox.program import ProcessLimits, Program
from tracegrade_harness.suite.command import filled, substitutions
from tracegrade_harness.suite.defaults import Network
from tracegrade_harness.suite.model import McpServer, Variables
from tracegrade_harness.telemetry.filter import Sayings
from tracegrade_harness.trial.suite_run import SuiteRun, Trial

MIB: Final = 1024**2
START: Final = Path(mcp_start.__file__).resolve()
NO_SPANS: Final = {"OTEL_SDK_DISABLED": "true", "OTEL_TRACES_EXPORTER": "none"}


class TrialWorkspace(NamedTuple):
    """The folder, parts and log with which a program of a trial runs."""

    root: Path
    """The trial's folder."""
    environment: OpenedEnvironment
    log: Path
    """File for stdout and stderr."""


class HostWorkspace(NamedTuple):
    """The folder and log of a program that runs outside of all environments."""

    root: Path
    """A folder of its own."""
    log: Path
    """File for stdout and stderr."""


class UndoWorkspace(NamedTuple):
    """The copy in which an agent's undo command is tried."""

    root: Path
    """The folder of a copy."""
    variables: Mapping[str, str]
    """Variables with which it finds the parts of the copy."""
    addresses: Sequence[ServiceAddress]
    """Addresses of the copy's services."""
    log: Path
    world: ImageWorld | None = None
    """The image of the copy."""


class AgentEndpoints(NamedTuple):
    """The settings with which an agent finds the harness's channels."""

    variables: Mapping[str, str] = MappingProxyType({})
    visible: Sequence[Path] = ()
    """Folders that it must see."""
    values: Mapping[str, str] = MappingProxyType({})
    """Further placeholders of its command."""
    addresses: Sequence[ServiceAddress] = ()
    """Services that it must reach."""


def agent_program(
    suite_run: SuiteRun, trial: Trial, workspace: TrialWorkspace, endpoints: AgentEndpoints
) -> Program:
    """Return the agent's program, with the settings for its channels."""
    return _program(suite_run, trial, workspace, trial.agent(suite_run).command, endpoints)


def recovery_program(
    suite_run: SuiteRun, trial: Trial, workspace: TrialWorkspace, endpoints: AgentEndpoints
) -> Program | None:
    """Return the program of the recovery command; None if the agent has none.

    The program sends no spans, since its run is not an attempt at the task.
    """
    agent = trial.agent(suite_run)
    command = agent.command if agent.recover == "rerun" else agent.recover
    if command is None:
        return None
    return silent_program(suite_run, trial, workspace, endpoints, command)


def silent_program(
    suite_run: SuiteRun,
    trial: Trial,
    workspace: TrialWorkspace,
    endpoints: AgentEndpoints,
    command: Sequence[str],
) -> Program:
    """Return the program of a command that replaces the agent; it sends no spans."""
    silent = endpoints._replace(variables={**endpoints.variables, **NO_SPANS})
    return _program(suite_run, trial, workspace, command, silent)


def server_program(
    suite_run: SuiteRun, trial: Trial, workspace: TrialWorkspace, server: McpServer, address: Path
) -> Program:
    """Return an MCP server's program, which connects to the socket at an address."""
    outside = HostWorkspace(workspace.root, workspace.log)
    program = outside_program(suite_run, trial, outside, server, address)
    if server.taped:
        return program
    environment = {**program.environment, **workspace.environment.variables}
    reached = _reached(server.network, workspace.environment.addresses)
    return replace(program, environment=environment, reachable=reached)


def outside_program(
    suite_run: SuiteRun, trial: Trial, workspace: HostWorkspace, server: McpServer, address: Path
) -> Program:
    """Return the program of a server that sees nothing of an environment."""
    environment = {**_basic(workspace.root), **variables(server.environment)}
    command = filled(server.command, command_values(suite_run, trial))
    return Program(
        [sys.executable, "-I", "-S", str(START), str(address), *command],
        workspace.root,
        workspace.root,
        environment,
        workspace.log,
        workspace.log,
        visible=[address.parent, START],
        reachable=_reached(server.network, ()),
        **_own_files(suite_run, server.read, command)._asdict(),
    )


def plain_program(
    suite_run: SuiteRun, trial: Trial, command: Sequence[str], workspace: UndoWorkspace
) -> Program:
    """Return the program of a command that an agent left, with few variables."""
    limits = _limits(suite_run, trial)
    environment = {**_basic(workspace.root, workspace.world), **workspace.variables}
    root, log = workspace.root, workspace.log
    reached = _agent_reaches(suite_run, trial, workspace.addresses)
    hidden = [*suite_run.hidden, *suite_run.answers]
    program = Program(command, root, root, environment, log, log, limits, (), reached, hidden)
    return replace(program, world=workspace.world)


def verifier_program(suite_run: SuiteRun, trial: Trial, command: VerifierCommand) -> Program:
    """Return the program of a verifier's command, which reaches no service and no network.

    It has the limits of the case's agent, and may read everything next to the suite.
    """
    limits = _limits(suite_run, trial)
    return Program(
        command.argv,
        command.root,
        command.folder,
        command.environment,
        command.stdout,
        command.stderr,
        limits,
        reachable=(),
        hidden=suite_run.hidden,
        readable=[suite_run.suite_folder.resolve()],
        programs=command.argv,
    )


def resource(suite_run: SuiteRun, trial: Trial) -> dict[str, str]:
    """Return the resource attributes of a trial's spans."""
    described = {
        names.TASK_ID: trial.task_id,
        names.TRIAL: str(trial.number),
        names.RUN_MODE: suite_run.mode,
        names.SERVICE_NAME: trial.case(suite_run).agent,
    }
    release = trial.release(suite_run)
    return described if release is None else {**described, names.SERVICE_VERSION: release}


def sayings(suite_run: SuiteRun, trial: Trial) -> Sayings:
    """Return the attributes that a trial's agent may set for its own runs."""
    is_verified = bool(trial.case(suite_run).verify)
    return Sayings(resource(suite_run, trial), is_verified=is_verified)


def _program(
    suite_run: SuiteRun,
    trial: Trial,
    workspace: TrialWorkspace,
    command: Sequence[str],
    endpoints: AgentEndpoints,
) -> Program:
    world = workspace.environment.world
    environment = {
        **_basic(workspace.root, world),
        **variables(trial.agent(suite_run).environment),
        **workspace.environment.variables,
        **endpoints.variables,
    }
    values = {**command_values(suite_run, trial), **endpoints.values}
    own = [word for word in command if USERS.isdisjoint(substitutions(word))]
    agent = trial.agent(suite_run)
    return Program(
        filled(command, values),
        workspace.root,
        workspace.root,
        environment,
        workspace.log,
        workspace.log,
        _limits(suite_run, trial),
        endpoints.visible,
        _agent_reaches(suite_run, trial, endpoints.addresses),
        **_own_files(suite_run, agent.read, filled(own, values))._asdict(),
        world=world,
    )


class _Files(NamedTuple):
    """The files that a program of the suite may read, and those that are hidden."""

    hidden: Sequence[Path]
    readable: Sequence[Path]
    programs: Sequence[str]


def _own_files(suite_run: SuiteRun, read: Sequence[str], words: Sequence[str]) -> _Files:
    """Return the files of a command; files that its command line names are not hidden."""
    own = readable(suite_run.suite, suite_run.suite_folder.resolve(), read, words)
    answers = [path for path in suite_run.answers if path.resolve() not in map(Path, words)]
    return _Files([*suite_run.hidden, *answers], own, words)


def _agent_reaches(
    suite_run: SuiteRun, trial: Trial, offered: Sequence[ServiceAddress]
) -> Sequence[ServiceAddress] | None:
    """Return the services that an agent reaches; none outside of the trial if tapes answer."""
    network = trial.agent(suite_run).network
    return _reached("none" if suite_run.mode == "mocked" else network, offered)


def _reached(
    network: Network, offered: Sequence[ServiceAddress]
) -> Sequence[ServiceAddress] | None:
    """Return the services that a program reaches; None for any."""
    return None if network == "open" else offered


def variables(declared: Variables) -> dict[str, str]:
    """Return the variables that a suite gives, with the values of those from the harness."""
    passed = {name: os.environ[name] for name in declared.pass_ if name in os.environ}
    return {**passed, **declared.set}


def command_values(suite_run: SuiteRun, trial: Trial) -> dict[str, str]:
    """Return the values of the placeholders in a suite's commands, except for the channels'."""
    release = trial.release(suite_run)
    return {
        "task": trial.task_id,
        "trial": str(trial.number),
        "seed": str(trial.seed(suite_run)),
        "python": sys.executable,
        "suite": str(suite_run.suite_folder.resolve()),
        **({} if release is None else {"release": release}),
    }


def _limits(suite_run: SuiteRun, trial: Trial) -> ProcessLimits:
    limits = trial.case(suite_run).limits
    memory = None if limits.memory_mb is None else limits.memory_mb * MIB
    return ProcessLimits(memory, limits.disk_mb * MIB, limits.processes)


def _basic(root: Path, world: ImageWorld | None = None) -> dict[str, str]:
    """Return the variables that most programs need; none of them is a secret.

    In an image, its own variables replace them, and no path is of this machine.
    """
    own = {} if world is None else world.settings.environment
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(root),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": "0",
        **own,
    }
