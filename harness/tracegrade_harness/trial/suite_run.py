"""A run of a suite, and one trial of it."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from tracegrade_harness.loading.load import LoadedSuite
from tracegrade_harness.loading.visible_files import answers
from tracegrade_harness.parts.environment import EnvironmentTemplate
from tracegrade_harness.proxy.rate_limit import UpstreamRateLimits
from tracegrade_harness.sandbox.stoppable import StoppableSandbox
from tracegrade_harness.suite.model import Agent, Case, Mode, ModelSource, Suite
from tracegrade_harness.suite.runbook import Instruction
from tracegrade_harness.tape.entries import Tape
from tracegrade_harness.tape.player import TapeRecorder
from tracegrade_harness.telemetry.relay import Endpoint, OtlpRelay
from tracegrade_lake import Lake
from tracegrade_queries.costs.pricing import Prices
from tracegrade_scoring.tasks.load import Specification

_STRANGE: Final = re.compile(r"[^\w.-]+", re.ASCII)


@dataclass(frozen=True)
class SuiteRun:
    """A run of a suite."""

    suite: Suite
    suite_folder: Path
    specification: Specification | None
    """The task file; None if the suite names none."""
    templates: dict[str, EnvironmentTemplate]
    """The frozen environments by name."""
    sandbox: StoppableSandbox
    collector: Endpoint
    """Collector to which the harness itself sends spans."""
    relay: OtlpRelay
    """Relay to which agents send their spans."""
    folder: Path
    """Folder of the run: logs, and the trials' folders while they run."""
    runbooks: Mapping[str, Sequence[Instruction]] = field(default_factory=dict)
    """Content of each runbook from before the run, by its path in the suite."""
    mode: Mode = "live"
    tapes: Mapping[str, Tape] = field(default_factory=dict)
    """Tape of each case whose answers come from a tape."""
    release: str | None = None
    """Release of all agents, instead of the suite's."""
    hidden: Sequence[Path] = ()
    """Folders that are hidden from agents: other trials, and sources of environments."""
    answers: Sequence[Path] = ()
    """Files and folders with expected results, which only verifiers may see."""
    models: ModelSource | None = None
    """Source of models' answers in mocked runs, instead of the cases' own."""
    keep_tape: Callable[["Trial", TapeRecorder], None] | None = None
    """Called with the recorded answers of a trial, if they are recorded."""
    prices: Prices = field(default_factory=dict)
    """Prices of models."""
    rate_limits: UpstreamRateLimits = field(default_factory=UpstreamRateLimits)
    """Rate limits of live upstreams, which all trials share."""
    lake: Lake | None = None
    """The lake that receives the spans; None if there is none."""
    outside: StoppableSandbox | None = None
    """Sandbox for verifiers' commands that are trusted; None if they are not trusted."""

    @property
    def verifying(self) -> StoppableSandbox:
        """The sandbox for commands of verifiers."""
        return self.outside or self.sandbox

    def stop(self) -> None:
        """End all running programs, and start no more."""
        self.sandbox.stop()
        self.verifying.stop()

    def effect_of(self, tool: str, declared: str | None) -> str | None:
        """Return the effect of a tool, by the task file or else by its agent."""
        known = self.specification.tools.get(tool) if self.specification else None
        return known.effect if known and known.effect else declared

    def model_source(self, case: Case) -> ModelSource:
        """Return the source of models' answers in mocked runs of a case."""
        return self.models or case.model


class Trial(NamedTuple):
    """One trial of a case."""

    task_id: str
    number: int
    """Number of the trial, from 1."""

    def case(self, suite_run: SuiteRun) -> Case:
        """Return its case in the suite."""
        return suite_run.suite.cases[self.task_id]

    def agent(self, suite_run: SuiteRun) -> Agent:
        """Return its agent."""
        return suite_run.suite.agents[self.case(suite_run).agent]

    def release(self, suite_run: SuiteRun) -> str | None:
        """Return the agent's version."""
        return suite_run.release or self.agent(suite_run).release

    def seed(self, suite_run: SuiteRun) -> int:
        """Return a number from 0 to 2**31 - 1, equal in every repeat of this trial."""
        text = f"{suite_run.suite.suite}\n{self.task_id}\n{self.number}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) >> 1

    def label(self) -> str:
        """Return a name for files, of at most 100 plain characters."""
        digest = hashlib.sha256(self.task_id.encode()).hexdigest()[:8]
        return f"{_STRANGE.sub('_', self.task_id)[:60]}-{digest}-{self.number}"


def without_agents(
    loaded: LoadedSuite, suite: Suite, sandbox: StoppableSandbox, home: Path
) -> SuiteRun:
    """Return a run without agents, environments and destination of spans."""
    nowhere = Endpoint("", {})
    specification = loaded.specification
    return SuiteRun(
        suite,
        loaded.folder,
        specification,
        {},
        sandbox,
        nowhere,
        OtlpRelay(nowhere),
        home,
        answers=answers(loaded),
    )
