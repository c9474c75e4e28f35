"""Each page shows what the lake holds, as HTML, JSON and CSV, and says what is missing."""

import csv
import html
import io
import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.commands import tracegrade
from tests.explorer.lakes import LONG, LOOPED, client, explorer, unscored
from tests.scoring.report.build import Tables, as_lake
from tests.scoring.report.test_hostile import HOSTILE, fill_with
from tests.slow import slow_after

from tracegrade_explorer.app import Explorer
from tracegrade_explorer.run_view.page import text_limit
from tracegrade_lake import Lake

PAGES = (
    "/",
    "/runs",
    "/runs?agent=files&tsa=0..0.5&sort=-tsa&cols=tsa,replans",
    f"/runs/{LOOPED}",
    f"/runs/{LOOPED}/spans",
    f"/compare?a={LOOPED}&b=t13",
    "/alerts",
    "/issues",
    "/tasks",
    "/tasks/malformed-header",
    "/releases",
    "/releases?agent=files&base=1.0&candidate=1.1",
    "/money?window=all&by=day",
    "/kills",
    "/trends?metric=tsa",
    "/trends?metric=steps&by=week&release=1.0",
    "/conversations/k",
    "/search",
    "/sql",
    "/sql/tool_error_rates",
    "/conversations",
    "/search?text=nothing",
)
"""The last one, which starts a process for each answer, comes by other tests, too."""


def as_json(path: str) -> str:
    """Return where the same page stands for programs."""
    head, mark, query = path.partition("?")
    return f"{'/now' if head == '/' else head}.json{mark}{query}"


@pytest.mark.parametrize("path", slow_after(len(PAGES) - 1, PAGES))
def test_page_stands_as_html_and_json(web: TestClient, path: str) -> None:
    """It is one whole document with a heading, and the same for programs."""
    page, data = web.get(path), web.get(as_json(path))

    assert (page.status_code, data.status_code) == (200, 200), page.text
    assert page.text.rstrip().endswith("</html>")
    assert len(re.findall("<h1", page.text)) == 1
    assert not re.search(r"<[^>]* (style|on\w+)=", page.text)
    assert json.loads(data.content) is not None


def test_list_shows_the_runs_of_its_filter(web: TestClient) -> None:
    """HTML, JSON and CSV have the same runs in the same order, numbers unrounded."""
    query = "agent=files&tsa=0.3..0.5&sort=tsa"
    page = web.get(f"/runs?{query}").text
    data = web.get(f"/runs.json?{query}").json()
    table = [*csv.DictReader(io.StringIO(web.get(f"/runs.csv?{query}").text))]

    assert (data["filter"], data["runs"], data["of"]) == (query, 9, 27)
    ids = [row["trajectory_id"] for row in data["rows"]]
    assert re.findall(r'data-open href="/runs/(\w+)\?', page) == ids
    assert [row["trajectory_id"] for row in table] == ids
    assert [float(row["tsa"]) for row in table] == [row["tsa"] for row in data["rows"]]


def test_form_adds_a_range_to_the_filter(web: TestClient) -> None:
    """And leads to the one address of that filter; an empty form changes nothing."""
    answer = web.get("/runs?agent=files&add=tsa&low=0&high=.5&request=&since=")
    assert (answer.status_code, answer.headers["location"]) == (
        303,
        "/runs?agent=files&tsa=0..0.5",
    )
    assert web.get("/runs?add=&low=1&high=").headers["location"] == "/runs"
    assert web.get("/runs?add=agent&low=1").status_code == 400


def test_dash_says_why_there_is_no_value(web: TestClient) -> None:
    """To those who see it and those who hear it."""
    page = web.get("/runs?agent=weather").text
    assert 'title="the task does not say which tools to pick"' in page


def test_run_shows_its_steps_and_what_was_found(web: TestClient) -> None:
    """Findings lead to their steps, equal calls are folded, long texts are a link away."""
    page = web.get(f"/runs/{LOOPED}").text

    assert '<a href="#s3">s3</a> called round and round (loop trap)' in page
    assert "scan \u00d7 5, same arguments, same result" in page
    assert re.findall(r'id="s(\d+)"', page) == [str(n) for n in range(17)]
    assert f'href="/runs/{LOOPED}/steps/2/content"' in page
    assert "5,000 characters" in page
    assert LONG[:4_000] in page
    assert LONG not in page
    assert 'href="/runs/t1-child"' in page
    assert "redacted" in page
    assert "1 added, 1 removed, 1 restated" in page


