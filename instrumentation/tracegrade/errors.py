"""Base classes of all errors of the `tracegrade` command, each with its exit code.

Each package derives its own base from these. They live in the lowest layer because the command,
which turns them into one line and an exit code, lives there.
"""


class TracegradeError(Exception):
    """Something outside failed: the lake, a file, the network.

    The text is one line: fact, value, way out.
    """

    exit_code = 3


class BadInput(TracegradeError):
    """Input that cannot be used: an argument, a file's content, a query."""

    exit_code = 2


class CheckFailed(TracegradeError):
    """A check that the user asked for did not hold."""

    exit_code = 1
