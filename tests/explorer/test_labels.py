"""People's labels: who may give them, what is written, and that nothing is lost or twice."""

import hashlib
import json
import re
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from datetime import date
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pytest
from httpx2 import Response
from starlette.testclient import TestClient
from tests.commands import tracegrade
from tests.explorer.lakes import client, explorer, labeled_by_ann
from tests.scoring.report.build import Tables, as_lake
from tests.waiting import wait_until

from tracegrade_collector.edge.address import Address
from tracegrade_explorer.app import Explorer, Labeling
from tracegrade_explorer.errors import NameRefused
from tracegrade_explorer.forms import LABEL_BYTES, MEDIA_TYPE
from tracegrade_explorer.guard import ANYBODY, Guard, Rules, allowed_hosts, knows_one
from tracegrade_explorer.labels import writer
from tracegrade_explorer.labels.people import everybody_is, named_in
from tracegrade_explorer.labels.writer import CHILD, LabelWriter
from tracegrade_explorer.server import Options, serve
from tracegrade_explorer.upkeep.scoring_process import ScoringProcess
from tracegrade_judges.schema import JUDGE_SAMPLES
from tracegrade_lake import Lake
from tracegrade_queries.engine.connection import connect

TOKEN = "t" * 43
OURS = {"sec-fetch-site": "same-origin", "cookie": f"c={TOKEN}"}
HOSTILE = "<b>\x1b[2J"


@pytest.fixture
def lake(scored_lake: Lake, tmp_path: Path) -> Lake:
    """Scored runs, which the test may change."""
    return Lake.open(shutil.copytree(scored_lake.root, tmp_path / "lake"))


@pytest.fixture
def pages(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> Iterator[Explorer]:
    """The pages over it, which ann may label; nothing is scored meanwhile."""
    monkeypatch.setattr(writer, "SCORE_AFTER_SECS", 3600.0)
    with labeled_by_ann(lake) as found:
        yield found


@pytest.fixture
def web(pages: Explorer) -> TestClient:
    """What asks for pages."""
    return client(pages)


def guarded(pages: Explorer) -> TestClient:
    """What asks for pages through the guard of one token."""
    hosts = allowed_hosts(Address("127.0.0.1", 80), ())
    rules = Rules(hosts, knows_one(TOKEN), "c", tls=False)
    app = Guard(pages.app(), rules)
    return TestClient(app, base_url="http://127.0.0.1", follow_redirects=False)


def run_ids(lake: Lake) -> list[str]:
    """Return the outermost runs."""
    with connect(lake) as con:
        found = con.sql(
            "SELECT trajectory_id FROM trajectories WHERE parent_trajectory_id IS NULL ORDER BY 1"
        )
        return [run for (run,) in found.fetchall()]


def rows(lake: Lake, relation: str = "verdicts") -> list[tuple[Any, ...]]:
    """Return what people said, without the times."""
    with connect(lake) as con:
        return con.sql(
            "SELECT subject, value, label, tag, evidence, step_index, span_id, source, withdrawn "
            f"FROM {relation} WHERE starts_with(source, 'human:') ORDER BY made_at, subject DESC"
        ).fetchall()


def page_token(web: TestClient, run: str, **headers: str) -> str:
    """Return the token that the form of a run's page has."""
    text = web.get(f"/runs/{run}", headers=headers).text
    (token, *_) = re.findall(r'name="page_token" value="(\w+)"', text)
    return str(token)


def post(web: TestClient, run: str, /, **fields: str) -> Response:
    """Return the answer to a form as the run's page has it."""
    data = {"page_token": page_token(web, run), "run": run, **fields}
    return web.post("/label", data=data)


def test_a_label_is_in_the_lake_once_it_is_answered(web: TestClient, lake: Lake) -> None:
    """With the step that failed, by its span; the next page follows, and the card shows it."""
    run = run_ids(lake)[0]
    with connect(lake) as con:
        (step, span), *_ = con.sql(
            "SELECT step_index, span_id FROM steps WHERE kind = 'tool_call' "
            f"AND trajectory_id = '{run}' ORDER BY 1"
        ).fetchall()
    answer = post(
        web,
        run,
        verdict="bad",
        step=f"s{step}",
        tag="looped",
        note="thrice",
        next="/queue?order=newest",
    )  # fmt: skip

    assert (answer.status_code, answer.headers["location"]) == (303, "/queue?order=newest")
    said = ("looped", "thrice")
    assert rows(lake) == [
        ("success", 0.0, "bad", *said, None, None, "human:ann", None),
        ("step", 0.0, None, *said, step, span, "human:ann", None),
    ]
    page = web.get(f"/runs/{run}").text
    assert "You said bad: looped · being scored." in page
    assert 'value="looped"' in page


def test_another_label_stands_for_the_first_and_undo_takes_it_back(
    web: TestClient, lake: Lake
) -> None:
    """The step that is no longer named is taken back with it."""
    run = run_ids(lake)[0]
    post(web, run, verdict="bad", step="1", tag="looped")
    post(web, run, verdict="good")
    counted = [row[:4] for row in rows(lake, "counted_verdicts")]
    assert counted == [("success", 1.0, "good", None)]
    post(web, run, act="undo")
    assert rows(lake, "counted_verdicts") == []
    assert "You said" not in web.get(f"/runs/{run}").text


def test_two_tabs_write_a_row_each(web: TestClient, lake: Lake) -> None:
    """At the same time, on two runs, and again on one of them: none is lost."""
    first, second, *_ = run_ids(lake)
    tokens = {run: page_token(web, run) for run in (first, second)}

    def send(run: str) -> int:
        data = {"page_token": tokens[run], "run": run, "verdict": "unsure"}
        return web.post("/label", data=data).status_code

    with ThreadPoolExecutor(3) as pool:
        assert [*pool.map(send, (first, second, first))] == [303, 303, 303]
    assert len(rows(lake)) == 3
    assert len(rows(lake, "counted_verdicts")) == 2


def test_a_run_that_is_gone_is_not_labeled(web: TestClient, lake: Lake) -> None:
    """409, and no row."""
    run = run_ids(lake)[0]
    assert post(web, run, run="f" * 32, verdict="bad").status_code == 409
    assert rows(lake) == []


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({}, "a label is good, bad or unsure"),
        ({"verdict": "bad", "step": "900"}, "the run has no step 900"),
        ({"verdict": "bad", "step": "x"}, "a step is a number"),
        ({"verdict": "bad", "note": "x" * LABEL_BYTES}, "write a shorter note"),
        ({"verdict": "bad", "page_token": "0" * 64}, "the form is not of this start"),
    ],
)
def test_forms_that_say_nothing_write_nothing(
    web: TestClient, lake: Lake, fields: dict[str, str], says: str
) -> None:
    """Each answer says why."""
    answer = post(web, run_ids(lake)[0], **fields)
    assert (answer.status_code, says in answer.text) == (403, True)
    assert rows(lake) == []


def test_the_guard_lets_only_forms_of_our_pages_write(pages: Explorer, lake: Lake) -> None:
    """Neither a foreign page, nor an address, nor a form without token or sender."""
    web, run = guarded(pages), run_ids(lake)[0]
    data = {"page_token": page_token(web, run, **OURS), "run": run, "verdict": "bad"}

    def status(fields: dict[str, str] = data, /, **headers: str) -> int:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        given = {**OURS, **named, "content-type": MEDIA_TYPE}
        return web.post("/label", data=fields, headers=given).status_code

    assert web.get("/label", headers=OURS).status_code == 405
    assert status(origin="http://evil.example") == 403
    assert status(sec_fetch_site="cross-site") == 403
    assert status(sec_fetch_site="same-site") == 403
    assert status(sec_fetch_site="none") == 403
    assert status(host="evil.example") == 421
    assert status(cookie="c=another") == 401
    assert status({"run": run, "verdict": "bad"}) == 403
    no_sender = {key: value for key, value in OURS.items() if key != "sec-fetch-site"}
    assert web.post("/label", data=data, headers=no_sender).status_code == 403
    assert rows(lake) == []
    assert web.post(
        "/label", data=data, headers={**no_sender, "origin": "http://127.0.0.1"}
    ).status_code == 303  # fmt: skip
    assert status(origin="null") == 303
    assert {row[2] for row in rows(lake)} == {"bad"}


def test_nobody_labels_who_may_not(lake: Lake) -> None:
    """The card has the command that imports a label in place of the form."""
    with closing(explorer(lake)) as pages, closing(pages.latest):
        web, run = client(pages), run_ids(lake)[0]
        page = web.get(f"/runs/{run}").text
        assert "data-label" not in page
        assert "tracegrade import label.jsonl --format verdicts" in page
        data = {"page_token": pages.tokens.of(ANYBODY), "run": run, "verdict": "bad"}
        assert web.post("/label", data=data).status_code == 403


def test_the_token_file_says_who_may(tmp_path: Path) -> None:
    """By name and permission; other tokens have no name."""
    file = tmp_path / "readers.toml"
    digests = {who: hashlib.sha256(who.encode()).hexdigest() for who in ("ann", "bob", "cyd")}
    file.write_text(
        f'[[token]]\ntenant = ""\nsha256 = "{digests["ann"]}"\nname = "ann"\nmay_label = true\n'
        f'[[token]]\ntenant = ""\nsha256 = "{digests["bob"]}"\nname = "bob"\n'
        f'[[token]]\ntenant = ""\nsha256 = "{digests["cyd"]}"\n'
    )
    file.chmod(0o600)
    name_of = named_in(file)
    assert [name_of(token) for token in ("ann", "bob", "cyd", "dan")] == ["ann", "", "", ""]


@pytest.mark.parametrize("name", ["", "a:b", "<b>", "a\nb", "x" * 61])
def test_some_names_are_refused(name: str) -> None:
    """What could be taken for another source, or acts."""
    with pytest.raises(NameRefused, match="--label-as takes"):
        everybody_is(name)


def test_label_as_is_for_loopback_alone(lake: Lake) -> None:
    """Elsewhere all callers would label with one name."""
    options = Options("192.0.2.1:0", insecure=True, label_as="ann")
    with pytest.raises(NameRefused, match="--label-as is for loopback alone"):
        serve(str(lake.root), options, print)


def test_hostile_texts_are_text(web: TestClient, lake: Lake) -> None:
    """In the note and the tag, on the page and as what a tag offers."""
    run = run_ids(lake)[0]
    post(web, run, verdict="bad", tag=HOSTILE, note=f"</textarea>{HOSTILE}")
    page = web.get(f"/runs/{run}").text
    assert "<b>" not in page.partition("<main")[2].partition('id="label-form"')[2]
    assert "\x1b" not in page
    assert "&lt;b&gt;" in page


def test_a_queue_begins_where_a_judge_disagrees_with_the_score(lake: Lake, tmp_path: Path) -> None:
    """Whichever word for no the judge uses; a judge that agrees moves nothing."""
    first, *_, last = run_ids(lake)
    verdicts = [
        {"trajectory_id": run, "subject": "success", "source": source, "label": label}
        for run, word in ((first, "pass"), (last, "incorrect"))
        for source, label in (("verifier:state", "pass"), ("judge:answers", word))
    ]
    file = tmp_path / "verdicts.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in verdicts))
    for words in (("import", file, "--format", "verdicts"), ("score",)):
        assert tracegrade(*words, "--lake", lake.root).returncode == 0

    found = explorer(lake)
    found.labeling = Labeling(everybody_is("ann"), LabelWriter(str(lake.root)))
    with closing(found), closing(found.latest):
        address = client(found).get("/queue?order=disagree").headers["location"]
    assert address.startswith(f"/runs/{last}?")


def test_a_queue_may_have_only_runs_that_were_drawn_for_a_judge(lake: Lake) -> None:
    """It is offered where some were drawn; a lake without judges has none."""
    second = run_ids(lake)[1]
    drawn = {"trajectory_id": second, "date": date(2026, 11, 1)}

    def queue(order: str) -> Response:
        found = explorer(lake)
        found.labeling = Labeling(everybody_is("ann"), LabelWriter(str(lake.root)))
        with closing(found), closing(found.latest):
            return client(found).get(f"/queue?order={order}")

    without = queue("sampled")
    lake.append(JUDGE_SAMPLES, pa.Table.from_pylist([drawn], JUDGE_SAMPLES.arrow()))

    assert "Nothing left to label" in without.text
    assert queue("sampled").headers["location"].startswith(f"/runs/{second}?")


def test_start_page_says_how_many_runs_wait(lake: Lake) -> None:
    """Each number is of the queue that it opens; a label lowers it; readers see none of it."""
    second = run_ids(lake)[1]
    drawn = {"trajectory_id": second, "date": date(2026, 11, 1)}
    lake.append(JUDGE_SAMPLES, pa.Table.from_pylist([drawn], JUDGE_SAMPLES.arrow()))
    found = explorer(lake)
    with closing(found), closing(found.latest):
        web = client(found)
        assert "To label" not in web.get("/").text
        assert web.get("/now.json").json()["to_label"] == {}
        found.labeling = Labeling(everybody_is("ann"), LabelWriter(str(lake.root)))
        card = web.get("/now.json").json()["to_label"]
        numbers = [int(each["text"].split()[0]) for each in card["queues"]]
        pages = [web.get(each["href"], follow_redirects=True).text for each in card["queues"]]
        left = [int(re.findall(r"(\d+) left", page)[0]) for page in pages]
        start = web.get(card["start"])
        post(web, second, verdict="good")
        after = web.get("/now.json").json()["to_label"]

    assert (card["waiting"], after["waiting"]) == (len(run_ids(lake)), len(run_ids(lake)) - 1)
    assert numbers == left
    assert "drawn to measure a judge" in card["queues"][0]["text"]
    assert start.headers["location"].startswith(f"/runs/{second}?")
    assert not any("drawn" in each["text"] for each in after["queues"])


def test_runs_that_no_rate_counts_do_not_wait(tmp_path: Path) -> None:
    """Killed and additional runs are in the list of runs, but not in a queue."""
    with closing(Tables()) as tables:
        for kill_point in (None, "late", "several_runs"):
            tables.scored(tables.run("1.0", task_id="pay", trial=1, kill_point=kill_point), "pay")
        lake = as_lake(tables, tmp_path / "lake")
    with labeled_by_ann(lake) as found:
        web = client(found)
        page = web.get("/queue?order=newest", follow_redirects=True).text
        waiting = web.get("/now.json").json()["to_label"]["waiting"]
        listed = web.get("/runs").text

    assert waiting == 1
    assert "1 left" in page
    assert "3 of 3" in listed


def test_a_queue_leads_from_one_run_to_the_next(web: TestClient, lake: Lake) -> None:
    """Each once, until all have a verdict of a person; the page shows how far one is."""
    seen: list[str] = []
    while True:
        answer = web.get("/queue?order=newest")
        if answer.status_code == 200:
            break
        address = answer.headers["location"]
        page = web.get(address).text
        assert f"{len(seen)} done" in page
        run = re.findall(r'name="run" value="([^"]+)"', page)[0]
        after = re.findall(r'name="next" value="([^"]+)"', page)[0]
        assert after == "/queue?order=newest"
        seen.append(run)
        assert post(web, run, verdict="good", next=after).headers["location"] == after
    assert sorted(seen) == run_ids(lake)
    assert "Nothing left to label" in answer.text
    assert web.get("/queue?order=oldest").status_code == 400


def test_scores_follow(lake: Lake) -> None:
    """The run is scored a little later, by what the person says."""
    run = run_ids(lake)[0]
    with closing(explorer(lake)) as pages, closing(pages.latest):
        labels = LabelWriter(str(lake.root))
        pages.labeling = Labeling(everybody_is("ann"), labels)
        post(client(pages), run, verdict="bad", step="s1", tag="looped", note="thrice")
        assert labels.awaits_scores(run)
        wait_until(lambda: not labels.awaits_scores(run))
    with connect(lake) as con:
        found = con.sql(
            "SELECT success.value, success.source FROM trajectory_scores "
            f"WHERE trajectory_id = '{run}'"
        ).fetchall()
        reason = con.sql(
            "SELECT kind, object, sentence, step_index FROM run_reasons "
            f"WHERE trajectory_id = '{run}' AND rank_in_run = 1"
        ).fetchall()
    assert found == [(0.0, "human")]
    assert reason == [("person", "looped", "ann says: thrice", 1)]


def test_a_label_waits_where_scoring_fails(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page gives the reason; the next label's scoring run scores both runs."""
    monkeypatch.setenv("TRACEGRADE_ENGINE", "abacus")
    first, second = run_ids(lake)[:2]
    scoring, scored = ScoringProcess(str(lake.root)), threading.Event()
    scoring.when_scored = scored.set
    with closing(explorer(lake)) as pages, closing(pages.latest):
        labels = LabelWriter(str(lake.root), scoring)
        pages.labeling = Labeling(everybody_is("ann"), labels)
        post(client(pages), first, verdict="bad")
        wait_until(lambda: labels.scoring_failure)
        page = client(pages).get(f"/runs/{first}").text
        assert labels.awaits_scores(first)
        assert "You said bad · not scored yet: " in page
        assert not scored.is_set()
        assert labels.scoring_failure.split("'")[0] in page

        monkeypatch.delenv("TRACEGRADE_ENGINE")
        post(client(pages), second, verdict="bad")
        wait_until(lambda: not labels.awaits_scores(second))
        assert not labels.awaits_scores(first)
        assert not labels.scoring_failure
        assert scored.is_set()


def test_the_process_that_writes_labels_starts_with_the_queue(lake: Lake) -> None:
    """The first label does not wait for it; a page of one who may not label starts none."""
    with closing(explorer(lake)) as pages, closing(pages.latest):
        assert client(pages).get("/queue").status_code == 303
        assert not writing_processes()
        pages.labeling = Labeling(everybody_is("ann"), LabelWriter(str(lake.root)))
        client(pages).get("/queue")
        assert len(writing_processes()) == 1
    assert not writing_processes()


def writing_processes() -> list[psutil.Process]:
    """Return the processes that write labels for this one."""
    found = []
    for process in psutil.Process().children():
        with suppress(psutil.ZombieProcess):  # one that another test has left
            found += [process] if CHILD in process.cmdline() else []
    return found
