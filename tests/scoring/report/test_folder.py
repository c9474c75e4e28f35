"""A report as a folder: each run that a page names has its own page, and no id becomes a path."""

import re
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from html import unescape
from pathlib import Path

import pytest
from tests.explorer.run_view.test_agents_in_browser import HELPER, TEAM, team
from tests.explorer.test_decision_card import TASK, fill
from tests.queries.traces import land, message, model, request, request_of, tool
from tests.scoring.report.build import START, Tables, as_lake
from tests.scoring.report.test_hostile import fill_with

from tracegrade.cli import main
from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.rendering.kill_pages import NamedPages
from tracegrade_scoring.rendering.page_paths import MOST_PAGES, PagePaths, page_path
from tracegrade_scoring.report.html import render_html
from tracegrade_scoring.tasks import Specification
from tracegrade_scoring.timeline.folder import RUNS, FolderSource, write_folder

HOSTILE_ID = "../../../etc/passwd\x00<a href='x'>\u202e.html"


@pytest.fixture(scope="module")
def sample_lake(sample: Tables, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample as Delta tables, with a step of each run."""
    return as_lake(sample, tmp_path_factory.mktemp("pages") / "lake").root


def run(*arguments: str | Path) -> int:
    """Run a command in this process and return its exit code."""
    with pytest.raises(SystemExit) as exit_:
        main([str(argument) for argument in arguments])
    assert isinstance(exit_.value.code, int)
    return exit_.value.code


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """Yield the file and the place in it that each link of a page leads to."""
    for address in re.findall(r'href="([^"]*)"', page.read_text("utf-8")):
        path, _, place = unescape(address).partition("#")
        yield (page.parent / path if path else page).resolve(), place


def test_every_link_of_a_report_leads_somewhere(
    sample_lake: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From the report to the runs that it names, and from each of them back."""
    folder = tmp_path / "report-1.1"
    assert run("report", "--lake", sample_lake, "--format", "html", "--out", folder) == 0

    pages = sorted(folder.rglob("*.html"))
    assert len(pages) > 3
    assert capsys.readouterr().err == (
        f"report: {folder / 'index.html'}, and pages of {len(pages) - 1} runs\n"
    )
    led = {path for page in pages for path, _ in links(page)}
    assert led == set(pages)


@pytest.mark.slow
def test_comparison_is_a_folder_too(sample_lake: Path, tmp_path: Path) -> None:
    """A path without an ending is one; a run of the task that fell most is one click away."""
    folder = tmp_path / "compared"
    arguments = ("compare", "1.1", "1.0", "--lake", sample_lake, "--format", "html")
    assert run(*arguments, "--out", folder) == 0

    text = (folder / "index.html").read_text("utf-8")
    assert "the worst is task &#39;malformed-header&#39;" in text
    named = {path for path, _ in links(folder / "index.html")} - {folder / "index.html"}
    assert named
    assert all(path.parent == folder / "runs" and path.exists() for path in named)


def test_ending_makes_a_file(sample_lake: Path, tmp_path: Path) -> None:
    """One file without any link but to its own places."""
    page = tmp_path / "compared.html"
    arguments = ("compare", "1.0", "1.1", "--lake", sample_lake, "--format", "html")

    assert run(*arguments, "--out", page) == 0
    assert {path for path, _ in links(page)} <= {page}


def test_id_of_a_trace_is_no_path(tmp_path: Path) -> None:
    """Whatever it is, its page stands in the folder under a digest."""
    with closing(Tables()) as tables:
        fill_with(tables, "plain")
        for table in ("trajectories", "trajectory_scores", "decisions", "sub_goals"):
            tables.con.execute(
                f"UPDATE {table} SET trajectory_id = $id WHERE trajectory_id = 't1'",
                {"id": HOSTILE_ID},
            )
        tables.insert("steps", trajectory_id=HOSTILE_ID, step_index=0, kind="answer",
                      content="Done.", start_time=START)  # fmt: skip
        report = tables.report()
        written = write_folder(
            tables.con, "lake", tmp_path / "out", lambda pages: render_html(report, pages)
        )

    found = sorted(path.relative_to(tmp_path / "out") for path in tmp_path.rglob("*.html"))
    assert len(found) == written.runs + 1
    assert Path(page_path(RUNS, HOSTILE_ID)) in found
    assert re.fullmatch(r"runs/[0-9a-f]{32}\.html", page_path(RUNS, HOSTILE_ID))
    assert "Done." in (tmp_path / "out" / page_path(RUNS, HOSTILE_ID)).read_text("utf-8")


def test_pages_have_cards_of_wrong_decisions(tmp_path: Path) -> None:
    """A card at the call, with what differs, and one for the call that was not made."""
    with closing(Tables()) as tables:
        run_id = fill(tables)
        source = FolderSource(Specification.model_validate(TASK))
        naming = partial(_naming, [run_id])
        write_folder(tables.con, "lake", tmp_path, naming, source)

    page = (tmp_path / page_path(RUNS, run_id)).read_text("utf-8")
    steps, _, missed = page.partition("Expected calls that were not made")
    by_step = dict(re.findall(r'(?s)<li[^>]* id="s(\d+)">(.*?)\n</li>', steps))
    carded = {index for index, text in by_step.items() if 'class="decision-card"' in text}
    assert carded == {"1", "2", "4"}
    assert 'where <span class="name">look</span> was expected' in by_step["1"]
    assert re.findall(r"<del.*?>(.*?)</del></td><td><ins.*?>(.*?)</ins>", by_step["2"])[0] == (
        "60", "40",
    )  # fmt: skip
    assert missed.count('class="decision-card"') == 1
    assert "not called:" in missed
    assert "<img" not in page


def test_pages_have_lanes_of_agents(tmp_path: Path) -> None:
    """A sub-agent's calls lead to its own page; without one they are drawn alone."""
    helped = [
        model(42, 40, at=1_822, ms=2, said=[message("assistant", request("look", "h2"))]),
        tool(43, 40, at=1_825, ms=8, tool_name="look", gen_ai__tool__call__id="h2"),
    ]
    lake = Lake.create(tmp_path / "lake")
    land(lake, request_of([*team(), *helped]))
    score(lake, Specification())
    lead, helper = TEAM.removeprefix("/runs/"), HELPER.removeprefix("/runs/")
    page = tmp_path / "out" / page_path(RUNS, lead)
    pictures = []
    with connect(lake, layers=(SCORES,)) as con:
        for names in ([lead], [lead, helper]):
            write_folder(con, "lake", tmp_path / "out", partial(_naming, names))
            text = page.read_text("utf-8")
            pictures += re.findall(r'(?s)<svg class="lanes".*?</svg>', text)

    alone, led = (re.findall('href="(.*?)"', picture) for picture in pictures)
    assert len(alone) > 3
    assert {address[1:] for address in alone} <= set(re.findall('id="(s.*?)"', text))
    (address,) = set(led) - set(alone)
    path, _, place = address.partition("#")
    assert path == Path(page_path(RUNS, helper)).name
    assert f'id="{place}"' in (page.parent / path).read_text("utf-8")
    assert pictures[0].count("<title>") == pictures[1].count("<title>")
    assert '<th scope="row" class="indent-1">left</th>' in text


def test_written_again_it_holds_no_run_of_before(sample: Tables, tmp_path: Path) -> None:
    """What was erased from the lake must not live on in its pages; files of others stay."""
    for ids in (["t1", "t2"], ["t2"]):
        (tmp_path / "notes.txt").write_text("mine", "utf-8")
        write_folder(sample.con, "lake", tmp_path, partial(_naming, ids))

    assert [path.name for path in (tmp_path / "runs").iterdir()] == [
        Path(page_path(RUNS, "t2")).name
    ]
    assert (tmp_path / "notes.txt").exists()


def _naming(ids: list[str], pages: NamedPages) -> str:
    """Return a page that names these runs."""
    return " ".join(map(pages.run, ids))


def test_page_names_more_runs_than_have_pages() -> None:
    """The first ones have; the others are named without a link."""
    pages = PagePaths(RUNS)
    given = [pages(f"t{place}") for place in range(MOST_PAGES + 1)]

    assert given[-1] == ""
    assert pages("t0") == given[0] == page_path(RUNS, "t0")
    assert len(pages.paths) == MOST_PAGES


@pytest.mark.slow
def test_folder_that_cannot_be_made_is_a_failure_outside(
    sample_lake: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 3 and one line with the way out."""
    (tmp_path / "file").write_text("", "utf-8")
    folder = tmp_path / "file" / "report"

    assert run("report", "--lake", sample_lake, "--format", "html", "--out", folder) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("name another with --out")
