"""A comparison for programs: every number unrounded, every name as the trace spells it."""

import json
from typing import Any

from tracegrade_scoring.compare.attempts import SIDES
from tracegrade_scoring.compare.decision.decision import decide_release
from tracegrade_scoring.compare.decision.release_rule import ShipRule
from tracegrade_scoring.compare.fail_on_rules import RuleOutcome
from tracegrade_scoring.compare.model import (
    Compared,
    Comparison,
    FailureMode,
    JudgedSubject,
    ReasonChange,
    TaskChange,
)
from tracegrade_scoring.compare.rule_outcomes import RuledComparison
from tracegrade_scoring.rendering.measured_modes import MEASURED


def render_json(ruled: RuledComparison) -> str:
    r"""Return the comparison as one JSON object; beyond ASCII as `\uXXXX`, inert on a terminal."""
    found = ruled.comparisons
    document = {
        "lake": found.lake,
        "base": found.base,
        "candidate": found.candidate,
        "level": found.level,
        "release_rule": ruled.release_rule.model_dump(),
        "comparisons": [
            {
                **comparison.cohort._asdict(),
                "decision": decision_fields(comparison, ruled.release_rule),
                **_comparison(comparison, outcomes),
            }
            for comparison, outcomes in ruled.cohorts
        ],
    }
    return json.dumps(document, indent=2) + "\n"


def decision_fields(comparison: Comparison, rule: ShipRule) -> dict[str, Any]:
    """Return the decision on the candidate of one cohort."""
    decision = decide_release(comparison, rule)
    return {**decision._asdict(), "checks": [check._asdict() for check in decision.checks]}


def _comparison(comparison: Comparison, outcomes: tuple[RuleOutcome, ...]) -> dict[str, Any]:
    return {
        "rules": [outcome._asdict() for outcome in outcomes],
        "metrics": {name: compared_fields(found) for name, found in comparison.metrics.items()},
        "unmatched": comparison.unmatched,
        "t_score_misses": comparison.missing_axes,
        "pq_defaulted": comparison.pq_defaulted,
        "failure_modes": [mode_fields(mode) for mode in comparison.failure_modes],
        "skipped_sub_goals": [goal._asdict() for goal in comparison.skipped_sub_goals],
        "reasons": [reason_fields(reason) for reason in comparison.reasons],
        "differing_dimensions": [each._asdict() for each in comparison.differing],
        "mixed_definitions": [each._asdict() for each in comparison.mixed],
        "trade_off": comparison.trade_off,
        "ranked_oppositely": comparison.ranked_oppositely,
        "success_by_category": [
            {
                "task_category": change.category,
                **change.compared.found._asdict(),
                "p_adjusted": change.compared.p_adjusted,
            }
            for change in comparison.categories
        ],
        "unplanned": dict(zip(SIDES, comparison.unplanned, strict=True)),
        "calls": dict(zip(SIDES, [found._asdict() for found in comparison.calls], strict=True)),
        "planning": dict(
            zip(SIDES, [found._asdict() for found in comparison.planning], strict=True)
        ),
        "disputed": dict(zip(SIDES, comparison.disputed, strict=True)),
        "judged": [_judged(found) for found in comparison.judged],
        "missing_attempts": dict(zip(SIDES, comparison.missing_attempts, strict=True)),
        "by_task": [_task(task) for task in comparison.tasks],
        "mock_live_divergence": [
            {
                **tool._asdict(),
                "divergence": (tool.other_shape + tool.other_values) / tool.matched
                if tool.matched
                else None,
            }
            for tool in comparison.mocked_tools
        ],
    }


def _judged(judged: JudgedSubject) -> dict[str, Any]:
    found = judged.corrected
    corrected = found and {**found._asdict(), **found.found._asdict()}
    if corrected:
        del corrected["found"]
    return {**judged._asdict(), "corrected": corrected}


def compared_fields(compared: Compared) -> dict[str, Any]:
    """Return one metric on both sides as flat fields."""
    return {
        **compared.found._asdict(),
        "p_adjusted": compared.p_adjusted,
        "base_scored": compared.base_scored,
        "base_runs": compared.base_runs,
        "candidate_scored": compared.candidate_scored,
        "candidate_runs": compared.candidate_runs,
        "flags": (
            *compared.flags,
            *("no_spread",) * compared.no_spread,
            *("corrected",) * compared.is_corrected,
        ),
        "as_judged": compared.as_judged and compared.as_judged._asdict(),
    }


def mode_fields(mode: FailureMode) -> dict[str, Any]:
    """Return one failure mode on both sides as flat fields."""
    return {
        "mode": mode.mode,
        **compared_fields(mode.compared),
        "is_new": mode.is_new,
        "rate_rose": mode.rose,
        "measured": MEASURED.get(mode.mode),
        "trajectory_id": mode.trajectory_id,
        "span_id": mode.span_id,
        "trajectory_ids": mode.trajectory_ids,
    }


def reason_fields(reason: ReasonChange) -> dict[str, Any]:
    """Return a reason on both sides as flat fields."""
    return {**reason._asdict(), "change": reason.change}


def _task(task: TaskChange) -> dict[str, Any]:
    return {**task._asdict(), "ranked_oppositely": task.ranked_oppositely}
