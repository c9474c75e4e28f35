"""Commands of tracegrade that follow a tick in the same process: `--then 'watch --rules R'`."""

import shlex
from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from typing import Final, NamedTuple

from tracegrade.cli import GROUP, main
from tracegrade_scoring.errors import BadCommand

POSSIBLE: Final = ("compare", "issues", "report", "send", "watch")
"""Commands that read scores and end by themselves."""


class FollowingCommand(NamedTuple):
    """One command."""

    text: str
    """As it was given."""
    arguments: tuple[str, ...]
    """For `tracegrade`, with the lake."""


def parse_command(text: str, lake: str) -> FollowingCommand:
    """Return a command from the text of an option.

    Args:
        text: Its name and options, as a shell has them.
        lake: For a command that names none.

    Raises:
        BadCommand: It is not one of those possible, or not installed.
    """
    try:
        arguments = shlex.split(text)
    except ValueError as error:
        msg = f"--then '{text}' cannot be split into words: {str(error).lower()}"
        raise BadCommand(msg) from error
    known = [name for name in POSSIBLE if name in entry_points(group=GROUP).names]
    if not arguments or arguments[0] not in known:
        msg = f"--then takes a command with its options, of {', '.join(known)}; got '{text}'"
        raise BadCommand(msg)
    if not any(each == "--lake" or each.startswith("--lake=") for each in arguments):
        arguments = [*arguments, "--lake", lake]
    return FollowingCommand(text, tuple(arguments))


def run_commands(commands: Sequence[FollowingCommand], say: Callable[[str], object]) -> None:
    """Run commands one after another; one that fails is named, and the others run all the same."""
    for command in commands:
        if code := _exit_code(command.arguments):
            say(f"--then '{command.text}' ended with exit code {code}; scoring continues")


def _exit_code(arguments: Sequence[str]) -> int:
    try:
        main(arguments)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0
