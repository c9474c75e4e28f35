"""How landing goes, as the receiver shows it: from the logs' folders and the lander's ledgers.

These counts are durable, unlike those of the receiver, which begin at zero when it starts. They
lag by one commit while it is under way.
"""

import time
from collections import Counter
from collections.abc import Iterable

from tracegrade_collector.encoding.otlp import Signal
from tracegrade_collector.log.ledger import Shown, shown
from tracegrade_collector.log.wal_folder import WalFolder
from tracegrade_collector.receive.counters import PREFIX


def landing_text(folders: Iterable[WalFolder]) -> str:
    """Return counts and gauges of all these logs together in Prometheus' text format."""
    found = list(folders)
    ledgers = {
        (folder.collector_id, signal): shown(
            folder.path.parent.parent, folder.collector_id, signal
        )
        for folder in found
        for signal in Signal
    }
    counts: Counter[str] = Counter()
    for (_, signal), ledger in ledgers.items():
        counts.update(_counts(signal, ledger))
    lines = [f"{PREFIX}{name} {count}" for name, count in sorted(counts.items())]
    lines += [f"{PREFIX}{name} {value:.12g}" for name, value in _gauges(found, ledgers.values())]
    return "".join(f"{line}\n" for line in lines)


def _counts(signal: Signal, ledger: Shown) -> dict[str, int]:
    totals, label = ledger.totals, f'{{signal="{signal}"}}'
    return {
        f"landed_requests_total{label}": totals.requests,
        f"landed_rows_total{label}": totals.landed,
        f"dead_letters_total{label}": sum(totals.rejected.values()),
        f"quarantined_items_total{label}": totals.quarantined_items,
        f"unaccounted_items_total{label}": totals.unaccounted,
        f"damaged_log_pieces_total{label}": totals.damaged_pieces,
    }


def _gauges(folders: list[WalFolder], ledgers: Iterable[Shown]) -> list[tuple[str, float]]:
    waiting = [oldest for folder in folders if (oldest := folder.oldest_ns())]
    lag_ns = time.time_ns() - min(waiting) if waiting else 0
    commits = [(ledger.committed_ns, ledger.commit_secs) for ledger in ledgers]
    committed_ns, commit_secs = max(commits, default=(0, 0.0))
    return [
        ("landing_lag_secs", max(0, lag_ns) / 1e9),
        ("last_commit_timestamp_secs", committed_ns / 1e9),
        ("last_commit_secs", commit_secs),
    ]
