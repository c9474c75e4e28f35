"""What a folder of scorers declares of its metrics, its relation has and readers get."""

import re
from pathlib import Path

import pytest

import tracegrade_scoring.scorers
from tracegrade_scoring.metrics import METRICS, OTHER_GROUP, Kind, Metric, Scale, read_metrics
from tracegrade_scoring.rendering.catalog import HEADLINES, MAIN, MORE

SCORERS = Path(tracegrade_scoring.scorers.__file__).parent


def metrics_of(text: str, folder: Path) -> list[Metric]:
    """Return what a folder declares whose metric.toml has this text."""
    (folder / "thoughts").mkdir()
    (folder / "thoughts" / "metric.toml").write_text(text)
    return list(read_metrics(folder))


def test_every_score_of_a_relation_is_declared_and_every_metric_has_its_score() -> None:
    """A column of type SCORE, as headers of queries list it, belongs to one metric."""
    made = {
        (path.parent.name, path.stem, column)
        for path in SCORERS.glob("*/*_scores.sql")
        for column in re.findall(r"^--   (\w+) +SCORE\b", path.read_text(), re.MULTILINE)
    }
    declared = {(each.folder, each.relation, each.name) for each in METRICS.values()}
    assert made == declared


def test_what_a_report_lists_is_declared() -> None:
    """Every name in the order of a report has a scorer."""
    assert {*MAIN, *MORE, *HEADLINES} <= METRICS.keys()
    assert not {*MAIN} & {*MORE}
    assert {METRICS[name].scale for name in HEADLINES} == {Scale.SHARE}


def test_a_metric_needs_no_more_than_a_definition(tmp_path: Path) -> None:
    """It is a ratio then, written as a number, under its own name."""
    text = 'order = 1\nrelation = "thought_scores"\n[metrics.many_thoughts]\ndefinition = "All."'
    assert metrics_of(text, tmp_path) == [
        Metric(
            name="many_thoughts",
            definition="All.",
            label="many thoughts",
            group=OTHER_GROUP,
            meaning="All.",
            kind=Kind.RATIO,
            scale=Scale.NUMBER,
            relation="thought_scores",
            folder="thoughts",
        )
    ]


@pytest.mark.parametrize(
    "line",
    ["label = 'Thoughts'", "definition = 'All.'\nkind = 'guess'", "definition = 'A.'\nx = 1"],
)
def test_a_wrong_declaration_is_refused(line: str, tmp_path: Path) -> None:
    """Without a definition, of a kind that does not exist, or with a key that does not."""
    with pytest.raises((KeyError, TypeError, ValueError)):
        metrics_of(f"order = 1\nrelation = 'r'\n[metrics.thoughts]\n{line}", tmp_path)
