"""What tests have scored, for the plugin: results of the running test, captures of the session.

Its own module because the plugin reads it only where a test has scored something.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tracegrade_scoring.tasks import Specification
    from tracegrade_testing.requests import CaptureRequests
    from tracegrade_testing.results import ResultSet, RunResult


@dataclass
class SessionNotes:
    """What a session of tests has scored so far."""

    results: list["RunResult"] = field(default_factory=list)
    """Of the running test, in the order in which they were scored."""
    keeps_captures: bool = False
    """Whether a report or a lake is made of the captures at the end."""
    captures: list[tuple["CaptureRequests", "Specification"]] = field(default_factory=list)
    """All captures of the session, with what they were scored against."""
    updates_baselines: bool = False
    """Whether `assert_no_regression` writes baselines instead of comparing with them."""

    def add_result(self, result: "RunResult | ResultSet") -> None:
        """Remember the runs of a result until the running test ends."""
        self.results.extend(result.runs)

    def add_capture(self, requests: "CaptureRequests", specification: "Specification") -> None:
        """Keep a capture if something is made of it at the end."""
        if self.keeps_captures:
            self.captures.append((requests, specification))

    def take_results(self) -> list["RunResult"]:
        """Return the results of the running test, and forget them."""
        found = self.results[:]
        self.results.clear()
        return found


notes: Final = SessionNotes()
"""Of this process."""
