"""Kills a trial at its point, then judges what it leaves, and again after recovery."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from tracegrade.rollback.undo import UndoFailed
from tracegrade_harness.control.deadline import Deadline
from tracegrade_harness.errors import SandboxFailed
from tracegrade_harness.landed.plans import LastSpan, landed_plans
from tracegrade_harness.parts.environment import EnvironmentTemplate, OpenedEnvironment
from tracegrade_harness.parts.folders.folders import removed
from tracegrade_harness.parts.settle import SettledState, wait_until_settled
from tracegrade_harness.parts.state import State
from tracegrade_harness.rollback.part_locator import PartLocator
from tracegrade_harness.rollback.records import BadEntry, Plans, Records, no_plans, read_records
from tracegrade_harness.rollback.rubric import (
    KillJudgment,
    ObservedState,
    judge,
    recovered,
    unheeded,
)
from tracegrade_harness.rollback.undo import MAX_COMMAND_SECS, EnvironmentCopy, prove, services
from tracegrade_harness.sandbox.processes import Running
from tracegrade_harness.suite.model import Point
from tracegrade_harness.trial.baseline import Baseline, changes, fatal_misses, tape_reason
from tracegrade_harness.trial.channels import AgentChannels, agent_channels, tool_channels
from tracegrade_harness.trial.folder import TrialFolder
from tracegrade_harness.trial.no_spans import size
from tracegrade_harness.trial.object_states import ObjectHistory, changes_by_name, log_end
from tracegrade_harness.trial.points import Boundary
from tracegrade_harness.trial.program import (
    TrialWorkspace,
    UndoWorkspace,
    agent_program,
    plain_program,
    recovery_program,
    resource,
)
from tracegrade_harness.trial.result import TrialResult
from tracegrade_harness.trial.root_span import RootSpan, send_mark, send_root
from tracegrade_harness.trial.spending import Spending
from tracegrade_harness.trial.suite_run import SuiteRun, Trial
from tracegrade_harness.trial.tape_session import TapeSession
from tracegrade_harness.trial.watch import AgentWatch, Moment, flush
from tracegrade_scoring.rendering.words import count

RECOVERY_SECS: Final = 60.0


class KilledAgent(NamedTuple):
    """An agent that was killed."""

    root: RootSpan | None
    boundary: int
    """Number of tool calls that had returned."""
    diverged: bool
    """Up to that point, it did not repeat the undisturbed run."""
    in_flight: int
    notes: list[str]
    misses: list[str]
    """Calls that are missing on its tape."""
    seconds: float
    lives_on: Callable[[], list[str]]
    """Returns the names of its processes that are alive now."""


class KillPointMissed(NamedTuple):
    """The agent ended, or its time was over, before it reached the kill point."""

    notes: list[str]


class _StillChanging(Exception):
    """The state after a kill still changes and cannot be judged; the text names changes."""


@dataclass(frozen=True)
class KillTrial:
    """One kill of one trial."""

    suite_run: SuiteRun
    trial: Trial
    kill_point: Point
    target: Boundary
    baseline: Baseline
    spending: Spending = field(default_factory=Spending)
    """Counts its usage, which may end it before the kill point."""
    channels: list[AgentChannels] = field(default_factory=list)
    """The channels of each attempt at the kill."""

    def result(self, **fields: Any) -> TrialResult:
        """Return a result of this kill."""
        common: dict[str, Any] = {
            "task_id": self.trial.task_id,
            "agent_name": self.trial.case(self.suite_run).agent,
            "release": self.trial.release(self.suite_run),
            "trial": self.trial.number,
            "kill_point": self.kill_point,
            "baseline_trajectory_id": self.baseline.trajectory_id,
            "tokens": self.spending.tokens,
            "usd": self.spending.usd,
            "traces": [trace for channels in self.channels for trace in channels.traces],
        }
        return TrialResult(**common, **fields)

    def run(self) -> TrialResult:
        """Kill the agent at the point, let it recover, and judge what it left.

        If calls were in progress at the point, or the point was not reached, the kill is tried
        once more.

        Raises:
            EnvironmentFailed: The environment could not be restored or read.
            SandboxFailed: The agent could not be started or ended.
        """
        started_at = datetime.now(UTC)
        template = self.suite_run.templates[self.trial.case(self.suite_run).environment]
        label = f"{self.trial.label()}-{self.kill_point}"
        misses: list[str] = []
        for last in (False, True):
            with (
                TrialFolder(self.suite_run.folder, label) as folder,
                closing(template.open(folder.root)) as environment,
                ExitStack() as living,
            ):
                killed = self._kill(folder, environment, template.before, living)
                if isinstance(killed, KillPointMissed):
                    misses += killed.notes
                    if self.spending.stop is not None:
                        break
                elif last or not killed.in_flight:
                    return self._judged(killed, folder, environment, template, started_at)
        unreached = f"not_reached: call {self.target.number} did not return before the agent's end"
        stop = self.spending.stop
        return self.result(
            status="error",
            reason=unreached if stop is None else stop.reason,
            notes=[*dict.fromkeys(misses)],
            started_at=started_at,
        )

    def _kill(
        self,
        folder: TrialFolder,
        environment: OpenedEnvironment,
        before: State,
        living: ExitStack,
    ) -> KilledAgent | KillPointMissed:
        """Kill the agent at the kill point; `living` receives the resources to close."""
        workspace = TrialWorkspace(folder.root, environment, folder.log("agent"))
        limits = self.trial.case(self.suite_run).limits
        deadline = Deadline(limits.wall_secs, limits.idle_secs, partial(size, workspace.log))
        repeated = TapeSession.of(self.suite_run, self.trial).repeating(self.baseline.models)
        tape_session = repeated.measured(self.spending)
        with ExitStack() as stack:
            channels = stack.enter_context(
                agent_channels(
                    self.suite_run, self.trial, folder, environment, tape_session, deadline
                )
            )
            self.channels.append(channels)
            program = agent_program(self.suite_run, self.trial, workspace, channels.endpoints)
            with ExitStack() as started:
                running = started.enter_context(self.suite_run.sandbox.start(program))
                watch = self._watch(channels, running, deadline, environment, before)
                with closing(watch.moments()) as moments:  # the agent waits while these exist
                    point = self._point(watch, moments)
                    if point is not None:
                        lost = flush(channels.gate, point)
                        if self._spares_others():
                            running.kill_program()
                            living.push(stack.pop_all())
                            living.push(started.pop_all())
                        else:
                            running.kill()
                        return self._killed(watch, point, channels, lost)
                code = running.wait(0)
            channels.finish(code)
            return self._ended_early(watch, channels, code)

    def _watch(
        self,
        channels: AgentChannels,
        running: Running,
        deadline: Deadline,
        environment: OpenedEnvironment,
        before: State,
    ) -> AgentWatch:
        return AgentWatch(
            channels.gate,
            running,
            deadline,
            self.suite_run.effect_of,
            before,
            environment.state,
            root_of=channels.root_span,
            on_run=self._mark,
            spending=self.spending,
        )

    def _point(self, watch: AgentWatch, moments: Iterator[Moment]) -> Moment | None:
        """Let the agent continue to the kill point; None if it is never reached."""
        for moment in moments:
            if self.spending.stop is not None:
                return None
            if not self._is_reached(watch, moment):
                continue
            has_answered = moment.boundary is None and watch.running.wait(0) is not None
            return None if has_answered else moment  # no process could wait there
        return None

    def _killed(
        self, watch: AgentWatch, point: Moment, channels: AgentChannels, lost: list[str]
    ) -> KilledAgent:
        """Return the record of an agent that was killed at its point."""
        return KilledAgent(
            watch.open_root,
            len(watch.boundaries),
            self._has_diverged(watch),
            point.in_flight,
            [*watch.faults, *lost, *channels.notes(), *self.spending.notes()],
            channels.tape_session.misses,
            watch.deadline.spent_secs(),
            watch.running.leftovers,
        )

    def _ended_early(
        self, watch: AgentWatch, channels: AgentChannels, code: int | None
    ) -> KillPointMissed:
        """Return how an agent ended before its point; without a code, the harness ended it."""
        if code is None and channels.run is None:
            self._name(watch.open_root)
        if self.spending.stop is not None:
            how = self.spending.stop.reason
        elif code is not None:
            how = f"it ended with {code}"
        else:
            was_idle = watch.deadline.was_idle
            how = "it showed no sign for too long" if was_idle else "its time was over"
        reached = f"not_reached: {how} after call {len(watch.boundaries)}"
        return KillPointMissed([reached, *watch.faults, *channels.notes()])

    def _spares_others(self) -> bool:
        """Return whether only the agent's first process is killed."""
        kill = self.trial.case(self.suite_run).kill
        return kill is not None and kill.scope == "process"

    def _mark(self, root: RootSpan) -> None:
        """Mark a run as not an attempt, because it may end before its kill point."""
        described = resource(self.suite_run, self.trial)
        send_mark(self.suite_run.collector, root, self.kill_point, described)

    def _is_reached(self, watch: AgentWatch, moment: Moment) -> bool:
        """Return whether to kill now: after the same call, or by the rule for changed runs."""
        if not self._has_diverged(watch):
            return moment.boundary is not None and moment.boundary.number == self.target.number
        if self.kill_point == "late":
            return moment.boundary is None
        wrote = any(boundary.wrote for boundary in watch.boundaries)
        return len(watch.boundaries) >= self.target.number and (
            wrote or self.kill_point == "early"
        )

    def _has_diverged(self, watch: AgentWatch) -> bool:
        done = [(call.tool, call.arguments) for call in watch.boundaries]
        same = [(call.tool, call.arguments) for call in self.baseline.boundaries]
        return done != same[: len(done)]

    def _judged(
        self,
        killed: KilledAgent,
        folder: TrialFolder,
        environment: OpenedEnvironment,
        template: EnvironmentTemplate,
        started_at: datetime,
    ) -> TrialResult:
        self._name(killed.root)
        inspection = _StateInspection(self, killed, folder, environment, template, started_at)
        fields: dict[str, Any] = {
            "trajectory_id": killed.root and killed.root.trajectory_id,
            "boundary": killed.boundary,
            "seconds": killed.seconds,
            "started_at": started_at,
            "tape_misses": killed.misses,
        }
        notes = [*killed.notes]
        objects = ObjectHistory(template.before, template, environment)
        try:
            at_once = inspection.judged("immediate")
            objects.observe(at_once.seen.now)
            notes += [*unheeded(at_once.seen), *self._recover(folder, environment)]
            after = inspection.judged("after")
        except _StillChanging as moving:
            notes += _unlike(killed)
            return self.result(**fields, status="error", reason=str(moving), notes=notes)
        objects.observe(after.seen.now)
        fatal = fatal_misses(self.trial.case(self.suite_run), killed.misses)
        notes += [*map(_fault_text, after.seen.records.faults), *_unlike(killed)]
        return self.result(
            **fields,
            status="error" if fatal else "done",
            reason=tape_reason(fatal) if fatal else None,
            immediate=at_once.judgment.score,
            after_recovery=recovered(at_once.judgment, after.judgment).score,
            label=after.judgment.label,
            leftovers=_leftovers(after),
            changed=changes(environment, SettledState(after.seen.now, []), []),
            states=objects.states(),
            recovery_log=log_end(folder.log("recovery")),
            notes=notes,
        )

    def _name(self, root: RootSpan | None) -> None:
        """Send the root span that a killed agent can no longer end, if there is one."""
        if root is not None:
            described = resource(self.suite_run, self.trial)
            send_root(self.suite_run.collector, root, self.kill_point, described)

    def _recover(self, folder: TrialFolder, environment: OpenedEnvironment) -> list[str]:
        """Run the recovery command, if there is one; return notes for readers of the trial."""
        workspace = TrialWorkspace(folder.root, environment, folder.log("recovery"))
        tape_session = TapeSession.of(self.suite_run, self.trial).measured(self.spending)
        with tool_channels(
            self.suite_run, self.trial, folder, environment, tape_session
        ) as endpoints:
            program = recovery_program(self.suite_run, self.trial, workspace, endpoints)
            if program is None:
                return []
            with self.suite_run.sandbox.start(program) as running:
                code = running.wait(RECOVERY_SECS)
        stop = self.spending.refusal()
        misses = [f"recovery: {why}" for why in (*tape_session.misses, stop) if why is not None]
        if code is None:
            return [f"recovery: took more than {RECOVERY_SECS:g} s, and was ended", *misses]
        return [*misses, *([f"recovery: ended with {code}"] if code else [])]


