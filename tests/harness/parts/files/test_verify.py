"""Folders of files are verified against a suite, despite every obstacle from an agent."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.harness.parts.verifying.build import context, said, write

from tracegrade_harness.parts.files import verify as files

EXPECT = {"files": "data", "expect": "expected"}


def test_equal_content_is_as_expected(tmp_path: Path) -> None:
    """Folders without files, modes and what is not asked for do not matter."""
    env = context(tmp_path)
    write(env.suite / "expected", {"clean/a.csv": "1", "clean/x/b.csv": "", "other": "x"})
    write(env.root / "data", {"clean/a.csv": "1", "clean/x/b.csv": "", "more": "y"})
    (env.root / "data/clean/empty").mkdir()
    (env.root / "data/clean/a.csv").chmod(0o600)

    assert said(env, **EXPECT, under="clean/**") == ("pass", "2 paths are as expected")


def test_differing_paths_are_named(tmp_path: Path) -> None:
    """What is missing, not expected, of another kind, or differs in its content."""
    env = context(tmp_path)
    write(
        env.suite / "expected", {"gone": "1", "same": "1", "long": "11", "kind": "1", "new": "1"}
    )
    write(env.root / "data", {"same": "1", "long": "1", "new": "2", "mo\nre": "", "b\udcff": ""})
    (env.root / "data/kind").symlink_to(env.root / "data/same")

    outcome, evidence = said(env, **EXPECT)

    assert outcome == "fail"
    assert evidence.split("; ") == [
        "b\\udcff is not expected (file)",
        "gone is missing",
        "kind is a link, expected a file",
        "long differs",
        "mo\\nre is not expected (file)",
        "new differs",
    ]


def test_links_are_compared_by_where_they_lead(tmp_path: Path) -> None:
    """They are not followed, so that a link cannot show a file that the agent did not write."""
    env = context(tmp_path)
    write(env.suite / "expected", {"a": "1"})
    write(env.root / "data", {"a": "1"})
    (env.suite / "expected/link").symlink_to("a")
    (env.root / "data/link").symlink_to("b")

    assert said(env, **EXPECT) == ("fail", "link differs")


def test_a_database_that_is_a_part_of_its_own_is_not_compared(tmp_path: Path) -> None:
    """It stands in the folder, but belongs to another part."""
    env = context(tmp_path)
    write(env.suite / "expected", {"a": "1"})
    write(env.root / "data", {"a": "1", "ledger.db": "x", "ledger.db-wal": "x"})

    assert said(env, **EXPECT) == ("pass", "1 paths are as expected")


@pytest.mark.parametrize("hides", ["deep", "link", "gone"])
def test_what_cannot_be_looked_into_is_not_as_expected(tmp_path: Path, hides: str) -> None:
    """A folder nested too deeply could hold anything; one behind a link is not the agent's."""
    env = context(tmp_path)
    write(env.suite / "expected", {"a": "1"})
    if hides == "deep":
        (env.root / "data" / "/".join("d" * 300)).mkdir(parents=True)
        write(env.root / "data", {"a": "1"})
    else:
        (env.root / "data").rmdir()
    if hides == "link":
        (env.root / "data").symlink_to(env.suite / "expected")

    outcome, evidence = said(env, **EXPECT, under="a")

    assert outcome == "fail"
    assert {"deep": "unreadable path", "link": "through a link", "gone": "not there"}[
        hides
    ] in evidence


def test_many_differences_are_counted(tmp_path: Path) -> None:
    """Evidence stays short."""
    env = context(tmp_path)
    write(env.suite / "expected", {f"{i:03}": "" for i in range(50)})

    outcome, evidence = said(env, **EXPECT)

    assert outcome == "fail"
    assert evidence.startswith("000 is missing; 001 is missing; ")
    assert evidence.endswith("; 019 is missing; and 30 more")


@pytest.mark.parametrize(
    ("verifier", "evidence"),
    [
        (
            {"files": "data", "expect": "lost"},
            "the folder 'lost' does not exist; create it next to the suite",
        ),
        (
            {"files": "data", "expect": "expected", "under": "cleen/**"},
            "'expected' has nothing under 'cleen/**'; name paths that it has",
        ),
        (
            {"files": "dta", "path": "a"},
            "the environment has no files 'dta'; declare it there",
        ),
    ],
)
def test_an_expectation_that_is_not_there_is_an_error(
    tmp_path: Path, verifier: dict[str, Any], evidence: str
) -> None:
    """Nothing was compared, so nothing passes."""
    env = context(tmp_path)
    write(env.suite / "expected", {"clean/a": "1"})

    assert said(env, **verifier) == ("error", evidence)


def test_only_what_may_change_did(tmp_path: Path) -> None:
    """Objects of other parts are not asked about."""
    env = context(
        tmp_path,
        added={"files:data/clean/a", "files:data2/x", "sqlite:ledger/runs/1"},
        changed={"files:data/reports/r.json"},
    )

    assert said(env, files="data", only_changed=["clean/**", "reports/*"]) == (
        "pass",
        "nothing else changed",
    )


def test_folders_that_were_made_for_what_may_change_may_be_made(tmp_path: Path) -> None:
    """They need no glob of their own, unless they were there before or stay empty."""
    added = {"files:data/new/", "files:data/new/x/", "files:data/new/x/a.csv", "files:data/empty/"}
    env = context(tmp_path, added=added, changed={"files:data/"})

    assert said(env, files="data", only_changed=["new/x/*.csv"]) == (
        "fail",
        "files:data/ was changed; files:data/empty/ was added",
    )


