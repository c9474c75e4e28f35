"""`--fail-on`: what must not happen between two releases, so that a pipeline can stop if it does.

`METRIC<NUMBER` and `METRIC>NUMBER` (also `<=`, `>=`) look at the difference, candidate less base:
`tsa<-0.02` breaks if tool-selection accuracy fell by more than 2 points. `METRIC.FIELD` looks at
something else of the metric: `low` and `high` (ends of the difference's interval), `base`,
`candidate` (the values) or `ratio` (candidate / base). `new-failure-mode` breaks if the candidate
shows a mode that the base never did, `failure-mode-rose` if one rose by more than chance explains.
`decision` breaks unless the release rule says *ship*. `reopened` breaks if the candidate shows an
issue that was fixed, `new-issue` if it shows one that no release before it did; `new-issue>2%`
only if more than this share of the runs of its tasks show it.
"""

import operator
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final, NamedTuple

from tracegrade.suggestions import did_you_mean
from tracegrade_scoring.compare.decision.checks import HELD
from tracegrade_scoring.compare.decision.decision import HOLD, SHIP, decide_release
from tracegrade_scoring.compare.decision.release_rule import DEFAULT_RULE, ShipRule
from tracegrade_scoring.compare.model import Comparison, FailureMode
from tracegrade_scoring.errors import BadRule
from tracegrade_scoring.issues.states import NEW, REOPENED
from tracegrade_scoring.metrics import METRICS
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.mixed_definitions import WAY_OUT, mixture

DECISION: Final = "decision"
BESIDE: Final = ("t_score", "tokens_per_run", "cost_usd_per_run", "steps_per_run")
"""Names that are compared in addition to the metrics."""

