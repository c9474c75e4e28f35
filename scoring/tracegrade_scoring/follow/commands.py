"""Commands of tracegrade that follow a tick in the same process: `--then 'watch --rules R'`."""

import shlex
import signal
from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from types import FrameType
from typing import Final, NamedTuple

from tracegrade.cli import GROUP, main
from tracegrade_scoring.errors import BadCommand

LIMIT_SECS: Final = 600.0
"""Time for one command, so that one that hangs does not keep the lake from being scored."""
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


class _TimeOver(BaseException):
    """A command runs for too long; no handler of errors in it may catch this."""


def run_commands(
    commands: Sequence[FollowingCommand],
    say: Callable[[str], object],
    limit_secs: float = LIMIT_SECS,
) -> None:
    """Run commands one after another; one that fails is named, and the others run all the same.

    Call it in the main thread.

    Args:
        commands: The commands.
        say: Gets a line for each that fails.
        limit_secs: Time after which a command is cut off.
    """
    for command in commands:
        limited = _TimeLimit(limit_secs)
        code = limited.run(command.arguments)
        if limited.is_over:
            say(f"--then '{command.text}' was cut off after {limit_secs:g} s; scoring continues")
        elif code:
            say(f"--then '{command.text}' ended with exit code {code}; scoring continues")


class _TimeLimit:
    """Cuts off a command after some seconds, by the alarm of this process.

    The alarm may arrive at any instruction, also where the command has just ended. It therefore
    raises while a command runs and then only, and `run` always catches it.
    """

    def __init__(self, secs: float) -> None:
        """No command runs yet."""
        self.is_over = False
        self._secs = secs
        self._cuts_off = False

    def run(self, arguments: Sequence[str]) -> int:
        """Run a command; return its exit code, or 0 where it was cut off."""
        before = signal.signal(signal.SIGALRM, self._on_alarm)
        try:
            return self._run(arguments)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def _run(self, arguments: Sequence[str]) -> int:
        try:
            try:
                self._cuts_off = True
                signal.setitimer(signal.ITIMER_REAL, self._secs)
                return _exit_code(arguments)
            finally:
                self._cuts_off = False
        except _TimeOver:
            return 0

    def _on_alarm(self, _: int, __: FrameType | None) -> None:
        if self._cuts_off:
            self._cuts_off = False
            self.is_over = True
            raise _TimeOver


def _exit_code(arguments: Sequence[str]) -> int:
    try:
        main(arguments)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0
