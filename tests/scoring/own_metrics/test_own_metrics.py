"""Metrics of users' own stand beside ours, and harm none of them."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.commands import Ended, tracegrade

from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.job.run_scoring import score as score_lake
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.metric_definition import METRIC_DEFINITIONS
from tracegrade_scoring.own_metrics.in_force import MetricOptions, with_metrics
from tracegrade_scoring.tasks import Specification

AS_OURS = Path(__file__).with_name("as_ours")
HEADER = (
    "-- What it is.\n"
    "-- Metric: {name}   Version: {version}   Range: 0..1   Better: less   Kind: share\n"
    "-- Reads: {reads}\n"
)
PLUGIN = """
import pyarrow as pa
from tracegrade_scoring.own_metrics.python_metric import metric


@metric("calls_made", version="1", meaning="Calls, a count.", reads=["attempts"], kind="count")
def calls_made(tables):
    attempts = tables["attempts"]
    return pa.table({"attempt_id": attempts["attempt_id"], "numerator": attempts["call_count"]})
"""
DIFFERENT = """
SELECT count(*) AS different FROM trajectory_scores
INNER JOIN custom_scores USING (trajectory_id)
WHERE metric = 'own_{name}'
AND struct_pack(
  value := score.value, n := score.numerator, d := score.denominator,
  status := score.status, reason := score.reason
) IS DISTINCT FROM struct_pack(
  value := {name}.value, n := {name}.numerator, d := {name}.denominator,
  status := {name}.status, reason := {name}.reason
)
"""
"""How many runs have another score of an own metric than of ours that it is written after."""


def file_of(folder: Path, query: str, name: str = "mine", **said: str) -> Path:
    """Return the file of a metric with this query, in a folder."""
    header = HEADER.format(name=name, **{"version": "1", "reads": "attempts", **said})
    folder.mkdir(exist_ok=True)
    file = folder / f"{name}.sql"
    file.write_text(header + query, "utf-8")
    return file


def scored_with(lake: Path, *words: object) -> Ended:
    """Return what scoring said."""
    return tracegrade("score", "--lake", lake, *words)


def rows(lake: Path, sql: str) -> list[dict[str, Any]]:
    """Return what a query finds."""
    with connect(Lake.open(lake), layers=(SCORES,)) as con:
        found: list[dict[str, Any]] = con.sql(sql).to_arrow_table().to_pylist()
        return found


def reasons_by_metric(lake: Path) -> dict[str, dict[str | None, int]]:
    """Return how many runs have each reason in place of a score, by metric."""
    found: dict[str, dict[str | None, int]] = {}
    for row in rows(lake, "SELECT metric, reason, count(*) AS runs FROM scores GROUP BY ALL"):
        found.setdefault(row["metric"], {})[row["reason"]] = row["runs"]
    return found


def reasons(lake: Path, metric: str = "mine") -> dict[str | None, int]:
    """Return the same of one metric; nothing if there is none of that name."""
    return reasons_by_metric(lake).get(metric, {})


@pytest.fixture(scope="module")
def with_ours(scored: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lake scored with three of ours, written as own metrics; tests only read it."""
    lake = Path(shutil.copytree(scored, tmp_path_factory.mktemp("ours") / "lake"))
    assert scored_with(lake, "--metrics", AS_OURS).returncode == 0
    return lake


def test_ours_can_be_written_as_own_metrics(with_ours: Path) -> None:
    """Three of ours, written in SQL over what may be read, have equal scores to the last bit."""
    lake = with_ours
    for name in ("tsa", "redundant_calls", "step_efficiency"):
        assert rows(lake, DIFFERENT.format(name=name)) == [{"different": 0}]
        ours, own = (
            rows(
                lake,
                f"SELECT * EXCLUDE (metric, flags) FROM release_scores WHERE metric = '{each}'",
            )
            for each in (name, f"own_{name}")
        )
        assert own == ours
        assert own
    found = reasons_by_metric(lake)
    assert found["own_tsa"] == found["tsa"]


def test_scores_of_ours_stay_as_they_are(scored: Path, with_ours: Path) -> None:
    """The table of our own metrics has the same columns and rows."""
    query = "SELECT * FROM trajectory_scores ORDER BY ALL"
    assert rows(with_ours, query) == rows(scored, query)


