"""Verifiers that are commands, as suites declare them."""

from tracegrade_harness.suite.strict import Command, Seconds, Strict


class CommandVerifier(Strict):
    """A command ends with 0 (it holds) or 1 (it does not); anything else is an error."""

    command: Command
    """Run in a copy of the environment's folder. `{suite}` stands for the suite's folder,
    `{python}` for the harness's own interpreter."""
    timeout_secs: Seconds = 60
