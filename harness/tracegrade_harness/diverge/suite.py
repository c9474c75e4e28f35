"""Asks all that the tapes of a suite hold, case by case."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from tracegrade_harness.diverge.answers import answer_on
from tracegrade_harness.diverge.asking import NO_REPLY, Ask, McpAsking, NotAskable, http_asking
from tracegrade_harness.diverge.choice import upstream_of, why_not
from tracegrade_harness.diverge.comparison import Divergence, ServiceAnswer, divergences
from tracegrade_harness.doors.http_upstream import LiveUpstream
from tracegrade_harness.doors.http_upstream import Upstream as Live
from tracegrade_harness.doors.turns import PacedUpstream, TurnsOfUpstreams
from tracegrade_harness.errors import SuiteUnusable
from tracegrade_harness.suite.load import LoadedSuite
from tracegrade_harness.suite.model import Case, Environment, Suite
from tracegrade_harness.suite.upstreams import Upstream
from tracegrade_harness.tape.entries import Tape, TapeEntry, TapeKey, read_tape
from tracegrade_harness.trial.http_doors import own_headers
from tracegrade_harness.trial.taping import tape_file, taped_cases

TIMES: Final = 2
"""How often each call is asked, so that what differs by itself is seen."""
PROTOCOL: Final = "2025-06-18"
"""The version of MCP that is offered where a tape does not say which one was chosen."""

UNREACHABLE: Final = "its service gave no reply"


class DivergedCall(NamedTuple):
    """A call that is answered otherwise than its tape says."""

    case: str
    key: TapeKey
    found: list[Divergence]


@dataclass(frozen=True)
class Asked:
    """What came of asking."""

    calls: list[TapeKey] = field(default_factory=list)
    """Those that were asked, `TIMES` times each; once for each case that has them."""
    diverged: list[DivergedCall] = field(default_factory=list)
    not_asked: Counter[str] = field(default_factory=Counter)
    """Reason → how many calls were not asked for it."""
    unreachable: dict[str, str] = field(default_factory=dict)
    """Channel → why nothing came from it; its other calls were not asked."""


def ask_again(
    loaded: LoadedSuite, suite: Suite, cases: Mapping[str, Case], *, writes: bool
) -> Asked:
    """Ask what the tapes of cases hold, and return where the answers differ.

    Raises:
        EnvironmentFailed: A header of a service names a variable that is not set.
        SuiteUnusable: No case has a tape, or one is missing or wrong.
    """
    tapes = {
        task_id: read_tape(tape_file(loaded.folder, task_id, case))
        for task_id, case in taped_cases(suite, cases)
    }
    if not tapes:
        msg = "nothing is on tape; choose cases with upstreams, taped servers or tools"
        raise SuiteUnusable(msg)
    asked, turns = Asked(), TurnsOfUpstreams()
    for task_id, tape in tapes.items():
        environment = suite.environments[cases[task_id].environment]
        _CaseAsked(loaded, task_id, environment, asked, turns, writes=writes).ask(tape)
    return asked


class _CaseAsked:
    """Asks what the tape of one case holds."""

    def __init__(
        self,
        loaded: LoadedSuite,
        task_id: str,
        environment: Environment,
        asked: Asked,
        turns: TurnsOfUpstreams,
        *,
        writes: bool,
    ) -> None:
        self._tools = loaded.specification.tools if loaded.specification else {}
        self._task_id = task_id
        self._environment = environment
        self._asked = asked
        self._turns = turns
        self._writes = writes
        self._heard: set[str] = set()
        self._asks: dict[str, Ask] = {}

    def ask(self, tape: Tape) -> None:
        """Ask each call of the tape."""
        recorded: dict[TapeKey, list[TapeEntry]] = defaultdict(list)
        for entry in tape.entries:
            recorded[entry.key].append(entry)
        for key, entries in recorded.items():
            upstream, reason = upstream_of(self._environment, key.channel)
            why = reason if upstream is None else self._why_not(key, upstream)
            if upstream is not None and why is None:
                answers = [*map(answer_on, entries)]
                why = self._compared(key, answers, self._asking(upstream, key.channel, tape))
            if why is not None:
                self._asked.not_asked[why] += 1

    def _why_not(self, key: TapeKey, upstream: Upstream) -> str | None:
        reason = why_not(key, upstream, self._tools, writes=self._writes)
        if reason is None and key.channel in self._asked.unreachable:
            return UNREACHABLE
        return reason

    def _compared(self, key: TapeKey, recorded: list[ServiceAnswer], ask: Ask) -> str | None:
        """Ask a call and keep how it differs; return why it could not be asked, if so."""
        try:
            live = [ask(key) for _ in range(TIMES)]
        except NotAskable as error:
            return str(error)
        silent = all(answer.outcome == NO_REPLY for answer in live)
        if silent and key.channel not in self._heard:
            self._asked.unreachable[key.channel] = str(live[0].content)
            return UNREACHABLE
        self._heard.add(key.channel)
        self._asked.calls.append(key)
        if found := divergences(recorded, live):
            self._asked.diverged.append(DivergedCall(self._task_id, key, found))
        return None

    def _asking(self, upstream: Upstream, channel: str, tape: Tape) -> Ask:
        if channel not in self._asks:
            live: Live = LiveUpstream(upstream.url, own_headers(upstream))
            turns = self._turns.of(upstream)
            live = live if turns is None else PacedUpstream(live, turns)
            is_mcp = upstream.is_a == "mcp"
            asking = (
                McpAsking(live, _protocol(channel, tape.entries)) if is_mcp else http_asking(live)
            )
            self._asks[channel] = asking
        return self._asks[channel]


def _protocol(channel: str, entries: Iterable[TapeEntry]) -> str:
    """Return the version of MCP that was chosen when a tape was recorded."""
    for key, reply in entries:
        if (key.channel, key.name) == (channel, "initialize"):
            result = reply.get("result")
            version = result.get("protocolVersion") if isinstance(result, dict) else None
            return version if isinstance(version, str) else PROTOCOL
    return PROTOCOL
