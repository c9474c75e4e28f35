"""A trial that is killed at its point; then what it leaves is judged, and again after recovery."""

import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from tracegrade.rollback.undo import UndoFailed
from tracegrade_harness.doors.gate import Gate
from tracegrade_harness.environment.diff import diff
from tracegrade_harness.environment.environment import EnvironmentTemplate, OpenedEnvironment
from tracegrade_harness.environment.part import State
from tracegrade_harness.environment.still import wait_until_still
from tracegrade_harness.errors import SandboxFailed
from tracegrade_harness.rollback.places import Places
from tracegrade_harness.rollback.records import Records, read_records
from tracegrade_harness.rollback.rubric import KillJudgement, Seen, judge
from tracegrade_harness.rollback.undo import MAX_COMMAND_SECS, Clone, prove, services
from tracegrade_harness.suite.model import Point
from tracegrade_harness.trial.doors import agent_doors, mcp_servers, tool_entrances
from tracegrade_harness.trial.folder import TrialFolder, remove
from tracegrade_harness.trial.http_doors import HttpProxies
from tracegrade_harness.trial.points import Boundary
from tracegrade_harness.trial.program import (
    Place,
    UndoPlace,
    agent_program,
    plain_program,
    recovery_program,
    resource,
)
from tracegrade_harness.trial.result import TrialResult
from tracegrade_harness.trial.root_span import RootSpan, send_mark, send_root
from tracegrade_harness.trial.setting import Setting, Tried
from tracegrade_harness.trial.taping import Taping
from tracegrade_harness.trial.undisturbed import Baseline, changes, tape_reason
from tracegrade_harness.trial.watch import AgentWatch, Moment

FLUSH_SECS: Final = 5.0
RECOVERY_SECS: Final = 60.0


class Died(NamedTuple):
    """An agent that was killed."""

    root: RootSpan | None
    boundary: int
    """Tool calls that had returned."""
    diverged: bool
    """Up to there it did not do what the undisturbed run did."""
    in_flight: int
    notes: list[str]
    misses: list[str]
    """What it asked that is not on its tape."""
    seconds: float


