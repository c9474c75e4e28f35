"""`report --fail-on`: stops a pipeline if a condition on one release is true.

The grammar is that of `compare --fail-on`, on the numbers of one release: `t-score<7` breaks if
the T-Score is below 7. `METRIC.low` and `METRIC.high` are the ends of its interval;
`late-rollback` is the lowest rollback-ability after a late kill of any task.
`label<supervised-production` and `tier<needs-improvement` break if the label, or the tier, that
the sample carries is lower. The newest release of each agent and run mode in the report is judged.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final, NamedTuple, TypeAlias

from tracegrade.suggestions import did_you_mean
from tracegrade.terminal.visible import visible
from tracegrade_scoring.compare.fail_on_rules import Bound, RuleOutcome, parse_bound
from tracegrade_scoring.errors import BadRule, RuleBroken
from tracegrade_scoring.metrics import METRICS
from tracegrade_scoring.rendering import words
from tracegrade_scoring.report.model import Release, Report
from tracegrade_scoring.report.readiness import label
from tracegrade_scoring.statistics.readiness_labels import Carried
from tracegrade_scoring.statistics.t_score import LABELS
from tracegrade_scoring.statistics.tiers import TIERS

BESIDE: Final = ("t_score", "late_rollback")
"""Numbers that a release has in addition to its metrics."""
_FIELDS: Final = ("low", "high")
_LADDER_RULE: Final = re.compile(r"(?P<what>label|tier)\s*(?P<sign><=|>=|<|>)\s*(?P<name>.+)")
_FORMS: Final = "write METRIC<NUMBER, METRIC.low<NUMBER, label<NAME or tier<NAME"


class NumberRule(NamedTuple):
    """A bound on a number of a release."""

    text: str
    bound: Bound

    def judge(self, release: Release) -> RuleOutcome:
        """Return whether the number is on the wrong side, rounded half-even to 9 decimals."""
        metric, field = self.bound.metric, self.bound.field
        name = f"{field} of {metric}" if field else metric
        value = _number(release, metric, field)
        if value is None:
            return RuleOutcome(self.text, "unjudged", f"there is no {name}")
        verdict = "broken" if self.bound.is_broken(value) else "held"
        return RuleOutcome(self.text, verdict, f"{name} is {round(value, 9):.9g}")


class LadderRule(NamedTuple):
    """A bound on the label or the tier that the sample of a release carries."""

    text: str
    what: str
    bound: Bound
    """On the place in `LADDERS`, 0 for the lowest."""

    def judge(self, release: Release) -> RuleOutcome:
        """Return whether the release breaks the rule; unjudged if its sample is too small."""
        ladder = LADDERS[self.what]
        found = ladder.carried(release)
        if found.label is None:
            why = ladder.why.get(found.reason or "", "it could not be measured")
            return RuleOutcome(self.text, "unjudged", f"there is no {self.what}: {why}")
        verdict = "broken" if self.bound.is_broken(ladder.names.index(found.label)) else "held"
        better = " or better" if found.at_least else ""
        return RuleOutcome(self.text, verdict, f"{self.what} is {found.label}{better}")


ReleaseRule: TypeAlias = NumberRule | LadderRule


class Ladder(NamedTuple):
    """Names of readiness."""

    names: Sequence[str]
    """The lowest first."""
    carried: Callable[[Release], Carried]
    """Returns the name that the sample of a release carries."""
    why: Mapping[str, str]
    """Why it carries none, by reason."""


def _tier(release: Release) -> Carried:
    if release.reliability is None:
        return Carried(None, at_least=False, reason="no_attempts")
    return release.reliability.tier.carried


LADDERS: Final[Mapping[str, Ladder]] = {
    "label": Ladder([row.label for row in reversed(LABELS)], label, words.NO_LABEL),
    "tier": Ladder(TIERS, _tier, words.NO_TIER),
}


def parse_release_rules(texts: Sequence[str], own: Collection[str] = ()) -> list[ReleaseRule]:
    """Return the rules of `report --fail-on`.

    Args:
        texts: One each.
        own: Names of users' own metrics that the lake has.

    Raises:
        BadRule: One has another form, or names a metric, field, label or tier that does not exist.
    """
    known = (*METRICS, *own, *BESIDE)
    return [_ladder_rule(text.strip()) or _number_rule(text.strip(), known) for text in texts]


def with_outcomes(report: Report, rules: Sequence[ReleaseRule]) -> Report:
    """Return the report with each rule's outcome for the newest release of each agent and mode."""
    newest = [[*found][-1] for _, found in groupby(report.releases, lambda one: one.key[:2])]
    outcomes = {one.key: tuple(rule.judge(one) for rule in rules) for one in newest if rules}
    return replace(report, outcomes=outcomes)


