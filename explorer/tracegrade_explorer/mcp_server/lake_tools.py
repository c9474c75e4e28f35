"""Tools about the lake as a whole: two releases, a text in all runs, saved queries, SQL."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from tracegrade_explorer.mcp_server.arguments import (
    After,
    ChosenState,
    Detail,
    FirstIssue,
    NameInTrace,
    QueryName,
    QueryValues,
    SearchDate,
    SearchedText,
    Statement,
)
from tracegrade_explorer.mcp_server.frame import Listing, framed, framed_rows, without_nothing
from tracegrade_explorer.mcp_server.lake_answers import LakeAnswers
from tracegrade_explorer.pages.issues import issues
from tracegrade_explorer.pages.releases import releases
from tracegrade_explorer.pages.search import search_page
from tracegrade_explorer.sql_process.run import Rows

NAMED: Final = 5
"""Tasks, reasons and failure modes of a short comparison."""
COHORT: Final = ("agent_name", "run_mode", "base_runs", "candidate_runs", "tasks", "decision")
TASK: Final = (
    "task_id", "base_success", "candidate_success", "base_attempts", "candidate_attempts",
    "p_adjusted", "failed_runs",
)  # fmt: skip
MODE: Final = ("mode", "base", "candidate", "is_new", "trajectory_ids")


class LakeTools:
    """Tools that answer about a whole lake."""

    def __init__(self, answers: LakeAnswers) -> None:
        """Answer about one lake."""
        self._answers = answers

    async def compare_releases(
        self,
        base: NameInTrace = "",
        candidate: NameInTrace = "",
        agent: NameInTrace = "",
        detail: Detail = False,
    ) -> str:
        """Decide whether a release is better beyond chance, and list broken tasks with run ids.

        Base and candidate may be filters instead: `release=1.4 model=gpt-5`, with release, agent,
        task, category, run_mode or a dimension. Without both it lists each agent's releases.
        """
        given = {"agent": agent, "base": base, "candidate": candidate}
        pairs = [(key, value) for key, value in given.items() if value]
        found = await self._answers.page(releases, pairs=pairs)
        if "comparisons" not in found:
            rows = [without_nothing(row) for row in found["releases"]]
            return framed_rows({}, Listing("releases", rows, _no_others))
        if detail:
            return framed(found)
        head = {key: found[key] for key in ("base", "candidate", "level", "release_rule")}
        return framed({**head, "comparisons": [_short(each) for each in found["comparisons"]]})

    async def list_issues(
        self, agent: NameInTrace = "", state: ChosenState = "", first: FirstIssue = 0
    ) -> str:
        """List failures that recur in the same way over releases: state, rates, the newest run.

        What needs attention comes first.
        """
        pairs = [(key, value) for key, value in (("agent", agent), ("state", state)) if value]
        found = (await self._answers.page(issues, pairs=pairs))["issues"]

        def following(count: int) -> dict[str, int] | None:
            end = first + count
            return {"first": end} if end < len(found) else None

        rows = [without_nothing(each) for each in found[first:]]
        return framed_rows({"issues": len(found)}, Listing("rows", rows, following))

    async def search_text(self, text: SearchedText, date: SearchDate = "", run: After = "") -> str:
        """Find a text in arguments, results, thoughts, messages, plans and errors of all runs."""
        given = {"text": text, "date": date, "run": run}
        pairs = [(key, value) for key, value in given.items() if value]
        found = await self._answers.page(search_page, pairs=pairs)
        hits = found["hits"]

        def following(count: int) -> dict[str, str] | None:
            if count < len(hits):
                last = hits[count - 1] if count else {}
                return {"date": last.get("date", date), "run": last.get("trajectory_id", run)}
            rest = dict(parse_qsl(urlsplit(found["following"] or "").query))
            rest.pop("text", None)
            return rest or None

        head = {key: found[key] for key in ("dates", "dates_searched")}
        rows = [without_nothing(hit) for hit in hits]
        return framed_rows(head, Listing("hits", rows, following))

    async def run_saved_query(self, name: QueryName, params: QueryValues = None) -> str:
        """Run a saved query: 10 s, 1 GiB, 200 rows.

        The resource tracegrade://queries lists them with their parameters.
        """
        return _table(await self._answers.saved_query(name, params or {}))

    async def sql(self, query: Statement) -> str:
        """Run one SELECT (DuckDB) over the lake: 10 s, 1 GiB, 200 rows.

        The resource tracegrade://tables describes the tables.
        """
        return _table(await self._answers.query(query))


def _no_others(_count: int) -> None:
    """Return that nothing follows."""


def _table(found: Rows) -> str:
    """Return the rows of a query, as many as fit."""

    def following(count: int) -> dict[str, str] | None:
        if count == len(found.rows) and not found.more:
            return None
        return {"note": "there are more rows; aggregate, or add ORDER BY, LIMIT and OFFSET"}

    return framed_rows({"columns": [*found.columns]}, Listing("rows", found.rows, following))


def _short(cohort: Mapping[str, Any]) -> dict[str, Any]:
    """Return the decision on one cohort, with the tasks and reasons behind it."""
    return without_nothing({
        **_only(cohort, COHORT),
        "fell": [_only(task, TASK) for task in _fallen(cohort["by_task"])[:NAMED]],
        "new_failure_modes": [
            _only(mode, MODE)
            for mode in cohort["failure_modes"]
            if mode["is_new"] or mode["rate_rose"]
        ][:NAMED],
        "reasons": [without_nothing(reason) for reason in cohort["reasons"][:NAMED]],
    })  # fmt: skip


def _fallen(tasks: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the tasks that succeeded less often, those that fell most first."""
    fell = [
        (task["candidate_success"] - task["base_success"], task["task_id"], task)
        for task in tasks
        if None not in {task["base_success"], task["candidate_success"]}
        and task["candidate_success"] < task["base_success"]
    ]
    return [task for _, _, task in sorted(fell, key=lambda each: each[:2])]


def _only(row: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return without_nothing({name: row[name] for name in names})
