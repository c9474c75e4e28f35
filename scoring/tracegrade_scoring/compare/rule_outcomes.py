"""A comparison with what the rules of `--fail-on` say about it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tracegrade.terminal.visible import visible
from tracegrade_scoring.compare.decision.release_rule import DEFAULT_RULE, ShipRule
from tracegrade_scoring.compare.fail_on_rules import Rule, RuleOutcome, outcomes_of
from tracegrade_scoring.compare.model import Comparison, Comparisons
from tracegrade_scoring.errors import RuleBroken
from tracegrade_scoring.rendering import words


@dataclass(frozen=True)
class RuledComparison:
    """Both releases and, cohort by cohort, the outcome of each rule."""

    comparisons: Comparisons
    outcomes: tuple[tuple[RuleOutcome, ...], ...]
    """One tuple for each cohort, in order."""
    release_rule: ShipRule = DEFAULT_RULE
    """By which the candidate may ship or not."""

    @property
    def cohorts(self) -> Iterator[tuple[Comparison, tuple[RuleOutcome, ...]]]:
        """Each cohort with the outcomes of the rules on it."""
        return zip(self.comparisons.cohorts, self.outcomes, strict=True)

    def raise_broken(self) -> None:
        """Do nothing if every rule holds for every cohort.

        Raises:
            RuleBroken: One does not, or could not be judged; the text says which, and where.
        """
        stops = [
            f"{visible(outcome.rule)} ({words.name(comparison.cohort.agent_name, 'no agent')}: "
            f"{outcome.fact})"
            for comparison, outcomes in self.cohorts
            for outcome in outcomes
            if outcome.verdict != "held"
        ]
        if stops:
            msg = f"stopped by --fail-on: {'; '.join(stops)}"
            raise RuleBroken(msg)


def apply_rules(
    comparisons: Comparisons, rules: Sequence[Rule], release_rule: ShipRule = DEFAULT_RULE
) -> RuledComparison:
    """Return the comparison with the outcome of each rule for each cohort."""
    outcomes = (tuple(outcomes_of(rules, comparison)) for comparison in comparisons.cohorts)
    return RuledComparison(comparisons, tuple(outcomes), release_rule)
