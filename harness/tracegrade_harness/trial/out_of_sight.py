"""Finds existing files that a failed agent looked for and its sandbox hides."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tracegrade.terminal.visible import visible
from tracegrade_harness.sandbox.host_view import view_of
from tracegrade_harness.sandbox.program import Program
from tracegrade_harness.trial.no_spans import last_lines

OUT_OF_SIGHT: Final = "is not in the sandbox"
MOST_NAMED: Final = 3
_QUOTED: Final = re.compile(r"""['"`]?(/[^'"`:\s]+)""")
_MODULE: Final = re.compile(r"No module named '(\w+)")


def out_of_sight(program: Program, agent: str) -> list[str]:
    """Return notes on files that a confined agent's last lines name and its sandbox hides.

    Args:
        program: The agent's program.
        agent: Its name in the suite.
    """
    view = view_of(program)
    hidden = [path for path in dict.fromkeys(_named(program)) if not view.shows(path)]
    own = str(program.root.resolve())
    return [
        f"'{visible(str(path))}' {OUT_OF_SIGHT}; name its folder under 'read' of agent "
        f"'{visible(agent)}'"
        for path in hidden
        if not os.path.realpath(path).startswith(own)
    ][:MOST_NAMED]


def _named(program: Program) -> Iterator[Path]:
    """Yield paths of this machine in the last lines: files, and modules next to programs."""
    beside = {Path(path).parent for path in program.command if os.path.isabs(path)}
    for line in last_lines(program.stderr):
        yield from (Path(found) for found in _QUOTED.findall(line) if os.path.exists(found))
        for name in _MODULE.findall(line):
            both = (folder / each for folder in beside for each in (f"{name}.py", name))
            yield from (path for path in both if path.exists())
