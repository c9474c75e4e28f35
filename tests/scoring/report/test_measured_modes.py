"""A failure mode that adds nothing is not shown as if it did: the measurement is beside it."""

import json

import pytest
from tests.citations import ROOT
from tests.scoring.report.build import Tables, pages

from tracegrade_scoring.metrics import FAILURE_MODES
from tracegrade_scoring.rendering.measured_modes import ADDS_NOTHING, MEASURED, measured_note
from tracegrade_scoring.report.as_json import render_json
from tracegrade_scoring.report.view import agent_views


def test_every_mode_is_measured_as_the_definition_says() -> None:
    """Section 9.7 has a line on each; those of goal drift and unseen modes say it adds nothing."""
    text = (ROOT / "docs" / "metrics.md").read_text()
    section = text[text.index("### 9.7") : text.index("## 10.")]
    lines = [line for line in section.splitlines() if line.startswith("- `")]

    assert set(MEASURED) == set(FAILURE_MODES)
    for mode in FAILURE_MODES:
        assert any(f"`{mode}`" in line for line in lines), mode
    assert any("`goal_drift` adds nothing" in line for line in lines)


@pytest.mark.parametrize("mode", FAILURE_MODES)
def test_note_names_the_modes_that_are_listed(mode: str) -> None:
    """And no other one; without a mode there is none."""
    note = measured_note([mode, "unclassified"])

    assert mode.replace("_", " ") in note
    assert sum(each.replace("_", " ") in note for each in FAILURE_MODES) == 1
    assert measured_note(["unclassified"]) == ""


def test_mode_that_adds_nothing_stands_last_with_the_note(tables: Tables) -> None:
    """Though more runs show it than the other; each format has the note, and JSON the word."""
    for mode, runs in (("goal_drift", 3), ("premature_commitment", 1)):
        for _ in range(runs):
            run = tables.run()
            tables.scored(run, None)
            tables.score(run, "success", 0.0, numerator=0.0, denominator=1.0)
            tables.insert("failures", trajectory_id=run, mode=mode, release="1.0")
    (agent,) = agent_views(tables.report())

    assert [row.mode for row in agent.modes] == ["premature commitment", "goal drift"]
    for page in pages(tables.report()):
        assert "goal drift adds nothing: no step that it named was near it" in page
    (release,) = json.loads(render_json(tables.report()))["releases"]
    assert {row["mode"]: row["measured"] for row in release["failure_modes"]}[
        "goal_drift"
    ] == ADDS_NOTHING
