"""An agent gets worse at noon: the message, its evidence, and what becomes of the issue.

Collector, follower, watch and pages are the commands of `kit/compose.yaml`, each a process. The
lake has nine earlier days of the same release. By hand, with the story as it goes:
`pytest -s tests/on_call`.
"""

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
from tests.collector.running import collecting
from tests.explorer.test_server import ui
from tests.queries.traces import DAY_NS, NOON_NS
from tests.send.peers import Peer, peer
from tests.waiting import PATIENCE_SECS, wait_until
from tests.watch.lakes import TASKS, land_days, release_days

from tracegrade_lake import Lake

TRACEGRADE: Final = Path(sys.executable).with_name("tracegrade")
AGENT: Final = Path(__file__).with_name("agent.py")
DAYS: Final = 9
MOST_RUNS: Final = 20
"""After so many bad runs, less than 60 % of the runs of the day, ten or more, succeeded."""
BAD_RUNS: Final = (*["success"] * 3, *["failure"] * 7)
RULES: Final = """
version: 1
defaults: {agent: support, run_mode: production}
watch:
  - {id: bad-day, metric: success, day_below: 0.6}
  - {id: success-drift, metric: success, drift: {reference_days: 7, alarms_per_year: 1}}
  - {id: issues, issue: reopened}
notify: [{slack: "env:SLACK_URL"}]
"""


class Team:
    """The running processes, and what they sent."""

    def __init__(self, agent: subprocess.Popen[str], slack: Peer, pages: str) -> None:
        self._agent = agent
        self._slack = slack
        self._pages = pages
        self._runs = Counter({"1.0": DAYS * 20})

    def run(self, release: str, *outcomes: str) -> None:
        """Let the agent make runs, and wait until their spans are in the lake."""
        assert self._agent.stdin is not None
        assert self._agent.stdout is not None
        for outcome in outcomes:
            self._agent.stdin.write(f"{release} {outcome}\n")
            self._agent.stdin.flush()
            self._agent.stdout.readline()
            self._runs[release] += 1

    def messages(self) -> list[Any]:
        """Return the messages that Slack has."""
        return [json.loads(body) for _, body in self._slack.received]

    def read(self, path: str) -> str:
        """Return a page."""
        page: str = urllib.request.urlopen(f"{self._pages}{path}").read().decode()  # noqa: S310
        return page

    def data(self, path: str) -> Any:
        """Return the JSON of a page."""
        return json.loads(self.read(path))

    def runs(self, release: str) -> int:
        """Return how many runs of a release there are."""
        return self._runs[release]

    def scored(self, release: str) -> int:
        """Return how many runs of a release have scores."""
        return int(self.data(f"/runs.json?release={release}&state=scored")["runs"])


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    """A lake with nine good days, and the processes that work on it."""
    lake = Lake.create(tmp_path / "lake")
    today = (datetime.now(UTC).timestamp() * 1e9 - NOON_NS) // DAY_NS
    land_days(lake, release_days("1.0", int(today) - DAYS, DAYS, succeeded=18, failed=2))
    (tmp_path / "tasks.yaml").write_text(TASKS)
    with ExitStack() as running:
        slack = running.enter_context(peer())
        slack.answer_first = lambda _: (200, {})
        collector = running.enter_context(collecting(lake.root))
        server = running.enter_context(ui(lake.root, "--no-token", "--no-build"))
        running.callback(server.terminate)
        assert server.stdout is not None
        pages = server.stdout.readline().removeprefix("ui: ").strip().rstrip("/")
        (tmp_path / "watch.yaml").write_text(f"{RULES}explorer: {pages}\n")
        running.enter_context(_following(lake.root, tmp_path, f"{slack.url}/services/T0/B0"))
        agent = running.enter_context(_agent(collector.url))
        team = Team(agent, slack, pages)
        wait_until(lambda: team.scored("1.0") == DAYS * 20)
        yield team


