"""The command `tracegrade` in this process, which saves a second each time."""

import io
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple

import pytest

from tracegrade.cli import main

IGNORING = ("sh", "-c", 'trap "" INT QUIT HUP; exec "$@"', "sh")
"""Before a command: it ignores what `nohup`, and shells in the background, let it ignore."""
IGNORES_NONE = (
    "import signal as s; "
    "raise SystemExit(any(s.getsignal(n) is s.SIG_IGN for n in (s.SIGINT, s.SIGQUIT, s.SIGHUP)))"
)
"""Of Python: ends with 0 if it ignores none of them."""


class Ended(NamedTuple):
    """What a command left."""

    returncode: object
    output: bytes
    stderr: str

    @property
    def stdout(self) -> str:
        """The output as text."""
        return self.output.decode()


def tracegrade(*arguments: object) -> Ended:
    """Run the command to its end."""
    written, stderr = io.BytesIO(), io.StringIO()
    stdout = io.TextIOWrapper(written, "utf-8", write_through=True)
    with (
        redirect_stdout(stdout),
        redirect_stderr(stderr),
        pytest.raises(SystemExit) as ended,
    ):
        main([str(each) for each in arguments])
    return Ended(ended.value.code, written.getvalue(), stderr.getvalue())
