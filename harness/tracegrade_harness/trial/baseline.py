"""A trial without a kill: the agent runs to its end, then verifiers check the state."""

import signal
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tracegrade_harness.control.deadline import Deadline
from tracegrade_harness.parts.environment import OpenedEnvironment
from tracegrade_harness.parts.settle import SettledState, wait_until_settled
from tracegrade_harness.parts.state import State
from tracegrade_harness.sandbox.bwrap import Bubblewrap
from tracegrade_harness.sandbox.processes import Running
from tracegrade_harness.sandbox.program import Program
from tracegrade_harness.suite.limits import TrialLimits
from tracegrade_harness.suite.model import Case
from tracegrade_harness.tape.entries import TapeEntry
from tracegrade_harness.trial.channels import AgentChannels, agent_channels
from tracegrade_harness.trial.folder import TrialFolder
from tracegrade_harness.trial.no_spans import silent, size
from tracegrade_harness.trial.out_of_sight import out_of_sight
from tracegrade_harness.trial.points import Boundary
from tracegrade_harness.trial.program import TrialWorkspace, agent_program, resource
from tracegrade_harness.trial.refused_by_limit import refused_by_limit
from tracegrade_harness.trial.result import Status, TrialResult
from tracegrade_harness.trial.root_span import send_root
from tracegrade_harness.trial.spending import Spending, Stop
from tracegrade_harness.trial.suite_run import SuiteRun, Trial
from tracegrade_harness.trial.tape_session import TapeSession
from tracegrade_harness.trial.verifying import verified
from tracegrade_harness.trial.watch import UNFLUSHED, AgentWatch, flush
from tracegrade_scoring.rendering.words import count


class Baseline(NamedTuple):
    """The course of an undisturbed trial, which killed trials repeat up to their kill point."""

    trajectory_id: str | None
    boundaries: tuple[Boundary, ...]
    planned_steps: int | None
    final: State
    """The environment after the run."""
    models: tuple[TapeEntry, ...] = ()
    """Answers of models to it."""


class FinishedAgent(NamedTuple):
    """An agent that is no longer running."""

    watch: AgentWatch
    status: Status
    reason: str | None
    exit_code: int | None
    lives_on: list[str]
    """Its processes and ports that still existed after its end."""
    notes: list[str]
    misses: list[str]
    """Calls that are missing on its tape."""
    models: tuple[TapeEntry, ...]
    """Answers of models to it, for runs that repeat it."""
    seconds: float
    traces: list[str]
    """Trace ids of its own spans, in the order of their arrival."""
    silence: str | None = None
    """Exit code and last lines of an agent that reached no gate and sent no span."""


def run_baseline(
    suite_run: SuiteRun, trial: Trial, spending: Spending, *, observe: bool
) -> tuple[TrialResult, Baseline]:
    """Run one trial to its end.

    Args:
        suite_run: The run.
        trial: The trial.
        spending: Counts its usage, and ends the trial at a limit.
        observe: Read the environment after each call, to see which calls write.

    Raises:
        EnvironmentFailed: The environment could not be restored or read.
        SandboxFailed: The agent could not be started or ended.
    """
    started_at = datetime.now(UTC)
    template = suite_run.templates[trial.case(suite_run).environment]
    with (
        TrialFolder(suite_run.folder, trial.label()) as folder,
        closing(template.open(folder.root)) as environment,
    ):
        before = template.before if observe else None
        finished = _run(suite_run, trial, folder, environment, spending, before)
        settled = wait_until_settled(environment.state)
        changed = changes(environment, settled, finished.lives_on)
        judged = verified(suite_run, trial, folder, environment, settled)
    root = finished.watch.root
    unjudged = _why_unjudged(
        finished, judged, fatal_misses(trial.case(suite_run), finished.misses)
    )
    result = TrialResult(
        task_id=trial.task_id,
        agent_name=trial.case(suite_run).agent,
        release=trial.release(suite_run),
        trial=trial.number,
        kill_point=None,
        trajectory_id=root and root.trajectory_id,
        status="error" if unjudged else finished.status,
        reason=unjudged or finished.reason,
        exit_code=finished.exit_code,
        success=_success(finished, judged, unjudged),
        verifiers=judged["verifiers"],
        changed=changed,
        notes=finished.notes,
        traces=finished.traces,
        tape_misses=finished.misses,
        seconds=finished.seconds,
        tokens=spending.tokens,
        usd=spending.usd,
        started_at=started_at,
    )
    watch = finished.watch
    trajectory = root and root.trajectory_id
    boundaries, plan = (*watch.boundaries,), watch.planned_steps
    return result, Baseline(trajectory, boundaries, plan, settled.state, finished.models)


