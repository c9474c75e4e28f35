"""The dashboard of Grafana asks for what a lake exports."""

import json
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from tests.citations import ROOT
from tests.scoring.issues.test_states import add_runs
from tests.scoring.report.build import Tables, as_lake
from tests.watch.exposition import Sample, parse
from tests.watch.test_prometheus import FALL, text_of

from docgen.grafana import WIDTH
from tracegrade_scoring.metrics import MAIN_METRICS
from tracegrade_watch.outputs.prometheus import FAMILIES

DASHBOARD = json.loads((ROOT / "docs" / "grafana" / "tracegrade.json").read_text())
PANELS: list[dict[str, Any]] = DASHBOARD["panels"]
SELECTOR = re.compile(r"(tracegrade_\w+)(?:\{([^}]*)\})?")
LABEL = re.compile(r"(?:label_values\(\w+, |by \()(\w+)\)")
MATCHER = re.compile(r'(\w+)(=~?)"([^"]*)"')


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> list[Sample]:
    """The metrics of a lake with an alert, issues and costs."""
    with closing(Tables()) as tables:
        last = add_runs(tables, "1.1", 3, 10)
        for metric in MAIN_METRICS:
            tables.release(metric, 0.5, release="1.1", run_mode=None, low=0.4, high=0.6)
        tables.con.execute("UPDATE trajectories SET cost_usd = 0.25")
        assert len(last) == 10
        lake = as_lake(tables, tmp_path_factory.mktemp("dashboard") / "lake")
    return parse(text_of(lake, replace(FALL, agent_name="files", run_mode=None)))


def expressions() -> Iterator[str]:
    """Yield the expressions of all panels and variables."""
    for panel in PANELS:
        yield from (target["expr"] for target in panel.get("targets", ()))
    for variable in DASHBOARD["templating"]["list"]:
        yield from ([variable["definition"]] if variable["type"] == "query" else [])


@pytest.mark.parametrize("expression", sorted(set(expressions())))
def test_what_a_panel_asks_for_is_exported(expression: str, exported: list[Sample]) -> None:
    """Metric and labels are in a written file, and values that the panel names."""
    selectors = SELECTOR.findall(expression)
    assert selectors
    for name, inside in selectors:
        fitting = [
            each
            for each in exported
            if each.name == name
            and all(
                each.labels[label] == value
                for label, sign, value in MATCHER.findall(inside)
                if sign == "="
            )
        ]
        assert fitting, name
        labels = {label for label, _, _ in MATCHER.findall(inside)}
        labels |= {*LABEL.findall(expression)}
        assert labels <= fitting[0].labels.keys()


def test_every_metric_is_on_the_dashboard() -> None:
    """And every label of a line's name is one of its metric."""
    asked = {name for each in expressions() for name, _ in SELECTOR.findall(each)}
    labels = {family.name: family.labels for family in FAMILIES}
    assert asked == labels.keys()
    for panel in PANELS:
        for target in panel.get("targets", ()):
            ((name, _), *_) = SELECTOR.findall(target["expr"])
            assert {*re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])} <= {*labels[name]}


def test_no_panel_overlaps_another_one() -> None:
    """Each is within the width, and has an id of its own."""
    boxes = [panel["gridPos"] for panel in PANELS]
    assert all(box["x"] >= 0 and box["x"] + box["w"] <= WIDTH for box in boxes)
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
    for one, other in combinations(boxes, 2):
        apart = (
            one["x"] + one["w"] <= other["x"]
            or other["x"] + other["w"] <= one["x"]
            or one["y"] + one["h"] <= other["y"]
            or other["y"] + other["h"] <= one["y"]
        )
        assert apart, (one, other)


def test_source_is_asked_for_at_import() -> None:
    """No panel names a data source of one installation."""
    sources = [panel["datasource"]["uid"] for panel in PANELS if panel["type"] != "row"]
    assert {*sources} == {"${DS_PROMETHEUS}"}
    assert [each["name"] for each in DASHBOARD["__inputs"]] == ["DS_PROMETHEUS"]
