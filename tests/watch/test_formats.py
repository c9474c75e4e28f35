"""The result of a run in each format: the same alerts, and no name that acts."""

import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.watch.test_notify import FALL, PAGE, SENTENCE
from tests.watch.test_stored import ALERTS

from tracegrade_watch.alert import Alert
from tracegrade_watch.outputs.formats import (
    FORMATS,
    as_annotations,
    as_json,
    as_junit,
    as_text,
    step_summary,
)
from tracegrade_watch.outputs.report import CheckedRule, WatchReport

STRONG = replace(FALL, evidence=replace(FALL.evidence, ratio=84.0, threshold=20.0))
KNOWN = replace(FALL, alert_id="1" * 12, rule="known", state="acknowledged")
REPORT = WatchReport(
    "lake",
    (
        CheckedRule("success", "support, production", STRONG.alert_id, share=4.2),
        CheckedRule("known", "support, production", KNOWN.alert_id),
        CheckedRule("tsa", "support, production", share=0.1),
        CheckedRule("quiet", skipped="2 days of 5"),
    ),
    (STRONG, KNOWN),
    PAGE,
    ("slack env:HOOK: status 503",),
)


def test_text_has_evidence_and_runs() -> None:
    """And what could not be said, what was not sent, and a summary."""
    text = as_text(REPORT)

    assert text.startswith("firing: success (support, production, release 1.4)\n")
    assert f"  {SENTENCE}\n  evidence 84, needs 20\n  runs: {PAGE}/runs/aaaa" in text
    assert "no answer: quiet: 2 days of 5" in text
    assert "slack env:HOOK: status 503" in text
    assert text.endswith("4 checks made, 1 firing, 1 acknowledged, 1 without an answer\n")


def test_json_has_all_alerts() -> None:
    """With what was checked."""
    found = json.loads(as_json(REPORT))

    assert [alert["state"] for alert in found["alerts"]] == ["firing", "acknowledged"]
    assert found["firing"] == 1
    assert found["checked"][0]["share"] == 4.2
    assert found["faults"] == [*REPORT.faults]


def test_junit_has_a_case_for_each_check() -> None:
    """An alert fails its case; one that no check has fails a case of its own."""
    other = replace(FALL, alert_id="2" * 12, rule="old")
    text = as_junit(replace(REPORT, alerts=(STRONG, KNOWN, other)))
    root = ElementTree.fromstring(text)  # noqa: S314 - our own text
    cases = {case.get("name"): [each.tag for each in case] for case in root}

    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("5", "2", "2")
    assert cases["success"] == ["failure"]
    assert cases["known"] == cases["quiet"] == ["skipped"]
    assert cases["tsa"] == []


def test_annotations_are_ten_and_the_summary_has_all() -> None:
    """GitHub shows no more of one step."""
    many = [replace(STRONG, alert_id=f"{number:012}") for number in range(25)]
    report = replace(REPORT, alerts=many)
    lines = as_annotations(report).splitlines()

    assert sum(line.startswith("::error ") for line in lines) == 10
    assert lines[0] == (
        "::error title=firing%3A success (support%2C production%2C release 1.4)::"
        f"{SENTENCE}; evidence 84, needs 20"
    )
    assert "15 more alerts; the step's summary has all of them" in lines
    assert step_summary(report).count(f"({PAGE}/runs/b%2Fc)") == 25


@settings(max_examples=60)
@given(alert=ALERTS, text=st.text(max_size=30))
@pytest.mark.parametrize("name", FORMATS)
def test_no_name_acts_in_any_format(name: str, alert: Alert, text: str) -> None:
    """No command of GitHub, no markup, and nothing that moves a cursor."""
    hostile = f"\n::set-env name=A::%0A\x1b[2J|<b>[x](http://y){text}"
    fires = replace(
        alert,
        state="firing",
        rule=hostile,
        evidence=replace(alert.evidence, statement=hostile, resolves=hostile),
    )
    checked = CheckedRule(hostile, hostile, fires.alert_id, None, float("inf"))
    report = WatchReport(hostile, (checked,), (fires,), PAGE, (hostile,))
    written = FORMATS[name](report)

    assert written.replace("\n", "").isprintable()
    if name == "github":
        commands = [line for line in written.splitlines() if line.startswith("::")]
        assert len(commands) == 1
        assert "%0A" not in re.sub("%25", "", written)
    summary = step_summary(report)
    assert "<b>" not in summary
    assert not re.search(r"[^\\]\]\(http:", summary)
