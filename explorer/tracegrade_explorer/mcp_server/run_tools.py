"""Tools about runs: the runs of a filter, one run, one text of it, and why it failed."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tracegrade_explorer.errors import BadFilter
from tracegrade_explorer.filters.typed import typed_pairs
from tracegrade_explorer.mcp_server.arguments import (
    After,
    FirstStep,
    Offset,
    RunFilter,
    RunId,
    RunLimit,
    StepCount,
    StepField,
    Texts,
)
from tracegrade_explorer.mcp_server.explanation import explanation
from tracegrade_explorer.mcp_server.frame import (
    Listing,
    framed,
    framed_rows,
    framed_text,
    without_nothing,
)
from tracegrade_explorer.mcp_server.lake_answers import LakeAnswers
from tracegrade_explorer.pages.run import text
from tracegrade_explorer.pages.runs import runs
from tracegrade_explorer.responses import PageContent, PageRequest, WrittenJson
from tracegrade_explorer.run_view.run_rows import read_run
from tracegrade_explorer.snapshots.rows import find_run
from tracegrade_scoring.timeline.as_json import render_json
from tracegrade_scoring.timeline.read import Window

LEFT_OUT: Final = frozenset({"seq", "date", "scored", "beside", "received_at"})
"""Columns of a list that do not describe a run itself."""
EXPLANATION: Final = 4_000
"""Characters of an explanation, with its frame."""
SHORT, FULL = 300, 20_000
"""Characters of a text of a step."""


class RunTools:
    """Tools that answer about runs."""

    def __init__(self, answers: LakeAnswers) -> None:
        """Answer about one lake."""
        self._answers = answers

    async def search_runs(
        self,
        filter: RunFilter = "",
        limit: RunLimit = 20,
        after: After = "",
    ) -> str:
        """List the runs of a filter, newest first, each with its outcome and why it failed."""
        pairs = typed_pairs(filter)
        if any(key in {"add", "low", "high", "typed"} for key, _ in pairs):
            msg = "add, low, high and typed belong to forms of a page; write steps=10..20"
            raise BadFilter(msg)
        pairs += [("after", after)] if after else []
        found = await self._answers.page(runs, pairs=pairs)
        rows: list[dict[str, Any]] = found["rows"][:limit]

        def following(count: int) -> dict[str, str] | None:
            more = count < len(found["rows"]) or found["after"]
            return {"after": rows[count - 1]["trajectory_id"]} if more and count else None

        head = {"filter": found["filter"], "runs": found["runs"], "of": found["of"]}
        listed = [
            without_nothing({key: row[key] for key in row if key not in LEFT_OUT}) for row in rows
        ]
        return framed_rows(head, Listing("rows", listed, following))

    async def get_run(
        self,
        id: RunId,
        first: FirstStep = 0,
        count: StepCount = 40,
        texts: Texts = "short",
    ) -> str:
        """Show one run: facts, scores with their counts, findings, and steps from `first` on."""
        characters = SHORT if texts == "short" else FULL
        names = {"id": id, "first": str(first), "rows": str(count), "characters": str(characters)}
        found = await self._answers.page(run_window, names)
        steps = [_step(step, characters) for step in found["steps"]]

        def following(count_of_steps: int) -> dict[str, int] | None:
            end = steps[count_of_steps - 1]["step_index"] + 1 if count_of_steps else first
            return {"first": end} if end < found["total_steps"] else None

        return framed_rows(_head(found, whole=not first), Listing("steps", steps, following))

    async def get_text(
        self,
        id: RunId,
        step: FirstStep,
        field: StepField,
        offset: Offset = 0,
    ) -> str:
        """Show one text of a step, whole, in parts of some 20,000 characters."""
        names = {"id": id, "step": str(step), "text": field}
        found = await self._answers.page(text, names)
        return framed_text(found if isinstance(found, str) else found["text"], offset)

    async def explain_failure(self, id: RunId) -> str:
        """Explain a failure: reasons, first wrong step, expected call, nearest success."""
        return framed(await self._answers.page(explanation, {"id": id}), EXPLANATION)


def run_window(request: PageRequest) -> PageContent:
    """Return some steps of a run, and all else that the page of the run has for programs."""
    found = find_run(request.con, request.path["id"])
    window = Window(*(int(request.path[name]) for name in ("first", "rows", "characters")))
    timeline = read_run(request, found, window)
    return PageContent("", "", {}, WrittenJson(render_json(timeline)))


def _head(run: Mapping[str, Any], *, whole: bool) -> dict[str, Any]:
    """Return the part before the steps: only the id where they continue."""
    facts = run["run"]
    head = {"id": facts["trajectory_id"], "total_steps": run["total_steps"]}
    if not whole:
        return head
    found = {
        **head,
        "run": without_nothing({key: facts[key] for key in facts if key != "trajectory_id"}),
        "reasons": _without_nothing(run["reasons"]),
        "scores": [_score(score) for score in run["scores"].values() if _is_counted(score)],
        "calls_not_made": _without_nothing(run["missed"]),
        "found_in_sub_agents": _without_nothing(run["found_in_sub_agents"]),
        "verdicts": _without_nothing(run["verdicts"]),
        "sub_goals": _without_nothing(run["sub_goals"]),
        "agents": [_agent(agent) for agent in run["agents"]],
    }
    return without_nothing(found)


def _step(step: Mapping[str, Any], characters: int) -> dict[str, Any]:
    """Return a step with its findings, and the length of its longest text if that is cut."""
    found = without_nothing({**step, "found": _without_nothing(step["found"])})
    if found.get("longest", 0) <= characters:
        found.pop("longest", None)
    return found


def _score(score: Mapping[str, Any]) -> dict[str, Any]:
    return without_nothing({key: score[key] for key in score if key != "status"})


def _is_counted(score: Mapping[str, Any]) -> bool:
    return score["status"] in {"scored", "error"}


def _agent(agent: Mapping[str, Any]) -> dict[str, Any]:
    return without_nothing({
        key: agent[key] for key in agent if key not in {"model_calls", "step_indexes"}
    })  # fmt: skip


def _without_nothing(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [without_nothing(row) for row in rows]
