"""Walks all that is shown of a lake, and tells where two places show different numbers of a thing.

Unrounded numbers come from the JSON of commands and pages, and from SQL; what readers see comes
from the tables in Markdown and HTML, and from pages.
"""

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from html.parser import HTMLParser
from typing import Any, Final, TypeAlias
from urllib.parse import urlencode

from starlette.testclient import TestClient
from tests.commands import tracegrade
from tests.explorer.lakes import client, explorer

from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.metrics import METRICS

Row: TypeAlias = dict[str, Any]
Thing: TypeAlias = tuple[Any, ...]
RUNS_WALKED: Final = 12
"""Runs whose own page and report are read; the list has all."""
COLUMNS: Final = ("success", "tsa", "step_efficiency", "redundant_calls")


class ShownNumbers:
    """What each place says of each thing."""

    def __init__(self) -> None:
        self._said: dict[Thing, dict[str, Any]] = defaultdict(dict)

    def tell(self, place: str, value: object, *thing: object) -> None:
        """Keep what a place says of a thing; it may be told once alone."""
        assert place not in self._said[thing], (place, thing)
        self._said[thing][place] = value

    def differing(self) -> list[str]:
        """Return each thing that two places say differently."""
        return [
            f"{thing}: {said}"
            for thing, said in self._said.items()
            if not all(_same(value, next(iter(said.values()))) for value in said.values())
        ]

    def shared(self, kind: str) -> int:
        """Return how many things of a kind were told by two places or more."""
        return sum(thing[0] == kind and len(said) > 1 for thing, said in self._said.items())


def _same(one: object, other: object) -> bool:
    if isinstance(one, float | int) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    return one == other


def walk(lake: Lake) -> ShownNumbers:
    """Return what commands, pages and SQL say of a scored lake."""
    told = ShownNumbers()
    place = str(lake.location)
    report = json.loads(_run("report", "--lake", place, "--format", "json"))
    _tell_report(told, report)
    _tell_sql(told, lake)
    with closing(explorer(lake)) as pages, closing(pages.latest):
        web = client(pages)
        _tell_releases(told, web)
        _tell_trends(told, web, report)
        _tell_counts(told, web, report)
        _tell_tasks(told, web, report)
        _tell_runs(told, web, place)
        for compared in report["comparisons"]:
            _tell_comparison(told, web, place, compared, report)
    return told


def _run(*arguments: str) -> str:
    ended = tracegrade(*arguments)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def _get(web: TestClient, path: str, **query: str) -> Any:
    found = web.get(f"{path}.json?{urlencode(query)}")
    assert found.status_code == 200, found.text
    return found.json()


def _of(row: Row) -> Thing:
    return (row["agent_name"], row["run_mode"], row["release"])


def _tell_report(told: ShownNumbers, report: Row) -> None:
    for release in report["releases"]:
        key = _of(release)
        told.tell("report", release["runs"]["runs"], "runs", *key)
        for name, score in release["metrics"].items():
            told.tell("report", score["value"], "value", name, *key)
            told.tell("report", score["low"], "low", name, *key)
            told.tell("report", score["high"], "high", name, *key)
        for mode in release["failure_modes"]:
            told.tell("report", mode["runs"], "runs of mode", mode["mode"], *key)
        for reason in release["reasons"]:
            told.tell("report", reason["runs"], "runs of reason", _reason(reason), *key)


def _reason(row: Row) -> str:
    """Return kind and object of a reason as lists of runs spell them."""
    return ": ".join(filter(None, (row["kind"], row["object"])))


def _tell_sql(told: ShownNumbers, lake: Lake) -> None:
    with connect(lake, layers=(SCORES,)) as con:
        rows = con.sql(
            "SELECT agent_name, run_mode, release, metric, value, low, high FROM release_scores "
            "WHERE task_category = '' AND metric NOT IN ('step_efficiency', 'step_ratio')"
        ).fetchall()
    for *key, metric, value, low, high in rows:
        told.tell("release_scores", value, "value", metric, *key)
        told.tell("release_scores", low, "low", metric, *key)
        told.tell("release_scores", high, "high", metric, *key)


