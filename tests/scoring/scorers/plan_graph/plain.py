"""The definitions of docs/metrics.md, section 4, slow and plain: loops over steps, no SQL.

Unknown is None. A moment is -1 before the first call, i after call i, and the number of calls for
the end, when the answer is given. What it shares with the project is the normal form of a text.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import chain, pairwise, product
from operator import add
from typing import Any

from tracegrade_scoring.attempts.plan_steps import normal_text

Known = bool | None
Result = tuple[str, Any, Any]
Goals = Mapping[str, Mapping[str, Any]]
Variant = tuple[frozenset[str], Mapping[str, int]]

EXPRESSIONS: Mapping[str, Callable[[int], bool]] = {
    "count(*) < 3": lambda steps: steps < 3,
    "count(*) >= 2": lambda steps: steps >= 2,
    "count(*) >= 0": lambda steps: True,
}
"""Success expressions, and the same as a function of the number of steps."""


@dataclass
class Call:
    """One tool call."""

    tool: str
    arguments: str | None = "{}"
    result: str | None = None
    failed: bool = False
    sub_goal: str | None = None


@dataclass
class Attempt:
    """One run: calls and plans in order, then an answer."""

    steps: list[Call | list[Any] | None] = field(default_factory=list)
    """A list is a plan, None a plan that was not captured."""
    answer: str | None = None

    @property
    def calls(self) -> list[Call]:
        """The calls in order."""
        return [step for step in self.steps if isinstance(step, Call)]

    @property
    def plans(self) -> list[tuple[int, list[Any] | None]]:
        """Each plan with the number of calls before it."""
        found: list[tuple[int, list[Any] | None]] = []
        calls = 0
        for step in self.steps:
            if isinstance(step, Call):
                calls += 1
            else:
                found.append((calls, step))
        return found


def every(values: Iterable[Known]) -> Known:
    """Return whether all hold; unknown if an unknown one decides."""
    found = list(values)
    return False if False in found else None if None in found else True


def some(values: Iterable[Known]) -> Known:
    """Return whether any holds; unknown if an unknown one decides."""
    found = list(values)
    return True if True in found else None if None in found else False


class Graph:
    """A task's sub-goals: `goals` is the mapping `sub_goals` of a task file."""

    def __init__(self, goals: Goals) -> None:
        self.goals = goals
        self.counted = [n for n, g in goals.items() if g.get("serves") or g.get("success")]
        self.variants = [] if self._bad_reference() else self._variants()

    def faulty(self) -> bool:
        """Return whether the graph is a specification error."""
        if self._bad_reference() or not 0 < len(self.variants) <= 256:
            return True
        edges = (self._deps, self._members)
        loose = any(name in self._closure(name, to) for name in self.goals for to in edges)
        return loose or any(map(self._cyclic, self.variants))

    def _bad_reference(self) -> bool:
        return any(
            other not in self.goals
            for goal in self.goals.values()
            for other in chain(goal.get("deps", []), *goal.get("any_of", []))
        )

    def _members(self, name: str) -> list[str]:
        return list(chain(*self.goals[name].get("any_of", [])))

    def _deps(self, name: str) -> list[str]:
        return list(self.goals[name].get("deps", []))

    @staticmethod
    def _closure(name: str, edges: Callable[[str], Iterable[str]]) -> set[str]:
        found: set[str] = set()
        new = set(edges(name))
        while new:
            found |= new
            new = {other for known in new for other in edges(known)} - found
        return found

    def _cyclic(self, variant: Variant) -> bool:
        return any(name in self.ancestors(name, variant) for name in variant[0])

    def _variants(self) -> list[Variant]:
        paths = {name: goal.get("any_of", []) for name, goal in self.goals.items()}
        inside = {name for group in paths.values() for path in group for name in path}
        owners = [name for name, group in paths.items() if group]
        found: list[Variant] = []
        for choice in product(*(range(len(paths[owner])) for owner in owners)):
            chosen = dict(zip(owners, choice, strict=True))
            nodes = {name for name in self.goals if name not in inside}
            for _ in self.goals:
                nodes |= {m for o in owners if o in nodes for m in paths[o][chosen[o]]}
            active = {owner: chosen[owner] for owner in owners if owner in nodes}
            if (frozenset(nodes), active) not in found:
                found.append((frozenset(nodes), active))
        return found

    def chosen(self, name: str, variant: Variant) -> list[str]:
        """Return the members of the path chosen for a sub-goal."""
        active = variant[1]
        return list(self.goals[name]["any_of"][active[name]]) if name in active else []

    def direct(self, name: str, variant: Variant) -> set[str]:
        """Return the counted sub-goals that one directly requires in a variant."""

        def behind(other: str) -> list[str]:
            if other not in variant[0] or other in self.counted:
                return []
            below = self._closure(other, lambda o: self.chosen(o, variant))
            members = [] if name in below else self.chosen(other, variant)
            return [*self._deps(other), *members]

        reached = set(self._deps(name))
        for _ in self.goals:
            reached |= {further for other in reached for further in behind(other)}
        return {other for other in reached if other in self.counted and other in variant[0]}

    def ancestors(self, name: str, variant: Variant) -> set[str]:
        """Return all counted sub-goals that one requires in a variant."""
        return self._closure(name, lambda other: self.direct(other, variant))