def changes(
    environment: OpenedEnvironment, settled: SettledState, lives_on: list[str]
) -> dict[str, Any]:
    """Return the changes of a run in the form of `harness_trials`, without empty lists."""
    difference = environment.difference(settled.state)
    found = {
        **difference._asdict(),
        "held": environment.held(settled.state),
        "moving": settled.moving,
        "lives_on": lives_on,
        "ignored": environment.ignored_changes(),
        "notes": environment.notes(),
    }
    return {key: value for key, value in found.items() if value}


def fatal_misses(case: Case, misses: list[str]) -> list[str]:
    """Return the calls missing on a tape that make a run impossible to judge."""
    return [] if case.on_miss == "continue" else misses


def tape_reason(misses: Sequence[str]) -> str:
    """Return why a run whose calls are missing on its tape cannot be judged."""
    return f"tape_miss: {count(len(misses), 'call')}, first {misses[0]}"


def _run(
    suite_run: SuiteRun,
    trial: Trial,
    folder: TrialFolder,
    environment: OpenedEnvironment,
    spending: Spending,
    before: State | None,
) -> FinishedAgent:
    """Run the agent to its end; with an earlier state, record what each call changes."""
    workspace = TrialWorkspace(folder.root, environment, folder.log("agent"))
    limits = trial.case(suite_run).limits
    deadline = Deadline(limits.wall_secs, limits.idle_secs, partial(size, workspace.log))
    tape_session = TapeSession.of(suite_run, trial).measured(spending)
    tape_session = tape_session if before is None else tape_session.to_be_repeated()
    with agent_channels(suite_run, trial, folder, environment, tape_session, deadline) as channels:
        program = agent_program(suite_run, trial, workspace, channels.endpoints)
        with suite_run.sandbox.start(program) as running:
            watch = AgentWatch(
                channels.gate,
                running,
                deadline,
                suite_run.effect_of,
                before or {},
                None if before is None else environment.state,
                root_of=channels.root_span,
                spending=spending,
            )
            end = _end_of(watch, limits, workspace.log)
        channels.finish(end.exit_code)
    seconds = deadline.spent_secs()
    if channels.run is None:
        _send_open_root(suite_run, trial, watch, end)
    finished = _finished(watch, end, channels, tape_session, seconds)
    if end.stopped:
        return finished
    is_silent = watch.root is None and not channels.has_spans
    silence = silent(end.exit_code, workspace.log) if is_silent else None
    _keep_tape(suite_run, trial, tape_session, silence)
    unseen = _unseen(suite_run, trial, program, end.exit_code)
    notes = [*finished.notes, *tape_session.notes(), *unseen]
    return finished._replace(notes=notes, silence=silence)


class _AgentEnd(NamedTuple):
    """The end of an agent that is no longer running."""

    stopped: Stop | None
    """The limit that ended it; None if it ended itself."""
    exit_code: int | None
    """None if a limit ended it."""
    lives_on: list[str]
    """Its processes and ports that still existed after its end."""


def _end_of(watch: AgentWatch, limits: TrialLimits, log: Path) -> _AgentEnd:
    """Follow an agent to its end or limit, and end everything that it started."""
    running = watch.running
    stopped = _follow(watch, limits, running)
    exit_code = running.wait(0)
    lives_on = running.leftovers()
    running.kill()
    stopped = stopped or _exceeded(running, watch, exit_code)
    stopped = stopped or _refused(limits, watch, running, log)
    return _AgentEnd(stopped, None if stopped else exit_code, lives_on)


def _send_open_root(suite_run: SuiteRun, trial: Trial, watch: AgentWatch, end: _AgentEnd) -> None:
    """Send the root span of a run that its agent began and did not end."""
    if watch.open_root is None:
        return
    stopped, exit_code = end.stopped, end.exit_code
    why = stopped.reason if stopped else f"the agent ended with {exit_code} before its run did"
    send_root(suite_run.collector, watch.open_root, None, resource(suite_run, trial), why)


