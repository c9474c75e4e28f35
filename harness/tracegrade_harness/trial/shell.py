"""A shell with an agent's folder, variables, services and sandbox."""

import os
import shlex
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace

from tracegrade_harness.parts.diff import StateDifference
from tracegrade_harness.suite.command import filled
from tracegrade_harness.trial.channels import tool_channels
from tracegrade_harness.trial.folder import TrialFolder
from tracegrade_harness.trial.program import TrialWorkspace, command_values, silent_program
from tracegrade_harness.trial.suite_run import SuiteRun, Trial
from tracegrade_harness.trial.tape_session import TapeSession


def run_shell(suite_run: SuiteRun, trial: Trial, say: Callable[[str], None]) -> StateDifference:
    """Run the user's shell on this terminal until it ends, and return what it changed.

    The shell is not an attempt, so it sends no spans and stops at no gate.

    Args:
        suite_run: The run; its collector and relay are not used.
        trial: The case.
        say: Called with the shell's folder and the agent's command.

    Raises:
        EnvironmentFailed: The environment could not be restored or read.
    """
    template = suite_run.templates[trial.case(suite_run).environment]
    with (
        TrialFolder(suite_run.folder, trial.label()) as folder,
        closing(template.open(folder.root)) as environment,
        tool_channels(
            suite_run, trial, folder, environment, TapeSession.of(suite_run, trial)
        ) as endpoints,
    ):
        workspace = TrialWorkspace(folder.root, environment, folder.log("shell"))
        has_image = environment.world is not None
        shell = "/bin/sh" if has_image else os.environ.get("SHELL", "/bin/sh")
        program = silent_program(suite_run, trial, workspace, endpoints, [shell])
        program = replace(program, reachable=None)  # a human may reach more than an agent
        values = {**command_values(suite_run, trial), **endpoints.values}
        say(f"folder: {folder.root}; leave the shell to remove it")
        say(f"agent: {shlex.join(filled(trial.agent(suite_run).command, values))}")
        terminal = {"TERM": os.environ.get("TERM", "dumb")}
        program = replace(program, environment={**program.environment, **terminal})
        suite_run.sandbox.run_on_terminal(program)
        return environment.difference()
