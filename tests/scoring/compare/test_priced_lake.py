"""From spans to a comparison of costs: a lake that is priced, scored, reported and compared."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tracegrade.cli import main
from tracegrade_lake import Lake

from ...queries.traces import agent, land, model, request_of, tool

PRICES = "version: 1\nmodels:\n  small: {input: 1, output: 4}\n  large: {input: 10, output: 40}\n"
TASKS = (
    "version: 1\ntasks:"
    + "".join(
        f"\n  t{i}: {{expected: [{{tool: look}}], success: {{tool: look}}}}" for i in range(6)
    )
    + "\n"
)
USED = {"gen_ai__usage__input_tokens": 1000, "gen_ai__usage__output_tokens": 100}
WIDE = ("tsa", "success")
COST = {"small": 0.0014, "large": 0.014}


def run_of(trace: int, release: str, task: int, model_name: str, *tools: str) -> bytes:
    """Return the request of one run: a call of a model, then calls of tools."""
    fields: dict[str, Any] = {"gen_ai__response__model": model_name, **USED}
    spans = [
        agent(1, trace=trace, tracegrade__task__id=f"t{task}", tracegrade__run__mode="live"),
        model(2, 1, trace=trace, at=1, **fields),
        *(
            tool(i, 1, tool_name=name, trace=trace, at=i, gen_ai__tool__call__arguments="{}")
            for i, name in enumerate(tools, start=3)
        ),
    ]
    whole = json.loads(request_of(spans))
    version = {"key": "service.version", "value": {"stringValue": release}}
    whole["resourceSpans"][0]["resource"]["attributes"].append(version)
    return json.dumps(whole).encode()


def tracegrade(*arguments: str | Path) -> int:
    """Run a command in this process and return its exit code."""
    with pytest.raises(SystemExit) as exit_:
        main([str(argument) for argument in arguments])
    assert isinstance(exit_.value.code, int)
    return exit_.value.code


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six tasks in two releases: 1.1 picks right always, and asks a larger model for half."""
    folder = tmp_path_factory.mktemp("priced")
    lake = Lake.create(folder / "lake")
    runs = [run_of(1 + i, "1.0", i, "small", *["guess"] * (i % 2), "look") for i in range(6)] + [
        run_of(11 + i, "1.1", i, "large" if i % 2 else "small", "look") for i in range(6)
    ]
    land(lake, *runs)
    for name, text in (("prices.yaml", PRICES), ("tasks.yaml", TASKS)):
        (folder / name).write_text(text)
    files = ("--tasks", folder / "tasks.yaml", "--prices", folder / "prices.yaml")
    assert tracegrade("score", "--lake", lake.root, *files) == 0
    return lake.root


def compared(lake: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, Any]:
    """Return the exit code and the only cohort of a comparison."""
    code = tracegrade("compare", "1.0", "1.1", "--lake", lake, "--format", "json", *options)
    (found,) = json.loads(capsys.readouterr().out)["comparisons"]
    return code, found


def test_costs_are_compared_and_can_stop_a_pipeline(
    lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Dollars for a run of either release by the prices given; a rule on their ratio breaks."""
    code, found = compared(lake, capsys, "--fail-on", "cost_usd_per_run.ratio>2")
    cost = found["metrics"]["cost_usd_per_run"]

    assert code == 1
    assert cost["base"] == pytest.approx(COST["small"])
    assert cost["candidate"] == pytest.approx((COST["small"] + COST["large"]) / 2)
    assert (cost["tasks"], cost["base_scored"]) == (6, 6)
    assert [rule["verdict"] for rule in found["rules"]] == ["broken"]


def test_quality_is_compared_beside_costs(lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """First picks of release 1.0 are wrong on three tasks; the run mode is named."""
    code, found = compared(lake, capsys, "--fail-on", "tsa<0")

    assert code == 0
    assert found["run_mode"] == "live"
    assert found["metrics"]["tsa"]["candidate"] == 1.0
    assert found["metrics"]["tsa"]["base"] < 1.0


def test_report_makes_intervals_of_the_level_asked(
    lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Release scores of the lake have 95 % intervals; another level is worked out from sums."""
    found = {}
    for level in ("0.95", "0.6"):
        tracegrade("report", "--lake", lake, "--format", "csv", "--level", level)
        rows = csv.DictReader(io.StringIO(capsys.readouterr().out))
        found[level] = {(r["release"], r["metric"]): r for r in rows}
    usual, narrow = (
        {name: float(each["1.0", name]["high"]) - float(each["1.0", name]["low"]) for name in WIDE}
        for each in found.values()
    )

    assert all(0 < narrow[name] < usual[name] for name in WIDE)
    facts = ("value", "numerator", "denominator", "scored", "flags", "run_mode")
    assert {key: [row[name] for name in facts] for key, row in found["0.95"].items()} == {
        key: [row[name] for name in facts] for key, row in found["0.6"].items()
    }


def test_level_beyond_the_resamples_is_refused(
    lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """2,000 resamples say nothing of one in a million; one line tells what is possible."""
    assert tracegrade("report", "--lake", lake, "--level", "1") == 2
    assert "less than or equal to 0.999" in capsys.readouterr().err