class _Judged(NamedTuple):
    """The judgment of a killed run at one moment."""

    judgment: KillJudgment
    seen: ObservedState
    disproved: Mapping[str, str]
    """Leftovers that undos did not restore, each with the reason."""


class _StateInspection:
    """Reads what a killed run left."""

    def __init__(
        self,
        kill_trial: KillTrial,
        killed: KilledAgent,
        folder: TrialFolder,
        environment: OpenedEnvironment,
        template: EnvironmentTemplate,
        started_at: datetime,
    ) -> None:
        self._kill_trial = kill_trial
        self._killed = killed
        self._started_at = started_at
        self._folder = folder
        self._environment = environment
        self._template = template
        suite_run, case = kill_trial.suite_run, kill_trial.trial.case(kill_trial.suite_run)
        self._locator = PartLocator(suite_run.suite.environments[case.environment], folder.root)
        self._accepts_done = case.kill is not None and case.kill.accept == "done"

    def judged(self, name: str) -> _Judged:
        """Return the judgment of the environment as it is now, and its evidence.

        Raises:
            _StillChanging: Some of it still changes.
        """
        now, moving = wait_until_settled(self._environment.state)
        if moving:
            msg = f"not_still: {count(len(moving), 'object')} still changing after the kill"
            msg += f", first '{moving[0]}'; see what writes to it, or ignore it in the suite"
            raise _StillChanging(msg)
        before = self._template.before
        holders = [*self._environment.held(now), *self._killed.lives_on()]
        plans = (
            (lambda: self._plans) if holders or now != before else no_plans
        )  # it takes some time
        seen = ObservedState(
            before=before,
            now=now,
            held=holders,
            records=self._records(plans),
            final=self._kill_trial.baseline.final if self._accepts_done else None,
        )
        first = judge(seen)
        if not first.named:
            return _Judged(first, seen, {})
        disproved = self._disproved(seen, name)
        return _Judged(judge(seen, disproved), seen, disproved)

    def _records(self, plans: Plans) -> Records:
        suite_run = self._kill_trial.suite_run
        agent = self._kill_trial.trial.agent(suite_run)
        return read_records(
            agent.records, suite_run.runbooks, self._folder.root, self._locator, plans
        )

    @cached_property
    def _plans(self) -> Sequence[str] | None:
        """The killed run's plans in the lake, which are complete; None if it announced no run.

        Raises:
            EnvironmentFailed: They did not land, or cannot be read.
        """
        root, lake = self._killed.root, self._kill_trial.suite_run.lake
        if root is None or lake is None:
            return None
        since_ns = int(self._started_at.timestamp()) * 1_000_000_000
        return landed_plans(lake, LastSpan(root.trace_id, root.span_id, since_ns))

    def _disproved(self, seen: ObservedState, name: str) -> dict[str, str]:
        """Try undos on a copy, and return the objects that they did not restore, and why."""
        root, pristine = (self._folder.beside(f"{name}-{kind}") for kind in ("copy", "before"))
        with ExitStack() as stack:
            stack.callback(removed, root)
            stack.callback(removed, pristine)
            copy = stack.enter_context(closing(self._environment.clone(root)))
            stack.enter_context(closing(self._template.open(pristine)))
            known = services(self._environment.variables, copy.variables)
            run = partial(self._run, copy)
            clone = EnvironmentCopy(
                root, [copy], pristine, self._folder.root, self._locator, run, known
            )
            return prove(seen, clone).disproved

    def _run(self, copy: OpenedEnvironment, command: Sequence[str], root: Path) -> None:
        """Run an agent's undo in the agent's sandbox, with the parts of the copy.

        Raises:
            UndoFailed: It failed, or took too long.
        """
        kill_trial = self._kill_trial
        log = self._folder.log("undo")
        workspace = UndoWorkspace(root, copy.variables, copy.addresses, log, copy.world)
        program = plain_program(kill_trial.suite_run, kill_trial.trial, command, workspace)
        try:
            with kill_trial.suite_run.sandbox.start(program) as running:
                code = running.wait(MAX_COMMAND_SECS)
        except SandboxFailed as error:
            raise UndoFailed(str(error)) from error
        if code != 0:
            fact = f"ended with {code}" if code else f"took more than {MAX_COMMAND_SECS:g} s"
            msg = f"command {fact}"
            raise UndoFailed(msg)


def _unlike(killed: KilledAgent) -> list[str]:
    """Return the ways in which a kill is not as it should be."""
    diverged = ["diverged: it did not repeat the undisturbed run"] if killed.diverged else []
    if killed.in_flight:
        return [*diverged, f"in_flight: {killed.in_flight} calls were under way"]
    return diverged


def _fault_text(fault: BadEntry) -> str:
    where = fault.record if fault.line is None else f"{fault.record}:{fault.line}"
    return f"{where}: {fault.fact}"


def _leftovers(found: _Judged) -> list[dict[str, Any]]:
    """Return the leftovers in the form of `harness_trials`."""
    judgment = found.judgment
    changed = changes_by_name(found.seen.before, found.seen.now)
    return [
        {
            "object": name,
            "change": changed.get(name, "held"),
            "named_by": ", ".join(judgment.named.get(name, ())) or None,
            "manual": name in judgment.manual,
            "disproved": found.disproved.get(name),
        }
        for name in judgment.leftovers
    ]
