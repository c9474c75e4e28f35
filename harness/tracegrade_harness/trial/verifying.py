"""Runs the verifiers of a case after a trial, and their commands in a sandbox."""

from functools import partial
from typing import Any

from tracegrade_harness.errors import SandboxFailed, VerifierFailed
from tracegrade_harness.parts.environment import OpenedEnvironment
from tracegrade_harness.parts.part_paths import single_files
from tracegrade_harness.parts.registry import paths_in
from tracegrade_harness.parts.settle import SettledState
from tracegrade_harness.parts.verify import outcome, verify
from tracegrade_harness.parts.verifying.result import Context, VerifierCommand
from tracegrade_harness.trial.folder import TrialFolder
from tracegrade_harness.trial.program import verifier_program
from tracegrade_harness.trial.suite_run import SuiteRun, Trial


def verified(
    suite_run: SuiteRun,
    trial: Trial,
    folder: TrialFolder,
    environment: OpenedEnvironment,
    settled: SettledState,
) -> dict[str, Any]:
    """Return the columns for verifiers, and `error` if a verifier could not judge."""
    case = trial.case(suite_run)
    if not case.verify:
        return {"success": None, "verifiers": None, "error": None}
    results = verify(case.verify, _context(suite_run, trial, folder, environment, settled))
    found = outcome(results)
    error = next((result.evidence for result in results if result.outcome == "error"), None)
    return {
        "success": None if found == "error" else found == "pass",
        "verifiers": [result._asdict() for result in results],
        "error": error,
    }


def _context(
    suite_run: SuiteRun,
    trial: Trial,
    folder: TrialFolder,
    environment: OpenedEnvironment,
    settled: SettledState,
) -> Context:
    difference = environment.difference(settled.state)
    declared = suite_run.suite.environments[trial.case(suite_run).environment]
    return Context(
        root=folder.root,
        parts=paths_in(declared),
        suite=suite_run.suite_folder,
        run=partial(run_command, suite_run, trial),
        added=frozenset(difference.added),
        changed=frozenset(difference.changed),
        removed=frozenset(difference.removed),
        opened=environment.parts,
        single_files=single_files(declared),
    )


def run_command(suite_run: SuiteRun, trial: Trial, command: VerifierCommand) -> int:
    """Run a verifier's command where an agent's files do no harm, and return its exit code.

    Raises:
        VerifierFailed: It could not be started, was too slow, or used too much.
    """
    try:
        with suite_run.verifying.start(verifier_program(suite_run, trial, command)) as running:
            code = running.wait(command.timeout_secs)
            running.kill()
    except SandboxFailed as error:
        msg = f"the command '{command.argv[0]}' cannot be run: {error}; see that it is installed"
        raise VerifierFailed(msg) from error
    if running.over_limit is not None:
        msg = f"the command was ended by a limit, {running.over_limit}; raise the case's limits"
        raise VerifierFailed(msg)
    if code is None:
        msg = f"the command took more than {command.timeout_secs:g} s; raise its timeout_secs"
        raise VerifierFailed(msg)
    return code