@pytest.mark.parametrize(
    ("code", "query", "said"),
    [
        ("not_a_select", "DELETE FROM attempts", {}),
        ("name_taken", "SELECT attempt_id, 1 AS numerator FROM attempts", {"name": "tsa"}),
        ("name_taken", "SELECT attempt_id, 1 AS numerator FROM attempts", {"name": "task_id"}),
        ("bad_name", "SELECT attempt_id, 1 AS numerator FROM attempts", {"name": "Mine"}),
        ("bad_header", "SELECT attempt_id, 1 AS numerator FROM attempts", {"reads": ""}),
        ("unlisted_relation", "SELECT 1 FROM raw_spans", {"reads": "raw_spans"}),
        ("unlisted_relation", "SELECT 1 FROM attempts, raw_spans", {}),
        ("reads_differ", "SELECT attempt_id, 1 AS numerator FROM attempts, calls", {}),
        ("unsteady_function", "SELECT attempt_id, random() AS numerator FROM attempts", {}),
        ("does_not_run", "SELECT attempt_id, 1 AS value FROM attempts", {}),
        ("does_not_run", "SELECT attempt_id, nothing AS numerator FROM attempts", {}),
        ("does_not_run", "SELECT a.* FROM attempts AS a, read_csv('/etc/passwd')", {}),
    ],
)
def test_wrong_file_is_refused_before_anything_is_scored(
    lake: Path, tmp_path: Path, code: str, query: str, said: dict[str, str]
) -> None:
    """It is named with a code of what is wrong, and nothing is kept."""
    file_of(tmp_path / "metrics", query, **said)
    checked = tracegrade("metrics", "check", tmp_path / "metrics")
    ended = scored_with(lake, "--metrics", tmp_path / "metrics")

    assert (checked.returncode, ended.returncode) == (1, 2)
    assert f": {code}: " in checked.stdout
    assert f": {code}: " in ended.stderr
    assert Lake.open(lake).columns("metric_definitions") is None


BROKEN = {
    "no_row": "SELECT attempt_id, 1 AS numerator FROM attempts WHERE FALSE",
    "two_rows": "SELECT attempt_id, 1 AS numerator FROM attempts, range(2)",
    "above_one": "SELECT attempt_id, 2 AS numerator FROM attempts",
    "no_number": "SELECT attempt_id, 'nan'::DOUBLE AS numerator FROM attempts",
    "no_share": "SELECT attempt_id, 0 AS numerator, 0 AS denominator FROM attempts",
    "says_why": "SELECT attempt_id, 1 AS numerator, 'why' AS fault FROM attempts",
}
"""Queries of metrics that break a promise, by the metric's name."""
FAILING = {
    "cast": "SELECT attempt_id, agent_name::INTEGER AS numerator FROM attempts",
    "memory": "SELECT attempt_id, len(range(call_count * 3000000000)) AS numerator FROM attempts",
}
"""Those of metrics that end in an error."""
REASONS = {
    **{name: "out_of_range" for name in ("above_one", "no_number", "no_share")},
    **{"no_row": "no_row", "two_rows": "two_rows", "says_why": "why"},
    **dict.fromkeys(FAILING, "metric_failed"),
}


@pytest.mark.parametrize(("broken", "code"), [(BROKEN, 0), (FAILING, 1)], ids=["rows", "error"])
def test_broken_promise_is_an_error_of_that_metric_alone(
    lake: Path, tmp_path: Path, broken: dict[str, str], code: int
) -> None:
    """Each attempt says which; the metrics beside it have their own, and one has its scores."""
    for name, query in broken.items():
        file_of(tmp_path / "metrics", query, name)
    file_of(tmp_path / "metrics", "SELECT attempt_id, 1 AS numerator FROM attempts", "other")
    ended = scored_with(lake, "--metrics", tmp_path / "metrics", "--strict")
    found = reasons_by_metric(lake)

    assert ended.returncode == code, ended.stderr
    assert set(re.findall(r"metric (\w+) failed", ended.stderr)) == broken.keys() & FAILING.keys()
    assert {name: found[name] for name in broken} == {name: {REASONS[name]: 24} for name in broken}
    assert found["other"] == {None: 24}


def test_rows_for_no_attempt_are_ignored_and_counted(lake: Path, tmp_path: Path) -> None:
    """Scores are as they are without such rows; terminal and summary count them."""
    metrics, summary = tmp_path / "metrics", tmp_path / "summary.json"
    file_of(metrics, "SELECT attempt_id, 1 AS numerator FROM attempts")
    other = "SELECT unnest([attempt_id, attempt_id || 'x', NULL]) AS attempt_id, 1 AS numerator"
    file_of(metrics, f"{other} FROM attempts", "other")
    ended = scored_with(lake, "--metrics", metrics, "--summary", summary)

    assert "rows of metric other that name no attempt and are ignored: 48;" in ended.stderr
    assert json.loads(summary.read_text())["unmatched_metric_rows"] == {"other": 48}
    assert reasons(lake, "other") == reasons(lake) == {None: 24}