def test_scores_lead_to_the_steps_they_were_counted_from(web: TestClient) -> None:
    """Of tool selection, each decision point with whether it was right."""
    page = web.get(f"/runs/{LOOPED}").text
    row = re.search(r"Tool-selection accuracy</th>.*?</tr>", page, re.DOTALL)

    assert row is not None
    assert re.findall(r'href="#s(\d+)">s\d+(.)<', row[0]) == [
        ("0", "✓"), ("2", "✗"), ("4", "✗"), ("6", "✓"), ("8", "✗"),
    ]  # fmt: skip


def test_whole_text_is_plain(web: TestClient) -> None:
    """As the trace has it; one that is not there is said to be missing."""
    answer = web.get(f"/runs/{LOOPED}/steps/2/content")
    assert answer.text == LONG
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    for path in ("steps/2/result", "steps/99/content", "steps/x/content", "steps/2/other"):
        assert web.get(f"/runs/{LOOPED}/{path}").status_code == 404


@pytest.mark.parametrize(
    ("query", "steps"),
    [
        ("show=failed", ["15"]),
        ("show=plans", ["1", "14"]),
        ("step_tool=delegate", ["13"]),
        ("find=DISK", ["15"]),
        ("from=15", ["15", "16"]),
        ("from=99", []),
    ],
)
def test_some_steps_of_a_run_are_shown_alone(
    web: TestClient, query: str, steps: list[str]
) -> None:
    """By kind, tool, text and place."""
    page = web.get(f"/runs/{LOOPED}?{query}").text
    assert re.findall(r'<li id="s(\d+)"', page) == steps


def test_run_leads_to_its_neighbors_in_the_list(web: TestClient) -> None:
    """By the list's own filter and order."""
    ids = [
        row["trajectory_id"] for row in web.get("/runs.json?release=1.0&sort=-tsa").json()["rows"]
    ]
    page = web.get(f"/runs/{ids[3]}?release=1.0&sort=-tsa").text

    assert f'rel="prev" href="/runs/{ids[2]}?release=1.0&amp;sort=-tsa"' in page
    assert f'rel="next" href="/runs/{ids[4]}?release=1.0&amp;sort=-tsa"' in page
    assert "4 of 12" in page


def test_unknown_run_is_told_with_those_that_begin_alike(web: TestClient) -> None:
    """The whole beginning of an id is enough, if it is only one's."""
    assert "several runs begin with" in web.get("/runs/t").text
    missing = web.get("/runs/t1-other")
    assert missing.status_code == 404
    assert "t1-child" in missing.text
    assert web.get("/runs/t1-c").status_code == 200
    assert web.get("/runs/x.json").json()["error"].startswith("no run has the id")


def test_two_runs_are_aligned(web: TestClient) -> None:
    """Marked runs of a form come as well; the nearest success is found by its tools."""
    page = web.get(f"/compare?a={LOOPED}&b=t13").text
    assert "They part at s0 of A and the end of B." in page
    assert web.get(f"/compare?id={LOOPED}&id=t13").status_code == 200
    assert web.get("/compare?a=t1").status_code == 400
    nearest = web.get("/runs/t5/nearest")
    assert nearest.headers["location"].endswith("&b=t5")
    assert web.get("/runs/t25/nearest").status_code == 404


def test_releases_to_choose_from_begin_with_the_two_newest(web: TestClient) -> None:
    """The older of them as the base, so that one press compares them."""
    page = web.get("/releases").text
    base, candidate = re.findall(r'<option value="([^"]*)" selected>', page)

    assert (base, candidate) == ("1.0", "1.1")


def test_releases_say_what_compare_says(web: TestClient, sample_lake: Lake) -> None:
    """Numbers are the command's and lead to their runs; the decision alone says the verdict."""
    page = web.get("/releases?base=1.0&candidate=1.1&agent=files").text
    told = json.loads(
        tracegrade("compare", "1.0", "1.1", "--lake", sample_lake.root, "--format", "json").stdout
    )
    assert web.get("/releases.json?base=1.0&candidate=1.1&agent=files").json() == told
    assert "Nothing changed between" not in page
    assert "/runs?agent=files&amp;release=1.1&amp;run_mode=live&amp;tsa=.." in page
    assert web.get("/releases?base=1.0&candidate=9").status_code == 404