class Attribution:
    """Which call of an attempt serves which sub-goal of a task."""

    def __init__(self, goals: Goals, calls: Sequence[Call]) -> None:
        self.goals = goals
        self.calls = calls

    def serves(self, call: Call, name: str) -> Known:
        """Return whether the call serves the sub-goal."""
        if call.sub_goal in self.goals:
            return call.sub_goal == name
        goal = self.goals[name]
        rules = goal.get("serves") or [
            {"tool": tool} for tool in tools_of(goal.get("success", {}))
        ]
        return some(self._rule(call, rule) for rule in rules)

    @staticmethod
    def _rule(call: Call, rule: Any) -> Known:
        if isinstance(rule, str):
            return rule == call.tool
        if rule["tool"] != call.tool or "arguments" not in rule:
            return bool(rule["tool"] == call.tool)
        if call.arguments is None:
            return None
        return re.search(rule["arguments"], call.arguments) is not None


class Judge:
    """What became of one sub-goal of an attempt."""

    def __init__(self, goals: Goals, name: str, attempt: Attempt) -> None:
        self.goal, self.name, self.attempt = goals[name], name, attempt
        self.calls = attempt.calls
        self.end = len(self.calls)
        self.attribution = Attribution(goals, self.calls)
        self.criterion: Mapping[str, Any] | None = self.goal.get("success")
        moments = range(-1, self.end + 1)
        self.attempted = some(self._acts())
        self.started = next((t for t in moments if some(self._acts(t)) is True), None)
        self.pre_satisfied = self.holds(-1) is True
        self.holds_at_end = self.holds(self.end)
        self.completed = every([self.attempted, self.holds_at_end])
        self.first = next(
            (t for t in moments if some(self._acts(t)) is True and self.holds(t) is True), None
        )
        later = [t for t in moments if self.started is None or t >= self.started]
        held = True if self.first is not None else some(self.holds(t) for t in later) and None
        self.ever = every([self.attempted, held])
        lost = None if self.holds_at_end is None else not self.holds_at_end
        self.regressed = every([self.ever, lost])
        self.met = some([self.completed, every([self.pre_satisfied, self.holds_at_end])])
        self.by_step = "sql" not in json.dumps(self.criterion)

    def _acts(self, moment: int | None = None) -> list[Known]:
        """Return whether each action until a moment serves the sub-goal."""
        until = self.end if moment is None else moment
        acts = [self.attribution.serves(call, self.name) for call in self.calls[: until + 1]]
        asks_answer = served_by_answer(self.criterion or {})
        answered = asks_answer and not self.goal.get("serves") and self.attempt.answer is not None
        return [*acts, answered and until == self.end]

    def holds(self, moment: int) -> Known:
        """Return whether the criterion holds at a moment."""
        calls = self.calls[: moment + 1]
        if self.criterion is None:
            good = [call for call in calls if not call.failed]
            return some(self.attribution.serves(call, self.name) for call in good)
        return self._criterion_holds(self.criterion, moment)

    def _criterion_holds(self, criterion: Mapping[str, Any], moment: int) -> Known:
        calls = self.calls[: moment + 1]
        parts = [self._call_holds(criterion, calls), self._states_hold(criterion, calls)]
        if "any_of" in criterion:
            parts.append(some(self._criterion_holds(c, moment) for c in criterion["any_of"]))
        return every([*parts, *self._end_holds(criterion, moment)])

    def _call_holds(self, criterion: Mapping[str, Any], calls: Sequence[Call]) -> Known:
        if "tool" not in criterion and "result" not in criterion:
            return True
        return some(self._fulfils(call, criterion) for call in calls)

    @staticmethod
    def _fulfils(call: Call, criterion: Mapping[str, Any]) -> Known:
        if criterion.get("tool", call.tool) != call.tool:
            return False
        if call.failed != (criterion.get("status") == "error"):
            return False
        wanted = criterion.get("result", {})
        if wanted and call.result is None:
            return None
        return all(
            path in found(call) and same(found(call)[path], v) for path, v in wanted.items()
        )

    def _states_hold(self, criterion: Mapping[str, Any], calls: Sequence[Call]) -> Known:
        states: list[Known] = []
        for path, value in criterion.get("state", {}).items():
            good = [call for call in calls if not call.failed]
            seen = [found(call)[path] for call in good if path in found(call)]
            anywhere = any(path in found(call) for call in self.calls if not call.failed)
            if seen:
                states.append(same(seen[-1], value))
            else:
                unseen = any(call.result is None for call in good)
                states.append(None if unseen and not anywhere else False)
        return every(states)

    def _end_holds(self, criterion: Mapping[str, Any], moment: int) -> list[Known]:
        answer = self.attempt.answer
        parts: list[Known] = []
        if "answer" in criterion:
            fits = answer is not None and bool(re.search(criterion["answer"], answer))
            parts.append(fits and moment == self.end)
        if "sql" in criterion:
            steps = len(self.attempt.steps) if moment == self.end else 0
            parts.append(EXPRESSIONS[criterion["sql"]](steps))
        return parts