def test_changed_metric_is_scored_again_and_a_removed_one_disappears(
    lake: Path, tmp_path: Path
) -> None:
    """Its old scores are nowhere, sums and release scores included."""
    folder = tmp_path / "metrics"
    file_of(folder, "SELECT attempt_id, 1 AS numerator FROM attempts")
    scored_with(lake, "--metrics", folder)
    file_of(folder, "SELECT attempt_id, 0 AS numerator FROM attempts")
    scored_with(lake, "--metrics", folder)
    query = "SELECT sum(numerator) AS sum FROM release_scores WHERE metric = 'mine'"
    assert rows(lake, query) == [{"sum": 0}]

    assert scored_with(lake, "--forget-metrics").returncode == 0
    for table in ("scores", "custom_scores", "release_scores", "score_sums"):
        assert rows(lake, f"SELECT metric FROM {table} WHERE metric = 'mine'") == []


def test_text_that_the_lake_keeps_runs_only_if_it_is_trusted(lake: Path, tmp_path: Path) -> None:
    """Without that, scores stay as they are, and new ones are in error."""
    file_of(tmp_path / "metrics", "SELECT attempt_id, 1 AS numerator FROM attempts")
    scored_with(lake, "--metrics", tmp_path / "metrics")

    assert "were not run: mine" in scored_with(lake).stderr
    assert reasons(lake) == {None: 24}
    scored_with(lake, "--full")
    assert reasons(lake) == {"metric_not_trusted": 24}
    scored_with(lake, "--trust-kept-metrics")
    assert reasons(lake) == {None: 24}


@pytest.mark.slow
def test_two_buckets_and_one_give_the_same_scores(with_ours: Path, lake: Path) -> None:
    """No value depends on which runs are scored together."""
    opened, buckets = Lake.open(lake), set[int]()
    asked = with_metrics(opened, Specification(), MetricOptions(AS_OURS), print)
    score_lake(opened, asked, full=True, bucket_steps=100, progress=lambda _, of: buckets.add(of))
    found, in_one = (
        rows(each, "SELECT * FROM custom_scores ORDER BY ALL") for each in (lake, with_ours)
    )
    assert buckets == {2}
    assert found == in_one
    assert len(found) == 3 * 24


