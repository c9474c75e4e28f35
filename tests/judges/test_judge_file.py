"""Judge files: every error has its line and a way out, and a key never stands in one."""

import json
from pathlib import Path

import jsonschema_rs
import pytest
import yaml
from tests.citations import ROOT
from tests.commands import tracegrade

from tracegrade_judges.judge_file.load import load_judges
from tracegrade_judges.judge_file.schema import judge_schema_text

GOOD = """\
version: 1
judges:
  nodes:
    subject: sub_goal
    model: {name: m}
    EXTRA
  answers: {subject: success, model: {name: m}, threshold: 0.8, rubric: agentic, reference: task}
"""


def problems(folder: Path, text: str) -> list[str]:
    """Return what is wrong with a judge file, without the path of its folder."""
    path = folder / "judges.yaml"
    path.write_text(text)
    return [str(each).removeprefix(f"{folder}/") for each in load_judges(path).problems]


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ("vote: 3", "judges.yaml:6: unknown key 'vote' in judges.nodes; did you mean 'votes'?"),
        ("votes: 2", "votes is 2, so that they can tie; give an odd number"),
        ("threshold: 0.5", "threshold is of no use to a judge of sub_goal; remove it"),
        ("tools: [write]", "judges.nodes.tools[0] is 'write'; it should be 'list_steps',"),
        ("limits: {retries: -1}", "judges.nodes.limits.retries is -1; it should be greater than"),
        ("evidence: none", "judges.nodes.evidence is 'none'; it should be 'actions' or 'any'"),
    ],
)
def test_an_error_has_its_line_and_a_way_out(tmp_path: Path, extra: str, said: str) -> None:
    """What is wrong is named where it stands."""
    (found,) = problems(tmp_path, GOOD.replace("EXTRA", extra))

    assert said in found
    assert found.startswith(("judges.yaml:6: ", "judges.yaml:3: "))


def test_former_keys_are_read_with_a_note(tmp_path: Path) -> None:
    """A file of before means what it meant; both names of a key are an error."""
    before = GOOD.replace("EXTRA", "limits: {reasks: 1}").replace("subject:", "asks:")
    (tmp_path / "judges.yaml").write_text(before)
    loaded = load_judges(tmp_path / "judges.yaml")
    assert loaded.errors == []
    assert [str(each).partition("judges.yaml:")[2] for each in loaded.problems] == [
        "4: judges.nodes.asks is now 'subject'; rename the key",
        "6: judges.nodes.limits.reasks is now 'retries'; rename the key",
        "7: judges.answers.asks is now 'subject'; rename the key",
    ]
    assert loaded.file is not None
    assert loaded.file.judges["nodes"].limits.retries == 1
    assert {each.subject for each in loaded.file.judges.values()} == {"sub_goal", "success"}
    done = tracegrade("judge", "check", tmp_path / "judges.yaml")
    assert (done.returncode, done.stderr.count("is now")) == (0, 3)

    (error,) = problems(tmp_path, GOOD.replace("EXTRA", "asks: sub_goal"))
    assert error == (
        "judges.yaml:6: judges.nodes.asks is now 'subject', which is given as well; "
        "remove one of them"
    )


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("{name: m, api_key: hunter2-hunter2}", "the file contains a key; give $NAME"),
        ("{name: m, base_url: 'https://u:hunter2-hunter2@h/v1'}", "the URL holds credentials"),
        ("{name: m, base_url: 'file:///etc/passwd'}", "is no URL; give https://HOST/v1"),
    ],
)
def test_credentials_are_refused_and_not_repeated(tmp_path: Path, model: str, said: str) -> None:
    """The error does not say the key."""
    (found,) = problems(tmp_path, GOOD.replace("EXTRA", "").replace("{name: m}", model, 1))

    assert said in found
    assert "hunter2" not in found


def test_documents_stand_beside_the_file(tmp_path: Path) -> None:
    """None is read from elsewhere, and each must be text."""
    (tmp_path / "a.md").write_text("A.")
    (tmp_path / "b.md").write_bytes(b"\xff\xfe")
    (tmp_path / "out.md").symlink_to("/etc/hostname")
    documents = "documents: {a: a.md, b: b.md, c: gone.md, d: ../x.md, e: out.md}\n"

    found = problems(tmp_path, GOOD.replace("EXTRA", "") + documents)

    assert load_judges(tmp_path / "judges.yaml").documents == {"a": "A."}
    assert [each.split("'")[1] for each in found] == ["b", "c", "d", "e"]


def test_check_names_every_error(tmp_path: Path) -> None:
    """It ends with 1 and a count."""
    path = tmp_path / "judges.yaml"
    path.write_text("version: 1\njudges:\n  A: {subject: x}\n  b: {subject: success}\n")

    ended = tracegrade("judge", "check", path)

    assert ended.returncode == 1
    assert len(ended.stdout.splitlines()) >= 3
    assert "in judge file" in ended.stderr


def test_check_knows_a_good_file(tmp_path: Path) -> None:
    """It says how many judges there are."""
    path = tmp_path / "judges.yaml"
    path.write_text(GOOD.replace("EXTRA", ""))

    ended = tracegrade("judge", "check", path)

    assert (ended.returncode, ended.stdout) == (0, "")
    assert ended.stderr == "2 judges and 0 documents are well-formed\n"


def test_published_schema_is_the_loader_s() -> None:
    """Editors complete and check what the loader takes."""
    published = (ROOT / "scoring" / "judges.schema.json").read_text()

    assert published == judge_schema_text() == tracegrade("judge", "schema").stdout
    jsonschema_rs.validate(json.loads(published), yaml.safe_load(GOOD.replace("EXTRA", "")))