def _tell_releases(told: ShownNumbers, web: TestClient) -> None:
    newest: dict[Thing, Row] = {}
    for row in _get(web, "/releases")["releases"]:
        key = _of(row)
        told.tell("releases page", row["runs"], "runs", *key)
        told.tell("releases page", row["failed"], "failed runs", *key)
        told.tell("releases page", row["findings"], "runs with findings", *key)
        for name, column in (("success", "success"), ("tsa", "tsa")):
            if row[column] is not None:
                told.tell("releases page", row[column], "value", name, *key)
        told.tell("releases page", row["low"], "low", "success", *key)
        told.tell("releases page", row["high"], "high", "success", *key)
        newest.setdefault(key[:2], row)
    for row in _get(web, "/releases")["reasons"]:
        told.tell("releases page", row["runs"], "runs of reason", row["reason"], *_of(row))
    for key, row in newest.items():
        told.tell("releases page", row["release"], "newest release", *key)


def _names(key: Thing) -> dict[str, str]:
    """Return a filter of one agent, run mode and release."""
    texts = ("~" if name is None else name for name in key)
    return dict(zip(("agent", "run_mode", "release"), texts, strict=True))


def _tell_trends(told: ShownNumbers, web: TestClient, report: Row) -> None:
    for release in report["releases"]:
        for name in release["metrics"]:
            rows = _get(web, "/trends", metric=name, **_names(_of(release)))["rows"]
            if len(rows) == 1:
                told.tell("trends", rows[0]["value"], "value", name, *_of(release))
                told.tell("trends", rows[0]["runs"], "runs of a trend", name, *_of(release))
                told.tell("report", release["runs"]["runs"], "runs of a trend", name,
                          *_of(release))  # fmt: skip


def _tell_counts(told: ShownNumbers, web: TestClient, report: Row) -> None:
    """Tell how many runs the lists have that the numbers lead to."""
    last: dict[Thing, str | None] = {}
    for release in report["releases"]:
        key, names = _of(release), {**_names(_of(release)), "counted": "yes"}
        told.tell("runs", _get(web, "/runs", **names)["runs"], "runs", *key)
        failed = _get(web, "/runs", **names, outcome="failed")["runs"]
        told.tell("runs", failed, "failed runs", *key)
        found = _get(web, "/runs", **names, findings="1..")["runs"]
        told.tell("runs", found, "runs with findings", *key)
        for mode in release["failure_modes"]:
            shown = _get(web, "/runs", **names, failure=mode["mode"])["runs"]
            told.tell("runs", shown, "runs of mode", mode["mode"], *key)
            both = _get(web, "/runs", **names, failure=mode["mode"], outcome="failed")["runs"]
            told.tell("runs", both, "failed runs of mode", mode["mode"], *key)
            told.tell("report", mode["failed_runs"], "failed runs of mode", mode["mode"], *key)
        for reason in release["reasons"]:
            spelled = _reason(reason)
            listed = _get(web, "/runs", **names, reason=spelled)["runs"]
            told.tell("runs", listed, "runs of reason", spelled, *key)
        last[key[:2]] = key[2]
    for key, name in last.items():
        told.tell("report", name, "newest release", *key)


def _tell_tasks(told: ShownNumbers, web: TestClient, report: Row) -> None:
    _tell_reported_tasks(told, report["releases"])
    for row in _get(web, "/tasks")["tasks"]:
        name = row["task_id"]
        told.tell("tasks", row["tsa"], "tsa of task", name)
        told.tell("tasks", [row["runs"], row["succeeded"], row["failed"]], "task", name)
        _tell_task(told, web, name)


def _tell_reported_tasks(told: ShownNumbers, releases: list[Row]) -> None:
    """Tell of each task what a report says of it, over all releases."""
    for task, rows in _by_task(releases, "tool_selection").items():
        counted = sum(row["counted"] for row in rows)
        told.tell("report", sum(row["correct"] for row in rows) / counted, "tsa of task", task)
    if all(len(r["wrong_decisions"]) == r["wrong_decision_rows"] for r in releases):
        for task, rows in _by_task(releases, "wrong_decisions").items():
            told.tell("report", sum(row["times"] for row in rows), "wrong decisions", task)
    for task, rows in _by_task(releases, "sub_goals").items():
        for name in {row["sub_goal"] for row in rows}:
            found = [row for row in rows if row["sub_goal"] == name]
            counts = [sum(row[c] for row in found) for c in ("attempts", "attempted", "completed")]
            told.tell("report", counts, "sub-goal", task, name)


