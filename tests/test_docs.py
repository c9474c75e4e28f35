"""What the documents say is true of the code."""

import ast
import os
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import entry_points
from itertools import chain
from pathlib import Path

import pytest

from docgen import relation_graphs, scale_plan
from docgen.__main__ import DOCS, outdated
from docgen.relations import PACKAGES as QUERIED
from tracegrade_scoring.metrics import METRICS
from tracegrade_scoring.rendering.reasons import REASONS
from tracegrade_scoring.schema import SCORER_VERSION

from .citations import BIBLIOGRAPHY, COMMENT_MARKS, ROOT, faults, keys_cited, sources

PACKAGES = {
    "tracegrade": "instrumentation",
    "tracegrade_collector": "collector",
    "tracegrade_explorer": "explorer",
    "tracegrade_judges": "scoring",
    "tracegrade_lake": "collector",
    "tracegrade_queries": "queries",
    "tracegrade_scale": "scoring",
    "tracegrade_scoring": "scoring",
    "tracegrade_testing": "scoring",
    "tracegrade_send": "scoring",
    "tracegrade_watch": "scoring",
    "tracegrade_ci": "scoring",
}


def visible_files() -> Iterator[Path]:
    """Yield the project's files, none of those that commands put into hidden folders."""
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(folder, name) for name in names if not name.startswith("."))


FILES = sorted(visible_files())
CITING = [path for path in FILES if path.suffix in {*COMMENT_MARKS, ".md"}]
"""Every file that may cite a document."""
CATALOG = ROOT / "docs" / "reliability.md"
STATEMENTS = ROOT / "docs" / "explain" / "sources.md"
NUMBERED = 4
"""Cells of an entry that has a number, which is the first; the tests are the last."""
TEST = re.compile(r"`([\w/]+\.py::[\w:]+)`")
CITED = re.compile(r"\btest_input_(\d+)|\b[Bb]ad input (\d+)|\b(F\d{1,2})\b")
DOCUMENTS = [path for path in CITING if path.suffix == ".md"]


@pytest.mark.parametrize("name", PACKAGES)
def test_every_module_is_named(name: str) -> None:
    """A package's README has each of its modules in its table, or leads to the page of them."""
    package = ROOT / PACKAGES[name] / name
    modules = {
        path.relative_to(package).parts[0].removesuffix(".py")
        for path in package.rglob("*.py")
        if path.name not in ("__init__.py", "__main__.py")
    }
    own = package / "README.md"
    readme = (own if own.exists() else package.parent / "README.md").read_text()
    page = f"docs/internals/modules/{name}.md"
    named = (ROOT / page).read_text() if page in readme else readme

    missing = sorted(
        module
        for module in modules
        if f"`{module}" not in named and f"## {name}/{module}\n" not in named
    )
    assert missing == []


PACKAGE_FOLDERS = (
    "collector",
    "collector/tracegrade_lake",
    "explorer",
    "harness",
    "instrumentation",
    "queries",
    "scoring",
    "scoring/tracegrade_judges",
    "scoring/tracegrade_send",
    "scoring/tracegrade_watch",
    "scoring/tracegrade_ci",
)
SHORT = [ROOT / folder / "README.md" for folder in PACKAGE_FOLDERS]
"""READMEs of folders for who changes the code; users read the pages below `docs/`."""


@pytest.mark.parametrize("readme", SHORT, ids=lambda path: str(path.relative_to(ROOT)))
def test_readme_of_a_folder_is_short_and_names_tests(readme: Path) -> None:
    """It has at most 600 words, and each test behind an invariant exists."""
    text = readme.read_text("utf-8")
    named = TEST.findall(text.replace("`tests/", "`"))

    assert len(text.split()) <= 600
    assert named
    assert [test for test in named if not exists(test)] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_in_documents_exist(document: Path) -> None:
    """Each `tracegrade …` and `make …` that a document shows is a real one."""
    text = document.read_text()
    commands = set(re.findall(r"(?:^|[`$|&(] ?)tracegrade ([a-z]+)\b", text, re.MULTILINE))
    targets = set(re.findall(r"(?:^|`)make ([a-z-]+)\b", text, re.MULTILINE))

    added = set(re.findall(r'^\+(\w+) = "tracegrade_', text, re.MULTILINE))  # by an example
    assert commands <= {*entry_points(group="tracegrade.commands").names, *added}
    assert targets <= set(
        re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    )


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_in_documents_lead_somewhere(document: Path) -> None:
    """Each relative link of a document names a file of the project."""
    links = re.findall(r"\]\((?!https?://|#)([^)#\s]+)", document.read_text())

    broken = [link for link in links if not (document.parent / link).exists()]
    assert broken == []


