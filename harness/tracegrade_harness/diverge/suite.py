"""Repeats all calls on the tapes of a suite, case by case."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from tracegrade_harness.diverge.answers import MCP, answer_on
from tracegrade_harness.diverge.comparison import Divergence, ServiceAnswer, divergences
from tracegrade_harness.diverge.live_services import (
    NO_REPLY,
    Ask,
    McpHttpSession,
    NotAskable,
    http_service,
)
from tracegrade_harness.diverge.mcp_stdio_session import LOG, SOCKET, McpStdioSession
from tracegrade_harness.diverge.repeatable_calls import RecordedCall, service_of, why_not
from tracegrade_harness.errors import SuiteUnusable
from tracegrade_harness.proxy.rate_limit import PacedUpstream
from tracegrade_harness.proxy.upstream import LiveUpstream, UpstreamHandler
from tracegrade_harness.sandbox.processes import Running
from tracegrade_harness.suite.model import Case, McpServer
from tracegrade_harness.suite.upstreams import Upstream
from tracegrade_harness.tape.entries import Tape, TapeEntry, TapeKey, read_tape
from tracegrade_harness.trial.http_proxies import own_headers
from tracegrade_harness.trial.program import HostWorkspace, outside_program
from tracegrade_harness.trial.suite_run import SuiteRun, Trial
from tracegrade_harness.trial.tape_session import tape_file, taped_cases

TIMES: Final = 2
"""Times that each call is made; two live answers show what varies by itself."""
PROTOCOL: Final = "2025-06-18"
"""The version of MCP to offer if a tape does not name the chosen one."""

UNREACHABLE: Final = "its service gave no reply"


class DivergedCall(NamedTuple):
    """A call whose live answer differs from the tape's."""

    case: str
    key: TapeKey
    found: list[Divergence]


@dataclass(frozen=True)
class DivergenceResult:
    """The answers of live services, compared with the tapes of a suite."""

    calls: list[TapeKey] = field(default_factory=list)
    """Calls that were made, `TIMES` times each; a call is listed once for each case that has it.
    """
    diverged: list[DivergedCall] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    """Reason → number of calls that were skipped for it."""
    unreachable: dict[str, str] = field(default_factory=dict)
    """Channel → why it gave no answer; its other calls were skipped."""


def ask_again(suite_run: SuiteRun, cases: Mapping[str, Case], *, writes: bool) -> DivergenceResult:
    """Repeat the calls on the tapes of cases, and return the differences.

    Args:
        suite_run: Its sandbox runs MCP servers; environments, collector and relay are unused.
        cases: Task id → case.
        writes: Repeat calls that may write, too.

    Raises:
        EnvironmentFailed: A header of a service names a variable that is not set.
        SuiteUnusable: No case has a tape, or one is missing or wrong.
    """
    tapes = {
        task_id: read_tape(tape_file(suite_run.suite_folder, task_id, case))
        for task_id, case in taped_cases(suite_run.suite, cases)
    }
    if not tapes:
        msg = "nothing is on tape; choose cases with upstreams, taped servers or tools"
        raise SuiteUnusable(msg)
    result = DivergenceResult()
    for task_id, tape in tapes.items():
        with closing(_CaseComparison(suite_run, Trial(task_id, 1), result, writes=writes)) as case:
            case.ask(tape)
    return result


class _CaseComparison:
    """Repeats the calls on the tape of one case."""

    def __init__(
        self,
        suite_run: SuiteRun,
        trial: Trial,
        result: DivergenceResult,
        *,
        writes: bool,
    ) -> None:
        self._suite_run = suite_run
        self._trial = trial
        self._tools = suite_run.specification.tools if suite_run.specification else {}
        self._environment = suite_run.suite.environments[trial.case(suite_run).environment]
        self._result = result
        self._writes = writes
        self._reachable: set[str] = set()
        self._sessions: dict[tuple[str, str | None], Ask] = {}
        self._end = ExitStack()

    def close(self) -> None:
        """End the servers that were started for the calls."""
        self._end.close()

    def ask(self, tape: Tape) -> None:
        """Repeat each call of the tape."""
        recorded: dict[RecordedCall, list[TapeEntry]] = defaultdict(list)
        for entry in tape.entries:
            recorded[RecordedCall(entry.key, entry.path)].append(entry)
        for call, entries in recorded.items():
            service, reason = service_of(self._environment, call.key.channel)
            why = reason if service is None else self._why_not(call, service)
            if service is not None and why is None:
                answers = [*map(answer_on, entries)]
                why = self._compared(call.key, answers, self._session(service, call, tape))
            if why is not None:
                self._result.skipped[why] += 1

    def _why_not(self, call: RecordedCall, service: Upstream | McpServer) -> str | None:
        reason = why_not(call, service, self._tools, writes=self._writes)
        if reason is None and call.key.channel in self._result.unreachable:
            return UNREACHABLE
        return reason

    def _compared(self, key: TapeKey, recorded: list[ServiceAnswer], ask: Ask) -> str | None:
        """Repeat a call and store its differences; return why it could not be repeated, if so."""
        try:
            live = [ask(key) for _ in range(TIMES)]
        except NotAskable as error:
            return str(error)
        silent = all(answer.outcome == NO_REPLY for answer in live)
        if silent and key.channel not in self._reachable:
            self._result.unreachable[key.channel] = str(live[0].content)
            return UNREACHABLE
        self._reachable.add(key.channel)
        self._result.calls.append(key)
        if found := divergences(recorded, live):
            self._result.diverged.append(DivergedCall(self._trial.task_id, key, found))
        return None

    def _session(self, service: Upstream | McpServer, call: RecordedCall, tape: Tape) -> Ask:
        """Return the function that asks a service; an MCP server has one session for each path."""
        position = (call.key.channel, call.path)
        if position not in self._sessions:
            self._sessions[position] = self._new_session(service, call, tape)
        return self._sessions[position]

    def _new_session(self, service: Upstream | McpServer, call: RecordedCall, tape: Tape) -> Ask:
        channel = call.key.channel
        protocol = _protocol(channel, tape.entries)
        if isinstance(service, McpServer):
            start = partial(_started, self._suite_run, self._trial, service)
            name = channel.removeprefix(MCP)
            return self._end.enter_context(closing(McpStdioSession(name, start, protocol)))
        live: UpstreamHandler = LiveUpstream(service.url, own_headers(service))
        limiter = self._suite_run.rate_limits.of(service)
        live = live if limiter is None else PacedUpstream(live, limiter)
        is_mcp = service.protocol == "mcp"
        return McpHttpSession(live, protocol, call.path) if is_mcp else http_service(live)


def _started(suite_run: SuiteRun, trial: Trial, server: McpServer, folder: Path) -> Running:
    """Start an MCP server for a session with a folder of its own."""
    root = folder / "root"
    root.mkdir()
    position = HostWorkspace(root, folder / LOG)
    program = outside_program(suite_run, trial, position, server, folder / SOCKET)
    return suite_run.sandbox.start(program)


def _protocol(channel: str, entries: Iterable[TapeEntry]) -> str:
    """Return the version of MCP that was chosen when a tape was recorded."""
    for key, reply, _ in entries:
        if (key.channel, key.name) == (channel, "initialize"):
            result = reply.get("result")
            version = result.get("protocolVersion") if isinstance(result, dict) else None
            return version if isinstance(version, str) else PROTOCOL
    return PROTOCOL
