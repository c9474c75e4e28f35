"""Files of rules: their errors, and the rules that a lake stores."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml
from pydantic import ValidationError
from tests.commands import tracegrade
from tests.watch.lakes import rules

from tracegrade_lake import Lake
from tracegrade_scoring.metrics import METRICS
from tracegrade_watch.errors import WatchRefused
from tracegrade_watch.rules.load import KnownNames, check_names, load_rules
from tracegrade_watch.rules.model import WatchFile
from tracegrade_watch.rules.schema import watch_schema_text
from tracegrade_watch.rules.stored import rule_line, store_rules, stored_rules

SCHEMA = Path(__file__).parents[2] / "scoring" / "watch.schema.json"
KNOWN = KnownNames(METRICS, ["arm"])
WHOLE = """
version: 1
defaults: {agent: support, run_mode: production, alpha: 0.05, min_days: 5}
watch:
  - {id: success, metric: success, smallest: 0.05}
  - {id: drift, metric: tsa, drift: {reference_days: 14, alarms_per_year: 1}}
  - {id: by-arm, metric: success, by: arm, smallest: 0.05}
  - {id: modes, failure_mode: any_new, runs: 3}
  - {id: issues, issue: reopened}
  - {id: quiet, silence_hours: 24}
  - {id: lag, unscored_minutes: 30}
  - {id: cost, metric: cost_usd_per_run, day_above: 0.50}
notify: [{slack: "env:SLACK_URL"}]
"""


def loaded(folder: Path, text: str) -> str:
    """Return why a file is refused."""
    path = folder / "watch.yaml"
    path.write_text(text)
    with pytest.raises(WatchRefused) as refused:
        load_rules(path, KNOWN)
    return str(refused.value).removeprefix(f"{path}:")


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("{id: a, metric: succes, smallest: 1}", "4: no metric is named 'succes'; did you mean"),
        ("{id: a, metric: success, smalest: 1}", "4: unknown key 'smalest' in watch[1]; did you"),
        (
            "{id: a, metric: actual_steps, smallest: 1}",
            "4: neither more nor less of actual_steps is better, so no change",
        ),
        ("{id: a, metric: success, smallest: 1, by: arms}", "4: runs have no dimension 'arms'"),
        ("{id: a, metric: success}", "4: watch[1]: the rule has none of the keys that say what"),
        ("{id: a, smallest: 1}", "4: watch[1]: a rule with smallest needs a metric; add one"),
        ("{id: a, issue: new, metric: tsa}", "4: watch[1]: a rule with issue has a metric; leave"),
        ("{id: a, issue: new, silence_hours: 1}", "4: watch[1]: the rule has issue and silence_h"),
        ("{id: a, silence_hours: 1, runs: 2}", "4: watch[1]: a rule with silence_hours has no"),
        ("{id: a, unscored_minutes: 1, agent: x}", "4: watch[1]: unscored_minutes is about the"),
        ("{id: a, metric: success, smallest: 0}", "4: watch[1].smallest is 0; it should be great"),
        ("{id: first, issue: new}", "4: two rules have the id 'first'"),
        ("{id: a, metric: optimal_steps, drift: {}}", "4: "),
    ],
)
def test_errors_are_named_with_their_line(tmp_path: Path, rule: str, message: str) -> None:
    """Unknown keys, metrics and dimensions, and keys that do not belong together."""
    text = f"version: 1\nwatch:\n- {{id: first, issue: new}}\n- {rule}\n"
    assert loaded(tmp_path, text).startswith(message)


def test_a_lake_stores_the_rules_once(tmp_path: Path) -> None:
    """They are equal afterwards, and the second time nothing is written."""
    path = tmp_path / "watch.yaml"
    path.write_text(WHOLE)
    lake = Lake.create(tmp_path / "lake")
    found = load_rules(path, KNOWN)

    assert stored_rules(lake) is None
    for _ in range(2):
        store_rules(lake, found)
        assert stored_rules(lake) == found
        version = lake.version("watch_rules")
    store_rules(lake, found)
    assert lake.version("watch_rules") == version


def test_stored_rules_may_name_what_no_longer_exists() -> None:
    """The message says how to replace them."""
    with pytest.raises(WatchRefused, match=r"no dimension 'arm'.*with --rules"):
        check_names(
            rules("[{id: a, metric: success, smallest: 0.1, by: arm}]"), KnownNames(METRICS, [])
        )


def test_a_rule_is_written_as_in_the_file() -> None:
    """On one line, with the keys that it gives."""
    for text in ("{id: a, metric: success, smallest: 0.05}", "{id: b, silence_hours: 24}"):
        (rule,) = rules(f"[{text}]").watch
        assert rule_line(rule) == text


def test_schema_is_published() -> None:
    """The file, the command and the format agree, and the schema takes a whole file."""
    text = watch_schema_text()
    assert SCHEMA.read_text(encoding="utf-8") == text == tracegrade("watch", "schema").stdout
    validator = jsonschema_rs.validator_for(json.loads(text))
    document: dict[str, Any] = yaml.safe_load(WHOLE)
    assert validator.is_valid(document)
    assert not validator.is_valid({**document, "wach": []})


@pytest.mark.parametrize("url", ["http://localhost:8080", "https://status.example.com/s"])
def test_any_address_of_an_explorer_is_taken(url: str) -> None:
    """Letters of an address are not white space."""
    assert WatchFile.model_validate({"version": 1, "watch": [], "explorer": url}).explorer == url


def test_an_address_of_an_explorer_has_no_white_space() -> None:
    """Nor what ends a link of Slack."""
    for url in ("https://a b", "https://a|b", "https://a>b"):
        with pytest.raises(ValidationError):
            WatchFile.model_validate({"version": 1, "watch": [], "explorer": url})