FILE = re.compile(r"(?:`|\]\()([\w./-]+\.(?:py|sql|md))(?:::[\w:]+)?[`)]")
SHOWN = r"(?:`{0}`:\n\n```|This is `{0}`, whole)"
"""How a document introduces a file that it shows, for a reader to add."""


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_that_documents_name_exist(document: Path) -> None:
    """Each is in the document's own folder, in the tests, or named from the root."""
    text = document.read_text()
    home = document.parent.relative_to(ROOT).as_posix()
    places = ("",) if home.startswith((".", "docs")) else (f"{home}/", "tests/")
    names = [file.relative_to(ROOT).as_posix() for file in FILES]
    near = [f"/{name}" for name in names if name.startswith(places)]
    gone = [
        name
        for name in sorted(set(FILE.findall(text)))
        if not (ROOT / name).exists()
        and not (document.parent / name).exists()
        and not any(file.endswith(f"/{name}") for file in near)
        and not re.search(SHOWN.format(re.escape(name)), text)
    ]

    assert gone == []


def test_changelog_is_short_and_counts_right() -> None:
    """A version is what its users get, in few words; what it counts is there as often."""
    changelog = (ROOT / "CHANGELOG.md").read_text()
    saved = list(ROOT.glob("*/tracegrade_*/saved/*.sql"))

    assert len(changelog.split()) <= 350
    assert f"{len(saved)} saved queries" in changelog
    assert f"**Score** {len(METRICS)} metrics" in changelog


def test_extra_all_brings_what_the_notebook_imports() -> None:
    """What the guide's notebook imports is the project's own, or a requirement of its extras."""
    notebook = next(
        block
        for block in re.findall(
            r"```python\n(.*?)```", (DOCS / "guides" / "query.md").read_text("utf-8"), re.DOTALL
        )
        if "tg.connect(" in block
    )
    tree = ast.parse(notebook)
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    (everything,) = extras["all"]
    chosen = re.findall(r"[\w-]+", everything.partition("[")[2])
    required = {re.split(r"[^\w-]", each)[0] for name in chosen for each in extras[name]}

    assert imported - set(PACKAGES) <= required


def test_wheel_brings_the_documents() -> None:
    """What messages and docstrings refer to is there for who has installed the package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    brought = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]

    assert brought == {"docs": "tracegrade/docs"}
    assert {path.suffix for path in DOCS.rglob("*") if path.is_file()} == {
        ".json",
        ".md",
        ".png",
    }


def test_citations_lead_somewhere() -> None:
    """Each document, section, heading and source that code or a document cites exists."""
    found = chain.from_iterable(map(faults, CITING))
    assert [str(fault).removeprefix(f"{ROOT}/") for fault in found] == []


@pytest.mark.parametrize(
    ("name", "text", "line", "citation"),
    [
        ("a.py", '"""Sum.\n\nSee docs/laws.md."""', 3, "docs/laws.md"),
        ("a.py", "x = 1  # docs/metrics.md, section 99", 1, "section 99"),
        ("a.py", "# As in docs/metrics.md,\n# sections 1.2 and 1.99.", 2, "sections 1.2 and 1.99"),
        ("a.py", '"""Mean (section 7)."""', 1, "section 7"),
        ("a.py", '"""As [Nobody 1900] has it."""', 1, "[Nobody 1900]"),
        ("a.py", '"""Source: Nobody, \'A\'."""', 1, "Source:"),
        ("a.py", '"""Wilson (1927) has it."""', 1, "Wilson (1927)"),
        ("a.py", 'help = "see docs/laws.md"', 1, "docs/laws.md"),
        (
            "a.sql",
            "-- One.\n--\n-- Source: [Triangle]; docs/metrics.md § 99.\nSELECT 1",
            3,
            "§ 99",
        ),
        (
            "a.md",
            "# A\n\n[1.2](docs/metrics.md#no-such-words)",
            3,
            "docs/metrics.md#no-such-words",
        ),
        ("a.md", '# A\nscoring/README.md, "No such"', 2, 'scoring/README.md, "No such"'),
    ],
)
def test_citation_that_leads_nowhere_is_found(
    tmp_path: Path, name: str, text: str, line: int, citation: str
) -> None:
    """A fault names the file, the line and what is cited there."""
    file = tmp_path / name
    file.write_text(text, "utf-8")

    assert [fault[:3] for fault in faults(file)] == [(file, line, citation)]


def test_sources_are_cited() -> None:
    """No source stands in the bibliography that nothing cites."""
    assert sources() - set[str]().union(*map(keys_cited, CITING)) == set()


