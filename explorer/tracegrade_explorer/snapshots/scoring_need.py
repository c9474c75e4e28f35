"""Tells whether a scoring run may find something new, at next to no cost."""

from datetime import timedelta
from typing import Final

from tracegrade_explorer.snapshots.latest import LatestSnapshot
from tracegrade_lake import RAW_LOGS, RAW_SPANS, VERDICTS
from tracegrade_scoring.rendering.times import utc_now

SETTLED: Final = timedelta(minutes=10)
"""Without a span, after which a run is scored without its end."""


class ScoringNeed:
    """What has come into a lake since the last scoring run that was asked about."""

    def __init__(self, latest: LatestSnapshot) -> None:
        """Know of no scoring run yet.

        Args:
            latest: The lake.
        """
        self._latest = latest
        self._known: list[int | None] | None = None

    def may_exist(self) -> bool:
        """Return whether spans or verdicts came in, or a run without an end has settled."""
        lake = self._latest.lake
        now = [lake.version(table.name) for table in (RAW_SPANS, RAW_LOGS, VERDICTS)]
        is_new = now != self._known
        self._known = now
        return is_new or self._has_settled_run()

    def _has_settled_run(self) -> bool:
        with self._latest.reading() as snapshot, snapshot.con.cursor() as con:
            found = con.execute(
                "SELECT count(*) FROM run_index WHERE NOT scored AND silent_until > $now "
                "AND received_at < $settled",
                {"now": utc_now(), "settled": utc_now() - SETTLED},
            )
            return bool(found.fetchall()[0][0])