def tools_of(criterion: Mapping[str, Any]) -> list[str]:
    """Return the tools that a criterion names, in its alternatives too."""
    inner = [tool for other in criterion.get("any_of", []) for tool in tools_of(other)]
    return [criterion["tool"], *inner] if "tool" in criterion else inner


def served_by_answer(criterion: Mapping[str, Any]) -> bool:
    """Return whether it asks for an answer and no call, itself or in an alternative."""
    asked = "answer" in criterion or any(map(served_by_answer, criterion.get("any_of", [])))
    return "tool" not in criterion and asked


def found(call: Call) -> dict[str, Any]:
    """Return what stands in a call's result, by JSON path; nothing if it is no object."""
    try:
        value = json.loads(call.result or "")
    except ValueError:
        return {}
    return {f"$.{key}": item for key, item in value.items()} if isinstance(value, dict) else {}


def same(value: Any, other: Any) -> bool:
    """Return whether two plain JSON values are equal: true is not 1, but 1.0 is."""
    return isinstance(value, bool) == isinstance(other, bool) and bool(value == other)


def graphs_of(task: Mapping[str, Any]) -> list[Graph]:
    """Return the plan graphs of a task: those that it names, else that of its sub-goals."""
    goals = task["sub_goals"]
    if not task.get("graphs"):
        return [Graph(goals)]
    return [
        Graph({name: {**goals[name], **nodes[name]} for name in goals if name in nodes})
        for nodes in task["graphs"].values()
    ]


