"""`/releases`: is the new release better, and what broke? What `tracegrade compare` says."""

from collections.abc import Iterator
from typing import Any, Final

from tracegrade_explorer import links
from tracegrade_explorer.answers import Answer, Ask, Document, WrittenJson
from tracegrade_explorer.errors import BadFilter
from tracegrade_explorer.filters.grammar import NUMBERS, Filter, Range
from tracegrade_explorer.pages.cells import ALL_METRICS
from tracegrade_explorer.shelf.snapshot import Row, read
from tracegrade_scoring.compare.as_json import render_json
from tracegrade_scoring.compare.judgement import judge
from tracegrade_scoring.compare.model import Comparison, Comparisons
from tracegrade_scoring.compare.read import read_comparisons
from tracegrade_scoring.compare.view import (
    CohortView,
    category_headings,
    cohort_view,
    mocked_headings,
    mode_headings,
    task_headings,
)

OWN: Final = ("agent", "base", "candidate")
BY_LABEL: Final = {metric.label: metric.name for metric in ALL_METRICS.values()}


def releases(ask: Ask) -> Answer:
    """Return two releases side by side; without a choice, what there is to choose from."""
    given = _given(ask)
    rows = read(ask.con, "release_overview")
    choices = [*_choices(rows)]
    view: dict[str, Any] = {
        "choices": choices,
        "releases": sorted({row["release"] for row in rows if row["release"] is not None}),
        "agents": sorted({row["agent_name"] for row in rows if row["agent_name"] is not None}),
        "given": given,
        "cohorts": [],
    }
    if not given.get("base") or not given.get("candidate"):
        return Document("releases", "Releases", view, {"releases": rows}, [*rows[0]] if rows else
                        ["release"], rows)  # fmt: skip
    found = _compared(ask, given["base"], given["candidate"], given.get("agent") or None)
    view["cohorts"] = [_cohort(comparison, found) for comparison in found.cohorts]
    title = f"{given['base']} and {given['candidate']}"
    return Document("releases", title, view, WrittenJson(render_json(judge(found, ()))))


def _given(ask: Ask) -> dict[str, str]:
    unknown = [key for key, _ in ask.pairs if key not in OWN]
    if unknown:
        msg = f"'{unknown[0]}' is not known here; known: {', '.join(OWN)}"
        raise BadFilter(msg)
    return dict(ask.pairs)


def _compared(ask: Ask, base: str, candidate: str, agent: str | None) -> Comparisons:
    """Return the comparison, worked out once for a scoring run."""

    def make() -> Comparisons:
        return read_comparisons(ask.con, ask.site.lake, base, candidate, agent)

    found: Comparisons = ask.snapshot.kept(("compare", base, candidate, agent), make)
    return found


def _choices(rows: list[Row]) -> Iterator[dict[str, str]]:
    """Yield neighbouring releases of each agent and run mode, the newest first."""
    for older, newer in zip(rows[1:], rows, strict=False):
        alike = all(older[key] == newer[key] for key in ("agent_name", "run_mode"))
        if alike and older["release"] is not None and newer["release"] is not None:
            pairs = [("base", older["release"]), ("candidate", newer["release"])]
            if newer["agent_name"] is not None:
                pairs.insert(0, ("agent", newer["agent_name"]))
            yield {
                "agent": newer["agent_name"] or "(no agent name)",
                "mode": newer["run_mode"] or "",
                "text": f"{older['release']} → {newer['release']}",
                "href": links.with_query("/releases", pairs),
            }


def _cohort(comparison: Comparison, of: Comparisons) -> dict[str, Any]:
    view = cohort_view(comparison, of)
    cohort = comparison.cohort
    sides = {
        "base": {"agent": cohort.agent_name, "run_mode": cohort.run_mode, "release": of.base},
        "candidate": {
            "agent": cohort.agent_name, "run_mode": cohort.run_mode, "release": of.candidate,
        },
    }  # fmt: skip
    return {
        "view": view,
        "rows": [(row, *_row_links(row.label, sides)) for row in view.rows],
        "more": [(row, *_row_links(row.label, sides)) for row in view.more_rows if row.verdict],
        "modes": [
            (row, links.named(**sides["candidate"], failure=mode.mode))
            for row, mode in zip(view.modes, comparison.failure_modes, strict=True)
        ],
        "tasks": [(row, *_task_links(row, comparison, sides)) for row in view.tasks],
        "headings": _headings(view),
    }


def _headings(view: CohortView) -> dict[str, tuple[str, ...]]:
    return {
        "modes": mode_headings(view),
        "categories": category_headings(view),
        "tasks": task_headings(view),
        "mocked": mocked_headings(),
    }


def _row_links(label: str, sides: dict[str, dict[str, str | None]]) -> tuple[str, str]:
    """Return the lists of the runs that have a value of a metric, on either side."""
    metric = BY_LABEL.get(label)
    found = []
    for names in sides.values():
        given = {key: (name,) for key, name in names.items()}
        ranges = {metric: Range()} if metric in NUMBERS else {}
        found.append(links.runs(Filter(given, ranges)))  # type: ignore[arg-type]
    return found[0], found[1]


def _task_links(
    row: tuple[str, ...], comparison: Comparison, sides: dict[str, dict[str, str | None]]
) -> tuple[str, str]:
    """Return the lists of a task's runs on either side; its page where the name was cut."""
    known = {task.task_id for task in comparison.tasks}
    if row[0] not in known:
        return "/tasks", "/tasks"
    return links.named(**sides["base"], task=row[0]), links.named(
        **sides["candidate"], task=row[0]
    )
