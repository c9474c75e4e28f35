"""`harness run --fail-on`: rules on a run's own results that make the command fail.

`success<0.9` breaks if less than 90 % of the trials that verifiers could judge succeeded.
`rollback<7` breaks if kills score less than 7 on average, after recovery. `METRIC.lowest` reads
the worst case. Each agent is judged by itself, at each of its releases.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from statistics import fmean
from typing import Final, NamedTuple

from tracegrade.terminal.visible import visible
from tracegrade_harness.errors import NotPassed
from tracegrade_harness.trial.result import TrialResult
from tracegrade_scoring.compare.fail_on_rules import Bound, parse_bound
from tracegrade_scoring.errors import BadRule
from tracegrade_scoring.metrics import METRICS

KNOWN: Final = ("success", "rollback")
FIELDS: Final = ("mean", "lowest")


class RunRule(NamedTuple):
    """A bound on a number of a run."""

    text: str
    bound: Bound


def parse_run_rules(texts: Iterable[str], own: Collection[str] = ()) -> list[RunRule]:
    """Return the rules of `--fail-on`.

    Args:
        texts: One text for each rule.
        own: Names of users' own metrics in the lake.

    Raises:
        BadRule: A rule has another form, or names a value that only scores have.
    """
    scored = {*METRICS, *own}
    return [_parsed(text.strip(), scored) for text in texts]


def raise_broken(rules: Sequence[RunRule], results: Sequence[TrialResult]) -> None:
    """Do nothing if every rule holds for every agent.

    Raises:
        NotPassed: A rule is broken, or there is nothing to judge it by; the text says which.
    """
    agents: dict[tuple[str, str | None], list[TrialResult]] = defaultdict(list)
    for result in results:
        agents[result.agent_name, result.release].append(result)
    stops = [
        f"{rule.text} ({visible(_named(*agent))}: {fact})"
        for agent, found in agents.items()
        for rule in rules
        if (fact := _why_broken(rule.bound, found)) is not None
    ]
    if stops:
        msg = f"stopped by --fail-on: {'; '.join(stops)}"
        raise NotPassed(msg)


def _parsed(text: str, scored: Collection[str]) -> RunRule:
    bound = parse_bound(text)
    if bound is None:
        msg = f"the rule '{text}' is not understood; write success<NUMBER or rollback<NUMBER"
        raise BadRule(msg)
    if bound.metric not in KNOWN:
        judge = "score the lake, then give it to `tracegrade compare --fail-on`"
        hint = judge if bound.metric in scored else f"known: {', '.join(KNOWN)}"
        msg = f"the rule '{text}' names '{bound.metric}', which a run does not know; {hint}"
        raise BadRule(msg)
    if bound.field not in {None, *FIELDS}:
        msg = f"the rule '{text}' names an unknown field '{bound.field}'; "
        raise BadRule(msg + f"known: {', '.join(FIELDS)}")
    return RunRule(text, bound)


def _why_broken(bound: Bound, results: Sequence[TrialResult]) -> str | None:
    """Return why a rule is broken; None if it holds."""
    cases: dict[str, list[float]] = defaultdict(list)
    for task_id, value in _values(bound.metric, results):
        cases[task_id].append(value)
    if not cases:
        return f"there is no {bound.metric} to judge by"
    if bound.field == "lowest":
        task_id, values = min(cases.items(), key=lambda case: fmean(case[1]))
        fact = f"{bound.metric} of {visible(task_id)}"
    else:
        values = [value for of_case in cases.values() for value in of_case]
        fact = bound.metric
    mean = fmean(values)
    return f"{fact} is {round(mean, 9):.9g}" if bound.is_broken(mean) else None


def _values(metric: str, results: Sequence[TrialResult]) -> Iterator[tuple[str, float]]:
    for result in results:
        is_kill = result.kill_point is not None
        found = result.after_recovery if is_kill else result.success
        if found is not None and is_kill == (metric == "rollback"):
            yield result.task_id, float(found)


def _named(agent: str, release: str | None) -> str:
    return agent if release is None else f"{agent} {release}"
