"""The command that runs if live services answer differently from the tapes."""

import contextlib
import shlex
import subprocess
from collections.abc import Sequence
from typing import Final

from tracegrade.terminal.visible import echo_output
from tracegrade_harness.errors import SuiteUnusable

OPERATORS: Final = frozenset({"|", "||", "&", "&&", ";", "<", ">", ">>"})
"""Words that, without quotes, have a meaning only for a shell."""


def command_of(text: str | None) -> list[str]:
    """Return the words of a command; none if it is not given.

    Raises:
        SuiteUnusable: It has none, cannot be split into them, or is one for a shell.
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
    _refuse_operators(text or "")
    return words


def _refuse_operators(text: str) -> None:
    unquoted: list[str] = []
    with contextlib.suppress(ValueError):  # an escaped quote, which only a shell reads differently
        unquoted = shlex.split(text, posix=False)  # quoted words keep their quotes
    if operator := next((word for word in unquoted if word in OPERATORS), None):
        msg = (
            f"--on-divergence has '{operator}', which means something to a shell alone, and it is "
            "run without one; give sh -c '...'"
        )
        raise SuiteUnusable(msg)


def tell(command: Sequence[str], text: str) -> str | None:
    """Run a command, without a shell, on a text; its output goes to stderr.

    Returns:
        Why it failed: it could not be run, or did not end with 0. None if it succeeded.
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
        return (
            f"'{command[0]}' of --on-divergence cannot be run: {error.strerror}; "
            "it is run without a shell, so give a program and its arguments, or sh -c '...'"
        )
    echo_output(ended.stdout)
    if ended.returncode:
        return f"'{command[0]}' of --on-divergence ended with {ended.returncode}; run it by hand"
    return None
