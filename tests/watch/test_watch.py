"""What rules find in lakes, and what becomes of the alerts."""

import datetime
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from tests.watch.lakes import Day, land_days, release_days, rules, score_again, scored_lake

from tracegrade_lake import Lake
from tracegrade_watch.alert import Alert
from tracegrade_watch.alerting import acknowledge, watch_and_store
from tracegrade_watch.as_text import as_text
from tracegrade_watch.errors import AlertUnknown, WatchRefused
from tracegrade_watch.outputs.formats import as_junit
from tracegrade_watch.rules.model import WatchFile
from tracegrade_watch.run import watch
from tracegrade_watch.stored import read_alerts

NOW = datetime.datetime(2026, 12, 1)  # noqa: DTZ001 - as tables have it
SUCCESS = rules("[{id: success, metric: success, smallest: 0.05}]")
BASE = release_days("1.0", 0, 6, 18, 2)


def files(lake: Lake) -> dict[str, bytes]:
    """Return the contents of all files of a lake."""
    paths = sorted(path for path in lake.root.rglob("*") if path.is_file())
    return {str(path.relative_to(lake.root)): path.read_bytes() for path in paths}


def states(lake: Lake, file: WatchFile, now: datetime.datetime = NOW) -> dict[str, str]:
    """Watch a lake, and return the state of the alerts of each rule."""
    return {alert.rule: alert.state for alert in watch_and_store(lake, file, now).alerts}


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake whose second release fails twelve of twenty runs a day instead of two."""
    days = [*BASE, *release_days("1.1", 6, 5, 8, 12)]
    return scored_lake(tmp_path_factory.mktemp("lakes") / "worse", days)


@pytest.fixture
def worse(scored: Lake, tmp_path: Path) -> Lake:
    """A copy of that lake."""
    return Lake.open(shutil.copytree(scored.root, tmp_path / "lake"))


def only_alert(lake: Lake, file: WatchFile) -> Alert:
    """Watch a lake, and return its one alert."""
    (alert,) = watch_and_store(lake, file, NOW).alerts
    return alert


def test_a_worse_release_fires_with_evidence(worse: Lake) -> None:
    """The alert has the counts of both sides, tasks, days and three failed runs."""
    alert = only_alert(worse, SUCCESS)
    evidence = alert.evidence
    assert evidence.base is not None
    assert evidence.candidate is not None

    assert (alert.state, alert.base, alert.candidate) == ("firing", "1.0", "1.1")
    assert (evidence.base.scored, evidence.base.value_sum) == (120, 108)
    assert (evidence.candidate.scored, evidence.candidate.value_sum) == (100, 40)
    assert (evidence.ratio or 0) > (evidence.threshold or 0) == 20
    assert evidence.statement == (
        "success fell from 90.0% (1.0, 12 of 120 runs failed, 6 days) to 40.0% (1.1, 60 of 100 "
        "runs failed, 5 days)"
    )
    assert {task.task_id for task in evidence.tasks} == {"refund", "cancel"}
    assert [day.mean for day in evidence.days] == [0.9] * 6 + [0.4] * 5
    assert len(evidence.run_ids) == 3
    assert read_alerts(worse) == [alert]


def test_a_second_look_changes_no_byte(worse: Lake) -> None:
    """Neither alerts nor rules are written again."""
    watch_and_store(worse, SUCCESS, NOW)
    before = files(worse)
    watch_and_store(worse, SUCCESS, NOW + datetime.timedelta(days=3))

    assert files(worse) == before


def test_a_look_alone_writes_nothing(worse: Lake) -> None:
    """`watch` is a function of the lake, the rules and the time."""
    before = files(worse)
    assert watch(worse, SUCCESS, NOW) == watch(worse, SUCCESS, NOW)
    assert files(worse) == before


def test_order_of_arrival_changes_no_bit(worse: Lake, tmp_path: Path) -> None:
    """Days that land in another order make the same alert."""
    days = [*BASE, *release_days("1.1", 6, 5, 8, 12)]
    backward = scored_lake(tmp_path / "two", days[::-1])
    one, other = (only_alert(lake, SUCCESS).evidence for lake in (worse, backward))

    assert replace(one, run_ids=()) == replace(other, run_ids=())


@pytest.mark.parametrize(
    ("days", "reason"),
    [
        (release_days("1.1", 6, 4, 8, 12), "too few days: two releases need 5 each"),
        (release_days("1.1", 6, 5, 1, 0), "too few runs: each side needs 5 expected"),
    ],
)
def test_little_data_says_so(tmp_path: Path, days: list[Day], reason: str) -> None:
    """No alert fires, and the check says what is lacking."""
    watched = watch(scored_lake(tmp_path / "lake", [*BASE, *days]), SUCCESS, NOW)
    (check,) = watched.checks

    assert (check.reason or "").startswith(reason)
    assert watched.alerts == []


def test_rules_share_the_probability_of_a_false_alarm(worse: Lake) -> None:
    """Each test raises the threshold of all."""
    both = rules(
        "[{id: a, metric: success, smallest: 0.05}, {id: b, metric: tsa, smallest: 0.05}]",
        alpha=0.02,
    )
    evidence = [check.evidence for check in watch(worse, both, NOW).checks]
    assert evidence[0] is not None
    assert evidence[0].threshold == 2 / 0.02


def test_a_newer_release_resolves_an_alert(worse: Lake) -> None:
    """The alert of the pair before is resolved, and no longer changes."""
    assert states(worse, SUCCESS) == {"success": "firing"}
    newer = [Day("1.2", 11 + day, 18, 2) for day in range(5)]
    land_days(worse, newer, first_trace=10_000)
    score_again(worse)
    assert states(worse, SUCCESS) == {"success": "resolved"}
    before = files(worse)
    assert states(worse, SUCCESS) == {"success": "resolved"}
    assert files(worse) == before


def test_an_alert_is_acknowledged_until_it_fires_again(worse: Lake) -> None:
    """It no longer counts as firing, and has the note."""
    alert = only_alert(worse, SUCCESS)
    changed = acknowledge(worse, alert.alert_id[:6], "ann: rolled back")
    watched = watch_and_store(worse, SUCCESS, NOW)

    assert changed.state == "acknowledged"
    assert watched.firing == []
    assert [each.evidence.note for each in watched.alerts] == ["ann: rolled back"]
    for wrong in ("", "xyz"):
        with pytest.raises(AlertUnknown):
            acknowledge(worse, wrong, "ann")


def test_a_removed_rule_resolves_its_alert(worse: Lake) -> None:
    """So does one that is about something else now."""
    states(worse, SUCCESS)
    other = rules("[{id: other, metric: success, smallest: 0.05}]")
    assert states(worse, other) == {"success": "resolved", "other": "firing"}


@pytest.fixture(scope="module")
def drifting(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake whose one release gets worse after ten days."""
    days = [*release_days("1.0", 0, 10, 18, 2), *release_days("1.0", 10, 5, 9, 11)]
    return scored_lake(tmp_path_factory.mktemp("lakes") / "lake", days)


def test_facts(drifting: Lake) -> None:
    """Rules without a test look at limits alone."""
    file = rules("""
    - {id: drift, metric: success, drift: {reference_days: 7}}
    - {id: low, metric: success, day_below: 0.5}
    - {id: high, metric: success, day_above: 0.5}
    - {id: steps, metric: steps_per_run, day_above: 0}
    - {id: few, metric: success, day_below: 0.5, runs: 21}
    - {id: quiet, silence_hours: 24, agent: support}
    - {id: others, silence_hours: 24, agent: other}
    - {id: lag, unscored_minutes: 5}
    """)
    watched = watch(drifting, file, NOW)
    fires = {check.about.rule: check.fires for check in watched.checks}
    reasons = {check.about.rule: check.reason for check in watched.checks if check.reason}

    assert fires == {
        "drift": True,
        "low": True,
        "high": False,
        "steps": True,
        "few": False,
        "quiet": True,
        "others": False,
        "lag": False,
    }
    assert reasons == {
        "few": "too few runs: no day has 21",
        "others": "no run of other was ever received",
    }


def test_a_drift_is_described_by_days_that_got_worse(tmp_path: Path) -> None:
    """Also where the newest days are as good as the first ones again."""
    weeks = ((0, 14, 18, 2), (14, 7, 4, 16), (21, 8, 19, 1))
    days = [day for week in weeks for day in release_days("1.0", *week)]
    lake = scored_lake(tmp_path / "lake", days)
    (check,) = watch(lake, rules("[{id: drift, metric: success, drift: {}}]"), NOW).checks

    assert check.fires
    assert check.evidence is not None
    assert check.evidence.statement.startswith("success fell from 90.0%")
    assert check.evidence.statement.endswith("first days against the worst, to 2026-10-11")
    assert check.evidence.tasks


def test_runs_without_an_agent_name_are_not_the_whole_lake(tmp_path: Path) -> None:
    """Neither in the text nor in JUnit XML."""
    days = [*BASE, *release_days("1.1", 6, 5, 8, 12)]
    lake = scored_lake(tmp_path / "lake", [day._replace(agent_name="") for day in days])
    watched = watch_and_store(lake, SUCCESS, NOW)

    assert [alert.agent_name for alert in watched.alerts] == [None]
    assert "(no agent name), production" in next(as_text(watched))
    assert "(no agent name), production" in as_junit(watched)
    quiet = watch(lake, rules("[{id: quiet, silence_hours: 1}]"), NOW)
    assert "agent name" not in as_junit(quiet) + "".join(as_text(quiet))


def test_a_scored_lake_without_runs_can_be_watched(tmp_path: Path) -> None:
    """Nothing fires; a lake that was not scored is refused."""
    lake = Lake.create(tmp_path / "lake")
    with pytest.raises(WatchRefused, match="has never been scored"):
        watch(lake, SUCCESS, NOW)
    score_again(lake)
    (check,) = watch(lake, SUCCESS, NOW).checks

    assert check.reason == "no scored run"


def test_silence_ends_with_a_run(drifting: Lake) -> None:
    """Between two runs only the time decides."""
    file = rules("[{id: quiet, silence_hours: 24}]")
    newest = watch(drifting, file, NOW).until
    assert newest is not None
    for hours, fires in ((23.9, False), (24.1, True)):
        now = newest + datetime.timedelta(hours=hours)
        assert [check.fires for check in watch(drifting, file, now).checks] == [fires]


def test_runs_of_a_conversation_are_one_observation(tmp_path: Path) -> None:
    """Sixty failed turns of five conversations are five observations, too few for a test."""
    turns = [Day("1.1", 6 + day, 0, 12, conversation=f"c{day}") for day in range(5)]
    lake = scored_lake(tmp_path / "lake", [*BASE, *turns])
    (check,) = watch(lake, SUCCESS, NOW).checks

    assert check.evidence is None or (
        check.evidence.candidate is not None and check.evidence.candidate.scored == 5
    )


def test_runs_without_scores_are_noticed(tmp_path: Path) -> None:
    """Spans that no build has seen count as well."""
    lake = scored_lake(tmp_path / "lake", BASE)
    land_days(lake, [Day("1.0", 8, 2, 0)], first_trace=500)
    file = rules("[{id: lag, unscored_minutes: 30}]")
    (check,) = watch(lake, file, NOW).checks

    assert check.fires
    assert check.evidence is not None
    assert check.evidence.observed == 2
    score_again(lake)
    assert [check.fires for check in watch(lake, file, NOW).checks] == [False]
