"""The results that the running test has asked for, so that the plugin can show them if it fails.

Its own module because the plugin reads it only if a test has imported it.
"""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tracegrade_testing.results import ResultSet, RunResult

results: Final[list["RunResult"]] = []
"""Of the running test, in the order in which they were scored."""


def note_result(result: "RunResult | ResultSet") -> None:
    """Remember the runs of a result until the next test."""
    results.extend(result.runs)


def take_results() -> list["RunResult"]:
    """Return the results, and forget them."""
    found = results[:]
    results.clear()
    return found
