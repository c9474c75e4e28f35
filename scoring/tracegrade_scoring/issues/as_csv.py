"""Issues as CSV: one row for each issue and run mode, numbers unrounded."""

from tracegrade_scoring.issues.found import FoundIssues
from tracegrade_scoring.issues.read import FACTS
from tracegrade_scoring.rendering.sheet import csv_text


def render_csv(found: FoundIssues) -> str:
    """Return the issues as CSV with a header."""
    return csv_text(FACTS, (issue.facts() for issue in found.issues))