_OPERATORS: Final[dict[str, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_LIMIT: Final = re.compile(
    r"(?P<metric>[a-z][a-z0-9_]*|pass[@^]\d+)(?:\.(?P<field>[a-z]+))?\s*"
    r"(?P<sign><=|>=|<|>)\s*(?P<limit>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
)
_FIELDS: Final = ("difference", "low", "high", "base", "candidate", "ratio")


class Bound(NamedTuple):
    """A rule that looks at a number: `METRIC<NUMBER` or `METRIC.FIELD>NUMBER`."""

    metric: str
    field: str | None
    sign: str
    limit: float

    def is_broken(self, value: float) -> bool:
        """Return whether a number is on the wrong side, rounded half-even to 9 decimals."""
        return _OPERATORS[self.sign](round(value, 9), self.limit)


def parse_bound(text: str) -> Bound | None:
    """Return the rule in a text, for any metric; None if the text has another form."""
    match = _LIMIT.fullmatch(text.strip())
    if match is None:
        return None
    return Bound(match["metric"], match["field"], match["sign"], float(match["limit"]))


class RuleOutcome(NamedTuple):
    """The result of a rule for one cohort."""

    rule: str
    verdict: str
    """held | broken | unjudged (a value is missing, which stops a pipeline too)."""
    fact: str
    """What was found, in words."""


class Limit(NamedTuple):
    """A bound on a number of a metric."""

    text: str
    metric: str
    field: str
    bound: Bound

    def judge(self, comparison: Comparison) -> RuleOutcome:
        """Return whether the number is on the wrong side, rounded half-even to 9 decimals."""
        value = self._value(comparison)
        if value is None:
            return RuleOutcome(self.text, "unjudged", f"there is no {self.field} of {self.metric}")
        corrected = ", corrected," if comparison.metrics[self.metric].is_corrected else ""
        fact = f"{self.field} of {self.metric}{corrected} is {round(value, 9):.9g}"
        return RuleOutcome(self.text, "broken" if self.bound.is_broken(value) else "held", fact)

    def _value(self, comparison: Comparison) -> float | None:
        compared = comparison.metrics.get(self.metric)
        if compared is None:
            return None
        found = compared.found
        if self.field == "ratio":
            return _ratio(found.candidate, found.base)
        value: float | None = getattr(found, self.field)
        return value


def _ratio(candidate: float | None, base: float | None) -> float | None:
    return candidate / base if candidate is not None and base else None


class ModeRule(NamedTuple):
    """A condition on failure modes."""

    text: str
    applies: Callable[[FailureMode], bool]

    def judge(self, comparison: Comparison) -> RuleOutcome:
        """Return whether a failure mode meets the condition; unjudged without any mode."""
        modes = comparison.failure_modes
        if not modes:
            return RuleOutcome(
                self.text, "unjudged", "no failure mode was measured in both releases"
            )
        found = ", ".join(mode.mode for mode in modes if self.applies(mode))
        return RuleOutcome(self.text, "broken" if found else "held", found or "none")


class DecisionRule(NamedTuple):
    """The decision on the release must be *ship*."""

    text: str
    release_rule: ShipRule

    def judge(self, comparison: Comparison) -> RuleOutcome:
        """Return whether it is; unjudged where the runs cannot tell."""
        decision = decide_release(comparison, self.release_rule)
        verdict = {SHIP: "held", HOLD: "broken"}.get(decision.word, "unjudged")
        failed = "; ".join(f"{c.text}: {c.fact}" for c in decision.checks if c.verdict != HELD)
        return RuleOutcome(self.text, verdict, f"{decision.word}{failed and ': '}{failed}")


class IssueRule(NamedTuple):
    """A condition on issues that the candidate shows."""

    text: str
    state: str
    """State of the issues that break it, as of the candidate."""
    share: float = 0.0
    """Of runs of its tasks; an issue in fewer does not break it."""

    def judge(self, comparison: Comparison) -> RuleOutcome:
        """Return whether there is such an issue, and name the first; unjudged without releases."""
        if comparison.issues is None:
            return RuleOutcome(self.text, "unjudged", "issues are known of releases alone")
        found = [
            f"{issue.issue} {words.line(issue.title)} ({issue.hits:,} of {issue.runs:,} runs)"
            for issue in comparison.issues
            if issue.state == self.state and issue.hits / issue.runs > self.share
        ]
        more = f", and {words.count(len(found) - NAMED, 'more issue')}" if found[NAMED:] else ""
        fact = f"{', '.join(found[:NAMED])}{more}" or "none"
        return RuleOutcome(self.text, "broken" if found else "held", fact)


NAMED: Final = 3
"""Issues that the outcome of a rule names."""
ISSUE_RULES: Final = (REOPENED, "new-issue")
_NEW_ISSUE: Final = re.compile(r"new-issue(?:\s*>\s*(?P<percent>\d{1,2}(?:\.\d{1,9})?)\s*%)?")

Rule = Limit | ModeRule | DecisionRule | IssueRule

_MODE_RULES: Final[dict[str, Callable[[FailureMode], bool]]] = {
    "new-failure-mode": lambda mode: mode.is_new,
    "failure-mode-rose": lambda mode: mode.rose and mode.is_sure,
}


def parse_rules(
    texts: Sequence[str],
    own: Collection[str] = (),
    release_rule: ShipRule = DEFAULT_RULE,
) -> list[Rule]:
    """Return the rules of `--fail-on`.

    Args:
        texts: One each.
        own: Names of users' own metrics that the lake has.
        release_rule: What `decision` goes by.

    Raises:
        BadRule: One has another form, or names a metric or field that does not exist.
    """
    known = (*METRICS, *own, *BESIDE)
    return [
        DecisionRule(DECISION, release_rule)
        if text.strip() == DECISION
        else _parse(text.strip(), known)
        for text in texts
    ]


def outcomes_of(rules: Sequence[Rule], comparison: Comparison) -> Iterator[RuleOutcome]:
    """Yield what each rule says about a cohort; nothing if its runs cannot be compared."""
    if comparison.mixed:
        fact = f"runs were scored by several definitions ({mixture(comparison.mixed)}); {WAY_OUT}"
        return (RuleOutcome(rule.text, "unjudged", fact) for rule in rules)
    return (rule.judge(comparison) for rule in rules)


def _parse(text: str, known: Sequence[str]) -> Rule:
    if text in _MODE_RULES:
        return ModeRule(text, _MODE_RULES[text])
    if text == REOPENED:
        return IssueRule(text, REOPENED)
    if share := _NEW_ISSUE.fullmatch(text):
        return IssueRule(text, NEW, float(share["percent"] or 0) / 100)
    bound = parse_bound(text)
    if bound is None:
        named = [DECISION, *_MODE_RULES, *ISSUE_RULES]
        forms = f"write METRIC<NUMBER, METRIC.FIELD>NUMBER, {' or '.join(named)}"
        hint = did_you_mean(text, named) or forms
        msg = f"the rule '{text}' is not understood; {hint}"
        raise BadRule(msg)
    metric, field = bound.metric, bound.field or "difference"
    if metric not in known and metric[:5] not in {"pass@", "pass^"}:
        hint = did_you_mean(metric, known) or f"known: {', '.join(known)}"
        msg = f"the rule '{text}' names an unknown metric '{metric}'; {hint}"
        raise BadRule(msg)
    if field not in _FIELDS:
        hint = did_you_mean(field, _FIELDS) or f"known: {', '.join(_FIELDS)}"
        msg = f"the rule '{text}' names an unknown field '{field}'; {hint}"
        raise BadRule(msg)
    return Limit(text, metric, field, bound)
