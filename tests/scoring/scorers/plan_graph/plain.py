"""The definitions of docs/metrics.md, section 4, slow and plain: loops over steps, no SQL.

Unknown is None. A moment is -1 before the first call, i after call i, and the number of calls for
the end, when the answer is given. `plain_plans.py` has replanning and agents' own plans.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

from .plain_graph import Goals, Graph, Variant, graphs_of

Known = bool | None
Result = tuple[str, Any, Any]

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
    served: list[tuple[str, str, Known]] = field(default_factory=list)
    """Verdicts on which sub-goal it serves: whose, which sub-goal, and whether."""


@dataclass
class Attempt:
    """One run: calls and plans in order, then an answer."""

    steps: list[Call | list[Any] | None] = field(default_factory=list)
    """A list is a plan, None a plan that was not captured."""
    answer: str | None = None
    verdicts: dict[str, Known] = field(default_factory=dict)
    """Verdicts on sub-goals; None: the judge could not tell."""

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


class Attribution:
    """Which call of an attempt serves which sub-goal of a task."""

    def __init__(self, goals: Goals, calls: Sequence[Call]) -> None:
        self.goals = goals
        self.calls = calls

    def serves(self, call: Call, name: str) -> Known:
        """Return whether the call serves the sub-goal."""
        if call.sub_goal in self.goals:
            return call.sub_goal == name
        left = self.left(call)
        if len(left) == 1 and self.is_ambiguous(call):
            return left == [name]
        return self._by_rules(call, name) if name in left else False

    def left(self, call: Call) -> list[str]:
        """Return the sub-goals that rules, and then verdicts, leave a call."""
        left = [name for name in self.goals if self._by_rules(call, name) is not False]
        for rank in ("verifier", "evaluation", "judge") if len(left) > 1 else ():
            said = {name: self._said(call, rank, name) for name in left}
            yes = [name for name in left if said[name]]
            left = yes or [name for name in left if said[name] is None] or left
        return left

    def is_ambiguous(self, call: Call) -> bool:
        """Return whether rules give a call to several sub-goals."""
        by_rules = [name for name in self.goals if self._by_rules(call, name) is not False]
        return call.sub_goal not in self.goals and len(by_rules) > 1

    @staticmethod
    def _said(call: Call, rank: str, name: str) -> Known:
        """Return what the verdicts of a rank agree on."""
        found = {said for whose, of, said in call.served if (whose, of) == (rank, name)}
        return found.pop() if len(found) == 1 else None

    def _by_rules(self, call: Call, name: str) -> Known:
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
        self.judged = self.criterion is None and name in attempt.verdicts
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
        self.by_step = "sql" not in json.dumps(self.criterion) and not self.judged

    def _acts(self, moment: int | None = None) -> list[Known]:
        """Return whether each action until a moment serves the sub-goal."""
        until = self.end if moment is None else moment
        acts = [self.attribution.serves(call, self.name) for call in self.calls[: until + 1]]
        asks_answer = served_by_answer(self.criterion or {})
        answered = asks_answer and not self.goal.get("serves") and self.attempt.answer is not None
        at_end: list[Known] = [answered and until == self.end]
        if self.judged and until == self.end and self.verdict is True:
            at_end.append(True)
        elif self.judged and not self.goal.get("serves"):
            at_end.append(None)  # a failed attempt may have tried or not
        return [*acts, *at_end]

    @property
    def verdict(self) -> Known:
        """What was said of it."""
        return self.attempt.verdicts[self.name]

    def holds(self, moment: int) -> Known:
        """Return whether the criterion holds at a moment."""
        calls = self.calls[: moment + 1]
        if self.judged:
            return self.verdict if moment == self.end else False
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
        return some(self._fulfills(call, criterion) for call in calls)

    @staticmethod
    def _fulfills(call: Call, criterion: Mapping[str, Any]) -> Known:
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
    """Return the value in a call's result, by JSON path; nothing if it is not an object."""
    try:
        value = json.loads(call.result or "")
    except ValueError:
        return {}
    return {f"$.{key}": item for key, item in value.items()} if isinstance(value, dict) else {}


