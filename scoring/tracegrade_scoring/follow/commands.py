"""Commands of tracegrade that follow a tick in the same process: `--then 'watch --rules R'`."""

import shlex
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
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
        code = 0
        with _time_limit(limit_secs) as is_over:
            code = _exit_code(command.arguments)
        if is_over():
            say(f"--then '{command.text}' was cut off after {limit_secs:g} s; scoring continues")
        elif code:
            say(f"--then '{command.text}' ended with exit code {code}; scoring continues")


@contextmanager
def _time_limit(secs: float) -> Iterator[Callable[[], bool]]:
    """Cut off the block after so many seconds; yield whether that happened."""
    fired = threading.Event()

    def cut_off(_: int, __: FrameType | None) -> None:
        fired.set()
        raise _TimeOver

    before = signal.signal(signal.SIGALRM, cut_off)
    signal.setitimer(signal.ITIMER_REAL, secs)
    try:
        yield fired.is_set
    except _TimeOver:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _exit_code(arguments: Sequence[str]) -> int:
    try:
        main(arguments)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0
