"""Verifies by a command, run in a copy of the environment's folder."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO, Final, NamedTuple

from tracegrade_harness.environment.folders import temporary_folder
from tracegrade_harness.errors import VerifierFailed
from tracegrade_harness.suite.command import filled
from tracegrade_harness.suite.model import CommandVerifier
from tracegrade_harness.verify import value
from tracegrade_harness.verify.copies import copy_tree
from tracegrade_harness.verify.result import Context, Finding, listed, shown

MAX_OUTPUT_BYTES: Final = 64 * 2**10
"""Of either output; the rest is not read."""


class _Ended(NamedTuple):
    code: int
    output: bytes
    complaint: bytes


def verify_command(verifier: CommandVerifier, context: Context) -> Finding:
    """Return whether a command says that it holds (exit code 0) or not (1).

    JSON on its standard output is the evidence, otherwise what it wrote to standard error.

    Raises:
        VerifierFailed: It cannot be run, takes too long, or ends with another code.
    """
    names = {"suite": str(context.suite.absolute()), "python": sys.executable}
    command = filled(verifier.command, names)
    with temporary_folder() as folder:
        changed = copy_tree(context.root.resolve(), folder / "environment")
        ended = _run(command, folder, context.suite, verifier.timeout_secs)
    evidence = _evidence(ended)
    if ended.code not in (0, 1):
        how = f"signal {-ended.code}" if ended.code < 0 else f"code {ended.code}"
        msg = f"the command ended with {how}: {evidence}; 0 is to mean it holds, 1 it does not"
        raise VerifierFailed(msg)
    left_out = [f"not in the copy: {listed(map(shown, changed))}"] if changed else []
    return Finding(ended.code == 0, listed([evidence, *left_out]))


def _run(command: list[str], folder: Path, suite: Path, limit_secs: float) -> _Ended:
    (folder / "home").mkdir()
    (folder / "tmp").mkdir()
    # Files, since a process that escaped could hold a pipe open for ever.
    with (folder / "stdout").open("w+b") as output, (folder / "stderr").open("w+b") as complaint:
        code = _exit_code(command, folder, suite, limit_secs, (output, complaint))
        output.seek(0)
        complaint.seek(0)
        return _Ended(code, output.read(MAX_OUTPUT_BYTES), complaint.read(MAX_OUTPUT_BYTES))


def _exit_code(
    command: list[str],
    folder: Path,
    suite: Path,
    limit_secs: float,
    outputs: tuple[IO[bytes], IO[bytes]],
) -> int:
    try:
        process = subprocess.Popen(  # noqa: S603 - the suite is code, too
            command,
            cwd=folder / "environment",
            env=_variables(folder, suite),
            stdin=subprocess.DEVNULL,
            stdout=outputs[0],
            stderr=outputs[1],
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        msg = f"the command '{command[0]}' cannot be run: {error}; give one that is installed"
        raise VerifierFailed(msg) from error
    with process:
        try:
            return process.wait(limit_secs)
        except subprocess.TimeoutExpired as error:
            msg = f"the command took more than {limit_secs:g} s; raise its timeout_secs"
            raise VerifierFailed(msg) from error
        finally:
            _kill_all(process)


def _kill_all(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of the command's process group."""
    with suppress(ProcessLookupError, PermissionError):  # macOS: not permitted where none is left
        os.killpg(process.pid, signal.SIGKILL)


def _variables(folder: Path, suite: Path) -> dict[str, str]:
    """Return all that the command gets: nothing by which what the agent left is run by mistake."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "tmp"),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONSAFEPATH": "1",  # else Python would import from the environment first
        "PYTHONPATH": str(suite.absolute()),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _evidence(ended: _Ended) -> str:
    json_text = value.json_of(ended.output.decode("utf-8", "replace"))
    if json_text is not None:
        return json_text
    lines = (ended.complaint or ended.output).decode("utf-8", "replace").split("\n")
    return shown(" | ".join(line.strip() for line in lines if line.strip())) or "it said nothing"
