"""A run for programs: every number unrounded, every text as the trace spells it."""

import json
from dataclasses import asdict
from datetime import datetime

from tracegrade_scoring.timeline.model import Timeline


def render_json(timeline: Timeline) -> str:
    r"""Return the run as one JSON object; beyond ASCII as `\uXXXX`, inert on a terminal."""
    document = {
        "lake": timeline.lake,
        "run": asdict(timeline.run),
        "scores": {score.metric: score._asdict() for score in timeline.scores},
        "steps": [
            {
                **asdict(step),
                "found": [mark._asdict() for mark in timeline.marks_at(step.step_index)],
            }
            for step in timeline.steps
        ],
        "total_steps": timeline.total_steps,
        "missed": [mark._asdict() for mark in timeline.marks_at(None)],
        "found_in_sub_agents": [mark._asdict() for mark in timeline.marks_of_sub_agents()],
        "verdicts": [verdict._asdict() for verdict in timeline.verdicts],
        "total_verdicts": timeline.total_verdicts,
        "reasons": [reason._asdict() for reason in timeline.reasons],
        "agents": [asdict(agent) for agent in timeline.agents],
        "sub_goals": [goal._asdict() for goal in timeline.sub_goals],
    }
    return json.dumps(document, indent=2, default=_text) + "\n"


def _text(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    msg = f"cannot write a {type(value).__name__} as JSON"
    raise TypeError(msg)
