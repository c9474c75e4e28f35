"""What is labeled is drawn at random, shows no verdict, and comes back as a person's verdict."""

import csv
import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
from tests.commands import Ended, tracegrade
from tests.judges.conftest import YesCounts
from tests.judges.reading import rows

from tracegrade_judges.calibration.sample import allocation, draw
from tracegrade_lake import Lake


def label(lake: Lake, *options: object) -> Ended:
    """Run `judge label`."""
    return tracegrade("judge", "label", "--lake", lake.root, "--judge", "nodes", *options)


def cells(file: Path) -> list[dict[str, str]]:
    """Return the rows of a file."""
    with file.open(newline="", encoding="utf-8") as opened:
        return list(csv.DictReader(opened))


def test_draw_is_in_proportion_and_repeatable(judged: Lake, tmp_path: Path) -> None:
    """Two of eight are no; the chance of each is kept, and what was drawn is not drawn again."""
    again = Lake.open(shutil.copytree(judged.root, tmp_path / "again"))

    assert label(judged, "--count", 8, "--seed", 3, "--out", tmp_path / "a.csv").returncode == 0
    assert label(again, "--count", 8, "--seed", 3, "--out", tmp_path / "b.csv").returncode == 0
    rest = label(judged, "--out", tmp_path / "c.csv")

    samples = rows(judged, "judge_samples")
    first, second = cells(tmp_path / "a.csv"), cells(tmp_path / "c.csv")
    assert first == cells(tmp_path / "b.csv")
    assert len({row["item"] for row in first + second}) == 12
    assert Counter(row["verdict"] for row in samples if row["seed"] == 3) == {"yes": 6, "no": 2}
    chances = {row["verdict"]: row["probability"] for row in samples if row["seed"] == 3}
    assert chances == {"yes": 6 / 9, "no": 2 / 3}
    assert rest.returncode == 0
    assert label(judged, "--out", tmp_path / "d.csv").returncode == 2
    assert not (tmp_path / "d.csv").exists()


def test_a_file_of_labels_shows_no_verdict(judged: Lake, tmp_path: Path) -> None:
    """Question, run and what it said, and an empty column."""
    label(judged, "--out", tmp_path / "a.csv")

    (row,) = [r for r in cells(tmp_path / "a.csv") if r["sub_goal"] == "pay"][:1]
    assert row["label"] == ""
    assert row["question"] == "Was pay called?"
    assert "as recorded" not in (tmp_path / "a.csv").read_text()


def test_labels_are_verdicts_of_a_person(judged: Lake, tmp_path: Path) -> None:
    """They count more than the judge's; empty ones are left out and counted."""
    file = tmp_path / "a.csv"
    label(judged, "--out", file)
    lines = file.read_text().splitlines()
    at = lines[0].split(",").index('"label"')
    kept = [",".join([*row[:at], '"NO"' if i else "", *row[at + 1 :]])
            for i, row in enumerate(line.split(",") for line in lines[1:])]  # fmt: skip
    file.write_text("\n".join([lines[0], *kept]))

    ended = label(judged, "--labels", file, "--by", "ann")
    assert tracegrade("score", "--lake", judged.root).returncode == 0

    assert "11 labels of ann; 1 items without one; added 11" in ended.stdout
    assert sum(bool(goal["completed"]) for goal in rows(judged, "sub_goals")) <= 1


@pytest.fixture(scope="module")
def drawn(judged_once: YesCounts, tmp_path_factory: pytest.TempPathFactory) -> tuple[Lake, str]:
    """A lake whose verdicts were drawn to be labeled, and the name of one of them; only read."""
    home = tmp_path_factory.mktemp("drawn")
    lake = Lake.open(shutil.copytree(judged_once.lake.root, home / "lake"))
    label(lake, "--out", home / "drawn.csv")
    return lake, cells(home / "drawn.csv")[0]["item"]


