"""`tracegrade issues`: lists, one issue, and marks that stay in the lake."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.commands import tracegrade
from tests.scoring.issues.test_states import add_runs
from tests.scoring.report.build import Tables, as_lake

from tracegrade_lake import Lake
from tracegrade_scoring.issue_marks import merged_issues, put_mark, with_merged


@pytest.fixture
def lake(tables: Tables, tmp_path: Path) -> Lake:
    """A lake with an issue that 1.1 showed first, and one more in 1.0."""
    add_runs(tables, "1.0", 0, 9)
    newest = add_runs(tables, "1.1", 3, 4)
    tables.insert("run_reasons", trajectory_id=newest[3], rank_in_run=1, kind="drift", key="k2",
                  sentence="drifted", success=False, task_id="t", release="1.1",
                  agent_name="files")  # fmt: skip
    return as_lake(tables, tmp_path / "lake")


def listed(lake: Lake, *options: object) -> list[dict[str, Any]]:
    """Return the issues as JSON has them."""
    ended = tracegrade("issues", "list", "--lake", lake.location, "--format", "json", *options)
    found: list[dict[str, Any]] = json.loads(ended.stdout)["issues"]
    return found


def test_all_formats_have_the_same_issues(lake: Lake) -> None:
    """A terminal has their words, CSV a row for each, JSON their releases as well."""
    found = listed(lake)
    assert [(row["issue"], row["state"], row["runs"]) for row in found] == [
        ("k", "new", 3),
        ("k2", "new", 1),
    ]
    assert found[0]["releases"][1] == {"position": 2, "release": "1.1", "hits": 3, "runs": 4}
    text = tracegrade("issues", "list", "--lake", lake.location).stdout
    assert "never called pay" in text
    assert "3 of 4 runs of 1.1" in " ".join(text.split())
    table = tracegrade("issues", "list", "--lake", lake.location, "--format", "csv").stdout
    assert [row["issue"] for row in csv.DictReader(table.splitlines())] == ["k", "k2"]


def test_list_is_narrowed(lake: Lake) -> None:
    """By state and agent; on a terminal to some rows, and the others are counted."""
    assert listed(lake, "--state", "open", "--state", "fixed") == []
    assert len(listed(lake, "--state", "new", "--agent", "files")) == 2
    assert listed(lake, "--agent", "other") == []
    text = tracegrade("issues", "list", "--lake", lake.location, "--rows", "1").stdout
    assert "and 1 more issue" in text


def test_mark_changes_the_state_and_is_shown(lake: Lake) -> None:
    """With the person, the time, the owner and the note; nothing else is stored."""
    before = set(lake.tables())
    ended = tracegrade(
        *("issues", "mark", "k2", "--lake", lake.location, "--by", "ann", "--fixed-in", "1.2"),
        *("--owner", "tools team", "--note", "see #4"),
    )
    assert ended.returncode == 0, ended.stderr
    assert "is fixed: marked as fixed in 1.2" in ended.stdout
    assert set(lake.tables()) - before == {"issue_marks"}
    tracegrade("issues", "mark", "k2", "--lake", lake.location, "--by", "bo", "--note", "again")

    shown = " ".join(tracegrade("issues", "show", "k2", "--lake", lake.location).stdout.split())
    assert "ann fixed in 1.2 tools team see #4" in shown
    (row,) = listed(lake, "--state", "fixed")
    assert (row["owner"], row["note"], row["state_release"]) == ("tools team", "again", "1.2")


def test_a_merged_issue_counts_for_another_one_until_it_is_split(lake: Lake) -> None:
    """With its runs, releases and marks; its key leads to the whole."""
    at = ("--lake", lake.location, "--by", "ann")
    tracegrade("issues", "mark", "k2", *at, "--note", "was renamed")
    ended = tracegrade("issues", "merge", "k2", "k", *at)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("k (never called pay) is new")
    (whole,) = listed(lake)
    assert (whole["issue"], whole["title"]) == ("k", "never called pay")
    assert (whole["runs"], whole["merged"], whole["note"]) == (4, ["k2"], "was renamed")
    assert whole["releases"][1]["hits"] == 4
    shown = " ".join(tracegrade("issues", "show", "k2", "--lake", lake.location).stdout.split())
    assert "merged into it: k2" in shown
    assert "k2 merged into it" in shown

    assert "k2 counts for itself" in tracegrade("issues", "split", "k2", *at).stdout
    assert [(row["issue"], row["runs"], row["merged"]) for row in listed(lake)] == [
        ("k", 3, []),
        ("k2", 1, []),
    ]


def test_marks_of_a_key_that_no_run_has_are_named_and_moved(lake: Lake) -> None:
    """As after a version that writes templates in another way."""
    at = ("--lake", lake.location, "--by", "ann")
    put_mark(lake, {"issue": "former", "state": "muted", "marked_by": "ann"})
    before = tracegrade("issues", "list", "--lake", lake.location)
    moved = tracegrade("issues", "merge", "form", "k2", *at)
    after = tracegrade("issues", "list", "--lake", lake.location)

    assert "no run shows them any more: former;" in before.stderr
    assert moved.returncode == 0, moved.stderr
    assert "former" not in after.stderr
    assert {row["issue"]: row["state"] for row in listed(lake)} == {"k": "new", "k2": "muted"}


def test_issues_of_two_agents_stay_apart(tables: Tables, tmp_path: Path) -> None:
    """Nothing is stored."""
    add_runs(tables, "1", 1, 1)
    run = tables.run("1", agent_name="other")
    tables.scored(run, "t")
    tables.insert("run_reasons", trajectory_id=run, rank_in_run=1, kind="drift", key="z",
                  sentence="drifted", task_id="t", release="1", agent_name="other")  # fmt: skip
    lake = as_lake(tables, tmp_path / "agents")
    ended = tracegrade("issues", "merge", "z", "k", "--lake", lake.location, "--by", "ann")
    assert ended.returncode == 2
    assert "only issues of one agent can be merged" in " ".join(ended.stderr.split())
    assert "issue_marks" not in lake.tables()


KEYS = st.sampled_from("abcde")


@given(st.lists(st.tuples(KEYS, KEYS), max_size=12))
def test_merges_of_merges_end_at_an_issue_that_counts_for_itself(
    merges: list[tuple[str, str]],
) -> None:
    """It holds for any merges, in circles too; the last mark of an issue counts."""
    marks: dict[str, list[dict[str, Any]]] = {}
    for place, (issue, into) in enumerate(merges):
        row = {"issue": issue, "merged_into": into, "marked_at": place}
        marks.setdefault(issue, []).append(row)
    found = merged_issues(marks)
    last = dict(merges)

    assert not set(found.values()) & set(found)
    for issue, whole in found.items():
        passed = [issue]
        while last.get(passed[-1], passed[-1]) != passed[-1]:
            passed.append(last[passed[-1]])
        assert passed[-1] == whole
    joined = with_merged(marks)
    assert sorted(row["marked_at"] for rows in joined.values() for row in rows) == [
        *range(len(merges))
    ]


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("show", "x"), "no issue has the key 'x'"),
        (("show", ""), "no issue has the key ''"),
        (("mark", "x", "--by", "a", "--mute"), "no issue has the key 'x'"),
        (("mark", "k2", "--by", "a"), "give --fixed-in"),
        (("mark", "k2", "--by", "a", "--mute", "--open"), "exclude one another"),
        (("merge", "k2", "x", "--by", "a"), "no issue has the key 'x'"),
        (("merge", "k2", "k2", "--by", "a"), "are one issue already"),
        (("split", "k2", "--by", "a"), "0 merged issues have a key that begins with 'k2'"),
    ],
)
def test_wrong_input_is_refused(lake: Lake, arguments: tuple[str, ...], fault: str) -> None:
    """In one line, and nothing is stored."""
    ended = tracegrade("issues", *arguments, "--lake", lake.location)
    assert ended.returncode == 2
    assert fault in " ".join(ended.stderr.split())
    assert "issue_marks" not in lake.tables()


def test_beginning_of_several_keys_names_them(tables: Tables, tmp_path: Path) -> None:
    """So that the reader can choose."""
    run = add_runs(tables, "1", 0, 1)[0]
    for key in ("ab1", "ab2"):
        tables.insert("run_reasons", trajectory_id=run, rank_in_run=int(key[2:]), kind="drift",
                      key=key, sentence="drifted", task_id="t", release="1",
                      agent_name="files")  # fmt: skip
    lake = as_lake(tables, tmp_path / "two")

    ended = tracegrade("issues", "show", "ab", "--lake", lake.location)
    assert "2 issues have keys that begin with 'ab': ab1, ab2" in ended.stderr
    assert tracegrade("issues", "show", "ab1", "--lake", lake.location).returncode == 0


@pytest.mark.parametrize(
    ("rule", "status", "fact"),
    [
        ("new-issue", 1, "k never called pay (3 of 4 runs)"),
        ("new-issue>70%", 1, "k never called pay (3 of 4 runs)"),
        ("new-issue>75%", 0, ""),
        ("reopened", 0, ""),
        ("new-issue>x", 2, "is not understood"),
    ],
)
def test_comparison_stops_for_issues(
    tables: Tables, tmp_path: Path, rule: str, status: int, fact: str
) -> None:
    """1.1 shows an issue that 1.0 did not, in 3 of 4 runs."""
    for release, failures, runs in (("1.0", 0, 9), ("1.1", 3, 4)):
        for run in add_runs(tables, release, failures, runs):
            tables.score(run, "success", 1.0, numerator=1.0, denominator=1.0)
    lake = as_lake(tables, tmp_path / "lake")

    ended = tracegrade("compare", "1.0", "1.1", "--lake", lake.location, "--fail-on", rule)
    assert ended.returncode == status
    assert fact in ended.stderr
    if status < 2:
        sides = ("release=1.0", "release=1.1", "--lake", lake.location, "--fail-on", rule)
        assert "issues are known of releases alone" in tracegrade("compare", *sides).stderr


def test_comparison_stops_for_a_reopened_issue_of_the_candidate(
    tables: Tables, tmp_path: Path
) -> None:
    """1.2 shows it again, and 1.3 does as well; neither 1.1 nor a muted issue breaks the rule."""
    for release, failures, runs in (("1.0", 9, 9), ("1.1", 0, 9), ("1.2", 1, 9), ("1.3", 1, 9)):
        for run in add_runs(tables, release, failures, runs):
            tables.score(run, "success", 1.0, numerator=1.0, denominator=1.0)
    lake = as_lake(tables, tmp_path / "lake")

    def status(base: str, candidate: str) -> object:
        of_lake = ("--lake", lake.location, "--fail-on", "reopened")
        return tracegrade("compare", base, candidate, *of_lake).returncode

    pairs = (("1.0", "1.1"), ("1.1", "1.2"), ("1.2", "1.3"))
    assert [status(*pair) for pair in pairs] == [0, 1, 1]
    tracegrade("issues", "mark", "k", "--lake", lake.location, "--by", "ann", "--mute")
    assert [status(*pair) for pair in pairs] == [0, 0, 0]
