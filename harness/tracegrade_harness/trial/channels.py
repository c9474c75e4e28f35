"""The channels of a trial: its gate, and the addresses for its agent's spans and tools."""

import json
import secrets
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from tracegrade_harness.control.deadline import Deadline
from tracegrade_harness.control.gate import Gate
from tracegrade_harness.control.gate_messages import RunStarted
from tracegrade_harness.mcp.servers import McpServers, Served
from tracegrade_harness.parts.environment import OpenedEnvironment
from tracegrade_harness.parts.part import ServiceAddress
from tracegrade_harness.sandbox.processes import Running
from tracegrade_harness.suite.model import McpServer
from tracegrade_harness.tape.tools import ToolTape
from tracegrade_harness.telemetry.observed_run import ObservedRun, Origin
from tracegrade_harness.telemetry.relay import TrialReceiver
from tracegrade_harness.trial.folder import TrialFolder
from tracegrade_harness.trial.http_proxies import HttpProxies
from tracegrade_harness.trial.program import (
    NO_SPANS,
    AgentEndpoints,
    TrialWorkspace,
    resource,
    sayings,
    server_program,
)
from tracegrade_harness.trial.root_span import RootSpan
from tracegrade_harness.trial.suite_run import SuiteRun, Trial
from tracegrade_harness.trial.tape_session import TapeSession

NO_PROXY = {"NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost"}


class AgentChannels(NamedTuple):
    """The channels of a running agent; either the agent sends spans, or its calls are observed."""

    gate: Gate
    telemetry: TrialReceiver | None
    run: ObservedRun | None
    servers: McpServers
    proxies: HttpProxies
    tape_session: TapeSession
    endpoints: AgentEndpoints
    tools: ToolTape | None = None
    """Answers or records calls of tools in the agent's own process."""

    def finish(self, exit_code: int | None) -> None:
        """Note that the agent has ended; without an exit code, a limit ended it.

        Raises:
            EnvironmentFailed: The collector did not take the spans of its run.
        """
        if self.run is not None:
            self.run.close()
        self.servers.close()
        self.proxies.close()
        if self.run is not None:
            self.run.finish(exit_code)

    @property
    def has_spans(self) -> bool:
        """Whether the agent has spans, its own or those of its observed run."""
        return self.run is not None or (self.telemetry is not None and self.telemetry.took_spans)

    @property
    def traces(self) -> list[str]:
        """The traces of its agent's own spans, in the order in which they came."""
        return self.telemetry.traces if self.telemetry else []

    def root_span(self, run: RunStarted) -> RootSpan:
        """Return the root of an announced run, without attributes that the agent must not set.

        Raises:
            EnvironmentFailed: The owner of its trace cannot be determined.
        """
        root = RootSpan.of(run)
        if self.telemetry is None:  # the harness itself reports the run
            return root
        own = self.telemetry.own_trace(run.trace_id) or secrets.token_hex(16)
        attributes = self.telemetry.sayings.without_claims(run.attributes)
        return root._replace(trace_id=own, attributes=attributes)

    def notes(self) -> list[str]:
        """Return the notes about the channels for readers of the trial."""
        notes = [self.telemetry and self.telemetry.notes(), self.run and self.run.notes()]
        some = (
            *notes,
            self.servers.notes(),
            self.proxies.notes(),
            self.tools and self.tools.notes(),
        )
        return [note for each in some for note in each or ()]


@contextmanager
def agent_channels(
    suite_run: SuiteRun,
    trial: Trial,
    folder: TrialFolder,
    environment: OpenedEnvironment,
    tape_session: TapeSession,
    deadline: Deadline,
) -> Iterator[AgentChannels]:
    """Open the channels of a trial's agent, for as long as the block lasts.

    Args:
        suite_run: The run.
        trial: The trial.
        folder: Its folder.
        environment: The environment of the agent.
        tape_session: Its tape.
        deadline: The end of its time; the clock is paused while its requests wait.

    Raises:
        EnvironmentFailed: An MCP server did not start.
    """
    with ExitStack() as stack:
        gate = stack.enter_context(Gate(folder.meeting))
        telemetry, run = None, None
        addresses: list[ServiceAddress] = []
        if "sdk" in trial.agent(suite_run).channels:
            telemetry = stack.enter_context(
                suite_run.relay.admitted(sayings(suite_run, trial), deadline.seen)
            )
            variables = {**gate.variables, **_sending(telemetry)}
            addresses.append(suite_run.relay.listens)
        else:
            run = stack.enter_context(
                closing(ObservedRun(gate.address, _origin(suite_run, trial)))
            )
            variables = NO_SPANS
        at_mcp, at_http = (
            run if channel in trial.agent(suite_run).channels else None
            for channel in ("mcp", "http")
        )
        served = _served(suite_run, trial, folder, environment, tape_session)
        found = McpServers(folder.meeting, served, at_mcp, deadline.seen)
        servers = stack.enter_context(found)
        proxies = HttpProxies(suite_run, trial, environment, tape_session, at_http, deadline)
        stack.enter_context(proxies)
        if run is not None and tape_session.spending is not None:
            tape_session.spending.when_stopped(run.close)
        if run is not None:
            stack.callback(
                run.close
            )  # before its servers, so that none of them waits for the gate
        endpoints = _tool_endpoints(suite_run, trial, folder, servers, proxies)
        tools = stack.enter_context(
            _tool_tape(suite_run, trial, folder, environment, tape_session, deadline.seen)
        )
        at_tools = tools.variables if tools else {}
        endpoints = endpoints._replace(
            variables={**endpoints.variables, **variables, **at_tools},
            addresses=[*endpoints.addresses, *addresses],
        )
        yield AgentChannels(gate, telemetry, run, servers, proxies, tape_session, endpoints, tools)


