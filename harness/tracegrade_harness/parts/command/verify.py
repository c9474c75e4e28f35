"""Verifies by a command, run in a copy of the environment's folder."""

import os
import sys
from pathlib import Path
from typing import Final, NamedTuple

from tracegrade_harness.errors import VerifierFailed
from tracegrade_harness.parts.command.model import CommandVerifier
from tracegrade_harness.parts.folders.folders import temporary_folder
from tracegrade_harness.parts.verifying import value
from tracegrade_harness.parts.verifying.copies import copy_tree
from tracegrade_harness.parts.verifying.result import (
    Context,
    Finding,
    VerifierCommand,
    listed,
    printable,
)
from tracegrade_harness.suite.command import filled

COPY: Final = "environment"
"""Name of the copy's folder."""
MAX_OUTPUT_BYTES: Final = 64 * 2**10
"""Bytes of each output that are read."""


class _Ended(NamedTuple):
    code: int
    output: bytes
    complaint: bytes


def verify_command(verifier: CommandVerifier, context: Context) -> Finding:
    """Return whether a command passes (exit code 0) or fails (1).

    The evidence is JSON from its standard output, else the text from its standard error.

    Raises:
        VerifierFailed: It cannot be run, takes too long, or ends with another code.
    """
    names = {"suite": str(context.suite.absolute()), "python": sys.executable}
    command = filled(verifier.command, names)
    with temporary_folder() as folder:
        (folder / "work").mkdir()
        changed = copy_tree(context.root.resolve(), folder / "work" / COPY)
        ended = _run(command, folder, context, verifier.timeout_secs)
    evidence = _evidence(ended)
    if ended.code not in (0, 1):
        how = f"signal {-ended.code}" if ended.code < 0 else f"code {ended.code}"
        msg = f"the command ended with {how}: {evidence}; end with 0 if it holds, 1 if not"
        raise VerifierFailed(msg)
    left_out = [f"not in the copy: {listed(map(printable, changed))}"] if changed else []
    return Finding(ended.code == 0, listed([evidence, *left_out]))


def _run(command: list[str], folder: Path, context: Context, limit_secs: float) -> _Ended:
    """Run a command in `folder/work`; the output files are outside, so it cannot replace them.

    The output goes to files, because a process that escaped could hold a pipe open forever.
    """
    root, stdout, stderr = folder / "work", folder / "stdout", folder / "stderr"
    (root / "home").mkdir()
    (root / "tmp").mkdir()
    variables = _variables(root, context.suite)
    at = root / COPY
    code = context.run(VerifierCommand(command, root, at, variables, stdout, stderr, limit_secs))
    return _Ended(code, _beginning(stdout), _beginning(stderr))


def _beginning(file: Path) -> bytes:
    with file.open("rb") as output:
        return output.read(MAX_OUTPUT_BYTES)


def _variables(root: Path, suite: Path) -> dict[str, str]:
    """Return all variables of the command; none makes it run the agent's files."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(root / "home"),
        "TMPDIR": str(root / "tmp"),
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
    text = " | ".join(line.strip() for line in lines if line.strip())
    return printable(text) or "it printed nothing"
