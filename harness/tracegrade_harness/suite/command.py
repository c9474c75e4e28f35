"""What stands for something else in the commands of a suite: `{release}`, `{suite}` and others.

A word alone between braces is a substitution, anything else between braces stays as it is.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from tracegrade_harness.errors import SuiteUnusable

OF_AGENTS: Final = ("release", "task", "trial", "seed", "python", "suite", "mcp")
"""What commands of agents may name."""

OF_SERVERS: Final = ("task", "trial", "seed", "python", "suite")
"""What commands of MCP servers may name."""

OF_VERIFIERS: Final = ("suite", "python")
"""What commands of verifiers may name."""

_SUBSTITUTION: Final = re.compile(r"\{(\w+)\}")


def substitutions(argument: str) -> list[str]:
    """Return the names of what an argument asks to be replaced, in order."""
    return _SUBSTITUTION.findall(argument)


def filled(command: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """Return a command with its substitutions replaced; replaced text is not read again.

    Raises:
        SuiteUnusable: It names something that has no value.
    """

    def value(match: re.Match[str]) -> str:
        if match[1] not in values:
            msg = f"the command names '{match[0]}', which has no value; known: {', '.join(values)}"
            raise SuiteUnusable(msg)
        return values[match[1]]

    return [_SUBSTITUTION.sub(value, argument) for argument in command]