def test_what_should_not_have_changed_is_named(tmp_path: Path) -> None:
    """With how it changed."""
    env = context(
        tmp_path,
        added={"files:data/archive/a"},
        changed={"files:data/reports/x/r.json"},
        removed={"files:data/uploads/a", "files:data/clean/b"},
    )

    assert said(env, files="data", only_changed=["clean/**", "reports/*"]) == (
        "fail",
        "files:data/archive/a was added; files:data/reports/x/r.json was changed; "
        "files:data/uploads/a was removed",
    )


SUMMARY = json.dumps({"rows": 12.0, "files": ["a.csv"], "a.b": {"c": None}, "note": "Done: 12"})


@pytest.mark.parametrize(
    ("json_", "outcome", "evidence"),
    [
        ({"$.rows": 12, "$.files[0]": "a.csv", '$."a.b".c': None}, "pass", "'s.json' fits"),
        ({"$.rows": {"about": 10, "within": 2}}, "pass", "'s.json' fits"),
        ({"$.note": {"matches": "^Done"}, "$.x": {"optional": 1}}, "pass", "'s.json' fits"),
        ({"$.files": {"any_of": [["b.csv"], ["a.csv"]]}}, "pass", "'s.json' fits"),
        ({"$.files": {"exactly": ["a.csv"]}}, "pass", "'s.json' fits"),
        (
            {"$.rows": "12", "$.x": None, "$.note": {"matches": "^12"}},
            "fail",
            '$.rows is 12, expected "12"; $.x is nothing, expected null; '
            '$.note is "Done: 12", expected {"matches": "^12"}',
        ),
    ],
)
def test_json_of_a_file_fits_as_in_task_files(
    tmp_path: Path, json_: dict[str, Any], outcome: str, evidence: str
) -> None:
    """The same values and rules, compared in the same way."""
    env = context(tmp_path)
    write(env.root / "data", {"s.json": SUMMARY})

    assert said(env, files="data", path="s.json", json=json_) == (outcome, evidence)


@pytest.mark.parametrize(
    ("text", "outcome", "evidence"),
    [
        ("two\nlines\n", "pass", "'r.txt' fits"),
        ({"matches": "^two"}, "pass", "'r.txt' fits"),
        ("two\nlines", "fail", 'the text is "two\\nlines\\n", expected "two\\nlines"'),
    ],
)
def test_the_whole_text_of_a_file_fits(
    tmp_path: Path, text: Any, outcome: str, evidence: str
) -> None:
    """Its last line end counts, too."""
    env = context(tmp_path)
    write(env.root / "data", {"r.txt": "two\nlines\n"})

    assert said(env, files="data", path="r.txt", text=text) == (outcome, evidence)


def test_a_file_has_to_be_there(tmp_path: Path) -> None:
    """A folder of that name is not a file."""
    env = context(tmp_path)
    write(env.root / "data", {"x/a": ""})

    assert said(env, files="data", path="x/a") == ("pass", "'x/a' exists")
    assert said(env, files="data", path="x/b") == ("fail", "'data/x/b' is not there")
    assert said(env, files="data", path="x/a/b") == (
        "fail",
        "'data/x/a/b' leads to a file, not to a folder",
    )
    assert said(env, files="data", path="x") == (
        "fail",
        "'data/x' leads to a folder, not to a file",
    )


@pytest.mark.parametrize("path", ["passwd", "etc/passwd", "loop", "out/data/a"])
def test_no_link_leads_to_a_file(tmp_path: Path, path: str) -> None:
    """Neither the file itself nor a folder on the way may be one."""
    env = context(tmp_path)
    write(env.root / "data", {"a": ""})
    (env.root / "data/passwd").symlink_to("/etc/passwd")
    (env.root / "data/etc").symlink_to("/etc")
    (env.root / "data/loop").symlink_to("loop")
    (env.root / "data/out").symlink_to("..")

    outcome, evidence = said(env, files="data", path=path, text={"matches": "."})

    assert (outcome, evidence) == ("fail", f"'data/{path}' leads through a link")


def test_a_fifo_is_not_opened(tmp_path: Path) -> None:
    """Who opens one waits for its writer."""
    env = context(tmp_path)
    write(env.suite / "expected", {"a": "1"})
    os.mkfifo(env.root / "data/a")

    assert said(env, files="data", path="a", text="1") == (
        "fail",
        "'data/a' leads to a FIFO, not to a file",
    )
    assert said(env, **EXPECT) == ("fail", "a is a FIFO, expected a file")


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    """A file with holes has any size at no cost."""
    env = context(tmp_path)
    write(env.suite / "expected", {"a": "1"})
    write(env.root / "data", {"a": "1"})
    os.truncate(env.root / "data/a", 2**40)

    assert said(env, files="data", path="a", text="1") == (
        "fail",
        f"'data/a' has more than {files.MAX_FILE_BYTES:,} bytes",
    )
    assert said(env, **EXPECT) == ("fail", "a differs")


@pytest.mark.parametrize(
    ("content", "evidence"),
    [
        (b"\xff", "'data/a' is not UTF-8 text"),
        (b"{", "'a' is not JSON, or nested too deeply"),
        (b"", "'a' is not JSON, or nested too deeply"),
        (b"NaN", "'a' is not JSON, or nested too deeply"),
        (b"[" * 100_000 + b"]" * 100_000, "'a' is not JSON, or nested too deeply"),
        (b'{"x": "\\ud800"}', "'a' is not JSON, or nested too deeply"),
        (b'{"x": 1, "x": 2}', "$.x is 2, expected 1"),
    ],
)
def test_what_is_no_json_does_not_fit(tmp_path: Path, content: bytes, evidence: str) -> None:
    """The agent was to write some, so it failed."""
    env = context(tmp_path)
    write(env.root / "data", {"a": content})

    assert said(env, files="data", path="a", json={"$.x": 1}) == ("fail", evidence)
