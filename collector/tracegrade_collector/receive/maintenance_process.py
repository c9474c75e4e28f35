"""Maintenance on a schedule, by short-lived processes at low priority.

The receiver starts `python -m tracegrade_collector.receive.maintenance_process ORDER` when it is
due. It compacts the tables of each lake, lets old dates expire, and removes files that nothing
needs. Only one runs at a time. Killing it at any point does no harm; the next one continues.
"""

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.errors import CollectorError
from tracegrade_collector.log_lines import log_to_stderr
from tracegrade_collector.receive.tenant_pipeline import LakeLocation
from tracegrade_lake.errors import LakeError, MaintenanceBusy

NICENESS = 10

logger = logging.getLogger(__name__)


class Maintenance:
    """The process as seen from the receiver."""

    def __init__(self, location: LakeLocation, config: CollectorConfig) -> None:
        """Maintain this lake and those of its tenants; the first time after one interval."""
        order = {"lake": location.lake, "state": str(location.state), "options": asdict(config)}
        self._command = [sys.executable, "-P", "-m", __name__, json.dumps(order)]
        self._every_secs = config.compact_every_secs
        self._due = time.monotonic() + self._every_secs
        self._process: asyncio.subprocess.Process | None = None

    async def run_if_due(self) -> None:
        """Start it if it is due and does not run.

        Raises:
            OSError: The process cannot be started.
        """
        if self._process and self._process.returncode is not None:
            if self._process.returncode:
                logger.error("maintenance ended with code %s", self._process.returncode)
            self._process = None
        if self._every_secs and self._process is None and time.monotonic() >= self._due:
            self._due = time.monotonic() + self._every_secs
            self._process = await asyncio.create_subprocess_exec(
                *self._command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL
            )

    async def stop(self) -> None:
        """End it at once; its uncommitted work has no effect."""
        if self._process and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()


def maintain(location: LakeLocation, config: CollectorConfig) -> bool:
    """Compact, expire and clean one lake; return whether that went well. What fails is logged."""
    from tracegrade_lake import Lake  # noqa: PLC0415 - 0.3 s; the receiver has no need
    from tracegrade_lake.maintenance.compaction import CompactOptions, compact  # noqa: PLC0415
    from tracegrade_lake.maintenance.expiry import clean, expire  # noqa: PLC0415

    lake = Lake.create(location.lake, location.state)
    days, keep_built = config.retention_days, config.retention_keeps_built
    options = CompactOptions(min_age_secs=config.compact_after_secs)
    steps: list[Callable[[], object]] = [
        lambda: compact(lake, options, logger.info),
        lambda: (
            expire(lake, days, logger.info, keep_built=keep_built)
            if days
            else clean(lake, logger.info)
        ),
    ]
    return all(
        [_does_well(step, location) for step in steps]
    )  # the second runs even if the first fails


def _does_well(step: Callable[[], object], location: LakeLocation) -> bool:
    try:
        step()
    except MaintenanceBusy as error:
        logger.info("%s", error)
    except (CollectorError, LakeError, OSError) as error:
        logger.error("cannot maintain %s (will retry): %s", location.lake, error)
        return False
    return True


def main(arguments: Sequence[str]) -> int:
    """Maintain a lake and those of its tenants once; return the exit code."""
    import pyarrow as pa  # noqa: PLC0415 - as above

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)  # nothing needs an orderly end
    os.nice(NICENESS)
    pa.set_cpu_count(1)  # leave the others to the receiver and the lander
    pa.set_memory_pool(pa.system_memory_pool())  # gives memory back: a quarter less at the peak
    order = json.loads(arguments[0])
    config = CollectorConfig(**order["options"])
    log_to_stderr("maintenance", config.log_format)
    locations = LakeLocation(order["lake"], Path(order["state"])).all_states()
    done = [maintain(location, config) for location in locations]
    return 0 if all(done) else CollectorError.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
