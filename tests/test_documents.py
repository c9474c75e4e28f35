"""The pages for users are short, and their commands print what they show."""

import re
from pathlib import Path

import pytest

from docgen.__main__ import DOCS, MARK

from .documents import Difference, Opening, matches, run

PAGES = [
    page
    for folder in ("start", "frameworks", "guides")
    for page in sorted(DOCS.glob(f"{folder}/*.md"))
    if not page.read_text("utf-8").startswith(MARK)
]
SOURCES = [page for page in sorted(DOCS.glob("frameworks/*.md")) if page.stem != "index"]
EXECUTED = [*PAGES, DOCS / "explain" / "metrics-by-example.md"]
SAMPLE = [
    "tracegrade sample runs",
    "tracegrade import runs/runs.jsonl --lake lake",
    "tracegrade score --lake lake --tasks runs/tasks.yaml",
]


@pytest.fixture(scope="module")
def opening(tmp_path_factory: pytest.TempPathFactory) -> Opening:
    """A scored lake of the sample, with which many pages begin."""
    return Opening(tmp_path_factory.mktemp("opening"), SAMPLE)


@pytest.mark.parametrize("page", EXECUTED, ids=lambda path: path.relative_to(DOCS).as_posix())
def test_commands_print_what_their_page_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opening: Opening
) -> None:
    """Whoever follows a page in an empty folder sees what it shows."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    assert list(run(page.read_text("utf-8"), tmp_path, opening)) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(DOCS).as_posix())
def test_pages_of_users_are_short(page: Path) -> None:
    """Each is about one task."""
    assert len(page.read_text("utf-8").split()) <= 1_300


@pytest.mark.parametrize("page", SOURCES, ids=lambda path: path.stem)
def test_pages_of_sources_have_at_most_300_words_besides_code(page: Path) -> None:
    """Readers find what is read of one framework, and what is not, within a minute."""
    prose = re.sub(r"```.*?```|<!--.*?-->", "", page.read_text("utf-8"), flags=re.DOTALL)

    assert len(re.findall(r"[^\s|]*\w[^\s|]*", prose)) <= 300


def test_command_that_prints_something_else_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opening: Opening
) -> None:
    """A page that has gone stale names its command, and both outputs."""
    monkeypatch.chdir(tmp_path)
    file = "`a/tasks.yaml`:\n\n```yaml\nversion: 1\n```\n"
    page = f"{file}\n```console\n$ tracegrade tasks check a\nfine\n```\n"

    (found,) = run(page, tmp_path, opening)

    assert (tmp_path / "a" / "tasks.yaml").read_text() == "version: 1\n"
    assert found == Difference("tracegrade tasks check a", "fine\n", found.printed)
    assert found.printed


@pytest.mark.parametrize(
    ("shown", "printed", "fits"),
    [
        ("a\n", "a\n", True),
        ("a\n", "a  \n", True),
        ("a\n", "a\nb\n", False),
        ("a\n…\n", "a\nb\nc\n", True),
        ("…\nc\n", "a\nb\nd\n", False),
        ("it took … s\n", "it took 3.1 s\n", True),
        ("it took … s\n", "it took 3.1 min\n", False),
    ],
)
def test_ellipsis_matches_any_text(shown: str, printed: str, fits: bool) -> None:
    """Alone on a line it matches lines, in a line the text of that line."""
    assert matches(shown, printed) is fits
