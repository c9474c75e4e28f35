"""Metrics of landing that the receiver shows, from the logs' folders and the landers' ledgers.

These counts are durable, unlike those of the receiver, which begin at zero when it starts. They
lag by one commit while it is under way.
"""

import time
from collections.abc import Iterable
from functools import partial

from tracegrade_collector.edge.counters import Counters
from tracegrade_collector.encoding.otlp import Signal
from tracegrade_collector.log.ledger import LedgerTotals, ledger_totals
from tracegrade_collector.log.wal_folder import WalFolder


def landing_text(folders: Iterable[WalFolder]) -> str:
    """Return counts and gauges of all these logs together in Prometheus' text format."""
    found = list(folders)
    ledgers = [
        (signal, ledger_totals(folder.path.parent.parent, folder.collector_id, signal))
        for folder in found
        for signal in Signal
    ]
    counters = Counters()
    for signal, ledger in ledgers:
        for name, count in _counts(ledger).items():
            counters.add(name, count, signal=signal)
    for name, value in _gauges(found, [ledger for _, ledger in ledgers]).items():
        counters.gauge(name, partial(float, value))
    return counters.prometheus_text()


def _counts(ledger: LedgerTotals) -> dict[str, int]:
    totals = ledger.totals
    return {
        "landed_requests": totals.requests,
        "landed_rows": totals.landed,
        "dead_letters": sum(totals.rejected.values()) - totals.unkept,
        "unkept_dead_letters": totals.unkept,
        "quarantined_items": totals.quarantined_items,
        "unaccounted_items": totals.unaccounted,
        "damaged_log_pieces": totals.damaged_pieces,
        "lost_requests": totals.lost_requests,
    }


def _gauges(folders: list[WalFolder], ledgers: list[LedgerTotals]) -> dict[str, float]:
    waiting = [oldest for folder in folders if (oldest := folder.oldest_ns())]
    lag_ns = time.time_ns() - min(waiting) if waiting else 0
    commits = [(ledger.committed_ns, ledger.commit_secs) for ledger in ledgers]
    committed_ns, commit_secs = max(commits, default=(0, 0.0))
    return {
        "landing_lag_secs": max(0, lag_ns) / 1e9,
        "last_commit_timestamp_secs": committed_ns / 1e9,
        "last_commit_secs": commit_secs,
    }
