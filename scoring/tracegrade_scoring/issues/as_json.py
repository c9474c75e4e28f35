"""Issues for programs: every number unrounded, every name as the trace spells it."""

import json
from collections.abc import Sequence
from datetime import date
from typing import Any

from tracegrade_scoring.issues.found import FoundIssues
from tracegrade_scoring.issues.read import Issue


def render_json(found: FoundIssues) -> str:
    r"""Return issues as one JSON object; beyond ASCII as `\uXXXX`, inert on a terminal."""
    document: dict[str, Any] = {"lake": found.lake, "issues": issue_rows(found.issues)}
    if found.runs:
        document |= {"runs": found.runs, "marks": found.marks}
    return json.dumps(document, indent=2, default=_plain) + "\n"


def issue_rows(issues: Sequence[Issue]) -> list[dict[str, Any]]:
    """Return each issue with its counts by release."""
    return [
        {
            **issue.facts(),
            "merged": [*issue.merged],
            "releases": [count._asdict() for count in issue.releases],
        }
        for issue in issues
    ]


def _plain(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError
