"""Conversations of several traces, or of one run in which the user speaks again."""

import json
import re
from collections.abc import Iterator
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient
from tests.explorer.lakes import client, explorer, run_query
from tests.queries.traces import agent, land, request_of, tool
from tests.scoring.report.build import Tables, as_lake

from tracegrade_collector.importing.import_part import ReadOptions
from tracegrade_collector.importing.importer import import_files
from tracegrade_explorer.run_view.chat_text import chat_markup
from tracegrade_lake import Lake
from tracegrade_scoring.job.run_scoring import score
from tracegrade_scoring.tasks import Specification, load
from tracegrade_scoring.tasks.ground_truth import task_file

ALLOWED = {"p", "b", "ul", "ol", "li"}
HOSTILE = (
    "<script>alert(1)</script> **<img src=x onerror=alert(2)>**\n- <a href='javascript:x'>y</a>"
)
NAMES = {"messages": "traj", "task": "task_id", "trial": "trial", "success": "reward"}


class Tags(HTMLParser):
    """Notes each tag, its attributes, and the text between tags."""

    def __init__(self) -> None:
        """Begin with none."""
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        """Note text."""
        self.text += data


def tags_of(markup: str) -> Tags:
    """Return what a browser finds in markup."""
    found = Tags()
    found.feed(markup)
    found.close()
    return found


@given(st.text(alphabet=st.sampled_from("<>&\"'*-_ \n1.)a/=;\x1b\u2028"), max_size=200))
def test_no_text_is_markup(text: str) -> None:
    """Whatever it is made of, it gives bold and lists alone, and loses no letter."""
    found = tags_of(chat_markup(text))
    assert found.tags <= ALLOWED
    assert found.attributes <= {"start", "class"}
    assert found.text.count("a") >= text.count("a")
    assert found.text.count("<") == text.count("<")


def test_bold_and_lists_are_drawn() -> None:
    """Stars without words between them stay, and numbers of a list are kept."""
    drawn = chat_markup("Hi **Mia**, 2 ** 3 ** 4:\n\n3. one\n4. **two**\n   - inner\nbye")
    assert drawn == (
        "<p>Hi <b>Mia</b>, 2 ** 3 ** 4:</p>"
        '<ol start="3"><li>one</li><li><b>two</b></li></ol>'
        '<ul><li class="inner">inner</li></ul><p>bye</p>'
    )


@pytest.fixture(scope="module")
def tau(tmp_path_factory: pytest.TempPathFactory, shared_data: Path) -> Iterator[TestClient]:
    """The pages over eight conversations of an airline. Source of the runs: [tau-bench]."""
    folder = tmp_path_factory.mktemp("tau")
    runs = json.loads((shared_data / "tau-bench" / "gpt-4o-airline.json").read_text())[:8]
    file = folder / "runs.jsonl"
    file.write_text("".join(json.dumps(run) + "\n" for run in runs))
    lake = Lake.create(folder / "lake")
    import_files(lake, [file], list[str]().append, reading=ReadOptions("messages", NAMES))
    (folder / "tasks.yaml").write_text(task_file([file], {}, "true", list[str]().append))
    score(lake, load([folder / "tasks.yaml"]).specification)
    with closing(explorer(lake)) as found, closing(found.latest):
        yield client(found)


def test_a_run_in_which_the_user_speaks_again_is_a_conversation(tau: TestClient) -> None:
    """Its turns are those that the steps have; the list adds up as SQL does."""
    listed = tau.get("/conversations.json").json()["conversations"]
    text = "SELECT trajectory_id, turn_count, tool_call_count FROM trajectories ORDER BY ALL"
    counted = run_query(tau, text, ".json").json()["rows"]
    assert sorted((row["name"], row["turns"], row["calls"]) for row in listed) == [
        (row["trajectory_id"], row["turn_count"], row["tool_call_count"]) for row in counted
    ]
    for row in listed:
        turns = tau.get(f"/conversations/{row['name']}.json").json()["turns"]
        assert [turn["turn"] for turn in turns] == [*range(1, row["turns"] + 1)]
        assert sum(turn["calls"] for turn in turns) == row["calls"]
        assert sum(turn["failed"] for turn in turns) == row["failed"]