def sub_goal_scores(
    task: Mapping[str, Any], attempt: Attempt
) -> tuple[dict[str, Result], dict[str, dict[str, Any]]]:
    """Return (status, numerator, denominator) of each metric, and the rows by sub-goal."""
    goals, graphs = task["sub_goals"], graphs_of(task)
    if any(graph.faulty() for graph in graphs) or sum(len(g.variants) for g in graphs) > 256:
        return dict.fromkeys(METRICS, ("error", None, None)), {}
    counted = Graph({name: {**goal, "any_of": [], "deps": []} for name, goal in goals.items()})
    if not counted.counted:
        return dict.fromkeys(METRICS, ("not_applicable", None, None)), {}
    judged = {name: Judge(goals, name, attempt) for name in counted.counted}
    usable = [(g, v) for g in graphs for v in g.variants if v[0] & set(g.counted)]
    graph, variant = min(
        usable,
        key=lambda each: _rank(
            [(goals[n], judged[n]) for n in each[0].counted if n in each[1][0]]
        ),
    )
    rows = {n: _row(graph, variant, judged, n) for n in graph.counted if n in variant[0]}
    known = all(j.attempted is not None and j.completed is not None for j in judged.values())
    scores = _scores(rows, settled=len(usable) == 1 or known)
    scores["off_plan_calls"] = _off_plan(goals, attempt.calls)
    return scores, rows


def _rank(nodes: Sequence[tuple[Mapping[str, Any], Judge]]) -> tuple[float, float, int]:
    open_nodes = [(goal["weight"], j) for goal, j in nodes if not j.pre_satisfied]
    whole = reduce(add, (weight for weight, _ in open_nodes), 0.0)
    done = reduce(add, (weight for weight, j in open_nodes if j.completed), 0.0)
    coverage = sum(j.attempted is True for _, j in nodes) / len(nodes)
    return (-round(done / whole if whole else 1, 9), -round(coverage, 9), len(nodes))


def _row(
    graph: Graph,
    variant: Variant,
    judged: Mapping[str, Judge],
    name: str,
) -> dict[str, Any]:
    judge, goal = judged[name], graph.goals[name]
    direct = graph.direct(name, variant)
    return {
        "critical": goal["critical"],
        "weight": goal["weight"],
        "attempted": judge.attempted,
        "completed": judge.completed,
        "ever_completed": judge.ever,
        "regressed": judge.regressed,
        "deps_met": every(judged[dep].met for dep in direct),
        "all_deps_met": every(judged[dep].met for dep in graph.ancestors(name, variant)),
        "dependency_violation": some(_violated(judge, judged[dep]) for dep in direct),
        "attribution": _attribution(judge, [n for n in graph.counted if n in variant[0]]),
        "pre_satisfied": judge.pre_satisfied,
        "dependent": every([bool(direct), judge.ever]),
    }


def _violated(judge: Judge, required: Judge) -> Known:
    if not (judge.by_step and required.by_step):
        return every([judge.completed, None if required.met is None else not required.met])
    if judge.first is None:
        return judge.ever
    if required.first is not None and required.first <= judge.first:
        return False
    return None if required.ever is None else True


def _attribution(judge: Judge, names: Sequence[str]) -> str | None:
    if judge.attempted is not True:
        return None
    serving = [c for c in judge.calls if judge.attribution.serves(c, judge.name) is not False]
    if any(c.sub_goal == judge.name for c in serving):
        return "span"
    alone = any(
        sum(judge.attribution.serves(c, other) is not False for other in names) == 1
        for c in serving
    )
    return "rule" if alone or not serving else "ambiguous"


def _off_plan(goals: Goals, calls: Sequence[Call]) -> Result:
    attribution = Attribution(goals, calls)
    served = [some(attribution.serves(call, name) for name in goals) for call in calls]
    return ("error", None, None) if None in served else ("scored", served.count(False), 1)


COVERAGE = ("sub_goal_coverage", "sub_goal_coverage_weighted", "critical_path_skipped")
METRICS = (
    *COVERAGE,
    "sub_goals_skipped",
    "sub_goal_completion",
    "sub_goal_completion_weighted",
    "critical_path_completion",
    "completion_with_direct_deps",
    "completion_with_all_deps",
    "dependency_violation",
    "sub_goals_failed_inside",
    "sub_goals_regressed",
    "sub_goals_pre_satisfied",
    "off_plan_calls",
)