def test_every_metric_and_reason_is_defined() -> None:
    """The definitions name each metric, each reason and the version that they are of."""
    definitions = (ROOT / BIBLIOGRAPHY).read_text("utf-8")

    assert [name for name in METRICS if f"`{name}`" not in definitions] == []
    assert [code for code in REASONS if f"`{code}" not in definitions] == []
    assert f"`SCORER_VERSION` {SCORER_VERSION}" in definitions


def test_generated_pages_are_up_to_date() -> None:
    """What repeats the code is what the code says; `make docs` writes it."""
    assert outdated() == [], "run `make docs`"


def test_each_page_is_in_the_navigation_once() -> None:
    """The site shows every document, in one place."""
    site = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))
    shown = sorted(pages_of(site["project"]["nav"]))

    assert shown == sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))


def pages_of(navigation: object) -> Iterator[str]:
    """Yield the pages of an entry of the navigation, or of several."""
    if isinstance(navigation, str):
        yield navigation
    elif isinstance(navigation, dict):
        yield from chain.from_iterable(map(pages_of, navigation.values()))
    elif isinstance(navigation, list):
        yield from chain.from_iterable(map(pages_of, navigation))


def test_plan_simulates_every_span() -> None:
    """However many runs a day has, all of its spans are in one of them."""
    assert all(len(scale_plan.spans_of_runs(runs)) == runs for runs in scale_plan.RUNS_A_DAY)


def test_every_folder_with_queries_has_a_graph() -> None:
    """All but saved queries, each alone, macros, and dialects, which are one node."""
    folders = {
        room.removesuffix("/queries")
        for package in QUERIED.values()
        for path in package.queries.paths.values()
        if (room := path.parent.relative_to(package.queries.root).as_posix())
    }
    drawn = {room for rooms in relation_graphs.ROOMS.values() for room in rooms}
    others = {folder for folder in folders if not folder.startswith("dialects")}
    assert {each for each in others - drawn if not each.startswith("steps/macros")} == {"saved"}


def test_entries_of_the_catalog_name_their_tests() -> None:
    """Each promise, input, fault and trap names tests that exist, or says why there is none."""
    entries = catalog()
    untested = [entry for entry in entries if not TEST.search(entry[-1])]
    named = TEST.findall(CATALOG.read_text("utf-8"))

    assert [entry for entry in untested if not entry[-1].startswith("not tested: ")] == []
    assert [test for test in named if not exists(test)] == []


def test_numbers_of_inputs_and_faults_stand_in_the_catalog() -> None:
    """Each number stands there once, and all that are cited do."""
    numbers = [entry[0] for entry in catalog() if len(entry) == NUMBERED]
    citing = (path.read_text("utf-8") for path in CITING if path not in (CATALOG, Path(__file__)))
    found = {number for text in citing for number in CITED.findall(text)}
    cited = {fault or str(int(own or given)) for own, given, fault in found}

    assert len(numbers) == len(set(numbers))
    assert cited - set(numbers) == set()
    assert {"7", "41", "F7"} <= cited  # of each way to cite one is found


def test_statements_of_the_sources_name_their_tests() -> None:
    """Each says whether it holds, in part or differs, and names a test that exists."""
    statements = [entry for entry in rows_of(STATEMENTS) if entry[0] != "---"]
    judged = re.compile(r"(as stated|in part: |differs: )")
    named = [test for entry in statements for test in TEST.findall(entry[-1])]

    assert [entry for entry in statements if not judged.match(entry[1])] == []
    assert len(named) == len(statements) > 100
    assert [test for test in named if not exists(test)] == []


def catalog() -> list[list[str]]:
    """Return the cells of each row of each table of the catalog."""
    return rows_of(CATALOG)


def rows_of(document: Path) -> list[list[str]]:
    """Return the cells of each row of each table of a document, the last one with tests."""
    text = document.read_text("utf-8")
    rows = re.findall(r"^\| (?!.* \| test \|$)(.*) \|$", text, re.M)
    return [re.split(r" (?<!\\)\| ", row) for row in rows]


def exists(test: str) -> bool:
    """Return whether there is such a test, as pytest names it, below `tests/`."""
    file, *names = test.split("::")
    return set(names) <= defined_in(ROOT / "tests" / file)


@cache
def defined_in(path: Path) -> set[str]:
    """Return the functions and classes of a file, none where there is no such file."""
    text = path.read_text("utf-8") if path.is_file() else ""
    return set(re.findall(r"^ *(?:async )?(?:def|class) (\w+)", text, re.M))