def same(value: Any, other: Any) -> bool:
    """Return whether two plain JSON values are equal: true is not 1, but 1.0 is."""
    return isinstance(value, bool) == isinstance(other, bool) and bool(value == other)


def sub_goal_scores(
    task: Mapping[str, Any], attempt: Attempt
) -> tuple[dict[str, Result], dict[str, dict[str, Any]]]:
    """Return (status, numerator, denominator) of each metric, and the rows by sub-goal."""
    goals, graphs = task["sub_goals"], graphs_of(task, attempt.verdicts)
    if any(g.without_variants() for g in graphs) or sum(len(g.variants) for g in graphs) > 256:
        return dict.fromkeys(METRICS, ("error", None, None)), {}
    plain = {name: {**goal, "any_of": [], "deps": []} for name, goal in goals.items()}
    counted = Graph(plain, attempt.verdicts)
    if not counted.counted:
        return dict.fromkeys(METRICS, ("not_applicable", None, None)), {}
    judged = {name: Judge(goals, name, attempt) for name in counted.counted}
    usable = [(g, v) for g in graphs for v in g.variants if v[0] & set(g.counted)]
    ranks = [_rank([(goals[n], judged[n]) for n in g.counted if n in v[0]]) for g, v in usable]
    graph, variant = usable[ranks.index(min(ranks))]
    ordered = not any(graph.without_order() for graph in graphs)
    if not ordered:
        graph = Graph({name: {**goal, "deps": []} for name, goal in graph.goals.items()})
        graph.counted = [name for name in judged if name in graph.goals]
    rows = {n: _row(graph, variant, judged, n) for n in graph.counted if n in variant[0]}
    states = judged.values()
    known = all(j.attempted is not None and j.completed is not None for j in states)
    by_completion = sum(rank[0] == min(ranks)[0] for rank in ranks) == 1 and all(
        j.completed is not None for j in states
    )
    scores = _scores(rows, settled=len(usable) == 1 or known or by_completion, states=states)
    if not ordered:
        scores |= dict.fromkeys(OF_ORDER, ("error", None, None))
        rows = {name: row | dict.fromkeys(ROW_OF_ORDER) for name, row in rows.items()}
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
        "completion_source": (
            "judge" if judge.judged else "rule" if judge.criterion is not None else "status"
        ),
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
    alone = [
        judge.attribution.is_ambiguous(c) and len(judge.attribution.left(c)) == 1
        for c in serving
        if sum(judge.attribution.serves(c, other) is not False for other in names) == 1
    ]
    if False in alone or not serving:
        return "rule"
    return "verdict" if alone else "ambiguous"


def _off_plan(goals: Goals, calls: Sequence[Call]) -> Result:
    attribution = Attribution(goals, calls)
    served = [some(attribution.serves(call, name) for name in goals) for call in calls]
    return ("error", None, None) if None in served else ("scored", served.count(False), 1)


OF_ORDER = ("completion_with_direct_deps", "completion_with_all_deps", "dependency_violation")
ROW_OF_ORDER = ("deps_met", "all_deps_met", "dependency_violation")
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


def _scores(rows: Goals, *, settled: bool, states: Iterable[Judge]) -> dict[str, Result]:
    nodes = list(rows.values())
    attempts_known = settled and all(row["attempted"] is not None for row in nodes)
    judged = ("completed", "ever_completed", "dependency_violation")
    known = settled and all(row[key] is not None for row in nodes for key in judged)
    needs = dict.fromkeys((*COVERAGE, "sub_goals_skipped"), attempts_known)
    needs["sub_goals_failed_inside"] = attempts_known and known
    scores = {
        metric: score(numerator, denominator, needs.get(metric, known))
        for metric, (numerator, denominator) in _fractions(nodes).items()
    }
    open_verdicts = [j.name for j in states if j.judged and None in (j.attempted, j.completed)]
    if not any(name in rows or not settled for name in open_verdicts):
        return scores
    unknown = {metric for metric, found in scores.items() if found[0] == "error"}
    return scores | dict.fromkeys(unknown, ("not_applicable", None, None))


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