def test_turns_with_a_finding_are_open_and_others_folded(tau: TestClient) -> None:
    """The heading names the turn in which it failed."""
    failed = tau.get("/conversations.json?outcome=failed").json()["conversations"]
    for row in failed:
        address = f"/conversations/{row['name']}"
        turns = tau.get(f"{address}.json").json()["turns"]
        page = tau.get(address).text
        opened = re.findall(r'id="turn-(\d+)"[^>]*>\s*<details open>', page)
        assert opened == [str(turn["turn"]) for turn in turns if turn["findings"]]
    assert any("Failed in turn" in tau.get(f"/conversations/{row['name']}").text for row in failed)


def test_a_conversation_may_span_several_traces(tmp_path: Path) -> None:
    """Its runs are in order, each with steps of its own; a single run is not a conversation."""
    lake = Lake.create(tmp_path / "lake")
    for trace in (1, 2, 3):
        spans = [agent(1, trace=trace, at=1000 * trace, gen_ai__conversation__id="chat/1")]
        spans.append(tool(2, 1, trace=trace, at=1000 * trace + 1, tool_name=f"tool{trace}"))
        land(lake, request_of(spans), seq=trace)
    land(lake, request_of([agent(1, trace=9, gen_ai__conversation__id="alone")]), seq=9)
    score(lake, Specification())
    with closing(explorer(lake)) as made, closing(made.latest):
        web = client(made)
        (row,) = web.get("/conversations.json").json()["conversations"]
        page = web.get("/conversations/chat%2F1").text
        anchors = re.findall(r' id="([^"]+)"', page)

    assert (row["name"], row["runs"], row["turns"], row["calls"]) == ("chat/1", 3, 3, 3)
    assert re.findall(r'<b class="name">(tool\d)</b>', page) == ["tool1", "tool2", "tool3"]
    assert len(anchors) == len({*anchors})


def long_conversation(tables: Tables, turns: int) -> str:
    """Return a run of so many turns with hostile texts; every fortieth has a failed call."""
    run = f"{1:032x}-{1:016x}"
    tables.facts[run] = tables.facts[tables.run("talk", trajectory_id=run, step_count=3 * turns)]
    tables.con.execute(
        "UPDATE trajectories SET turn_count = $turns, user_input = $text "
        "WHERE trajectory_id = $id",
        {"turns": turns, "id": run, "text": HOSTILE},
    )
    tables.scored(run, None)
    for turn in range(turns):
        common = {"trajectory_id": run, "turn": turn}
        bad = turn % 40 == 39
        tables.insert("steps", step_index=3 * turn, kind="message", role="user",
                      content=f"{HOSTILE} {'more ' * 60}{turn}", **common)  # fmt: skip
        tables.insert("steps", step_index=3 * turn + 1, kind="tool_call", tool_name="look",
                      arguments='{"of": "' + "x" * 900 + '"}', result="y" * 900,
                      status="error" if bad else "ok", flags=[], **common)  # fmt: skip
        tables.insert("steps", step_index=3 * turn + 2, kind="answer", role="assistant",
                      content=f"{HOSTILE}\n{'long ' * 200}", **common)  # fmt: skip
    return run


def test_two_hundred_turns_are_a_small_page(tmp_path: Path) -> None:
    """Each has its line; one without a finding opens by its link, and no text is markup."""
    with closing(Tables()) as tables:
        run = long_conversation(tables, 200)
        lake = as_lake(tables, tmp_path / "lake")
    with closing(explorer(lake)) as made, closing(made.latest):
        web = client(made)
        page = web.get(f"/conversations/{run}")
        chosen = web.get(f"/conversations/{run}?turn=7")

    assert page.status_code == 200
    assert len(page.content) <= 300_000
    assert page.text.count('class="turn"') == 200
    assert re.findall(r'id="turn-(\d+)"[^>]*>\s*<details open>', page.text) == [
        *("40", "80", "120", "160", "200")
    ]
    assert 'id="turn-7" class="turn"' in chosen.text
    assert re.search(r'id="turn-7"[^>]*>\s*<details open>', chosen.text)
    for each in (page.text, chosen.text):
        found = tags_of(each)
        assert not found.tags & {"img"}
        assert "<script>alert" not in each
        assert "onerror" not in found.attributes


def test_what_is_no_conversation_is_said(web: TestClient) -> None:
    """And a number of the address that is none."""
    assert web.get("/conversations/nothing").status_code == 404
    assert web.get("/conversations/k?turn=x").status_code == 400
    assert web.get("/conversations/k?from=-1").status_code == 400
    assert web.get("/conversations.csv").text.startswith("name,runs,turns,")