@pytest.fixture(scope="module")
def with_drafted(scored: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lake scored with a metric as it is drafted; tests only read it."""
    folder = tmp_path_factory.mktemp("drafted")
    lake = Path(shutil.copytree(scored, folder / "lake"))
    assert tracegrade("metrics", "new", "mine", "--folder", folder / "metrics").returncode == 0
    assert scored_with(lake, "--metrics", folder / "metrics").returncode == 0
    return lake


def test_evidence_names_steps(with_drafted: Path) -> None:
    """A drafted metric runs as it stands, and says at which steps it rests."""
    query = "SELECT evidence FROM custom_scores WHERE evidence IS NOT NULL"
    assert [row["evidence"][0]["note"] for row in rows(with_drafted, query)] == [
        "failed: cancel_order"
    ] * 2


def test_distributions_bring_metrics_and_broken_ones_harm_nothing(
    lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry point in Python is a metric; one that cannot be loaded is said."""
    info = tmp_path / "site" / "acme_metrics-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-metrics\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        "[tracegrade.metrics]\ncalls = acme_metrics:calls_made\nbroken = acme_gone:nothing\n"
        "ends = acme_ends\n"
    )
    (tmp_path / "site" / "acme_metrics.py").write_text(PLUGIN)
    (tmp_path / "site" / "acme_ends.py").write_text("import os\nprint([])\nos._exit(0)\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    ended = scored_with(lake)
    assert "acme_ends): not_loaded: its import ended its process (exit code 0)" in ended.stderr
    assert "left out: acme-metrics (acme_gone:nothing): not_loaded" in ended.stderr
    assert reasons(lake, "calls_made") == {None: 24}
    assert rows(lake, "SELECT name, sql FROM metric_definitions") == [
        {"name": "calls_made", "sql": None}
    ]
    scored_with(lake, "--no-plugins")
    assert reasons(lake, "calls_made") == {}


def test_releases_are_compared_by_own_metrics_too(with_drafted: Path) -> None:
    """A rule of a pipeline may name one."""
    rule = ("--fail-on", "mine>0.1", "--format", "json")
    ended = tracegrade("compare", "1.0", "1.1", "--lake", with_drafted, *rule)
    assert ended.returncode == 1, ended.stderr
    found = json.loads(ended.stdout)["comparisons"][0]["metrics"]["mine"]
    assert (found["base"], found["candidate"]) == (0.0, 0.125)


def test_report_can_be_stopped_by_an_own_metric(lake: Path, tmp_path: Path) -> None:
    """The message for a misspelt name lists the existing ones."""
    assert tracegrade("metrics", "new", "mine", "--folder", tmp_path / "metrics").returncode == 0
    scored_with(lake, "--metrics", tmp_path / "metrics")
    broken, held, misspelt = (
        tracegrade("report", "--lake", lake, "--fail-on", rule)
        for rule in ("mine>0.1", "mine.high>0.9", "mien>0.1")
    )
    assert (broken.returncode, held.returncode, misspelt.returncode) == (1, 0, 2)
    assert "mine is 0.125" in broken.stderr
    assert "unknown metric 'mien'; did you mean 'mine'?" in misspelt.stderr


@pytest.mark.slow
def test_mean_of_tasks_is_compared_and_reported_as_ours_are(lake: Path, tmp_path: Path) -> None:
    """Each run counts the same, for any denominator, also at another level."""
    query = "SELECT attempt_id, pow(call_count, 2) AS numerator, call_count AS denominator, "
    nothing = "if(call_count = 0, 'no_calls', NULL) AS nothing FROM attempts"
    file = file_of(tmp_path / "metrics", query + nothing)
    said = {"Kind: share": "Kind: task_mean", "Range: 0..1": "Range: 0.."}
    for old, new in said.items():
        file.write_text(file.read_text("utf-8").replace(old, new), "utf-8")
    scored_with(lake, "--metrics", tmp_path / "metrics")
    words = ("--lake", lake, "--format", "json")
    beside = json.loads(tracegrade("compare", "1.0", "1.1", *words).stdout)
    found = beside["comparisons"][0]["metrics"]["mine"]
    wider, usual = (
        json.loads(tracegrade("report", "--level", level, *words).stdout) for level in (0.9, 0.95)
    )
    for release, side in ((0, "base"), (1, "candidate")):
        values = [each["releases"][release]["metrics"]["mine"]["value"] for each in (wider, usual)]
        assert values == [found[side]] * 2
    query = (
        "SELECT sum(numerator) / sum(denominator) AS value FROM scores WHERE metric = 'mine' "
        "AND trajectory_id IN (SELECT trajectory_id FROM trajectories WHERE release = '1.0')"
    )
    assert rows(lake, query)[0]["value"] != found["base"]


@pytest.mark.slow
def test_metric_that_another_version_defined_is_named(lake: Path) -> None:
    """A line on stderr says so, since it is added up as a ratio; else there is none."""
    query = "SELECT attempt_id, call_count AS numerator, 100 AS denominator FROM attempts"
    scored_with(lake, "--metrics", file_of(lake.parent / "mine", query).parent)
    commands = (("report",), ("compare", "1.0", "1.1"))
    before = [tracegrade(*words, "--lake", lake) for words in commands]
    (definition,) = rows(lake, "FROM metric_definitions")
    later = pa.Table.from_pylist([{**definition, "kind": "median"}], METRIC_DEFINITIONS.arrow())
    Lake.open(lake).replace(METRIC_DEFINITIONS, later)

    for plain, found in zip(
        before, [tracegrade(*words, "--lake", lake) for words in commands], strict=True
    ):
        assert "another version" not in plain.stderr
        assert "another version wrote the definitions of these metrics: mine;" in found.stderr
        assert found.returncode == 0


def test_readers_meet_an_own_metric_as_its_definition_says(lake: Path) -> None:
    """Under its label, as a share, and worse where it rose: in reports, comparisons, one run."""
    file_of(
        lake.parent / "mine",
        "SELECT attempt_id, (release = '1.1')::INT AS numerator, 1 AS denominator FROM attempts",
        name="late_refunds",
    )
    assert scored_with(lake, "--metrics", lake.parent / "mine").returncode == 0
    text, beside = (
        tracegrade(*words, "--lake", lake, "--format", "markdown").stdout
        for words in (("report", "--long"), ("compare", "1.0", "1.1"))
    )
    run = rows(lake, "SELECT trajectory_id FROM trajectories WHERE release = '1.1' LIMIT 1")[0]
    page = tracegrade("report", "--lake", lake, "--trajectory", run["trajectory_id"]).stdout

    for shown in (text, beside):
        (line,) = [line for line in shown.splitlines() if "Late refunds" in line and "%" in line]
        assert all(said in line for said in ("0.0%", "100.0%", "worse"))
    assert re.search(r"Late refunds +yes", page)