def test_only_changes_beyond_chance_have_a_color(tmp_path: Path) -> None:
    """Three attempts of three that now fail may be chance, four of four are not."""
    with closing(Tables()) as tables:
        for release in ("1.0", "1.1"):
            for task, trials in (("pay", 4), ("read", 3)):
                for trial in range(trials):
                    run = tables.run(release, task_id=task, trial=trial, run_mode="live")
                    tables.scored(run, task)
                    tables.score(run, "success", float(release == "1.0"))
        lake = as_lake(tables, tmp_path / "lake")
    with closing(explorer(lake)) as found, closing(found.latest):
        page = client(found).get("/releases?base=1.0&candidate=1.1").text
    row = re.compile("<th scope=.row.><a [^>]*>(pay|read)</a>(.*?)</tr>", re.DOTALL)
    tasks = dict(row.findall(page))

    assert tasks.keys() == {"pay", "read"}
    assert [("worse" in text, "may be chance" in text) for _, text in sorted(tasks.items())] == [
        (True, False), (False, True),
    ]  # fmt: skip
    assert "<dt>Success</dt><dd>7 of 7 → 0 of 7" in page


def test_releases_name_the_runs_that_broke(tmp_path: Path) -> None:
    """As links, in the answer and in the rows of tasks."""
    with closing(Tables()) as tables:
        for release in ("1.0", "1.1"):
            for trial in (1, 2, 3, 4):
                run = tables.run(release, task_id="pay", trial=trial, run_mode="live")
                tables.scored(run, "pay")
                tables.score(run, "success", float(release == "1.0"))
                looped = float(release == "1.1" and trial == 2)
                tables.score(run, "loop_trap", looped, numerator=looped, denominator=1.0)
                if looped:
                    tables.insert("failures", trajectory_id=run, mode="loop_trap")
        lake = as_lake(tables, tmp_path / "lake")
    with closing(explorer(lake)) as found, closing(found.latest):
        page = client(found).get("/releases?base=1.0&candidate=1.1").text
    broke = re.search("What broke</h3>.*?</div>", page, re.DOTALL)
    task = re.search("<th scope=.row.><a [^>]*>pay</a>.*?</tr>", page, re.DOTALL)

    assert broke
    assert re.findall('href="/runs/([^"]+)"', broke[0]) == ["t5", "t6", "t7"]
    assert task
    assert re.findall('href="/runs/([^"]+)"', task[0]) == ["t5", "t6", "t7"]


def test_releases_say_why_runs_of_the_newest_failed(tmp_path: Path) -> None:
    """The commonest reasons lead to their runs, an unknown one is last, the others are counted."""
    hostile = "<script>pay</script> *?,"
    reasons = [("never_called", hostile)] * 3 + [("unexplained", None)] * 4
    reasons += [("loop", "a"), ("loop", "a"), ("loop", "b"), ("loop", "c")]
    with closing(Tables()) as tables:
        for release, found in (("1.0", [("crashed", "z")]), ("1.1", reasons)):
            for kind, what in found:
                run = tables.run(release, task_id="pay", run_mode="live")
                tables.scored(run, "pay")
                tables.score(run, "success", 0.0)
                tables.insert("run_reasons", trajectory_id=run, rank_in_run=1, kind=kind,
                              object=what, key=f"{kind}{what}", sentence="so", release=release,
                              success=False)  # fmt: skip
        lake = as_lake(tables, tmp_path / "lake")
    with closing(explorer(lake)) as shown, closing(shown.latest):
        web = client(shown)
        (said,) = re.findall(r"Why runs of 1\.1 failed:.*?</td>", web.get("/releases").text)
        links = re.findall(r'href="([^"]+)">([^<]+)</a>', said)
        told = [web.get(html.unescape(href).replace("?", ".json?", 1)).json() for href, _ in links]

    assert [text for _, text in links] == [
        "3 of 11 failed",
        "2 of 11 failed",
        "1 of 11 failed",
        "2 more reasons",
    ]
    assert [each["runs"] for each in told] == [3, 2, 1, 11]
    assert "&lt;script&gt;pay" in said
    assert "no step shows why" not in said


def counts_of(page: str) -> list[tuple[str, int]]:
    """Return the links of a page to lists of runs whose text is a number of runs."""
    found = re.findall(r'href="(/runs\?[^"]+)">([\d,]+)</a>', page)
    return [(href.replace("&amp;", "&"), int(text.replace(",", ""))) for href, text in found]