@contextmanager
def _following(lake: Path, folder: Path, slack: str) -> Iterator[None]:
    """Score what comes in and watch it, as the compose file does."""
    then = f"watch --rules {folder / 'watch.yaml'}"
    tasks = folder / "tasks.yaml"
    command: list[str | Path] = [TRACEGRADE, "score", "--lake", lake, "--tasks", tasks, "--follow",
                "--every", "1s", "--then", then]  # fmt: skip
    with (folder / "follower.log").open("wb") as log:
        follower = subprocess.Popen(
            command, env={**os.environ, "SLACK_URL": slack}, stdout=log, stderr=log
        )
        try:
            yield
        finally:
            follower.terminate()
            follower.wait()


@contextmanager
def _agent(endpoint: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, AGENT, endpoint], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as agent:
        yield agent
        assert agent.stdin is not None
        agent.stdin.close()


def runs_until(team: Team, release: str, enough: Callable[[], bool]) -> int:
    """Let an agent fail 7 of 10 runs until something is so; return how many runs it made."""
    made = 0
    while not enough():
        assert made < MOST_RUNS
        team.run(release, *BAD_RUNS)
        made += len(BAD_RUNS)
        wait_until(lambda: team.scored(release) == team.runs(release))
        _wait_briefly(enough)
    return made


def _wait_briefly(condition: Callable[[], bool]) -> None:
    """Give the watch that follows scoring time to end."""
    ends = time.monotonic() + PATIENCE_SECS / 10
    while not condition() and time.monotonic() < ends:
        time.sleep(0.1)


def issue_of_the_call(team: Team) -> dict[str, Any]:
    """Return the issue of the call that times out."""
    (found,) = (
        each for each in team.data("/issues.json")["issues"] if "timed out" in each["title"]
    )
    return dict(found)


def say(text: str) -> None:
    """Write a line for who reads along."""
    sys.stdout.write(f"{text}\n")


def tell(team: Team) -> None:
    """Print what is known of the issue."""
    issue = issue_of_the_call(team)
    say(f"issue {issue['title']!r}: {issue['state']}, first seen in {issue['first_release']} on "
        f"{issue['first_date']}, {issue['hits']} of {issue['of_runs']} runs of "
        f"{issue['counted_release']}")  # fmt: skip


@pytest.mark.slow
def test_an_agent_that_gets_worse_is_reported_mended_and_reported_again(team: Team) -> None:
    """The message has evidence and runs; the issue is new, then fixed, then reopened."""
    team.run("1.0", *["success"] * 5)
    assert team.messages() == []

    made = runs_until(team, "1.0", lambda: bool(team.messages()))
    (message,) = team.messages()
    text = json.dumps(message)
    say(f"\nafter {made} runs, 7 of 10 of which fail, Slack has: {message['text']}")
    say(f"with links to the runs {', '.join(set(re.findall(r'/runs/([0-9a-f-]+)', text)))}")
    assert re.search(rf"success is [\d.]+% on [\d-]+ \({made + 5} runs\)", message["text"])
    assert len(set(re.findall(r"/runs/([0-9a-f-]+)", text))) == 3
    assert all(
        "Run of support" in team.read(path) for path in re.findall(r"/runs/[0-9a-f-]+", text)
    )
    (alert,) = team.data("/alerts.json")["alerts"]
    assert (alert["rule"], alert["state"]) == ("bad-day", "firing")

    issue = issue_of_the_call(team)
    assert (issue["state"], issue["first_release"], issue["of_runs"]) == (
        "open",
        "1.0",
        185 + made,
    )
    tell(team)
    assert issue["first_date"] == datetime.now(UTC).date().isoformat()
    assert issue["hits"] == made * 7 // 10

    team.run("1.1", *["success"] * 20)
    wait_until(lambda: issue_of_the_call(team)["counted_release"] == "1.1")
    needed = issue_of_the_call(team)["needed_runs"]
    assert issue_of_the_call(team)["state"] == "open"
    say(f"20 good runs of 1.1: {needed} more are needed")
    team.run("1.1", *["success"] * needed)
    wait_until(lambda: issue_of_the_call(team)["state"] == "fixed")
    tell(team)

    team.run("1.2", *["success"] * 5, *["failure"] * 3)
    wait_until(lambda: issue_of_the_call(team)["state"] == "reopened")
    wait_until(lambda: any("issues" in json.dumps(each) for each in team.messages()[1:]))
    tell(team)
    say(f"Slack has: {team.messages()[-1]['text']}")
