"""A report for programs: every number unrounded, every name as the trace spells it."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from tracegrade_scoring.compare.as_json import (
    compared_fields,
    decision_fields,
    mode_fields,
    reason_fields,
)
from tracegrade_scoring.compare.decision.release_rule import DEFAULT_RULE
from tracegrade_scoring.compare.model import Comparisons
from tracegrade_scoring.compare.view import cohort_view
from tracegrade_scoring.rendering.measured_modes import MEASURED
from tracegrade_scoring.report.missing import missing
from tracegrade_scoring.report.model import QUANTILES, Release, Reliability, Report, Score
from tracegrade_scoring.report.readiness import label
from tracegrade_scoring.report.standing import standing
from tracegrade_scoring.statistics.reliability import Pass
from tracegrade_scoring.statistics.t_score import PRESETS, row_of, t_score
from tracegrade_scoring.statistics.tiers import Tier


def render_json(report: Report) -> str:
    r"""Return the report as one JSON object.

    Characters beyond ASCII are written as `\uXXXX`, so the text is inert on a terminal too.
    """
    document = {
        "lake": report.lake,
        "level": report.options.level,
        "literal": report.options.literal,
        "contents": report.contents._asdict(),
        "missing": [{"fact": fact, "commands": commands} for fact, commands in missing(report)],
        "standing": standing(report),
        "selection": report.selection._asdict(),
        "releases": [
            {
                **_release(release),
                "rules": [each._asdict() for each in report.outcomes.get(release.key, ())],
            }
            for release in report.releases
        ],
        "comparisons": [_comparison(found) for found in report.comparisons.values()],
    }
    return json.dumps(document, indent=2, default=_text) + "\n"


def _comparison(found: Comparisons) -> dict[str, Any]:
    """Return the first answer of a report: an agent's newest release against the one before."""
    (comparison,) = found.cohorts
    view = cohort_view(comparison, found)
    return {
        "agent_name": comparison.cohort.agent_name,
        "run_mode": comparison.cohort.run_mode,
        "base": found.base,
        "candidate": found.candidate,
        "decision": decision_fields(comparison, DEFAULT_RULE),
        "answer": view.answer,
        "better": [metric.name for metric in view.changed.better],
        "worse": [metric.name for metric in view.changed.worse],
        "metrics": {name: compared_fields(each) for name, each in comparison.metrics.items()},
        "failure_modes": [mode_fields(mode) for mode in comparison.failure_modes],
        "skipped_sub_goals": [goal._asdict() for goal in comparison.skipped_sub_goals],
        "reasons": [reason_fields(reason) for reason in comparison.reasons],
    }


def _text(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    msg = f"cannot write a {type(value).__name__} as JSON"
    raise TypeError(msg)


def _release(release: Release) -> dict[str, Any]:
    return {
        **release.key._asdict(),
        "runs": asdict(release.runs),
        "metrics": {name: _score(score) for name, score in release.metrics.items()},
        "t_score": _t_score(release),
        **_reliability(release.reliability),
        "remarks": {
            **release.remarks._asdict(),
            "planning": release.remarks.planning._asdict(),
            "calls": release.remarks.calls._asdict(),
        },
        "failure_modes": [
            {**asdict(row), "measured": MEASURED.get(row.mode)} for row in release.failure_modes
        ],
        "reasons": [asdict(row) for row in release.reasons],
        "quantiles": {"at": QUANTILES, **release.spreads},
        "wrong_decisions": [asdict(row) for row in release.wrong_decisions],
        "wrong_decision_rows": release.wrong_decision_rows,
        "kills": [asdict(row) for row in release.kills],
        "kill_rows": release.kill_rows,
        "sub_goals": [asdict(row) for row in release.sub_goals],
        "tool_selection": [asdict(row) for row in release.tool_selection],
        "replanning": [asdict(row) for row in release.replanning],
        "success_by_category": [
            {**row._asdict(), "success": row.success} for row in release.categories
        ],
        "bands": [row._asdict() for row in release.bands],
        "by_turn": [row._asdict() for row in release.conversations.turns],
        "conversations": [
            {**row._asdict(), "is_correct": row.is_correct}
            for row in release.conversations.conversations
        ],
        "conversation_rows": release.conversations.total,
        "by_task": [{**row._asdict(), "success": row.success} for row in release.tasks],
    }


def _score(score: Score) -> dict[str, Any]:
    written = asdict(score)
    written["unscored"] = [row._asdict() for row in score.unscored]
    return written


def _reliability(found: Reliability | None) -> dict[str, Any]:
    if found is None:
        return {"pass": [], "pass_other_estimators": [], "tiers": []}
    return {
        "pass": _passes(found, found.passes),
        "pass_other_estimators": _passes(found, found.other_estimators),
        "tiers": [
            _tier(category, tier) for category, tier in (("", found.tier), *found.categories)
        ],
    }


def _tier(category: str | None, found: Tier) -> dict[str, Any]:
    """Return a tier as far as the sample carries it."""
    carried = found.carried
    return {
        "task_category": category,
        **found._asdict(),
        "tier": carried.label,
        "tier_at_least": carried.at_least,
        "reason": carried.reason,
    }


def _passes(of: Reliability, found: Sequence[Pass]) -> list[dict[str, Any]]:
    counts = {
        "attempts": of.attempts,
        "n_valid": of.valid,
        "n_invalid": of.invalid,
        "missing": of.missing,
        "superseded": of.superseded,
        "retried": of.retried,
        "repeated": of.repeated,
        "min_trials": of.least,
        "dropped_tasks": of.dropped,
        "uncounted_tasks": of.uncounted,
    }
    return [{**row._asdict(), **counts} for row in found]


def _t_score(release: Release) -> dict[str, Any]:
    """Return the composite with its axes, by every preset, and for each task."""
    interval, literal = release.t_score_interval, release.options.literal
    found_label, weights = label(release), release.options.weights
    row = row_of(found_label.label) if found_label.label else None
    strict = t_score(release.strict_axes, weights, literal=literal)
    return {
        **release.t_score._asdict(),
        "label": found_label.label,
        "label_at_least": found_label.at_least,
        "label_reason": found_label.reason,
        "typical_failure": row and row.typical_failure,
        "recommended_use": row and row.recommended_use,
        "weights": weights._asdict(),
        "low": interval and interval.low,
        "high": interval and interval.high,
        "interval_method": interval and interval.method,
        "axes": release.axes._asdict(),
        "pq_defaulted": release.pq_defaulted,
        "strict": {
            **{name: each for name, each in strict._asdict().items() if name != "label"},
            "axes": release.strict_axes._asdict(),
        },
        "presets": {
            name: t_score(release.axes, preset, literal=literal).value
            for name, preset in PRESETS.items()
        },
        "tasks": [
            {**asdict(task), "t_score": task.t_score(release.options).value}
            for task in release.task_axes
        ],
    }
