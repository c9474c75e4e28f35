"""The result of a run in each format: the same alerts, and no name that acts."""

import re
from dataclasses import replace
from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.watch.test_notify import FALL, PAGE, SENTENCE
from tests.watch.test_stored import ALERTS

from tracegrade_watch.alert import Alert
from tracegrade_watch.outputs.formats import as_annotations, as_junit, step_summary
from tracegrade_watch.watched import RuleCheck, Watched, Watching

STRONG = replace(FALL, evidence=replace(FALL.evidence, ratio=84.0, threshold=20.0))


def about(alert: Alert) -> Watching:
    """Return what the check of an alert is about."""
    names = Watching.__dataclass_fields__
    return Watching(**{name: getattr(alert, name) for name in names})


def identified(alert: Alert) -> Alert:
    """Return an alert with the id that its check has."""
    return replace(alert, alert_id=about(alert).alert_id)


FIRING = identified(STRONG)
KNOWN = identified(replace(FALL, rule="known", state="acknowledged"))
CHECKS = (
    RuleCheck(about(FIRING), fires=True, evidence=FIRING.evidence),
    RuleCheck(about(KNOWN), fires=True, evidence=KNOWN.evidence),
    RuleCheck(Watching("tsa", "support", "production", "tsa", "1.3", "1.4", "model", "m")),
    RuleCheck(Watching("quiet"), reason="2 days of 5"),
)
WATCHED = Watched(CHECKS, (FIRING, KNOWN), None)


def test_junit_has_a_case_for_each_check() -> None:
    """An alert fails its case, unless a person has acknowledged it."""
    root = ElementTree.fromstring(as_junit(WATCHED))  # noqa: S314 - our own text
    cases = {
        (case.get("classname"), case.get("name")): [
            (each.tag, each.get("message")) for each in case
        ]
        for case in root
    }

    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("4", "1", "2")
    message = f"{SENTENCE}; evidence 84, an alert needs 20"
    assert cases == {
        ("support, production", "success 1.4"): [("failure", message)],
        ("support, production", "known success 1.4"): [("skipped", f"acknowledged: {SENTENCE}")],
        ("support, production", "tsa 1.4 model=m"): [],
        ("lake", "quiet"): [("skipped", "2 days of 5")],
    }


def test_annotations_are_ten_and_the_summary_has_all() -> None:
    """GitHub shows no more of one step."""
    many = Watched(
        CHECKS, [replace(FIRING, alert_id=f"{number:012}") for number in range(25)], None
    )
    lines = as_annotations(many).splitlines()

    assert sum(line.startswith("::error ") for line in lines) == 10
    assert lines[0] == (
        "::error title=firing%3A success (support%2C production%2C release 1.4)::"
        f"{SENTENCE}; evidence 84, an alert needs 20"
    )
    assert "15 more alerts; the step's summary has all of them" in lines
    assert step_summary(many, PAGE).count(f"({PAGE}/runs/b%2Fc)") == 25


@settings(max_examples=60)
@given(alert=ALERTS, text=st.text(max_size=30))
def test_no_name_acts_in_any_format(alert: Alert, text: str) -> None:
    """No command of GitHub, no markup, and nothing that moves a cursor."""
    hostile = f"\n::set-env name=A::%0A\x1b[2J|<b>[x](http://y){text}"
    fires = replace(
        alert,
        state="firing",
        rule=hostile,
        evidence=replace(alert.evidence, statement=hostile, resolves=hostile),
    )
    checks = (RuleCheck(about(fires), evidence=fires.evidence),
              RuleCheck(Watching(hostile, hostile), reason=hostile))  # fmt: skip
    watched = Watched(checks, [fires], None)
    annotations, summary = as_annotations(watched), step_summary(watched, PAGE)

    for written in (annotations, summary, as_junit(watched)):
        assert written.replace("\n", "").isprintable()
    assert [line[:7] for line in annotations.splitlines() if line.startswith("::")] == ["::error"]
    assert "%0A" not in annotations.replace("%25", "")
    assert "<b>" not in summary
    assert not re.search(r"[^\\]\]\(http:", summary)
