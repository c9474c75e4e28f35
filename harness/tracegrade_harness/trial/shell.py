"""A shell in an agent's place: its folder, its variables, its services and its sandbox."""

import os
import shlex
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace

from tracegrade_harness.parts.diff import StateDifference
from tracegrade_harness.suite.command import filled
from tracegrade_harness.trial.channels import tool_channels
from tracegrade_harness.trial.folder import TrialFolder
from tracegrade_harness.trial.program import Place, command_values, silent_program
from tracegrade_harness.trial.setting import Setting, Tried
from tracegrade_harness.trial.taping import Taping


def run_shell(setting: Setting, tried: Tried, say: Callable[[str], None]) -> StateDifference:
    """Run the user's shell on this terminal until it ends, and return what changed meanwhile.

    Nothing that is done in it is an attempt, so that it sends no spans and stops at no gate.

    Args:
        setting: Of which collector and relay are not used.
        tried: The case.
        say: Told where the shell is and what the agent's command would be.

    Raises:
        EnvironmentFailed: The environment could not be restored or read.
    """
    template = setting.templates[tried.case(setting).environment]
    with (
        TrialFolder(setting.folder, tried.label()) as folder,
        closing(template.open(folder.root)) as environment,
        tool_channels(setting, tried, folder, environment, Taping.of(setting, tried)) as entrances,
    ):
        place = Place(folder.root, environment, folder.log("shell"))
        shell = os.environ.get("SHELL", "/bin/sh")
        program = silent_program(setting, tried, place, entrances, [shell])
        program = replace(program, reachable=None)  # a human may look further than an agent
        values = {**command_values(setting, tried), **entrances.values}
        say(f"folder: {folder.root}; leave the shell to remove it")
        say(f"agent: {shlex.join(filled(tried.agent(setting).command, values))}")
        terminal = {"TERM": os.environ.get("TERM", "dumb")}
        program = replace(program, environment={**program.environment, **terminal})
        setting.sandbox.run_on_terminal(program)
        return environment.difference()
