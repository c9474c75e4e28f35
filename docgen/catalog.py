"""The page of metrics: their names, units, ranges and why a run may have no value."""

from collections.abc import Mapping
from itertools import groupby
from typing import Final

from docgen.pages import code, page, table
from tracegrade_scoring.metrics import METRICS, Metric, Scale
from tracegrade_scoring.rendering.reasons import REASONS, Reason

BETTER: Final = {1: "more", -1: "less", 0: ""}


def pages() -> Mapping[str, str]:
    """Return the page by its path below `docs/`."""
    by_group = sorted(METRICS.values(), key=lambda metric: metric.group)
    groups = (
        f"## {group}\n\n{_metrics(list(metrics))}"
        for group, metrics in groupby(by_group, key=lambda metric: metric.group)
    )
    text = page(
        "Metrics",
        f"The {len(METRICS)} metrics of a run, as columns of `trajectory_scores`. Each value is a "
        "quotient with its numerator and denominator; a share is in [0, 1]. "
        "[The definitions](../metrics.md) say how each is computed, and "
        "[the last section](#why-a-run-has-no-value) why a run may have no value.",
        *groups,
        "## Why a run has no value",
        "A score without a value has a reason instead, `reason` of its column.",
        table(
            ["reason", "what it means", "what to do"],
            ([code(name), _sentence(r.meaning), _sentence(r.remedy)] for name, r in _reasons()),
        ),
    )
    return {"reference/metric-catalog.md": text}


def _reasons() -> list[tuple[str, Reason]]:
    return sorted(REASONS.items())


def _metrics(metrics: list[Metric]) -> str:
    rows = ([code(m.name), m.label, _scale(m), BETTER[m.better], m.definition] for m in metrics)
    return table(["metric", "in reports", "value", "better", "definition"], rows)


def _scale(metric: Metric) -> str:
    kind = "share" if metric.scale is Scale.SHARE else "number"
    return f"{kind} of {metric.unit}" if metric.unit else kind


def _sentence(text: str | None) -> str:
    return f"{text[0].upper()}{text[1:]}." if text else ""