@dataclass(frozen=True)
class Killing:
    """One kill of one trial."""

    setting: Setting
    tried: Tried
    injection: Point
    target: Boundary
    baseline: Baseline

    def result(self, **fields: Any) -> TrialResult:
        """Return a result of this kill."""
        common: dict[str, Any] = {
            "task_id": self.tried.task_id,
            "agent_name": self.tried.case(self.setting).agent,
            "release": self.tried.release(self.setting),
            "trial": self.tried.trial,
            "injection": self.injection,
            "baseline_trajectory_id": self.baseline.trajectory_id,
        }
        return TrialResult(**common, **fields)

    def run(self) -> TrialResult:
        """Kill the agent at the point, let it recover, and judge what it left.

        A point with calls under way, or one that was not reached, is tried a second time.

        Raises:
            EnvironmentFailed: The environment could not be restored or read.
            SandboxFailed: The agent could not be started or ended.
        """
        started_at = datetime.now(UTC)
        template = self.setting.templates[self.tried.case(self.setting).environment]
        label = f"{self.tried.label()}-{self.injection}"
        for last in (False, True):
            with (
                TrialFolder(self.setting.folder, label) as folder,
                closing(template.open(folder.root)) as environment,
            ):
                died = self._kill(folder, environment)
                if died is not None and (last or not died.in_flight):
                    return self._judged(died, folder, environment, template, started_at)
        return self.result(
            status="error",
            reason=f"not_reached: call {self.target.number} did not return before the agent's end",
            started_at=started_at,
        )

    def _kill(self, folder: TrialFolder, environment: OpenedEnvironment) -> Died | None:
        """Run the agent up to the point and kill it; None if it never came there."""
        place = Place(folder.root, environment, folder.log("agent"))
        started = time.monotonic()
        ends = started + self.tried.case(self.setting).limits.wall_secs
        with agent_doors(self.setting, self.tried, folder, environment) as doors:
            program = agent_program(self.setting, self.tried, place, doors.entrances)
            with self.setting.sandbox.start(program) as running:
                watch = AgentWatch(
                    doors.gate,
                    running,
                    ends,
                    self.setting.effect_of,
                    environment.state,
                    self._mark,
                )
                for moment in watch.moments():
                    if not self._is_reached(watch, moment):
                        continue
                    if moment.boundary is None and running.wait(0) is not None:
                        break  # it has answered already, and nobody there could wait
                    lost = _flush(doors.gate, moment)
                    running.kill()
                    return Died(
                        watch.root,
                        len(watch.boundaries),
                        self._has_diverged(watch),
                        moment.in_flight,
                        [*watch.faults, *lost, *doors.notes()],
                        doors.taping.misses,
                        time.monotonic() - started,
                    )
                exit_code = running.wait(0)
            doors.finish(exit_code)
        return None

    def _mark(self, root: RootSpan) -> None:
        """Say that a run is no attempt: it may end without having come to its point."""
        described = resource(self.setting, self.tried)
        send_mark(self.setting.collector, root, self.injection, described)

    def _is_reached(self, watch: AgentWatch, moment: Moment) -> bool:
        """Return whether to kill now: after the same call, or if the run differs by the rule."""
        if not self._has_diverged(watch):
            return moment.boundary is not None and moment.boundary.number == self.target.number
        if self.injection == "late":
            return moment.boundary is None
        wrote = any(boundary.wrote for boundary in watch.boundaries)
        return len(watch.boundaries) >= self.target.number and (wrote or self.injection == "early")

    def _has_diverged(self, watch: AgentWatch) -> bool:
        done = [(call.tool, call.arguments) for call in watch.boundaries]
        same = [(call.tool, call.arguments) for call in self.baseline.boundaries]
        return done != same[: len(done)]

    def _judged(
        self,
        died: Died,
        folder: TrialFolder,
        environment: OpenedEnvironment,
        template: EnvironmentTemplate,
        started_at: datetime,
    ) -> TrialResult:
        if died.root is not None:
            described = resource(self.setting, self.tried)
            send_root(self.setting.collector, died.root, self.injection, described)
        look = _Look(self, folder, environment, template)
        immediate, _ = look.judgement("immediate")
        notes = [*died.notes, *self._recover(folder, environment)]
        after, seen = look.judgement("after")
        notes += [f"{fault.record}: {fault.fact}" for fault in seen.records.faults]
        if died.diverged:
            notes.append("diverged: it did not do what the undisturbed run did")
        if died.in_flight:
            notes.append(f"in_flight: {died.in_flight} calls were under way")
        return self.result(
            trajectory_id=died.root and died.root.trajectory_id,
            status="error" if died.misses else "done",
            reason=tape_reason(died.misses) if died.misses else None,
            tape_misses=died.misses,
            boundary=died.boundary,
            immediate=immediate.score,
            after_recovery=after.score,
            label=after.label,
            leftovers=_told(after, seen),
            changed=changes(environment, wait_until_still(environment.state), []),
            notes=notes,
            seconds=died.seconds,
            started_at=started_at,
        )

    def _recover(self, folder: TrialFolder, environment: OpenedEnvironment) -> list[str]:
        """Run the recovery command, if there is one; return what is to be known of it."""
        place = Place(folder.root, environment, folder.log("recovery"))
        taping = Taping.of(self.setting, self.tried)
        with (
            mcp_servers(self.setting, self.tried, folder, environment, taping) as servers,
            HttpProxies(self.setting, self.tried, environment, taping) as proxies,
        ):
            entrances = tool_entrances(self.setting, self.tried, folder, servers, proxies)
            program = recovery_program(self.setting, self.tried, place, entrances)
            if program is None:
                return []
            with self.setting.sandbox.start(program) as running:
                code = running.wait(RECOVERY_SECS)
        missed = [f"recovery: {miss}" for miss in taping.misses]
        if code is None:
            return [f"recovery: took more than {RECOVERY_SECS:g} s, and was ended", *missed]
        return [*missed, *([f"recovery: ended with {code}"] if code else [])]