@pytest.mark.parametrize(
    ("text", "by", "says"),
    [
        ("item,label\nffff,yes\n", "ann", "a.csv:2: item 'ffff' was not drawn of judge 'nodes'"),
        ("item,label\nITEM,maybe\n", "ann", "a.csv:2: label 'maybe' is neither yes nor no"),
        ("item,verdict\nITEM,yes\n", "ann", "has no columns item and label"),
        ("item,label\nITEM,yes\n", " ", "no labeler is named; name one with --by"),
    ],
)
def test_labels_that_cannot_be_used_are_refused(
    drawn: tuple[Lake, str], tmp_path: Path, text: str, by: str, says: str
) -> None:
    """With the line, and without having taken any."""
    lake, item = drawn
    file = tmp_path / "a.csv"
    file.write_text(text.replace("ITEM", item))

    ended = label(lake, "--labels", file, "--by", by)

    assert ended.returncode == 2
    assert says in ended.stderr
    assert {row["source"] for row in rows(lake, "verdicts")} == {"judge:nodes"}


def test_calibration_needs_labels_of_the_sample(judged: Lake, tmp_path: Path) -> None:
    """Labels on verdicts that were not drawn do not count; too few do not calibrate."""
    command = ("judge", "calibrate", "--lake", judged.root, "--judge", "nodes")
    one = rows(judged, "verdicts")[0]["trajectory_id"]
    imported = tmp_path / "verdicts.jsonl"
    imported.write_text(
        f'{{"trajectory_id": "{one}", "subject": "sub_goal", "sub_goal": "find", '
        '"label": "yes", "source": "human:eve"}\n'
    )
    options = ("--lake", judged.root, "--format", "verdicts")
    assert tracegrade("import", imported, *options).returncode == 0

    without = tracegrade(*command)
    label(judged, "--out", tmp_path / "a.csv")
    few = tracegrade(*command)

    assert without.returncode == 2
    assert "no drawn verdict of judge 'nodes' has a label" in without.stderr
    assert few.returncode == 1
    assert "not calibrated (too_few_labels)" in few.stderr
    assert rows(judged, "verdict_calibrations")[0]["calibrated"] is False


def test_labels_count_by_the_words_that_decide_on_success(judged: Lake, tmp_path: Path) -> None:
    """Those of `human`, words such as PASS, and values of 1 count; an error does not."""
    label(judged, "--out", tmp_path / "a.csv")
    said: list[dict[str, object]] = [{"label": "PASS"}, {"label": "failed"}]
    said += [{"value": 1.0}, {"value": 0.5}, {"label": "error", "value": 1.0}]
    drawn = rows(judged, "judge_samples")
    lines = [
        {"trajectory_id": row["trajectory_id"], "subject": row["subject"]}
        | {"sub_goal": row["sub_goal"], "source": "human", **says}
        for row, says in zip(drawn, said, strict=False)
    ]
    imported = tmp_path / "verdicts.jsonl"
    imported.write_text("\n".join(map(json.dumps, lines)))
    options = ("--lake", judged.root, "--format", "verdicts")
    assert tracegrade("import", imported, *options).returncode == 0

    tracegrade("judge", "calibrate", "--lake", judged.root, "--judge", "nodes")

    (found,) = rows(judged, "verdict_calibrations")
    assert found["labels"] == 4
    assert found["both_yes"] + found["only_people_yes"] == 2


@pytest.mark.parametrize(
    ("sizes", "count", "wanted"),
    [
        ((90, 10), 20, (18, 2)),
        ((99, 1), 10, (9, 1)),
        ((1, 99), 2, (1, 1)),
        ((0, 50), 20, (0, 20)),
        ((5, 5), 20, (5, 5)),
        ((3, 97), 98, (3, 95)),
    ],
)
def test_both_answers_are_drawn(
    sizes: tuple[int, int], count: int, wanted: tuple[int, int]
) -> None:
    """In proportion, and one of each at least."""
    assert allocation(*sizes, count) == wanted


def test_each_verdict_of_a_stratum_is_as_likely_as_another() -> None:
    """Over many seeds all are drawn about as often."""
    given = [{"label": "yes" if i % 3 else "no", "n": i} for i in range(12)]
    drawn = Counter(each.row["n"] for seed in range(600) for each in draw(given, 6, seed))

    assert all(240 < drawn[i] < 360 for i in range(12))