def _by_task(releases: list[Row], part: str) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for release in releases:
        for row in release[part]:
            if row["task_id"] is not None:
                found[row["task_id"]].append(row)
    return found


def _tell_task(told: ShownNumbers, web: TestClient, name: str) -> None:
    task = _get(web, f"/tasks/{name}")
    releases = {(row["agent_name"], row["release"]): row for row in task["attempts"]}
    counts = [sum(row[c] for row in releases.values()) for c in ("of", "succeeded", "failed")]
    told.tell("task", counts, "task", name)
    if mistakes := sum(row["times"] - row["correct"] for row in task["decisions"]):
        told.tell("task", mistakes, "wrong decisions", name)
    for goal in task["sub_goals"]:
        counts = [goal[column] for column in ("attempts", "attempted", "completed")]
        told.tell("task", counts, "sub-goal", name, goal["sub_goal"])


def _tell_runs(told: ShownNumbers, web: TestClient, place: str) -> None:
    listed = web.get(f"/runs.csv?{urlencode([('cols', ','.join(COLUMNS))])}").text
    rows = _get(web, "/runs", cols=",".join(COLUMNS))["rows"]
    assert listed.count("\n") >= len(rows)
    for row in rows:
        for name in COLUMNS:
            told.tell("runs", row[name], "score", row["trajectory_id"], name)
    for row in rows[:: max(1, len(rows) // RUNS_WALKED)]:
        shown = row["trajectory_id"]
        page = _get(web, f"/runs/{shown}")
        words = ("--lake", place, "--trajectory", shown, "--format", "json")
        report = json.loads(_run("report", *words))
        for name in METRICS:
            for where, found in (("page of run", page), ("report of run", report)):
                value = found["scores"].get(name, {}).get("value")
                told.tell(where, value, "score", shown, name)
        told.tell("page of run", len(page["steps"]), "steps", shown)
        told.tell("report of run", len(report["steps"]), "steps", shown)


def _tell_comparison(
    told: ShownNumbers, web: TestClient, place: str, of: Row, report: Row
) -> None:
    """Tell one comparison of a report, and the same of `compare` and of the page."""
    base, candidate = of["base"], of["candidate"]
    key = (of["agent_name"], of["run_mode"], base, candidate)
    chosen = [] if of["agent_name"] is None else ["--agent", of["agent_name"]]
    command = ("compare", base, candidate, "--lake", place, *chosen)
    query = {"base": base, "candidate": candidate}
    query |= {"agent": of["agent_name"]} if chosen else {}
    compared = json.loads(_run(*command, "--format", "json"))
    page = _get(web, "/releases", **query)
    (cohort,) = (c for c in compared["comparisons"] if c["run_mode"] == of["run_mode"])
    (shown,) = (c for c in page["comparisons"] if c["run_mode"] == of["run_mode"])
    for part in ("metrics", "failure_modes", "skipped_sub_goals", "reasons"):
        for where, found in (("compare", cohort), ("page", shown), ("report", of)):
            told.tell(where, found[part], part, *key)
    told.tell("compare", cohort, "comparison", *key)
    told.tell("page", shown, "comparison", *key)
    _tell_sides(told, cohort, key, report)
    html_page = web.get(f"/releases?{urlencode(query)}").text
    texts = {
        "compare": _run(*command, "--format", "markdown"),
        "page": html_page,
        "compare.html": _run(*command, "--format", "html"),
        "report": _of_agent(_run("report", "--lake", place, "--format", "markdown", "--long"), of),
        "report.html": _run("report", "--lake", place, "--format", "html"),
    }
    for where in ("compare", "report"):  # pages have the decision in its place
        is_there = of["answer"] in _plain(texts[where])
        told.tell(where, of["answer"] if is_there else None, "answer", *key)
    if of is report["comparisons"][0]:
        _tell_rows(told, texts, key)


def _tell_sides(told: ShownNumbers, cohort: Row, key: Thing, report: Row) -> None:
    """Tell the values of both sides where they are of all runs of the releases."""
    if cohort["base_only_tasks"] or cohort["candidate_only_tasks"]:
        return
    for side, name in (("base", key[2]), ("candidate", key[3])):
        (release,) = (r for r in report["releases"] if _of(r) == (*key[:2], name))
        for metric, found in cohort["metrics"].items():
            score = release["metrics"].get(metric)
            if score and score["scored"] == found[f"{side}_scored"] and not found["as_judged"]:
                told.tell(f"compare as {side}", found[side], "value", metric, *key[:2], name)
        for reason in cohort["reasons"]:
            if runs := reason[f"{side}_runs"]:
                told.tell(f"compare as {side}", runs, "runs of reason", _reason(reason),
                          *key[:2], name)  # fmt: skip


def _tell_rows(told: ShownNumbers, texts: dict[str, str], key: Thing) -> None:
    """Tell by how much each metric changed, and in which word, as readers see it."""
    for where, text in texts.items():
        rows = _markdown_rows(text) if where in {"compare", "report"} else _html_rows(text)
        seen = set[str]()
        for cells in rows:
            if len(cells) < 4 or cells[0] in seen:
                continue
            if FAILED.fullmatch(cells[1]):
                told.tell(where, cells[1:4], "reason", cells[0], *key)
                seen.add(cells[0])
                continue
            change = _change(where, cells)
            if change is not None:
                seen.add(cells[0])
                told.tell(where, change, "change", cells[0], *key)


FAILED: Final = re.compile(r"[\d,]+ of [\d,]+ failed")
CHANGE: Final = re.compile(r"([+-][\d,.]+(?: pts)?|no change)")


def _change(where: str, cells: list[str]) -> tuple[str, str] | None:
    """Return a change and its word; None of a row that says none."""
    if where.startswith("report"):
        found = CHANGE.match(cells[-1]) if len(cells) == 4 else None
        return found and (found[0], cells[-1][found.end() :].strip(" ()"))
    if len(cells) < 6 or not CHANGE.fullmatch(cells[3]):
        return None
    return cells[3], cells[5]


def _of_agent(text: str, of: Row) -> str:
    """Return the part of a report that is about one agent."""
    name = of["agent_name"] or "(no agent name)"
    parts = re.split(r"^## ", text, flags=re.MULTILINE)
    return next((part for part in parts[1:] if part.startswith(f"`{name}")), text)


def _plain(text: str) -> str:
    parser = _Cells()
    parser.feed(text)
    return " ".join(re.sub(r"\\(.)", r"\1", "".join(parser.texts)).split())


def _markdown_rows(text: str) -> Iterator[list[str]]:
    for line in text.splitlines():
        if line.startswith("| ") and not line.startswith("| ---"):
            cells = re.split(r"(?<!\\) \| ", line.strip().removeprefix("| ").removesuffix(" |"))
            yield [re.sub(r"\\(.)", r"\1", cell).strip("`* ") for cell in cells]


def _html_rows(text: str) -> list[list[str]]:
    parser = _Cells()
    parser.feed(text)
    return parser.rows


class _Cells(HTMLParser):
    """The rows of all tables of a page, and all its text."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.texts: list[str] = []
        self._in_cell = False
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        kind = dict(attrs).get("class") or ""
        if tag == "tr":
            self.rows.append([])
        elif tag in {"td", "th"} and self.rows:
            self.rows[-1].append("")
            self._in_cell = True
        elif tag == "span" and "meaning" in kind:
            self._hidden += 1

    def handle_endtag(self, tag: str) -> None:
        if tag in {"td", "th"}:
            self._in_cell = False
        elif tag == "span" and self._hidden:
            self._hidden -= 1

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if self._in_cell and not self._hidden:
            self.rows[-1][-1] = " ".join(f"{self.rows[-1][-1]} {data}".split())
