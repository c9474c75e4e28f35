"""Where judges decide, a comparison goes by what people would say, or tells why it does not."""

import datetime
import json
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.scoring.report.build import Tables, as_lake

from tracegrade.cli import main
from tracegrade_lake import Lake
from tracegrade_scoring.calibrations import (
    CORRECTED_RATES,
    VERDICT_CALIBRATIONS,
    put_source_rows,
)
from tracegrade_scoring.compare.corrected import corrected_difference

JUDGE = "judge:nodes"
NOW = {"source": JUDGE, "calibrated_at": datetime.datetime(2026, 11, 24)}  # noqa: DTZ001
LABELS = {"both_yes": 60, "only_source_yes": 8, "only_people_yes": 6, "both_no": 46}


def rate(release: str, judged_yes: int, **changed: Any) -> dict[str, Any]:
    """Return what a judge says of 200 runs of a release, and what people would."""
    share = (judged_yes + 0.5) / 201
    corrected = share * 60.5 / 69 + (1 - share) * 6.5 / 53
    row = {
        **NOW,
        **{"subject": "success", "agent_name": "files", "release": release},
        **{"judged": 200, "judged_yes": judged_yes, "judged_rate": judged_yes / 200},
        **{"corrected_rate": corrected, "calibrated": True},
    }
    return row | changed


@pytest.fixture
def lake(tables: Tables, tmp_path: Path) -> Lake:
    """Two releases on six tasks, on whose success a judge decides."""
    for release in "12":
        for place in range(6):
            run = tables.run(release, task_id=f"t{place}")
            tables.scored(run, f"t{place}")
            value = float(release == "2" or place > 2)
            tables.score(run, "success", value, numerator=value, denominator=1.0, source="judge")
            tables.insert("verdicts", trajectory_id=run, subject="success", value=value,
                          label="yes" if value else "no", source=JUDGE)  # fmt: skip
    return as_lake(tables, tmp_path / "lake")


def measured(lake: Lake, *rates: dict[str, Any], calibrated: bool = True) -> None:
    """Let a lake hold the judge's calibration and these rates."""
    calibration = {**NOW, **LABELS, "labels": 120, "calibrated": calibrated}
    put_source_rows(lake, VERDICT_CALIBRATIONS, JUDGE, [calibration])
    put_source_rows(lake, CORRECTED_RATES, JUDGE, rates)


def compared(lake: Lake, form: str, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    """Return what `compare` prints, blanks as one."""
    command = ["compare", "1", "2", "--lake", str(lake.root), "--format", form, *options]
    with pytest.raises(SystemExit) as ended:
        main(command)
    assert ended.value.code == 0
    return " ".join(unescape(capsys.readouterr().out).replace("\\", "").split())


def judged(lake: Lake, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    """Return the only judge of the only cohort."""
    document = json.loads(compared(lake, "json", capsys, *options))
    (found,) = document["comparisons"][0]["judged"]
    return dict(found)


def test_corrected_rates_of_both_are_told(lake: Lake, capsys: pytest.CaptureFixture[str]) -> None:
    """Every format has them, and how far they are apart."""
    measured(lake, rate("1", 100), rate("2", 140), rate("2", 10, agent_name="other"))

    found = judged(lake, capsys)
    corrected = found["corrected"]
    assert (found["source"], found["subject"], found["uncorrected"]) == (JUDGE, "success", None)
    assert corrected["base"] == rate("1", 100)["corrected_rate"]
    assert corrected["candidate"] == rate("2", 140)["corrected_rate"]
    assert (corrected["base_judged"], corrected["candidate_judged"]) == (200, 200)
    narrow = judged(lake, capsys, "--level", "0.5")["corrected"]
    assert corrected["low"] < narrow["low"] < narrow["high"] < corrected["high"]
    for form in ("terminal", "html", "markdown"):
        text = compared(lake, form, capsys)
        assert f"corrected for what judge '{JUDGE}' gets wrong: 50.0% to 65.0% (+15.0 pts" in text
        assert "better), over all 200 and 200 verdicts" in text
        assert "not corrected" not in text


@pytest.mark.parametrize(
    ("rates", "calibrated", "code", "sentence"),
    [
        ([rate("1", 100)], True, "no_candidate_rate", "has a corrected rate of 1, but none of 2"),
        ([rate("2", 100)], True, "no_base_rate", "has a corrected rate of 2, but none of 1"),
        ([rate("1", 100), rate("2", 140)], False, "uncalibrated", "is not calibrated"),
        ([rate("1", 9, subject="sub_goal")], True, "no_rates", "of neither release"),
    ],
)
def test_nothing_is_mixed(
    lake: Lake,
    capsys: pytest.CaptureFixture[str],
    rates: list[dict[str, Any]],
    calibrated: bool,
    code: str,
    sentence: str,
) -> None:
    """With a rate of one side, or labels that are not enough, a page says so and corrects none."""
    measured(lake, *rates, calibrated=calibrated)

    found = judged(lake, capsys)
    assert (found["uncorrected"], found["corrected"]) == (code, None)
    for form in ("terminal", "html", "markdown"):
        text = compared(lake, form, capsys)
        assert f"Success as judged, not corrected: judge '{JUDGE}'" in text
        assert sentence in text
        assert "corrected for what" not in text


def test_judge_that_nobody_measured_is_told(
    lake: Lake, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without any label there is neither table."""
    assert judged(lake, capsys)["uncorrected"] == "uncalibrated"


def test_interval_shares_the_labels_of_both_sides() -> None:
    """It is that of plain draws, and narrower than if either side had labels of its own."""
    draws = np.random.Generator(np.random.PCG64(1))
    counts = [(100, 100), (140, 60), (60, 8), (6, 46)]
    base, candidate, right, missed = (
        draws.beta(yes + 0.5, no + 0.5, 400_000) for yes, no in counts
    )
    expected = np.quantile((candidate - base) * (right - missed), [0.025, 0.975])

    found = corrected_difference(rate("1", 100), rate("2", 140), LABELS)

    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=4e-3)
    again, by_itself = draws.beta(60.5, 8.5, 400_000), draws.beta(6.5, 46.5, 400_000)
    apart = candidate * right + (1 - candidate) * missed - base * again - (1 - base) * by_itself
    low, high = np.quantile(apart, [0.025, 0.975])
    assert found.high - found.low < high - low
