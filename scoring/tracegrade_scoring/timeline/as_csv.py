"""A run as CSV: one row for each step, numbers unrounded."""

from dataclasses import asdict, fields

from tracegrade_scoring.rendering.sheet import csv_text
from tracegrade_scoring.timeline.model import Step, Timeline


def render_csv(timeline: Timeline) -> str:
    """Return the steps as CSV with a header."""
    return csv_text([field.name for field in fields(Step)], map(asdict, timeline.steps))
