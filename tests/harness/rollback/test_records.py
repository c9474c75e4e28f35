"""Records as agents leave them: what they name, and that nothing in them does harm."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.harness.parts.environments import declare
from tests.harness.rollback.folders import ENVIRONMENT, RECORDS, Trial

from tracegrade_harness.errors import SuiteUnusable
from tracegrade_harness.parts.globs import matcher
from tracegrade_harness.rollback import manifest
from tracegrade_harness.rollback.part_locator import PartLocator
from tracegrade_harness.rollback.path_guard import MAX_BYTES
from tracegrade_harness.rollback.records import MAX_FAULTS, read_records
from tracegrade_harness.suite.records import Journal, Manifest
from tracegrade_harness.suite.runbook import read

JOURNAL = ".rollback.jsonl"
LINE = json.dumps({"object": "files:data/a", "undo": {"delete": "data/a"}}) + "\n"


def trial(folder: Path, **files: str) -> Trial:
    """Return a trial in which an agent left files; `journal` and `manifest` are its records."""
    names = {"journal": JOURNAL, "manifest": "manifest.json"}
    return Trial(folder, {}, {names.get(name, name): text for name, text in files.items()})


def test_records_that_are_missing_say_nothing(tmp_path: Path) -> None:
    """An agent that did nothing yet has written none."""
    (tmp_path / "trial" / "data").mkdir(parents=True)
    locator = PartLocator(ENVIRONMENT, tmp_path / "trial")

    assert read_records(RECORDS, {}, tmp_path / "trial", locator) == ((), (), ())


def test_journal_is_read_the_newest_first(tmp_path: Path) -> None:
    """So that undos can be carried out in this order."""
    second = LINE.replace("data/a", "data/b")
    records = trial(tmp_path, journal=LINE + second + '{"object": "x').records()

    assert [claim.name for claim in records.claims] == ["files:data/b", "files:data/a"]
    assert [file.name for file in records.files] == ["files:data/.rollback.jsonl"]
    assert records.files[0].is_open
    assert [fault.fact for fault in records.faults] == ["its last line is torn, and names nothing"]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("files:data/a", "files:data/a"),
        ("data/a", "files:data/a"),
        ("/data/a", "files:data/a"),
        ("./data//x/../a", "files:data/a"),
        ("data/two\nlines", r"files:data/two\x0alines"),
        ("elsewhere/a", "elsewhere/a"),
        ("data/../../a", "data/../../a"),
        ("process:python x.py", "process:python x.py"),
    ],
)
def test_object_is_given_by_name_or_path(given: str, name: str, tmp_path: Path) -> None:
    """A path that is in no part stays as it is, and names nothing there."""
    line = json.dumps({"object": given, "undo": {"delete": "data/a"}}) + "\n"

    assert trial(tmp_path, journal=line).records().claims[0].name == name


def test_absolute_path_below_the_trials_folder_is_one_of_its_objects(tmp_path: Path) -> None:
    """As agents know files that they got the path of by a variable."""
    line = json.dumps({"object": f"{tmp_path}/trial/data/a", "undo": {"manual": "look"}}) + "\n"

    assert trial(tmp_path, journal=line).records().claims[0].name == "files:data/a"


def test_part_within_a_part_has_the_objects_below_it() -> None:
    """The innermost part is the one that its state is read by."""
    environment = declare(
        **{
            "files": {"all": {"from": "x", "at": "."}, "data": {"from": "x", "at": "data"}},
            "sqlite": {"ledger": {"from": "x", "at": "data/ledger.db"}},
        }
    )
    locator = PartLocator(environment, Path("/trial"))

    assert locator.object_at("x") == "files:all/x"
    assert locator.object_at("database") == "files:all/database"
    assert locator.object_at("data/x") == "files:data/x"
    assert locator.object_at("data/ledger.db") == "sqlite:ledger"
    assert locator.path_of("files:all/x") == "x"
    assert locator.path_of("files:data/x") == "data/x"
    assert locator.path_of("sqlite:ledger/runs/17") == "data/ledger.db"
    assert locator.path_of("redis:0/lock:x") is None


# Hostile records.


def test_link_out_of_the_environment_is_not_followed(tmp_path: Path) -> None:
    """What is outside names nothing, and is not in the evidence."""
    left = trial(tmp_path)
    (tmp_path / "outside").write_text(LINE)
    (left.folder / "data" / JOURNAL).symlink_to(tmp_path / "outside")
    records = left.records()

    assert records.claims == ()
    assert not records.files[0].is_settled
    assert "cannot be read" in records.faults[0].fact


def test_link_on_the_way_is_not_followed(tmp_path: Path) -> None:
    """A folder may be a link just as well."""
    left = trial(tmp_path)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "journal").write_text(LINE)
    (left.folder / "data" / "link").symlink_to(tmp_path / "outside")
    declared = [Journal(journal="data/link/journal")]
    records = read_records(declared, {}, left.folder, left.locator)

    assert records.claims == ()
    assert len(records.faults) == 1


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    """Nobody writes to this pipe."""
    left = trial(tmp_path)
    os.mkfifo(left.folder / "data" / JOURNAL)
    (left.folder / "data" / "manifest.json").mkdir()
    records = left.records()

    assert records.claims == ()
    assert [fault.fact for fault in records.faults] == ["it is not a regular file"] * 2


def test_record_that_is_too_large_names_nothing(tmp_path: Path) -> None:
    """It is read no further than its limit."""
    left = trial(tmp_path, journal=LINE)
    os.truncate(left.folder / "data" / JOURNAL, 1 << 40)
    records = left.records()

    assert records.claims == ()
    assert [fault.fact for fault in records.faults] == [f"it has more than {MAX_BYTES:,} bytes"]


def test_faults_are_told_up_to_a_limit(tmp_path: Path) -> None:
    """Evidence has to stay small; the rest is counted."""
    records = trial(tmp_path, journal=LINE + "x\n" * 1000).records()

    assert len(records.claims) == 1
    assert len(records.faults) == MAX_FAULTS + 1
    assert records.faults[-1].fact == "and 950 more faults"


@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xfe",
        b"[" * 4_000_000,
        b'{"files": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"files": 7}',
        b'{"other": []}',
        b'{"files": [null, true, 1.5, {}, {"name": ["a"]}, {"name": null}]}',
        b'{"files": ["' + b"a" * 100_000 + b'"]}',
        b'{"files": [' + b"9" * 5000 + b"]}",
        b'{"files": ["\\u0000"]}',
    ],
    ids=range(9),
)
def test_hostile_manifest_names_nothing(content: bytes) -> None:
    """And it is said why."""
    declared = RECORDS[1]
    assert isinstance(declared, Manifest)
    items, faults = manifest.Reader(declared).read(content)

    assert items == []
    assert faults != []


@given(st.binary(max_size=200))
def test_any_manifest_can_be_read(content: bytes) -> None:
    """Whatever its bytes are."""
    declared = RECORDS[1]
    assert isinstance(declared, Manifest)
    items, _ = manifest.Reader(declared).read(content)

    assert all(item.name.startswith("files:data/") for item in items)


def test_manifests_other_keys_fill_placeholders() -> None:
    """Each by its name; a number as it is written."""
    declared = Manifest(
        manifest="m",
        items="$.steps[0].made",
        object="files:data/{folder}/{number}",
        undo={"command": ["rm", "data/{folder}/{number}"]},
    )
    content = b'{"steps": [{"made": [{"folder": "x", "number": 7}]}]}'
    items, faults = manifest.Reader(declared).read(content)

    assert items == [("files:data/x/7", {"command": ["rm", "data/x/7"]})]
    assert faults == []


# What is the suite's own has to be right.


def test_manifests_path_to_several_values_is_refused() -> None:
    """A wildcard leads to no one list."""
    with pytest.raises(SuiteUnusable, match=r"'\$\.\*' is not a JSON path to one value"):
        manifest.Reader(Manifest(manifest="m", items="$.*", object="x", undo={}))


@pytest.mark.parametrize(
    ("runbook", "said"),
    [
        ("pattern: x", "RUNBOOK.yaml:1: a runbook is a list"),
        ("- {pattern: x}", "RUNBOOK.yaml:1: an instruction has 'pattern' and 'undo'"),
        (
            "- {pattern: x, undo: delete}\n- {pattern: 7, undo: delete}",
            ":2: 'pattern' must be a text",
        ),
        ("- {pattern: x, undo: remove}", ":1: an undo is a mapping"),
        ("- {pattern: x, undo: {deletee: y}}", "did you mean 'delete'?"),
        ("- {pattern: x, undo: {delete: '{name}'}}", "'{name}' is not known"),
        ("- {pattern: x, pattern: y, undo: delete}", "key 'pattern' stands twice"),
        ("- [", "not valid YAML"),
    ],
)
def test_runbook_that_is_wrong_is_refused(runbook: str, said: str, tmp_path: Path) -> None:
    """With its line, what is wrong, and how to write it."""
    with pytest.raises(SuiteUnusable) as refused:
        trial(tmp_path).records(runbook)

    assert said in str(refused.value)


def test_missing_runbook_is_refused(tmp_path: Path) -> None:
    """The suite names it."""
    with pytest.raises(SuiteUnusable, match="cannot be read"):
        read(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("files:data/*.csv", ["files:data/a.csv", "files:data/.csv"], ["files:data/x/a.csv"]),
        ("files:data/**", ["files:data/a", "files:data/x/a\n"], ["files:data2/a"]),
        ("files:data/**/a", ["files:data/a", "files:data/x/y/a"], ["files:data/xa"]),
        ("files:data/?", ["files:data/a"], ["files:data/ab", "files:data//"]),
        ("files:data/[a]", ["files:data/[a]"], ["files:data/a"]),
    ],
)
def test_patterns_match_whole_names(pattern: str, yes: list[str], no: list[str]) -> None:
    """`*` and `?` stay within a name, `**` does not; nothing else has a meaning."""
    matches = matcher(pattern)

    assert all(map(matches, yes))
    assert not any(map(matches, no))
