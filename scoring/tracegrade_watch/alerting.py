"""One run of `tracegrade watch`: rules, checks and alerts, written if they changed."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tracegrade_lake import Lake
from tracegrade_watch.alert import Alert
from tracegrade_watch.errors import AlertUnknown, WatchRefused
from tracegrade_watch.notify.declared import OpenedDestination, declared_destinations, opened
from tracegrade_watch.notify.run import NotifyFault, notify
from tracegrade_watch.rules.load import load_rules
from tracegrade_watch.rules.model import WatchFile
from tracegrade_watch.rules.stored import store_rules, stored_rules
from tracegrade_watch.run import alone, known_names, watch
from tracegrade_watch.stored import read_alerts, write_alerts
from tracegrade_watch.watched import Watched


def rules_of(lake: Lake, path: Path | None) -> WatchFile:
    """Return the rules in a file, else those that the lake stores.

    Raises:
        WatchRefused: The file is not usable, or there is none and the lake stores none.
    """
    if path is not None:
        return load_rules(path, known_names(lake))
    rules = stored_rules(lake)
    if rules is None:
        msg = f"the lake at {lake.location} has no rules; give a file with --rules"
        raise WatchRefused(msg)
    return rules


def watch_and_store(lake: Lake, rules: WatchFile, now: datetime.datetime) -> Watched:
    """Watch a lake, and let it store the rules and the alerts; nothing is written if equal.

    Call it under `alone`. Raises as `watch`.
    """
    watched = watch(lake, rules, now)
    store_rules(lake, rules)
    write_alerts(lake, watched.alerts)
    return watched


def destinations_of(rules: WatchFile, variables: Mapping[str, str]) -> list[OpenedDestination]:
    """Return the destinations of alerts, with their secrets.

    Args:
        rules: The rules, with the entries below `notify`.
        variables: Of the environment.

    Raises:
        WatchRefused: An entry has another form, or a secret is missing.
    """
    return [opened(each, variables) for each in declared_destinations(rules.notify)]


def notify_all(
    lake: Lake, rules: WatchFile, destinations: Sequence[OpenedDestination], watched: Watched
) -> tuple[Watched, list[NotifyFault]]:
    """Notify destinations; return the result with what each received, and what failed.

    Call it under `alone`, after `watch_and_store`.
    """
    page_url = rules.explorer.rstrip("/") if rules.explorer else None
    faults = notify(lake, destinations, page_url)
    return replace(watched, alerts=read_alerts(lake)), faults


def acknowledge(lake: Lake, alert_id: str, note: str) -> Alert:
    """Note that a person knows of an alert that fires, and return it.

    Args:
        lake: The lake.
        alert_id: The id of the alert, or its beginning.
        note: A note of the person.

    Raises:
        AlertUnknown: No alert that fires has this id, or several begin with it.
        WatchBusy: Another job is watching the lake.
    """
    with alone(lake):
        alerts = read_alerts(lake)
        found = [each for each in alerts if each.alert_id.startswith(alert_id)] if alert_id else []
        if len(found) != 1:
            count = "no alert has" if not found else f"{len(found)} alerts have"
            msg = f"{count} an id that begins with '{alert_id}'; `tracegrade watch` shows the ids"
            raise AlertUnknown(msg)
        (alert,) = found
        if alert.state == "resolved":
            msg = f"alert {alert.alert_id} is resolved, so there is nothing to acknowledge"
            raise AlertUnknown(msg)
        changed = replace(alert, state="acknowledged", evidence=replace(alert.evidence, note=note))
        write_alerts(lake, [changed if each is alert else each for each in alerts])
        return changed
