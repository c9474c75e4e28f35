"""The known sandboxes, and those that this machine has."""

from typing import Final, Protocol

from tracegrade_harness.sandbox.bwrap import Bubblewrap
from tracegrade_harness.sandbox.plain import Plain
from tracegrade_harness.sandbox.processes import Running
from tracegrade_harness.sandbox.program import Program


class Sandbox(Protocol):
    """A way to confine an agent."""

    @property
    def name(self) -> str:
        """Its name in suites."""

    def why_not(self) -> str | None:
        """Return why it cannot be used on this machine; None if it can."""

    def run_on_terminal(self, program: Program) -> int:
        """Run a program on this terminal, for a human to work with; return its exit code."""

    def start(self, program: Program) -> Running:
        """Start a program; use the result as a `with` block.

        Raises:
            SandboxFailed: It cannot be started.
        """


SANDBOXES: Final[tuple[Sandbox, ...]] = (Bubblewrap(), Plain())
"""The sandboxes, safest first."""


def why_no_image(name: str) -> str | None:
    """Return why no agent can run in an image in a sandbox; None if it can.

    Args:
        name: The sandbox's name in suites, or `auto`.
    """
    if name == Plain.name:
        return "an image needs bubblewrap, and 'none' is chosen; leave out the sandbox"
    reason = Bubblewrap().why_no_image()
    return reason and f"an image needs bubblewrap: {reason}"


def available() -> dict[str, str | None]:
    """Return each sandbox, safest first, with why it cannot be used; None if it can."""
    return {sandbox.name: sandbox.why_not() for sandbox in SANDBOXES}
