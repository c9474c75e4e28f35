"""Records or replays the tapes of one trial: upstreams, taped servers and taped tools."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple, Self

from tracegrade.state import VERSION
from tracegrade_harness.errors import SuiteUnusable
from tracegrade_harness.loading.load import LoadedSuite
from tracegrade_harness.loading.visible_files import TAPES
from tracegrade_harness.mcp.http import recorded_mcp, taped_mcp
from tracegrade_harness.mcp.servers import Served, StartServer
from tracegrade_harness.mcp.tape import McpTapeSession, played
from tracegrade_harness.parts.state import State
from tracegrade_harness.proxy.messages import CallNames
from tracegrade_harness.proxy.model_answers import ModelAnswer, metered
from tracegrade_harness.proxy.model_tape import conversing, model_channel
from tracegrade_harness.proxy.tape import recorded, taped
from tracegrade_harness.proxy.upstream import UpstreamHandler
from tracegrade_harness.suite import paths
from tracegrade_harness.suite.model import Case, Environment, ModelSource, Suite
from tracegrade_harness.suite.upstreams import Upstream
from tracegrade_harness.tape.entries import Tape, TapeEntry, TapeHeader, read_tape
from tracegrade_harness.tape.normalizing import Normalizer
from tracegrade_harness.tape.player import TapePlayer, TapeRecorder
from tracegrade_harness.tape.tools import (
    CHANNEL,
    RecordedTools,
    ReplyFunction,
    played_tools,
)
from tracegrade_harness.trial.spending import Spending
from tracegrade_harness.trial.suite_run import SuiteRun, Trial
from tracegrade_harness.trial.watch import WRITES


class TapeSession(NamedTuple):
    """The player or recorder for one run of an agent; neither in a live run."""

    player: TapePlayer | None
    recorder: TapeRecorder | None
    models: TapeRecorder | None = None
    """Records models alone, for runs that will repeat this one."""
    baseline_models: TapePlayer | None = None
    """Answers of models in the run that this one repeats; the models answer what is missing."""
    spending: Spending | None = None
    """Counts the usage of its models' answers."""
    normalizer: Normalizer | None = None
    """Returns the compared form of a call."""

    @classmethod
    def of(cls, suite_run: SuiteRun, trial: Trial) -> Self:
        """Return a session, at the beginning of a run."""
        tape = suite_run.tapes.get(trial.task_id)
        recording = suite_run.keep_tape is not None
        normalizer = Normalizer(trial.case(suite_run).normalize)
        player = TapePlayer(tape.entries, normalizer) if tape else None
        return cls(player, TapeRecorder() if recording else None, normalizer=normalizer)

    def to_be_repeated(self) -> Self:
        """Return a session that records its models."""
        return self._replace(models=TapeRecorder())

    def repeating(self, baseline_models: Iterable[TapeEntry]) -> Self:
        """Return a session whose models repeat earlier answers."""
        return self._replace(baseline_models=TapePlayer(baseline_models, self.normalizer))

    def measured(self, spending: Spending) -> Self:
        """Return a session whose models' usage is counted."""
        return self._replace(spending=spending)

    def model(
        self, name: str, live: UpstreamHandler | None, source: ModelSource = "replay"
    ) -> UpstreamHandler:
        """Return the handler for an upstream that is a model.

        Args:
            name: Name of the upstream.
            live: The model itself; may be None if only a tape answers.
            source: The source of answers if there is a tape.
        """
        channel = f"http:{name}"
        on_played = None if self.spending is None else self.spending.add_from_tape
        live_model = live and self._live_model(channel, live, on_played)
        if self.player is not None and source != "live":
            if self.player.calls(model_channel(name)):
                return conversing(name, self.player, live_model, on_played)
            return taped(channel, self.player, live_model, on_played)
        assert live_model is not None  # noqa: S101 - there is no tape
        return live_model

    def _live_model(
        self, channel: str, live: UpstreamHandler, on_played: Callable[[ModelAnswer], None] | None
    ) -> UpstreamHandler:
        """Return a live model that is metered, recorded, or answers from the baseline's run."""
        metered_live = live if self.spending is None else metered(live, self.spending)
        if self.baseline_models is not None and self.recorder is None:
            return taped(channel, self.baseline_models, metered_live, on_played)
        recorder = self.recorder or self.models
        return metered_live if recorder is None else recorded(metered_live, channel, recorder)

    def upstream(self, name: str, live: UpstreamHandler | None) -> UpstreamHandler:
        """Return the handler for an upstream; `live` may be None if a tape answers."""
        channel = f"http:{name}"
        if self.player is not None:
            return taped(channel, self.player)
        assert live is not None  # noqa: S101 - there is no tape
        return live if self.recorder is None else recorded(live, channel, self.recorder)

    def mcp_upstream(self, name: str, live: UpstreamHandler | None) -> UpstreamHandler:
        """Return the handler for an upstream that is an MCP server."""
        channel = f"mcp:{name}"
        if self.player is not None:
            return taped_mcp(channel, self.player)
        assert live is not None  # noqa: S101 - there is no tape
        return live if self.recorder is None else recorded_mcp(live, channel, self.recorder)

    def server(self, name: str, start: StartServer) -> Served:
        """Return the server that replaces a taped one."""
        channel = f"mcp:{name}"
        if self.player is not None:
            return Served(partial(played, channel, self.player))
        if self.recorder is not None:
            return Served(start, partial(McpTapeSession, channel, self.recorder))
        return Served(start)

    def tools(
        self, is_taped: Callable[[str], bool], state: Callable[[], State]
    ) -> ReplyFunction | None:
        """Return the handler for calls of the agent's own tools; None if they just run.

        Args:
            is_taped: Tells which tools are taped, by name.
            state: Reads the environment, which no taped call may change.
        """
        if self.player is not None:
            return played_tools(self.player, is_taped)
        if self.recorder is not None:
            return RecordedTools(self.recorder, is_taped, state)
        return None

    @property
    def misses(self) -> list[str]:
        """Calls that are missing on the tape."""
        return [] if self.player is None else [*self.player.misses]

    def notes(self) -> list[str]:
        """Return notes on how the tape was played, and on its unused entries."""
        if self.player is None:
            return []
        left = self.player.unused()
        unused = (
            [f"tape: {len(left)} recorded calls were not made, first {left[0]}"] if left else []
        )
        return [*self.player.notes(), *unused]


