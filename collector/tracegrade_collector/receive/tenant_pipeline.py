"""The pipeline of one tenant in the receiver: its log, its quarantine and its intake.

Tenants share only the process: no file of one tenant has another's data.
"""

import asyncio
from pathlib import Path
from typing import NamedTuple

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.edge.counters import Counters
from tracegrade_collector.edge.tokens import DEFAULT_TENANT
from tracegrade_collector.land.quarantine import Quarantine
from tracegrade_collector.log.wal_folder import WalFolder
from tracegrade_collector.log.wal_writer import WalWriter
from tracegrade_collector.receive.accept_request import Intake
from tracegrade_collector.receive.tenant_limits import TenantLimits
from tracegrade_lake.files import folders_in
from tracegrade_lake.lake_root import TENANTS_FOLDER, made_root


class LakeLocation(NamedTuple):
    """Location of a lake, and of its files on this machine."""

    lake: str
    """A folder or a URL."""

    state: Path
    """The folder of its log, quarantine and dead letters; for a local lake the lake's own."""

    def of_tenant(self, tenant: str) -> "LakeLocation":
        """Return the place of a tenant's lake, which is a whole one inside this."""
        if tenant == DEFAULT_TENANT:
            return self
        return LakeLocation(
            f"{self.lake.rstrip('/')}/{TENANTS_FOLDER}/{tenant}",
            self.state / TENANTS_FOLDER / tenant,
        )

    def all_states(self) -> list["LakeLocation"]:
        """Return this place and those of all tenants that have left files on this machine."""
        tenants = folders_in(self.state / TENANTS_FOLDER)
        return [self, *(self.of_tenant(tenant.name) for tenant in tenants)]


class TenantPipeline:
    """Receives the requests of one tenant into the log of its lake."""

    def __init__(
        self,
        location: LakeLocation,
        tenant: str,
        config: CollectorConfig,
        limits: TenantLimits,
        counters: Counters,
    ) -> None:
        """Claim the log's folder, cut a torn tail, and open a new segment.

        Raises:
            LakeNewer: The lake has a later version than this code knows.
            LakeUnwritable: The state folder cannot be made.
            OSError: It cannot be written.
        """
        made_root(location.state)
        self.location = location
        self.limits = limits
        self.folder = WalFolder.claim(location.state)
        self._writer = WalWriter(
            self.folder,
            self.folder.recover(),
            max_bytes=config.max_segment_bytes,
            max_age_secs=config.max_segment_age_secs,
        )
        quarantine = Quarantine(
            location.state, self.folder.collector_id, config.max_quarantine_bytes
        )
        self.intake = Intake(self._writer, quarantine, limits, counters, tenant)

    async def measure(self) -> None:
        """Update the size of the log that the intake checks against its limit."""
        self.intake.wal_bytes = await asyncio.to_thread(self.folder.pending_bytes)

    async def seal(self) -> None:
        """Write and seal the accepted requests; no more may come."""
        await self._writer.close()
        self.intake.close()

    def close(self) -> None:
        """Give the folder back."""
        self.folder.close()
