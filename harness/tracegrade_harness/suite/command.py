"""Substitutions in the commands of a suite: `{release}`, `{suite}` and others."""

from collections.abc import Mapping, Sequence
from typing import Final

from tracegrade_harness.errors import SuiteUnusable
from tracegrade_harness.suite import templates

OF_AGENTS: Final = (
    "release",
    "task",
    "trial",
    "seed",
    "python",
    "suite",
    "mcp",
    "user_input",
    "user_input_file",
)
"""Placeholders that commands of agents may use."""

TO_FILL_IN: Final = "<how the agent is started>"
"""Replaced by a command that a person must write."""

OF_SERVERS: Final = ("task", "trial", "seed", "python", "suite")
"""Placeholders that commands of MCP servers may use."""

OF_VERIFIERS: Final = ("suite", "python")
"""Placeholders that commands of verifiers may use."""


def substitutions(argument: str) -> list[str]:
    """Return the placeholders of an argument, in order."""
    return [*templates.placeholders(argument)]


def filled(command: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """Return a command with its substitutions replaced; replaced text is not read again.

    Raises:
        SuiteUnusable: It names something that has no value.
    """

    def value(name: str) -> str:
        if name not in values:
            known = ", ".join(values)
            msg = f"the command names '{{{name}}}', which has no value; known: {known}"
            raise SuiteUnusable(msg)
        return values[name]

    return [templates.filled(argument, value) for argument in command]