class _Look:
    """Looks at what a killed run left."""

    def __init__(
        self,
        killing: Killing,
        folder: TrialFolder,
        environment: OpenedEnvironment,
        template: EnvironmentTemplate,
    ) -> None:
        self._killing = killing
        self._folder = folder
        self._environment = environment
        self._template = template
        setting, case = killing.setting, killing.tried.case(killing.setting)
        self._places = Places(setting.suite.environments[case.environment], folder.root)
        self._accepts_done = case.kill is not None and case.kill.accept == "done"

    def judgement(self, name: str) -> tuple[KillJudgement, Seen]:
        """Return what the environment scores as it is now, and what that was judged from."""
        now = wait_until_still(self._environment.state).state
        seen = Seen(
            before=self._template.before,
            now=now,
            held=self._environment.held(now),
            records=self._records(),
            final=self._killing.baseline.final if self._accepts_done else None,
        )
        first = judge(seen)
        return (judge(seen, self._disproved(seen, name)) if first.named else first), seen

    def _records(self) -> Records:
        setting = self._killing.setting
        agent = self._killing.tried.agent(setting)
        return read_records(agent.records, setting.suite_folder, self._folder.root, self._places)

    def _disproved(self, seen: Seen, name: str) -> list[str]:
        """Try undos on a copy, and return the objects that they did not set right."""
        root, pristine = (self._folder.beside(f"{name}-{kind}") for kind in ("copy", "before"))
        with ExitStack() as stack:
            stack.callback(remove, root)
            stack.callback(remove, pristine)
            copy = stack.enter_context(closing(self._environment.clone(root)))
            stack.enter_context(closing(self._template.open(pristine)))
            known = services(self._environment.variables, copy.variables)
            run = partial(self._run, copy)
            clone = Clone(root, [copy], pristine, self._folder.root, self._places, run, known)
            return [*prove(seen, clone).disproved]

    def _run(self, copy: OpenedEnvironment, command: Sequence[str], root: Path) -> None:
        """Run an undo of the agent's where agents are run, with the parts that the copy has.

        Raises:
            UndoFailed: It failed, or took too long.
        """
        killing = self._killing
        log = self._folder.log("undo")
        place = UndoPlace(root, copy.variables, copy.addresses, log)
        program = plain_program(killing.setting, killing.tried, command, place)
        try:
            with killing.setting.sandbox.start(program) as running:
                code = running.wait(MAX_COMMAND_SECS)
        except SandboxFailed as error:
            raise UndoFailed(str(error)) from error
        if code != 0:
            fact = f"ended with {code}" if code else f"took more than {MAX_COMMAND_SECS:g} s"
            msg = f"command {fact}"
            raise UndoFailed(msg)


def _flush(gate: Gate, moment: Moment) -> list[str]:
    """Let the agent send the spans that ended; return what is to be known of it."""
    flushed = gate.flush(moment.event, FLUSH_SECS)
    if flushed is None or not flushed.complete:
        return ["flush: not all spans before the kill may have arrived"]
    return [f"flush: {flushed.lost} spans were lost"] if flushed.lost else []


def _told(judgement: KillJudgement, seen: Seen) -> list[dict[str, Any]]:
    """Return what is left, as `harness_trials` has it."""
    changed = _changes_of(seen.before, seen.now)
    return [
        {
            "object": name,
            "change": changed.get(name, "held"),
            "named_by": ", ".join(judgement.named.get(name, ())) or None,
            "manual": name in judgement.manual,
            "disproved": name in judgement.disproved,
        }
        for name in judgement.leftovers
    ]


def _changes_of(before: State, now: State) -> dict[str, str]:
    difference = diff(before, now)._asdict()
    return {name: change for change, found in difference.items() for name in found}
