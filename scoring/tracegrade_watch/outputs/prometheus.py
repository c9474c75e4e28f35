"""Metrics in Prometheus' text format: the families, and how their samples are written."""

from collections.abc import Iterable, Iterator, Mapping
from math import isfinite, isnan
from typing import Final, NamedTuple

from tracegrade.terminal.visible import visible
from tracegrade_scoring.rendering.words import clip

MOST_LABEL: Final = 100
"""Characters of a label's value."""
RELEASE_LABELS: Final = ("agent", "release", "run_mode")
ALERT_LABELS: Final = (
    *("rule", "agent", "run_mode", "metric", "base", "candidate", "dimension", "dimension_value"),
)


class MetricFamily(NamedTuple):
    """One metric: a gauge."""

    name: str
    meaning: str
    labels: tuple[str, ...] = ()


class MetricSample(NamedTuple):
    """One value."""

    family: str
    value: float
    labels: Mapping[str, str | None] = {}
    """Values of the family's labels; None is written as an empty value."""


FAMILIES: Final = (
    MetricFamily(
        "tracegrade_score",
        "Score of a release, as release_scores has it.",
        (*RELEASE_LABELS, "metric"),
    ),
    MetricFamily(
        "tracegrade_score_low",
        "Lower end of the 95 % interval of the score.",
        (*RELEASE_LABELS, "metric"),
    ),
    MetricFamily(
        "tracegrade_score_high",
        "Upper end of the 95 % interval of the score.",
        (*RELEASE_LABELS, "metric"),
    ),
    MetricFamily("tracegrade_runs", "Runs of a release that count in scores.", RELEASE_LABELS),
    MetricFamily(
        "tracegrade_alert",
        "1 for each alert that fires or is acknowledged.",
        (*ALERT_LABELS, "state", "alert_id"),
    ),
    MetricFamily(
        "tracegrade_evidence_ratio",
        "Evidence of a rule divided by the evidence from which it fires.",
        ALERT_LABELS,
    ),
    MetricFamily(
        "tracegrade_issues", "Issues of an agent in each state.", ("agent", "run_mode", "state")
    ),
    MetricFamily(
        "tracegrade_known_cost_usd",
        "Sum over the runs of a release whose cost is known, in US dollars.",
        RELEASE_LABELS,
    ),
    MetricFamily("tracegrade_unscored_traces", "Received traces whose runs have no scores yet."),
    MetricFamily(
        "tracegrade_oldest_unscored_seconds",
        "Seconds since the last span of that which waits longest; 0 if none waits.",
    ),
    MetricFamily(
        "tracegrade_last_scored_timestamp_seconds",
        "Time at which scores were last written, seconds since 1970.",
    ),
)
"""All metrics, in the order in which they are written."""


def prometheus_text(samples: Iterable[MetricSample]) -> str:
    """Return samples in the text format; of two with equal labels the first counts."""
    by_family: dict[str, dict[str, float]] = {}
    labels_of = {family.name: family.labels for family in FAMILIES}
    for sample in samples:
        labels = _labels(labels_of[sample.family], sample.labels)
        by_family.setdefault(sample.family, {}).setdefault(labels, sample.value)
    return "".join(_lines(by_family))


def _lines(by_family: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    for family in FAMILIES:
        found = by_family.get(family.name)
        if not found:
            continue
        yield f"# HELP {family.name} {family.meaning}\n# TYPE {family.name} gauge\n"
        for labels, value in found.items():
            yield f"{family.name}{labels} {_number(value)}\n"


def _labels(names: Iterable[str], values: Mapping[str, str | None]) -> str:
    pairs = [f'{name}="{_label(values.get(name) or "")}"' for name in names]
    return "{" + ",".join(pairs) + "}" if pairs else ""


def _label(text: str) -> str:
    visible_label = clip(visible(text), MOST_LABEL)
    return visible_label.replace("\\", "\\\\").replace('"', '\\"')


def _number(value: float) -> str:
    if isfinite(value):
        return repr(float(value))
    return "NaN" if isnan(value) else "+Inf" if value > 0 else "-Inf"
