"""`/`: each agent's recent runs, reasons of failures, and changes of the newest release."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from time import time
from typing import Any, Final

from markupsafe import Markup

from tracegrade_explorer import links
from tracegrade_explorer.amounts import short
from tracegrade_explorer.filters.grammar import Filter, Range
from tracegrade_explorer.now.changes import Change, Shares, changes, share_words
from tracegrade_explorer.now.windows import TimeWindow
from tracegrade_explorer.pages.cells import STATE_WORDS
from tracegrade_explorer.pages.now_releases import changed_releases
from tracegrade_explorer.pages.runs import name_in_words
from tracegrade_explorer.pages.state import state_counts
from tracegrade_explorer.pages.to_label import to_label
from tracegrade_explorer.pages.window_bar import local_time, window_bar
from tracegrade_explorer.responses import PageContent, PageRequest, PageResponse, Redirect
from tracegrade_explorer.snapshots.snapshot import Row, read
from tracegrade_scoring.metrics import Scale
from tracegrade_scoring.pictures.small import StripBar, spark
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.words import usd
from tracegrade_scoring.report.standing import Standing, standing_sentences
from tracegrade_scoring.run_states import RunState

OWN: Final = ("window",)
AGENTS: Final = 20
"""Shown, those of most runs."""
WRONG: Final = 10
"""Reasons chosen, and signs."""
SPARKS: Final = {
    "solved_share": "Success", "failed_call_share": "Failed calls", "median_ms": "Median time",
}  # fmt: skip
"""Columns of parts of a window that are drawn as lines, with their names."""
SIGNS: Final = {
    "failed_calls": "a tool call failed",
    "unfinished": "no end has come: still running, or cut off",
    "loop_trap": "looped",
    "tool_hallucination": "called a tool that was not offered, or against its schema",
    "premature_commitment": "acted or answered too early",
    "cascading_error": "an error led to others",
    "goal_drift": "drifted from its task",
}
"""In words."""


def former_overview(request: PageRequest) -> PageResponse:
    """Return where the page went that had this address."""
    return Redirect("/" if request.form == "html" else f"/releases.{request.form}")


def now(request: PageRequest) -> PageResponse:
    """Return what happened in the window of an address, else in the usual one."""
    chosen = window_bar(request, "/", OWN)
    window = chosen.window
    agents, bars, wrong = request.snapshot.cached(window, lambda: _read(request, window))
    ran = [row for row in agents if row["runs"]]
    decided = changed_releases(request)
    counts = state_counts(request)
    solves = any(row["known"] for row in ran)
    card = to_label(request)
    view = {
        "tabs": chosen.tabs,
        "when": chosen.when,
        "states": [*_states(counts)],
        "scored": _last_scored(request.snapshot.scored_ms),
        "agents": [_agent(request, row, bars, window, solves=solves) for row in ran[:AGENTS]],
        "others": _others(ran[AGENTS:]),
        "solves": solves,
        "all_runs": links.runs(window.runs(Filter())),
        "wrong": [*_lists(request, agents, wrong, window)],
        "decided": decided,
        "to_label": card,
        "standing": _standing(request),
        "zone": chosen.zone,
        "own": _own_addresses(request),
        **_first_run(),
    }
    data = {"window": window.name, **_times(window), "newest": chosen.newest,
            "states": counts, "last_scored_ms": request.snapshot.scored_ms, "agents": ran,
            "bars": bars, "wrong": wrong, "releases": decided, "to_label": card}  # fmt: skip
    columns = [*agents[0]] if agents else ["agent_name", "runs"]
    return PageContent("now", "Now", view, data, columns, ran)


def _read(request: PageRequest, window: TimeWindow) -> tuple[list[Row], list[Row], list[Row]]:
    """Return what agents did in a window, their bars, and what went wrong."""
    agents = read(request.con, "now_agents", **_times(window))
    bars: list[Row] = []
    if window.bars:
        ends = {"since": window.since, "until": window.until}
        bars = read(request.con, "now_bars", **ends, bucket=window.bucket)
    for row, word in zip(agents, _solved_words(agents), strict=True):
        row["solved_change"] = word
    return agents, bars, read(request.con, "now_wrong", **_times(window), rows=WRONG)


def _solved_words(agents: Sequence[Row]) -> list[str]:
    """Return for each agent whether it solved more than in the window before."""
    return share_words([Shares(*(row[name] for name in Shares._fields)) for row in agents])


def _times(window: TimeWindow) -> dict[str, datetime | None]:
    return {"before": window.before, "since": window.since, "until": window.until}


def _own_addresses(request: PageRequest) -> dict[str, str]:
    return {form: links.with_query(f"/now.{form}", request.pairs) for form in ("csv", "json")}


def _first_run() -> dict[str, int]:
    """Return when the run begins and ends that one sends by hand, ns since 1970."""
    began = int(datetime.now(UTC).timestamp()) * 10**9
    return {"begun": began, "ended": began + 10**9}


def _states(counts: Row) -> Iterator[dict[str, str]]:
    """Yield how many runs are in each state that ends by itself, with the list of them."""
    for name, state in (
        ("running", RunState.RUNNING), ("silent", RunState.SILENT), ("waiting", RunState.ENDED),
    ):  # fmt: skip
        if counts[name]:
            text = f"{counts[name]:,} {STATE_WORDS[state]}"
            yield {"text": text, "href": links.runs(Filter(state=state))}


def _last_scored(scored_ms: int | None) -> str:
    """Return how long ago scores were written last, in words; '' if they never were."""
    return "" if scored_ms is None else f"newest scored {words.age(time() - scored_ms / 1000)} ago"


def _agent(
    request: PageRequest, row: Row, bars: Sequence[Row], window: TimeWindow, *, solves: bool
) -> dict[str, Any]:
    of_agent = window.runs(Filter({"agent": (row["agent_name"],)}))
    own = [bar for bar in bars if bar["agent_name"] == row["agent_name"]]
    failed = of_agent.narrowed("outcome", "failed")
    releases = [words.clip(words.name(name), 20) for name in row["releases"][:4]]
    more = len(row["releases"]) - len(releases)
    return {
        "name": words.name(row["agent_name"], "(no agent name)"),
        "releases": " · ".join([*releases, *([f"{more} more"] if more else [])]),
        "runs": row["runs"],
        "href": links.runs(of_agent),
        "failed": row["failed"],
        "failed_href": links.runs(failed),
        "bars": [_bar(request, bar, window) for bar in own],
        **_sparks(own, window),
        **_changes(row),
        "parts": window.bars,
        "solved": _solved(row) if solves else "",
        "unfinished": row["unfinished"],
        "unfinished_href": links.runs(of_agent.replaced(complete=False)),
        "looped": row["looped"],
        "looped_href": links.runs(of_agent.narrowed("failure", "loop_trap")),
        "calls": _failed_calls(row),
        "calls_href": links.runs(of_agent.within("errors", 1, None)),
        "median": "" if row["median_ms"] is None else words.duration(row["median_ms"]),
        "p95": "" if row["p95_ms"] is None else words.duration(row["p95_ms"]),
        **_cost(row),
    }


def _sparks(bars: Sequence[Row], window: TimeWindow) -> dict[str, Markup]:
    """Return lines of what changes over the parts of a window; '' where there is no line."""
    found = {}
    for name, label in SPARKS.items():
        values: list[float | None] = [None] * window.bars
        for bar in bars:
            values[bar["place"]] = bar[name]
        found[f"{name}_spark"] = spark(values, f"{label} over the window")
    return found


def _changes(row: Row) -> dict[str, str]:
    """Return what changed since the window before, in words; '' where that is not known."""
    failed, failed_before = (_call_share(row, when) for when in ("", "_before"))
    points = _points(row["solved_share"], row["solved_share_before"])
    word = row["solved_change"]
    median, before = row["median_ms"], row["median_ms_before"]
    return {
        "solved_change": f"{points}, {word}" if points and word else "",
        "solved_word": word,
        "calls_change": _points(failed, failed_before),
        "median_change": f"{100 * (median / before - 1):+.0f}%" if median and before else "",
    }


def _call_share(row: Row, when: str) -> float | None:
    calls = row[f"calls{when}"]
    return row[f"failed_calls{when}"] / calls if calls else None


def _points(share: float | None, before: float | None) -> str:
    if share is None or before is None:
        return ""
    return f"{100 * (share - before):+.1f} points"


def _solved(row: Row) -> str:
    return "" if row["solved_share"] is None else words.amount(row["solved_share"], Scale.SHARE)


def _failed_calls(row: Row) -> str:
    share = _call_share(row, "")
    return "" if share is None else words.amount(share, Scale.SHARE)


def _cost(row: Row) -> dict[str, str]:
    """Return the cost of its runs, else their tokens, and the number of runs with known values."""
    if row["priced"]:
        of = "" if row["priced"] == row["runs"] else f"of {row['priced']:,} runs"
        return {"cost": usd(row["cost_usd"]), "cost_of": of, "tokens": ""}
    tokens = "" if row["tokens"] is None else short(row["tokens"])
    return {"cost": "", "cost_of": "", "tokens": tokens}


def _bar(request: PageRequest, bar: Row, window: TimeWindow) -> StripBar:
    since, until = window.bar(bar["place"])
    of_bar = Filter({"agent": (bar["agent_name"],)}, since=since, until=until)
    began, runs = local_time(request, since), words.count(bar["runs"], "run")
    title = f"{began}: {runs}, {bar['failed']:,} failed"
    return StripBar(bar["place"], bar["runs"], bar["failed"], links.runs(of_bar), title)


def _others(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    runs = words.count(sum(row["runs"] for row in rows), "run")
    return f"{words.count(len(rows), 'more agent')} with {runs}"


def _lists(
    request: PageRequest, agents: Sequence[Row], wrong: Sequence[Row], window: TimeWindow
) -> Iterator[dict[str, Any]]:
    """Yield the reasons of failed runs, then signs in runs with an unknown outcome."""
    runs, before = (sum(row[name] for row in agents) for name in ("runs", "runs_before"))
    for sort, outcome, title in (
        ("reason", "failed", "Why runs failed"),
        ("sign", None, "Runs without a verdict"),
    ):
        rows = [row for row in wrong if row["sort"] == sort]
        if not rows:
            continue
        counts = [(row["runs"], row["runs_before"]) for row in rows]
        of_outcome = window.runs(Filter({"outcome": (outcome,)}))
        yield {
            "title": title,
            "newest": links.runs(of_outcome),
            "more": rows[0]["of"] - len(rows),
            "rows": [
                _wrong(request, row, of_outcome, change)
                for row, change in zip(rows, changes(counts, runs, before), strict=True)
            ],
        }


def _wrong(request: PageRequest, row: Row, of_outcome: Filter, change: Change) -> dict[str, Any]:
    found = _narrowed(of_outcome, row)
    newest = [
        *([local_time(request, row["start_time"])] if row["start_time"] else []),
        " ".join(
            filter(None, (words.name(row["agent_name"], ""), words.name(row["release"], "")))
        ),
        *([f"“{words.clip(words.line(row['request']), 90)}”"] if row["request"] else []),
    ]
    return {
        "why": _what(row),
        "runs": row["runs"],
        "href": links.runs(found),
        "newest": " · ".join(filter(None, newest)),
        "newest_href": links.run(row["trajectory_id"], found),
        "change": f"{change.runs - change.runs_before:+,}" if change.word else "",
        "word": change.word,
    }


def _narrowed(of_outcome: Filter, row: Row) -> Filter:
    """Return the runs that a row counts."""
    if row["sort"] == "reason":
        return of_outcome.narrowed("reason", row["name"])
    if row["name"] == "failed_calls":
        return of_outcome.replaced(ranges={"errors": Range(low=1.0)})
    if row["name"] == "unfinished":
        return of_outcome.replaced(complete=False)
    return of_outcome.narrowed("failure", row["name"])


def _what(row: Row) -> str:
    if row["sort"] == "reason":
        return name_in_words("reason", row["name"])
    return SIGNS.get(row["name"]) or words.mode(row["name"])


def _standing(request: PageRequest) -> list[str]:
    """Return how runs of the whole lake ended that did not end by themselves."""

    def make() -> list[str]:
        (stand,) = read(request.con, "runs_standing")
        return standing_sentences(Standing(**stand))

    found: list[str] = request.snapshot.cached("standing", make)
    return found