def is_taped(environment: Environment) -> bool:
    """Return whether a tape answers for part of an environment in the mode `mocked`."""
    taped_servers = any(each.taped for each in environment.mcp.values())
    return bool(environment.upstreams or environment.taped_tools) or taped_servers


def taped_cases(suite: Suite, cases: Mapping[str, Case]) -> Iterator[tuple[str, Case]]:
    """Yield the cases that have tapes."""
    for task_id, case in cases.items():
        if is_taped(suite.environments[case.environment]):
            yield task_id, case


def tape_file(folder: Path, task_id: str, case: Case) -> Path:
    """Return the path of a case's tape."""
    if case.tape is not None:
        return paths.source(folder, case.tape)
    plain = task_id if Path(task_id).name == task_id else Trial(task_id, 1).label()
    return folder / TAPES / f"{plain}.jsonl"


def read_tapes(loaded: LoadedSuite, suite: Suite, cases: Mapping[str, Case]) -> dict[str, Tape]:
    """Return the tapes of cases that have them.

    Raises:
        SuiteUnusable: A tape is missing or wrong, or has writes in a case that is killed.
    """
    tapes = {}
    for task_id, case in taped_cases(suite, cases):
        file = tape_file(loaded.folder, task_id, case)
        tapes[task_id] = read_tape(file)
        if case.kill is not None:
            upstreams = suite.environments[case.environment].upstreams
            _refuse_writes(loaded, file, tapes[task_id], upstreams)
    return tapes


def new_tape(suite_run: SuiteRun, trial: Trial, recorder: TapeRecorder) -> Tape:
    """Return the recorded tape of a trial."""
    header = TapeHeader(
        suite=suite_run.suite.suite,
        case=trial.task_id,
        agent=trial.case(suite_run).agent,
        release=trial.release(suite_run),
        recorded=datetime.now(UTC).isoformat(timespec="seconds"),
        version=VERSION,
    )
    return Tape(header, recorder.entries())


def _refuse_writes(
    loaded: LoadedSuite, file: Path, tape: Tape, upstreams: Mapping[str, Upstream]
) -> None:
    """Refuse replayed writes if kills are judged, because they leave no state to judge."""
    known = loaded.specification.tools if loaded.specification else {}
    for key, reply, _ in tape.entries:
        upstream = upstreams.get(key.channel.removeprefix("http:"))
        name = key.name.removeprefix("tools/call ")
        name, _ = CallNames(upstream.calls).named(name) if upstream else (name, {})
        effect = known[name].effect if name in known else None
        if effect is None and key.channel == CHANNEL and isinstance(reply, dict):
            effect = reply.get("effect")
        if effect in WRITES:
            msg = f"tape '{file}' has calls of '{name}', which writes, and its case is killed"
            msg += "; leave 'kill' out, or put the service into the environment"
            raise SuiteUnusable(msg)
