"""Writes the dashboard of Grafana over the metrics that `tracegrade watch` exports.

Grafana asks at import for the data source behind `DS_PROMETHEUS`. Agent and run mode are chosen at
the top of the dashboard, and so is the address of the explorer, to which panels link.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tracegrade_scoring.metrics import MAIN_METRICS, METRICS, Metric, Scale

PATH: Final = "grafana/tracegrade.json"
WIDTH: Final = 24
"""Columns of a dashboard."""
CHOSEN: Final = '{agent=~"$agent",run_mode=~"$run_mode"}'
SOURCE: Final = {"type": "prometheus", "uid": "${DS_PROMETHEUS}"}
SHARES: Final = "percentunit"
"""Unit of a share of 0 to 1."""
STALE_SECS: Final = 3_600
"""A trace that waits longer for its scores is red."""


class PanelQuery(NamedTuple):
    """One query of a panel, and the name of its lines."""

    expr: str
    legend: str = ""


class PanelSpec(NamedTuple):
    """A panel without its position."""

    kind: str
    """Of Grafana: stat | timeseries | table."""
    title: str
    description: str
    queries: Sequence[PanelQuery]
    width: int
    height: int
    unit: str = "short"
    options: Mapping[str, Any] = {}
    custom: Mapping[str, Any] = {}
    """How lines are drawn."""
    thresholds: Sequence[tuple[float | None, str]] = ((None, "green"),)
    link: tuple[str, str] | None = None
    """Title and address below that of the explorer."""


def pages() -> Mapping[str, str]:
    """Return the dashboard by its path."""
    return {PATH: json.dumps(dashboard(), indent=2) + "\n"}


def dashboard() -> dict[str, Any]:
    """Return the dashboard as Grafana imports it."""
    return {
        "__inputs": [
            {
                "name": "DS_PROMETHEUS",
                "label": "Prometheus",
                "description": "",
                "type": "datasource",
                "pluginId": "prometheus",
                "pluginName": "Prometheus",
            }
        ],
        "title": "tracegrade",
        "uid": "tracegrade",
        "description": "Scores and alerts of agents, as tracegrade watch --prometheus has them.",
        "tags": ["tracegrade"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "refresh": "5m",
        "time": {"from": "now-30d", "to": "now"},
        "templating": {"list": [*_variables()]},
        "panels": [*_placed()],
    }


def _variables() -> Iterator[dict[str, Any]]:
    for name in ("agent", "run_mode"):
        query = f"label_values(tracegrade_runs, {name})"
        yield {
            "name": name,
            "label": name.replace("_", " "),
            "type": "query",
            "datasource": SOURCE,
            "query": {"query": query, "refId": name},
            "definition": query,
            "refresh": 2,
            "multi": True,
            "includeAll": True,
            "allValue": ".*",
            "current": {"text": "All", "value": "$__all"},
        }
    yield {
        "name": "explorer",
        "label": "explorer",
        "type": "textbox",
        "query": "http://127.0.0.1:8321",
        "current": {"text": "http://127.0.0.1:8321", "value": "http://127.0.0.1:8321"},
    }


def _placed() -> Iterator[dict[str, Any]]:
    """Yield rows and panels, in lines from the left, none over another."""
    number, top = 1, 0
    for name, specs in _rows():
        yield {
            "id": number, "type": "row", "title": name, "collapsed": False, "panels": [],
            "gridPos": {"x": 0, "y": top, "w": WIDTH, "h": 1},
        }  # fmt: skip
        number, top, left, highest = number + 1, top + 1, 0, 0
        for spec in specs:
            if left + spec.width > WIDTH:
                top, left, highest = top + highest, 0, 0
            yield {**_panel(spec), "id": number, "gridPos": {
                "x": left, "y": top, "w": spec.width, "h": spec.height,
            }}  # fmt: skip
            number, left, highest = number + 1, left + spec.width, max(highest, spec.height)
        top += highest


def _rows() -> Iterator[tuple[str, Sequence[PanelSpec]]]:
    yield "Health", [*_health()]
    yield "Quality", [*(_score(METRICS[name]) for name in MAIN_METRICS), _evidence(), _runs()]
    yield "Failure", [_issues()]
    yield "Money", [_money()]


def _health() -> Iterator[PanelSpec]:
    last = "tracegrade_last_scored_timestamp_seconds"
    yield PanelSpec(
        "stat", "Last scored", "Time since scores were last written.",
        [PanelQuery(f"time() - max({last})")], 4, 5, "s",
    )  # fmt: skip
    yield PanelSpec(
        "stat", "Unscored traces", "Received traces whose runs have no scores yet.",
        [PanelQuery("sum(tracegrade_unscored_traces)")], 4, 5,
    )  # fmt: skip
    yield PanelSpec(
        "stat", "Oldest unscored trace", "Time since the first of them was received.",
        [PanelQuery("max(tracegrade_oldest_unscored_seconds)")], 4, 5, "s",
        thresholds=((None, "green"), (STALE_SECS, "red")),
    )  # fmt: skip
    firing = 'tracegrade_alert{agent=~"$agent|",run_mode=~"$run_mode|",state="firing"}'
    yield PanelSpec(
        "stat", "Alerts", "Alerts that fire and that no person has acknowledged.",
        [PanelQuery(f"count({firing}) or vector(0)")], 4, 5,
        thresholds=((None, "green"), (1, "red")), link=("Alerts", "/alerts"),
    )  # fmt: skip
    yield PanelSpec(
        "table", "Firing", "Each alert leads to its page.", [PanelQuery(firing)], 8, 5,
        link=("Alert", "/alerts/${__data.fields.alert_id}"),
    )  # fmt: skip


def _score(metric: Metric) -> PanelSpec:
    """Return the panel of a metric: a line with a band for each release."""
    of_metric = CHOSEN.replace("}", f',metric="{metric.name}"}}')
    queries = [
        PanelQuery(f"tracegrade_score{suffix}{of_metric}", f"{{{{agent}}}} {{{{release}}}}{end}")
        for suffix, end in (("", ""), ("_low", " low"), ("_high", " high"))
    ]
    unit = SHARES if metric.scale is Scale.SHARE else "short"
    link = ("Runs", "/runs?agent=${__field.labels.agent}&release=${__field.labels.release}")
    label = metric.label[:1].upper() + metric.label[1:]
    return PanelSpec("timeseries", label, metric.meaning, queries, 8, 8, unit, link=link)


def _evidence() -> PanelSpec:
    return PanelSpec(
        "timeseries", "Evidence of rules",
        "Evidence of a rule divided by the evidence from which it fires: at 1 it fires.",
        [PanelQuery(
            'tracegrade_evidence_ratio{agent=~"$agent|",run_mode=~"$run_mode|"}',
            "{{rule}} {{agent}} {{candidate}} {{dimension_value}}",
        )],
        8, 8, custom={"thresholdsStyle": {"mode": "line"}},
        thresholds=((None, "green"), (1, "red")), link=("Alerts", "/alerts"),
    )  # fmt: skip


def _runs() -> PanelSpec:
    return PanelSpec(
        "timeseries", "Runs", "Runs of a release that count in scores.",
        [PanelQuery(f"tracegrade_runs{CHOSEN}", "{{agent}} {{release}}")], 8, 8,
    )  # fmt: skip


def _issues() -> PanelSpec:
    return PanelSpec(
        "timeseries", "Issues", "Issues by state.",
        [PanelQuery(f"sum by (state) (tracegrade_issues{CHOSEN})", "{{state}}")], 24, 8,
        link=("Issues", "/issues"),
    )  # fmt: skip


def _money() -> PanelSpec:
    return PanelSpec(
        "timeseries", "Known cost of a release",
        "Sum over its runs whose cost is known; each sub-agent has its own line.",
        [PanelQuery(f"tracegrade_known_cost_usd{CHOSEN}", "{{agent}} {{release}}")], 24, 8,
        "currencyUSD", link=("Money", "/money"),
    )  # fmt: skip


def _panel(spec: PanelSpec) -> dict[str, Any]:
    defaults: dict[str, Any] = {
        "unit": spec.unit,
        "custom": dict(spec.custom),
        "thresholds": {
            "mode": "absolute",
            "steps": [{"value": value, "color": color} for value, color in spec.thresholds],
        },
    }
    if spec.link:
        title, path = spec.link
        defaults["links"] = [{"title": title, "url": f"${{explorer}}{path}"}]
    return {
        "type": spec.kind,
        "title": spec.title,
        "description": spec.description,
        "datasource": SOURCE,
        "targets": [
            {
                "refId": chr(ord("A") + position),
                "datasource": SOURCE,
                "expr": query.expr,
                "legendFormat": query.legend,
                "instant": spec.kind != "timeseries",
                "range": spec.kind == "timeseries",
                "format": "table" if spec.kind == "table" else "time_series",
            }
            for position, query in enumerate(spec.queries)
        ],
        "fieldConfig": {"defaults": defaults, "overrides": [*_bands(spec)]},
        "options": dict(spec.options),
    }


def _bands(spec: PanelSpec) -> Iterator[dict[str, Any]]:
    """Yield how the ends of intervals are drawn: thin, and without an entry in the legend."""
    if len(spec.queries) < 3:
        return
    for end in ("low", "high"):
        yield {
            "matcher": {"id": "byRegexp", "options": f"/ {end}$/"},
            "properties": [
                {"id": "custom.lineStyle", "value": {"fill": "dash", "dash": [4, 4]}},
                {"id": "custom.lineWidth", "value": 1},
                {"id": "custom.hideFrom",
                 "value": {"legend": True, "tooltip": False, "viz": False}},
            ],
        }  # fmt: skip