def rule_sentences(report: Report) -> list[str]:
    """Return the outcome of each rule as a sentence."""
    return [
        f"Rule {visible(outcome.rule)}, {who}: {outcome.verdict}; {visible(outcome.fact)}."
        for who, outcome in _outcomes(report)
    ]


def raise_broken(report: Report, rules: Sequence[ReleaseRule]) -> None:
    """Do nothing if every rule holds for every release that was judged.

    Raises:
        RuleBroken: One does not, or could not be judged; the text says which, and where. Or there
            is no release to judge.
    """
    if rules and not report.outcomes:
        msg = "stopped by --fail-on: the report has no run, so there is no release to judge"
        raise RuleBroken(msg)
    stops = [
        f"{visible(outcome.rule)} ({who}: {visible(outcome.fact)})"
        for who, outcome in _outcomes(report)
        if outcome.verdict != "held"
    ]
    if stops:
        msg = f"stopped by --fail-on: {'; '.join(stops)}"
        raise RuleBroken(msg)


def _outcomes(report: Report) -> Iterator[tuple[str, RuleOutcome]]:
    for key, outcomes in report.outcomes.items():
        release = words.name(key.release, "(no release)")
        for outcome in outcomes:
            yield f"{words.cohort(key.agent_name, key.run_mode)} {release}", outcome


def _number(release: Release, metric: str, field: str | None) -> float | None:
    """Return a number of a release, or an end of its interval; None without one."""
    if metric == "late_rollback":
        lowest = release.lowest_late_ra
        return lowest.late_ra if lowest and field is None else None
    if metric == "t_score":
        return _end(release.t_score_interval, field) if field else release.t_score.value
    if metric[:5] in {"pass@", "pass^"}:
        return _pass(release, metric, field)
    score = release.metrics.get(metric)
    return _end(score, field or "value")


def _end(of: object, field: str) -> float | None:
    value: float | None = getattr(of, field, None)  # of None, too
    return value


def _pass(release: Release, metric: str, field: str | None) -> float | None:
    kind, k = "at" if metric[4] == "@" else "hat", int(metric[5:])
    passes = release.reliability.passes if release.reliability else ()
    name = f"{kind}_{field}" if field else f"pass_{kind}_k"
    return next((_end(row, name) for row in passes if row.k == k), None)


def _ladder_rule(text: str) -> LadderRule | None:
    """Return a rule on label or tier; None if the text is about something else."""
    match = _LADDER_RULE.fullmatch(text)
    if match is None:
        return None
    names = [_plain(name) for name in LADDERS[match["what"]].names]
    name = _plain(match["name"])
    if name not in names:
        hint = did_you_mean(name, names) or f"known: {', '.join(names)}"
        msg = f"the rule '{text}' names an unknown {match['what']} '{match['name']}'; {hint}"
        raise BadRule(msg)
    bound = Bound(match["what"], None, match["sign"], names.index(name))
    return LadderRule(text, match["what"], bound)


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", "-", name.strip().lower())


def _number_rule(text: str, known: Sequence[str]) -> NumberRule:
    bound = parse_bound(re.sub(r"^(t|late)-(score|rollback)", r"\1_\2", text))
    if bound is None:
        msg = f"the rule '{text}' is not understood; {_FORMS}"
        raise BadRule(msg)
    metric, field = bound.metric, bound.field
    if metric not in known and metric[:5] not in {"pass@", "pass^"}:
        hint = did_you_mean(metric, known) or f"known: {', '.join(known)}"
        msg = f"the rule '{text}' names an unknown metric '{metric}'; {hint}"
        raise BadRule(msg)
    if field is not None and field not in _FIELDS:
        hint = did_you_mean(field, _FIELDS) or f"known: {', '.join(_FIELDS)}"
        msg = f"the rule '{text}' names an unknown field '{field}' of a release; {hint}"
        raise BadRule(msg)
    return NumberRule(text, bound)
