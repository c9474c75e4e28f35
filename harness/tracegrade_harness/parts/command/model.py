"""Verifiers that are commands, as suites declare them."""

from tracegrade_harness.suite.strict import Command, Seconds, Strict


class CommandVerifier(Strict):
    """A command that exits with 0 (pass) or 1 (fail); another code is an error."""

    command: Command
    """Run in a copy of the environment's folder. `{suite}` is replaced by the suite's folder,
    `{python}` by the harness's own interpreter."""
    timeout_secs: Seconds = 60
