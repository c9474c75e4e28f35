"""Objects whose names have escapes are named by records, and undone, as any others."""

import json
from pathlib import Path

import pytest
from tests.harness.parts.environments import declare, opened
from tests.harness.rollback.folders import run_here

from tracegrade_harness.parts.environment import OpenedEnvironment
from tracegrade_harness.rollback.part_locator import PartLocator
from tracegrade_harness.rollback.records import read_records
from tracegrade_harness.rollback.rubric import ObservedState, judge
from tracegrade_harness.rollback.undo import EnvironmentCopy, prove
from tracegrade_harness.suite.records import Journal, Record, Runbook
from tracegrade_harness.suite.runbook import read

STRANGE = [
    "two words",
    r"back\slash",
    "line\nend",
    r"a\x0ab",
    "%20",
    "*[?]",
    "kind:name",
    "\u202e",
]
NOT_UTF8 = "bytes-\udcff"
DATA = declare(files={"data": {"from": "uploads", "at": "data"}})


def score(environment: OpenedEnvironment, folder: Path, *records: Record) -> int:
    """Return what a run scores that left what stands in its folder now."""
    locator = PartLocator(DATA, folder)
    now = environment.state()
    before = {name: digest for name, digest in now.items() if "strange" not in name}
    suite = folder.parent
    runbooks = {
        each.runbook: read(suite / each.runbook) for each in records if isinstance(each, Runbook)
    }
    seen = ObservedState(before, now, [], read_records(records, runbooks, folder, locator))
    copy, pristine = suite / "copy", suite / "pristine"
    pristine.mkdir()
    clone = EnvironmentCopy(copy, [environment.clone(copy)], pristine, folder, locator, run_here)
    return judge(seen, prove(seen, clone).disproved).score


@pytest.mark.parametrize("name", STRANGE)
def test_a_journal_names_objects_by_their_paths(tmp_path: Path, name: str) -> None:
    """And its undo finds them."""
    with opened(tmp_path, sqlite={}) as (environment, folder):
        path = f"data/strange-{name}"
        (folder / path).touch()
        line = {"object": path, "undo": {"delete": path}, "done": False}
        (folder / "journal").write_text(json.dumps(line) + "\n")

        assert score(environment, folder, Journal(journal="journal")) == 7


@pytest.mark.parametrize("written", [r"back\slash", r"back\\slash", "line\nend", r"line\x0aend"])
def test_a_journal_names_objects_escaped_or_not(tmp_path: Path, written: str) -> None:
    """What an agent writes that knows nothing of escapes, too."""
    path = "data/strange-" + written.replace(r"\x0a", "\n").replace(r"\\", "\\")
    with opened(tmp_path, sqlite={}) as (environment, folder):
        (folder / path).touch()
        line = {"object": f"files:data/strange-{written}", "undo": {"delete": path}, "done": False}
        (folder / "journal").write_text(json.dumps(line) + "\n")

        assert score(environment, folder, Journal(journal="journal")) == 7


@pytest.mark.parametrize("name", [*STRANGE, NOT_UTF8])
def test_a_runbook_s_pattern_leads_to_the_object_s_path(tmp_path: Path, name: str) -> None:
    """Also to one that is not UTF-8."""
    with opened(tmp_path, sqlite={}) as (environment, folder):
        Path(folder, f"data/strange-{name}").touch()
        (tmp_path / "RUNBOOK.yaml").write_text('- {pattern: "files:data/strange-*", undo: delete}')

        assert score(environment, folder, Runbook(runbook="RUNBOOK.yaml")) == 7


def test_a_folder_is_named_with_or_without_its_slash(tmp_path: Path) -> None:
    """Agents know no rule for it."""
    with opened(tmp_path, sqlite={}) as (environment, folder):
        (folder / "data/strange").mkdir()
        line = {"object": "data/strange", "undo": {"delete": "data/strange"}, "done": False}
        (folder / "journal").write_text(json.dumps(line) + "\n")

        assert score(environment, folder, Journal(journal="journal")) == 7


def test_rules_ignore_and_hold_objects_with_strange_names(tmp_path: Path) -> None:
    """Written as the path is, or as the name of the object."""
    ignored = {"from": "uploads", "at": "data", "ignore": [r"back\slash", r"line\x0aend"]}
    locks = ["files:data/two words.lock", "files:data/line\nend.lock"]
    with opened(tmp_path, files={"data": ignored}, sqlite={}, locks=locks) as (
        environment,
        folder,
    ):
        for name in (r"back\slash", "line\nend", "two words.lock", "line\nend.lock"):
            (folder / "data" / name).touch()

        assert environment.held() == [
            r"files:data/line\x0aend.lock",
            "files:data/two words.lock",
        ]
        assert environment.difference().added == environment.held()