def test_a_number_of_runs_leads_to_so_many(tmp_path: Path) -> None:
    """On every page, although runs were killed on purpose or replaced by a later trial."""
    with closing(Tables()) as tables:
        for release in ("1.0", "1.1"):
            for trial, kill_point in ((1, None), (1, None), (2, None), (3, "mid")):
                run = tables.run(release, task_id="pay", trial=trial, kill_point=kill_point)
                tables.scored(run, "pay")
                reason = {"reason": "killed_run"} if kill_point else {}
                tables.score(run, "success", None if kill_point else 0.0, **reason)
                tables.insert("failures", trajectory_id=run, mode="loop_trap")
        lake = as_lake(tables, tmp_path / "lake")
    with closing(explorer(lake)) as found, closing(found.latest):
        web = client(found)
        counts = [
            pair for path in ("/releases", "/tasks") for pair in counts_of(web.get(path).text)
        ]
        told = [web.get(href.replace("?", ".json?", 1)).json()["runs"] for href, _ in counts]
        task = web.get("/tasks.json").json()["tasks"][0]

    assert [count for _, count in counts] == told
    assert (len(told), {*told}) == (7, {2, 4})
    assert (task["runs"], task["failed"], task["findings"]) == (4, 4, 4)


def test_a_run_that_is_no_attempt_says_which_kind(tmp_path: Path) -> None:
    """Killed, or sent beside the run of its trial: neither counts, and both have the same mark."""
    with closing(Tables()) as tables:
        for kill_point in (None, "late", "several_runs"):
            tables.scored(tables.run("1.0", task_id="pay", trial=1, kill_point=kill_point), "pay")
        lake = as_lake(tables, tmp_path / "lake")
    with closing(explorer(lake)) as found, closing(found.latest):
        page = client(found).get("/runs").text
        counted = client(found).get("/runs.json?counted=yes").json()["runs"]

    assert page.count(">†<") == 2
    assert page.count('"killed on purpose"') == 1
    assert page.count('"sent in addition to the run of its trial"') == 1
    assert counted == 1


def test_colors_are_kept_in_a_cookie(web: TestClient) -> None:
    """That leaves the address as it was, and leads to no other host."""
    answer = web.get("/tasks/a%2Fb%3F?x=%26&scheme=dark")
    assert (answer.status_code, answer.headers["location"]) == (303, "/tasks/a%2Fb%3F?x=%26")
    assert "tracegrade_scheme=dark" in answer.headers["set-cookie"]
    chosen = {"cookie": "tracegrade_scheme=dark"}
    assert '<html lang="en" data-scheme="dark">' in web.get("/", headers=chosen).text
    assert '<html lang="en" data-scheme="dark">' in web.get("/tasks/none", headers=chosen).text
    assert "data-scheme" not in web.get("/", headers={"cookie": "tracegrade_scheme=x>"}).text
    assert "max-age=0" in web.get("/?scheme=system").headers["set-cookie"].lower()
    assert web.get("/?scheme=pink").status_code == 400


def test_task_shows_where_attempts_part_from_what_is_expected(web: TestClient) -> None:
    """Each decision with the share that met it, each release with its newest attempts."""
    page = web.get("/tasks/malformed-header").text
    assert "check-empty" in page
    assert 'outcome-failed" href="/runs/t' in page
    assert web.get("/tasks/nothing").status_code == 404


def test_trend_leads_to_the_runs_of_a_date(web: TestClient) -> None:
    """Its numbers stand in a table, too; addresses that say `day`, as they did, are understood."""
    assert web.get("/trends.json?by=day").json() == web.get("/trends.json?by=date").json()
    rows = web.get("/trends.json?metric=tsa").json()["rows"]
    assert sum(row["runs"] for row in rows) == 27
    page = web.get("/trends?metric=tsa").text
    href = re.search(r'href="(/runs\?release=1\.0&amp;received=2026-11-01&amp;counted=yes)"', page)
    assert href
    assert web.get(href[1].replace("&amp;", "&").replace("?", ".json?")).json()["runs"] == 12


@pytest.fixture
def empty(empty_lake: Path) -> Iterator[TestClient]:
    """The pages over a lake without anything."""
    with closing(explorer(Lake.open(empty_lake))) as found:
        yield client(found)


def test_empty_lake_says_how_it_is_filled(empty: TestClient) -> None:
    """With the commands; no page fails."""
    for path in ("/", "/runs"):
        assert "tracegrade import FILE" in empty.get(path).text
    for path in (
        "/tasks",
        "/releases",
        "/money",
        "/kills",
        "/trends",
        "/search",
        "/sql",
        "/conversations",
    ):
        assert empty.get(path).status_code == 200
    assert empty.get("/runs/x").status_code == 404