def _scores(rows: Goals, *, settled: bool) -> dict[str, Result]:
    nodes = list(rows.values())
    attempts_known = settled and all(row["attempted"] is not None for row in nodes)
    judged = ("completed", "ever_completed", "dependency_violation")
    known = settled and all(row[key] is not None for row in nodes for key in judged)
    needs = dict.fromkeys((*COVERAGE, "sub_goals_skipped"), attempts_known)
    needs["sub_goals_failed_inside"] = attempts_known and known
    return {
        metric: score(numerator, denominator, needs.get(metric, known))
        for metric, (numerator, denominator) in _fractions(nodes).items()
    }


def _fractions(nodes: Sequence[Mapping[str, Any]]) -> dict[str, tuple[float, float]]:
    to_do = [row for row in nodes if not row["pre_satisfied"]]
    done = [row for row in to_do if row["completed"]]
    critical = [row for row in nodes if row["critical"]]
    attempted = [row for row in nodes if row["attempted"]]
    skips_critical = any(not row["attempted"] for row in critical)
    return {
        "sub_goal_coverage": (len(attempted), len(nodes)),
        "sub_goal_coverage_weighted": (_weight(attempted), _weight(nodes)),
        "critical_path_skipped": (int(skips_critical), int(bool(critical))),
        "sub_goals_skipped": (len(nodes) - len(attempted), 1),
        "sub_goal_completion": (len(done), len(to_do)),
        "sub_goal_completion_weighted": (_weight(done), _weight(to_do)),
        "critical_path_completion": (
            sum(row["critical"] for row in done),
            sum(row["critical"] for row in to_do),
        ),
        "completion_with_direct_deps": (sum(bool(r["deps_met"]) for r in done), len(to_do)),
        "completion_with_all_deps": (sum(bool(r["all_deps_met"]) for r in done), len(to_do)),
        "dependency_violation": (
            sum(bool(row["dependency_violation"]) for row in nodes),
            sum(bool(row["dependent"]) for row in nodes),
        ),
        "sub_goals_failed_inside": (
            len(attempted) - sum(bool(row["completed"]) for row in nodes),
            1,
        ),
        "sub_goals_regressed": (sum(bool(row["regressed"]) for row in nodes), 1),
        "sub_goals_pre_satisfied": (len(nodes) - len(to_do), 1),
    }


def _weight(rows: Iterable[Mapping[str, Any]]) -> float:
    return reduce(add, (row["weight"] for row in rows), 0.0)


def score(numerator: float, denominator: float, known: bool) -> Result:
    """Return a share or count, its status first."""
    if not known:
        return ("error", None, None)
    if denominator == 0:
        return ("not_applicable", None, None)
    return ("scored", numerator, denominator)


def plan_scores(attempt: Attempt) -> dict[str, Result]:
    """Return the replanning scores and those of the attempt's own plan."""
    metrics = (*REPLANNING, "plan_coverage", "plan_completion")
    if not attempt.plans:
        return dict.fromkeys(metrics, ("not_applicable", None, None))
    if any(plan is None for _, plan in attempt.plans):
        return dict.fromkeys(metrics, ("error", None, None))
    plans = [(calls, plan or []) for calls, plan in attempt.plans]
    return {**_replanning(attempt.calls, plans), **_own_plan(attempt.calls, plans)}


REPLANNING = (
    "replans",
    "replans_per_100_calls",
    "replans_reactive",
    "replans_spontaneous",
    "replan_given_failure",
    "replans_source_text",
)


def _replanning(
    calls: Sequence[Call], plans: Sequence[tuple[int, list[Any]]]
) -> dict[str, Result]:
    replans = []
    for (since, before), (until, after) in pairwise(plans):
        between = calls[since:until]
        if is_replan(before, after, between):
            replans.append((until, any(call.failed for call in between)))
    failures = [i for i, call in enumerate(calls) if call.failed]
    answered = [i for i in failures if any(until == i + 1 for until, _ in replans)]
    lists = [plan for _, plan in plans if plan]
    changes = sum(a != b for a, b in pairwise(lists))
    reactive = sum(failed for _, failed in replans)
    counts = (len(replans), reactive, len(replans) - reactive, changes)
    return {
        "replans": score(counts[0], 1, True),
        "replans_reactive": score(counts[1], 1, True),
        "replans_spontaneous": score(counts[2], 1, True),
        "replans_source_text": score(counts[3], 1, True),
        "replans_per_100_calls": score(counts[0], len(calls) / 100, True),
        "replan_given_failure": score(len(answered), len(failures), True),
    }


