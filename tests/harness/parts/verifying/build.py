"""Environments as agents leave them, and verifiers as suites have them."""

from functools import partial
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from tracegrade_harness.loading.load import LoadedSuite
from tracegrade_harness.loading.model import suite_classes
from tracegrade_harness.parts.verify import verify
from tracegrade_harness.parts.verifying.result import Context, VerifierResult
from tracegrade_harness.sandbox.stoppable import StoppableSandbox
from tracegrade_harness.suite.model import Case, Suite
from tracegrade_harness.trial.run import find_sandbox
from tracegrade_harness.trial.suite_run import Trial, without_agents
from tracegrade_harness.trial.verifying import run_command

PARTS = {"files:data": "data", "sqlite:ledger": "data/ledger.db"}
SINGLE_FILES = {
    "sqlite:ledger": [f"data/ledger.db{suffix}" for suffix in ("", "-wal", "-journal", "-shm")]
}
CASE = Case(environment="e", agent="a")
SUITE = Suite(version=1, suite="s", agents={}, environments={}, cases={"c": CASE})


def context(folder: Path, **changes: set[str]) -> Context:
    """Return an empty environment beside an empty suite."""
    for name in ("root/data", "suite"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    added, changed, removed = (
        frozenset(changes.get(key, ())) for key in ("added", "changed", "removed")
    )
    suite = folder / "suite"
    sandbox = StoppableSandbox(find_sandbox(None))
    suite_run = without_agents(LoadedSuite(SUITE, suite, [], None), SUITE, sandbox, folder)
    run = partial(run_command, suite_run, Trial("c", 1))
    return Context(
        folder / "root", PARTS, suite, run, added, changed, removed, single_files=SINGLE_FILES
    )


def write(folder: Path, files: dict[str, str | bytes]) -> None:
    """Write files below a folder."""
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())


def verified(context: Context, **verifier: Any) -> VerifierResult:
    """Return what a verifier says that a suite has with these keys."""
    (result,) = verify([TypeAdapter(suite_classes().verifier).validate_python(verifier)], context)
    return result


def said(context: Context, **verifier: Any) -> tuple[str, str]:
    """Return the outcome and the evidence of a verifier with these keys."""
    return verified(context, **verifier)[1:]