def test_unscored_runs_are_shown_and_called_so(tmp_path: Path) -> None:
    """Their steps are there, and what would score them."""
    with closing(explorer(unscored(tmp_path / "lake"))) as found:
        web = client(found)
        (row,) = web.get("/runs.json").json()["rows"]
        assert "No run has been scored" in web.get("/runs").text
        page = web.get(f"/runs/{row['trajectory_id']}").text
    assert "Not scored: run" in page
    assert len(re.findall(r'<(?:li|div) id="s\d', page)) == row["step_count"] > 0


def test_scored_spans_lead_to_pages(scored_lake: Lake) -> None:
    """From spans as they came to the step of a sub-agent's run."""
    with closing(explorer(scored_lake)) as found:
        web = client(found)
        rows = web.get("/runs.json").json()["rows"]
        assert {row["task_id"] for row in rows} == {"refund"}
        pages = [web.get(f"/runs/{row['trajectory_id']}").text for row in rows]
        spans = web.get(f"/runs/{rows[0]['trajectory_id']}/spans.json").json()["spans"]
        assert web.get("/tasks/refund").status_code == 200
    assert any("of its own run</a>" in page for page in pages)
    assert {span["name"] for span in spans} >= {"invoke_agent x"} or spans


def tags(page: str) -> str:
    """Return a page without the values of its attributes, which are text."""
    return re.sub(r'"[^"]*"', '""', page)


@pytest.mark.parametrize(
    ("texts", "pages"),
    slow_after(
        1,
        [
            ((HOSTILE[0], "a/b?c#d"), 11),
            ((*HOSTILE[1:], "../..", ".json"), 45),
        ],
    ),
    ids=["few", "others"],
)
def test_hostile_names_are_shown_and_lead_to_their_pages(
    tmp_path: Path, texts: tuple[str, ...], pages: int
) -> None:
    """Whatever traces call agents, tasks and tools: text on each page, and links that work."""
    with closing(Tables()) as tables:
        for text in texts:
            run = f"t{tables.runs + 1}"
            fill_with(tables, text)
            tables.insert(
                "steps", trajectory_id=run, step_index=0, kind="tool_call", tool_name=text,
                arguments=text, result=text, content=text, error_message=text, flags=[text],
            )  # fmt: skip
        lake = as_lake(tables, tmp_path / "lake")
    with closing(explorer(lake)) as found:
        web = client(found)
        paths = {"/", "/runs", "/tasks", "/releases", "/trends"}
        for path in sorted(paths):
            links = re.findall(r'href="(/(?:tasks|conversations|runs)/[^"]+)"', web.get(path).text)
            paths |= {link.replace("&amp;", "&") for link in links}
        assert len(paths) >= pages
        for path in sorted(paths):
            page = web.get(path)
            assert page.status_code == 200, path
            assert "<script>alert" not in page.text
            assert not re.search(r"<[a-z][^>]* on\w+=", tags(page.text))
            assert not re.search(r'href="(?!/|#|")', page.text)


def test_unknown_addresses_get_a_page(web: TestClient) -> None:
    """With a way on; so do other forms that a page does not have."""
    assert web.get("/nothing").status_code == 404
    assert "No page has this address" in web.get("/nothing").text
    assert web.get("/compare.csv?a=t1&b=t2").status_code == 200
    assert web.get("/runs.xml").status_code in {200, 404}


@pytest.mark.parametrize(("steps", "most"), [(0, 4_000), (34, 4_000), (100, 2_000), (2_000, 400)])
def test_texts_of_many_steps_are_cut_shorter(steps: int, most: int) -> None:
    """So that a page of 2,000 steps is no larger than one of 500 whole texts."""
    assert text_limit(steps) == most


def test_pages_are_small(pages: Explorer) -> None:
    """Script and style stay within what they were given."""
    web = client(pages)
    assert len(web.get("/static/app.js").content) <= 13_300
    assert len(web.get("/static/app.css").content) <= 48_000
    assert len(web.get("/static/app.js").text.splitlines()) <= 300


def test_error_of_a_long_address_is_short(web: TestClient) -> None:
    """Its conditions are not shown each with the address of all the others."""
    shown = web.get("/runs?" + "&".join(f"x{number}=1" for number in range(5_000)))

    assert shown.status_code == 400
    assert len(shown.content) < 10_000
