"""`/compare`: two aligned runs, side by side; and the way there from a failed run."""

from dataclasses import asdict
from typing import Final

from tracegrade_explorer import links
from tracegrade_explorer.comparison.align import align, parting
from tracegrade_explorer.comparison.nearest import nearest_success
from tracegrade_explorer.comparison.page import agreement, pair_rows, score_pairs
from tracegrade_explorer.errors import BadFilter, PageMissing
from tracegrade_explorer.responses import PageContent, PageRequest, PageResponse, Redirect
from tracegrade_explorer.run_view.run_rows import read_run
from tracegrade_explorer.snapshots.rows import find_run
from tracegrade_scoring.rendering import words
from tracegrade_scoring.timeline.model import Timeline
from tracegrade_scoring.timeline.read import Window
from tracegrade_scoring.timeline.view import timeline_view

STEPS: Final = 2_000
"""Steps of each run to align."""
COLUMNS: Final = ("how", "first_step", "first_tool", "second_step", "second_tool")


def compare(request: PageRequest) -> PageResponse:
    """Return two runs side by side."""
    first, second = (_run(request, name) for name in _names(request))
    pairs = align(first.steps, second.steps)
    rows = pair_rows(pairs, (first.has_several_agents, second.has_several_agents))
    view = {
        "first": _side(first),
        "second": _side(second),
        "parting": parting(pairs),
        "rows": rows,
        "differences": sum(pair.differs for pair in pairs),
        "agreement": agreement(pairs),
        "scores": score_pairs(first, second),
        "swapped": links.compare(second.run.trajectory_id, first.run.trajectory_id),
    }
    data = {
        "a": asdict(first.run),
        "b": asdict(second.run),
        "steps": [
            {
                "how": pair.how,
                "a": pair.first and asdict(pair.first),
                "b": pair.second and asdict(pair.second),
            }
            for pair in pairs
        ],
        "scores": {
            name: {side: run.score(name) for side, run in (("a", first), ("b", second))}
            for name in sorted({score.metric for run in (first, second) for score in run.scores})
        },
    }
    flat = [
        {
            "how": pair.how,
            "first_step": pair.first and pair.first.step_index,
            "first_tool": pair.first and pair.first.tool_name,
            "second_step": pair.second and pair.second.step_index,
            "second_tool": pair.second and pair.second.tool_name,
        }
        for pair in pairs
    ]
    return PageContent("compare", "Two runs", view, data, COLUMNS, flat)


def nearest(request: PageRequest) -> PageResponse:
    """Redirect to the comparison of a run with the most similar successful run of its task."""
    found = find_run(request.con, request.path["id"])
    nearest_run = nearest_success(request, found)
    if nearest_run is None:
        msg = (
            f"no other run of the same agent and task as '{found.trajectory_id}' succeeded, as "
            "far as scores tell; a run without a known task has none either"
        )
        raise PageMissing(msg)
    return Redirect(links.compare(nearest_run["trajectory_id"], found.trajectory_id))


def _names(request: PageRequest) -> list[str]:
    given = dict(request.pairs)
    marked = [value for key, value in request.pairs if key == "id"]
    names = [given[side] for side in ("a", "b") if given.get(side)] or marked
    if len(names) != 2:
        msg = f"{len(names)} runs are named; give two, as /compare?a=ID&b=ID"
        raise BadFilter(msg)
    return names


def _run(request: PageRequest, name: str) -> Timeline:
    return read_run(request, find_run(request.con, name), Window(rows=STEPS))


def _side(timeline: Timeline) -> dict[str, object]:
    view = timeline_view(timeline)
    facts = dict(view.facts)
    return {
        "id": timeline.run.trajectory_id,
        "href": links.run(timeline.run.trajectory_id),
        "title": f"{view.title} {words.name(timeline.run.release, '')}",
        "facts": [(name, facts[name]) for name in ("task", "outcome", "steps", "took", "started")
                  if name in facts],
        "more": timeline.total_steps - len(timeline.steps),
        "request": view.request,
        "answer": view.answer,
    }  # fmt: skip