def is_replan(before: Sequence[Any], after: Sequence[Any], between: Sequence[Call]) -> bool:
    """Return whether the steps that remain were changed."""
    pairs = matched(before, after)
    marks = any(step.get("status") for step in (*before, *after))
    good = [call for call in between if not call.failed]
    gone = set()
    for i, step in enumerate(before):
        by_call = any(
            (call.sub_goal is not None and call.sub_goal == step.get("id"))
            or call.tool == step.get("tool")
            for call in good
        )
        ends = step.get("status") == "completed" if marks else by_call
        if ends or (i in pairs and after[pairs[i]].get("status") == "completed"):
            gone.add(i)
    kept = [pairs.get(i) for i in range(len(before)) if i not in gone]
    gone_after = {pairs[i] for i in gone if i in pairs}
    left = [
        j
        for j, step in enumerate(after)
        if j not in gone_after and step.get("status") != "completed"
    ]
    return kept != left


def matched(before: Sequence[Any], after: Sequence[Any]) -> dict[int, int]:
    """Return which step of `after` each of `before` is."""
    pairs: dict[int, int] = {}

    def free(j: int) -> bool:
        return j not in pairs.values()

    def text(step: Any) -> str:
        return normal_text(step.get("text", ""))

    for key in (lambda step: step.get("id"), text):
        for i, step in enumerate(before):
            same_key = [j for j, s in enumerate(after) if free(j) and key(s) == key(step)]
            if i not in pairs and key(step) and same_key:
                pairs[i] = same_key[0]
    while True:
        candidates = [
            (-likeness(text(step), text(other)), i, j)
            for i, step in enumerate(before)
            for j, other in enumerate(after)
            if i not in pairs and free(j) and step.get("status") != "completed"
        ]
        best = min(candidates, default=(0.0, 0, 0))
        if best[0] > -0.5:
            return pairs
        pairs[best[1]] = best[2]


def likeness(text: str, other: str) -> float:
    """Return the Jaccard similarity of the words of two texts."""
    words, others = set(text.split()), set(other.split())
    return len(words & others) / len(words | others) if words | others else 0.0


def _own_plan(calls: Sequence[Call], plans: Sequence[tuple[int, list[Any]]]) -> dict[str, Result]:
    graph = next(((i, since, plan) for i, (since, plan) in enumerate(plans) if plan), None)
    if graph is None:
        return dict.fromkeys(("plan_coverage", "plan_completion"), ("not_applicable", None, None))
    index, since, first = graph
    ids = {step.get("id") for step in first} - {None}
    marked = any(step.get("status") for _, plan in plans for step in plan)
    named = any(call.sub_goal is not None for call in calls)
    attempted = completed = 0
    for i, step in enumerate(first):
        own = [
            call
            for call in calls[since:]
            if (
                call.sub_goal == step.get("id")
                if call.sub_goal in ids
                else call.tool == step.get("tool")
            )
        ]
        states = [step.get("status")]
        for _, plan in plans[index + 1 :]:
            pairs = matched(first, plan)
            states.append(plan[pairs[i]].get("status") if i in pairs else None)
        marks = [state for state in states if state]
        begun = any(mark != "pending" for mark in marks)
        attempted += bool(own) or begun
        ended = bool(marks) and marks[-1] == "completed"
        completed += ended or any(not call.failed for call in own)
    measurable = marked or any(step.get("tool") or (step.get("id") and named) for step in first)
    if not measurable:
        return dict.fromkeys(("plan_coverage", "plan_completion"), ("not_applicable", None, None))
    return {
        "plan_coverage": ("scored", attempted, len(first)),
        "plan_completion": ("scored", completed, len(first)),
    }
