"""Issues in words, the same in a terminal and on a page."""

from collections.abc import Mapping
from typing import Any

from tracegrade_scoring.issues.read import Issue
from tracegrade_scoring.issues.states import BY_MARK, FIXED, MUTED, NEW, REOPENED
from tracegrade_scoring.metrics import Scale
from tracegrade_scoring.rendering import words
from tracegrade_scoring.statistics.intervals import wilson

NO_RELEASE = "(no release)"


def counted(issue: Issue) -> str:
    """Return how many runs of the last release that ran its tasks showed an issue."""
    last = issue.releases[-1]
    return f"{last.hits:,} of {words.count(last.runs, 'run')} of {release_name(last.release)}"


def rate(issue: Issue) -> str:
    """Return the share of these runs, with its 95 % interval."""
    last = issue.releases[-1]
    interval = wilson(last.hits, last.runs)
    between = words.interval(interval.low, interval.high, Scale.SHARE)
    return f"{words.amount(last.hits / last.runs, Scale.SHARE)} ({between})"


def standing(issue: Issue) -> str:
    """Return why an issue has its state, and what would change it."""
    state = issue.state
    release = release_name(state.release)
    if state.name == MUTED:
        return "muted by a mark"
    if state.name == FIXED and state.source == BY_MARK:
        return f"marked as fixed in {release}, and not seen since"
    if state.name == FIXED:
        return f"fixed in {release}: so many runs without it are not chance"
    needs = f"called fixed after {words.count(state.needed_runs, 'more run')} without it"
    if state.name == REOPENED:
        fix = "it was marked as fixed" if state.source == BY_MARK else "its runs showed a fix"
        return f"seen again in {release}, after {fix}; {needs}"
    if state.name == NEW:
        return f"first seen in the newest release; {needs}"
    return needs


def releases_seen(issue: Issue) -> str:
    """Return the first and the last release that showed it."""
    first, last = release_name(issue.first_release), release_name(issue.last_release)
    return f"seen in {first}" if first == last else f"seen from {first} to {last}"


def release_name(release: str | None) -> str:
    """Return the name of a release."""
    return words.name(release, NO_RELEASE)


def marked_state(mark: Mapping[str, Any]) -> str:
    """Return the state that a mark sets, or what it merges; '' for neither."""
    into = mark["merged_into"]
    if into:
        key = words.name(mark["issue"])
        return f"{key} counts for itself" if into == mark["issue"] else f"{key} merged into it"
    release = words.name(mark["release"], "")
    return " ".join(filter(None, (mark["state"], release and f"in {release}")))