def _finished(
    watch: AgentWatch,
    end: _AgentEnd,
    channels: AgentChannels,
    tape_session: TapeSession,
    seconds: float,
) -> FinishedAgent:
    """Return the record of an agent that ended, for every kind of end."""
    mismatches = watch.effect_mismatches.values()
    return FinishedAgent(
        watch,
        end.stopped.status if end.stopped else "done",
        end.stopped.reason if end.stopped else None,
        end.exit_code,
        end.lives_on,
        [*watch.faults, *mismatches, *channels.notes(), *watch.spending.notes()],
        tape_session.misses,
        tape_session.models.entries() if tape_session.models else (),
        seconds,
        channels.traces,
    )


def _unseen(
    suite_run: SuiteRun, trial: Trial, program: Program, exit_code: int | None
) -> list[str]:
    """Return files that a sandbox may have hidden from an agent that failed."""
    if exit_code and suite_run.sandbox.name == Bubblewrap.name:
        return out_of_sight(program, trial.case(suite_run).agent)
    return []


def _keep_tape(
    suite_run: SuiteRun, trial: Trial, tape_session: TapeSession, silence: str | None
) -> None:
    """Store the recorded answers, if there is a recorder.

    An agent that asked nothing, and left nothing else to judge, may never have begun. Its empty
    tape would replace a good one, so it is not stored.
    """
    recorder = tape_session.recorder
    if recorder is None or suite_run.keep_tape is None:
        return
    unknown = silence is not None and not trial.case(suite_run).verify
    if recorder.entries() or recorder.refused or not unknown:
        suite_run.keep_tape(trial, recorder)


def _follow(watch: AgentWatch, limits: TrialLimits, running: Running) -> Stop | None:
    """Let the agent continue at each moment; return the limit that ended it, if any."""
    for moment in watch.moments():
        stop = watch.spending.stop
        if stop is None and limits.calls is not None and len(watch.boundaries) > limits.calls:
            stop = Stop("budget", f"calls: more than {limits.calls}")
        if stop is not None:
            watch.faults += flush(watch.gate, moment)
            running.kill()
            return stop
    stop = watch.spending.stop
    if _code(running, watch.deadline, stop) is None:
        running.kill()
        watch.faults.append(UNFLUSHED)
        return stop or _late(watch.deadline, limits)
    return stop


def _late(deadline: Deadline, limits: TrialLimits) -> Stop:
    """Return the time limit that ended the agent."""
    if deadline.was_idle:
        return Stop("budget", f"idle_secs: no sign for {limits.idle_secs:g} s")
    return Stop("budget", f"wall_secs: more than {limits.wall_secs:g} s")


def _exceeded(running: Running, watch: AgentWatch, exit_code: int | None) -> Stop | None:
    """Return the sandbox's limit that ended the agent, if one did."""
    if running.over_limit is None:
        return None
    if (
        exit_code == -signal.SIGKILL
    ):  # otherwise it ended itself after the kernel refused a request
        watch.faults.append(UNFLUSHED)
    return Stop("budget", running.over_limit)


def _refused(limits: TrialLimits, watch: AgentWatch, running: Running, log: Path) -> Stop | None:
    """Return the kernel's limit that made an agent fail; None if there is none."""
    if not running.wait(0):
        return None
    why = refused_by_limit(limits, log, watch.error, crowded=running.was_crowded)
    return None if why is None else Stop("budget", why)


def _code(running: Running, deadline: Deadline, stop: Stop | None) -> int | None:
    """Return the exit code of an agent that ends in time; the clock may be paused."""
    while (code := running.wait(0 if stop else deadline.left_secs())) is None:
        if stop or not deadline.left_secs():
            return None
    return code


def _why_unjudged(finished: FinishedAgent, judged: dict[str, Any], fatal: list[str]) -> str | None:
    """Return why a run that no limit ended cannot be judged; None if it can."""
    if finished.status != "done":
        return None
    if fatal:
        return tape_reason(fatal)
    if judged["error"]:
        return f"verifier: {judged['error']}"
    return finished.silence if judged["verifiers"] is None else None


def _success(finished: FinishedAgent, judged: dict[str, Any], unjudged: str | None) -> bool | None:
    """Return whether all verifiers passed; None if that cannot be judged."""
    if finished.status != "done":
        return False if finished.status == "budget" else None
    judged_success: bool | None = judged["success"]
    return None if unjudged else judged_success