@contextmanager
def tool_channels(
    suite_run: SuiteRun,
    trial: Trial,
    folder: TrialFolder,
    environment: OpenedEnvironment,
    tape_session: TapeSession,
) -> Iterator[AgentEndpoints]:
    """Provide an agent's tools without a gate, for as long as the block lasts.

    Raises:
        EnvironmentFailed: An MCP server did not start.
    """
    served = _served(suite_run, trial, folder, environment, tape_session)
    with (
        McpServers(folder.meeting, served, None) as servers,
        HttpProxies(suite_run, trial, environment, tape_session) as proxies,
        _tool_tape(suite_run, trial, folder, environment, tape_session) as tools,
    ):
        found = _tool_endpoints(suite_run, trial, folder, servers, proxies)
        at_tools = tools.variables if tools else {}
        yield found._replace(variables={**found.variables, **at_tools})


def _tool_tape(
    suite_run: SuiteRun,
    trial: Trial,
    folder: TrialFolder,
    environment: OpenedEnvironment,
    tape_session: TapeSession,
    seen: Callable[[], None] = lambda: None,
) -> AbstractContextManager[ToolTape | None]:
    """Return the tape for a trial's taped tools; None if there are none."""
    declared = suite_run.suite.environments[trial.case(suite_run).environment]
    if not declared.taped_tools:
        return nullcontext()
    answer = tape_session.tools(declared.is_taped_tool, environment.state)
    return nullcontext() if answer is None else ToolTape(folder.meeting, answer, seen)


def _served(
    suite_run: SuiteRun,
    trial: Trial,
    folder: TrialFolder,
    environment: OpenedEnvironment,
    tape_session: TapeSession,
) -> dict[str, Served]:
    """Return how the servers of a trial are served."""

    def start(name: str, server: McpServer, address: Path) -> Running:
        root = folder.beside("taped") if server.taped else folder.root
        root.mkdir(exist_ok=True)
        workspace = TrialWorkspace(root, environment, folder.log(f"mcp-{name}"))
        return suite_run.sandbox.start(
            server_program(suite_run, trial, workspace, server, address)
        )

    declared = _declared(suite_run, trial)
    starts = {name: partial(start, name, server) for name, server in declared.items()}
    return {
        name: tape_session.server(name, starts[name]) if server.taped else Served(starts[name])
        for name, server in declared.items()
    }


def _tool_endpoints(
    suite_run: SuiteRun,
    trial: Trial,
    folder: TrialFolder,
    servers: McpServers,
    proxies: HttpProxies,
) -> AgentEndpoints:
    """Return how the agent finds a trial's servers and the services behind its proxies."""
    declared = _declared(suite_run, trial)
    listed = {
        name: {"command": command[0], "args": command[1:]}
        for name, command in servers.commands.items()
    }
    file = folder.meeting / "mcp.json"
    file.write_text(json.dumps({"mcpServers": listed}), encoding="utf-8")
    variables = {
        server.command_env: servers.shell_commands[name]
        for name, server in declared.items()
        if server.command_env is not None
    }
    values = {"mcp": str(file)} if declared else {}
    user_input = trial.case(suite_run).user_input
    if user_input is not None:
        input_file = folder.meeting / "user_input.txt"
        input_file.write_bytes(user_input.encode(errors="replace"))
        values |= {"user_input": user_input, "user_input_file": str(input_file)}
    variables = {**variables, **proxies.variables, **NO_PROXY}
    return AgentEndpoints(variables, [folder.meeting], values, proxies.addresses)


def _declared(suite_run: SuiteRun, trial: Trial) -> dict[str, McpServer]:
    return suite_run.suite.environments[trial.case(suite_run).environment].mcp


def _origin(suite_run: SuiteRun, trial: Trial) -> Origin:
    described = resource(suite_run, trial)
    case = trial.case(suite_run)
    return Origin(suite_run.collector, described, case.agent, case.user_input)


def _sending(telemetry: TrialReceiver) -> dict[str, str]:
    """Return the variables that give an agent the destination of its spans."""
    described = telemetry.sayings.resource.items()
    attributes = ",".join(f"{key}={quote(value, safe='')}" for key, value in described)
    return {
        "OTEL_EXPORTER_OTLP_ENDPOINT": telemetry.address,
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        "OTEL_RESOURCE_ATTRIBUTES": attributes,
    }
