"""`/state.json`: what has come in, which the script of a page asks for every few seconds."""

from collections.abc import Mapping
from typing import Any

from tracegrade_explorer.errors import PageMissing
from tracegrade_explorer.pages.cells import STATE_WORDS
from tracegrade_explorer.responses import PageContent, PageRequest, PageResponse
from tracegrade_explorer.snapshots.rows import find_run, read_runs
from tracegrade_explorer.snapshots.snapshot import Row, read
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.times import utc_now
from tracegrade_scoring.run_states import RunState


def state(request: PageRequest) -> PageResponse:
    """Return how many runs there are, are under way and wait; with `run=ID` the run's state, too.

    `runs`, `scoring_run`, `steps` and `state` are what a page shows; `news` says in words what is
    there beyond it.

    Raises:
        PageMissing: It is asked for as a page, or there is no such run.
    """
    if request.form != "json":
        msg = "the state of the lake is there for programs alone, as /state.json"
        raise PageMissing(msg)
    snapshot_state = request.snapshot.state
    data: dict[str, Any] = {
        **state_counts(request),
        "scoring_run": snapshot_state.run,
        "build": snapshot_state.build,
        "building_failed": request.upkeep.fault,
        "is_scoring": request.upkeep.is_scoring,
    }
    page = dict(request.pairs)
    if "run" in page:
        data["run"] = _run(request, page["run"])
    data["news"] = _news_of_run(page, data["run"]) if "run" in page else _news(page, data)
    return PageContent("", "", {}, data)


def _news(page: Mapping[str, str], now: Mapping[str, Any]) -> str:
    """Return what a page of the lake does not show yet, in words; '' for nothing."""
    if more := _more(page.get("runs", ""), now["runs"]):
        return words.count(more, "new run")
    is_other = page.get("scoring_run", str(now["scoring_run"])) != str(now["scoring_run"])
    return "new scores" if is_other else ""


def _news_of_run(page: Mapping[str, str], now: Mapping[str, Any]) -> str:
    """Return what the page of a run does not show yet, in words; '' for nothing."""
    if more := _more(page.get("steps", ""), now["step_count"] or 0):
        return words.count(more, "new step")
    state: RunState | None = now["state"]
    return f"now {STATE_WORDS[state]}" if state and page.get("state", state) != state else ""


def _more(before: str, now: int) -> int:
    """Return how many more there are than a page shows, if it says how many."""
    is_number = before.isascii() and before.isdecimal() and len(before) < 16
    return max(0, now - int(before)) if is_number else 0


def state_counts(request: PageRequest) -> Row:
    """Return how many runs there are, are under way and wait to be scored, and the newest."""
    (found,) = read(request.con, "state_counts", now=utc_now())
    return found


def _run(request: PageRequest, run_id: str) -> Row:
    (found,) = read_runs(request.con, [find_run(request.con, run_id).seq], ())
    return {name: found[name] for name in ("trajectory_id", "state", "step_count", "received_at")}
