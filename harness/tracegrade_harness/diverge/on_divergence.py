"""The command that is run where services answer otherwise than recorded."""

import shlex
import subprocess
from collections.abc import Sequence

from tracegrade.terminal.visible import echo_output
from tracegrade_harness.errors import EnvironmentFailed, SuiteUnusable


def command_of(text: str | None) -> list[str]:
    """Return the words of a command; none if it is not given.

    Raises:
        SuiteUnusable: It has none, or cannot be split into them.
    """
    try:
        words = [] if text is None else shlex.split(text)
    except ValueError as error:
        msg = (
            f"--on-divergence {text!r} cannot be split into words: {error}; quote it as shells do"
        )
        raise SuiteUnusable(msg) from error
    if text is not None and not words:
        msg = "--on-divergence has no command; give one, or leave it out"
        raise SuiteUnusable(msg)
    return words


def tell(command: Sequence[str], text: str) -> None:
    """Run a command with a text as its input; what it prints goes to stderr.

    Raises:
        EnvironmentFailed: It did not end with 0.
    """
    try:
        ended = subprocess.run(  # noqa: S603 - what the user says
            command,
            input=text.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
    except OSError as error:
        msg = f"'{command[0]}' of --on-divergence cannot be run: {error.strerror}; correct it"
        raise EnvironmentFailed(msg) from error
    echo_output(ended.stdout)
    if ended.returncode:
        msg = f"'{command[0]}' of --on-divergence ended with {ended.returncode}; run it by hand"
        raise EnvironmentFailed(msg)
