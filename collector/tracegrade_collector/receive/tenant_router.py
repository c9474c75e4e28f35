"""Routes requests to tenants: the credential of a request alone decides which lake it goes to.

A tenant's name comes from the file of tokens. A header such as `X-Scope-OrgID` is only compared
with it, so no path is ever made from what a client sends.
"""

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from tracegrade_collector.config import CollectorConfig
from tracegrade_collector.edge.counters import Counters
from tracegrade_collector.edge.reloaded import Reloaded
from tracegrade_collector.edge.tokens import DEFAULT_TENANT, Access, TenantOptions, read_access
from tracegrade_collector.encoding.request_limits import RequestLimits
from tracegrade_collector.errors import (
    BadCredentials,
    CollectorError,
    Forbidden,
    Unauthenticated,
    Unavailable,
)
from tracegrade_collector.log.wal_folder import WalFolder
from tracegrade_collector.receive.accept_request import Intake
from tracegrade_collector.receive.exports import exports
from tracegrade_collector.receive.lander_process import LanderProcess
from tracegrade_collector.receive.landing_metrics import landing_text
from tracegrade_collector.receive.tenant_limits import InFlight, Rate, TenantLimits
from tracegrade_collector.receive.tenant_pipeline import LakeLocation, TenantPipeline
from tracegrade_lake.errors import LakeError

MOST_DEATHS = 2  # of the lander, before readiness reports them
CLAIM_AGAIN_SECS = 5.0  # between two tries to claim what was left over

logger = logging.getLogger(__name__)


class TenantPipelines:
    """The pipeline of each tenant, created when it is first needed."""

    def __init__(
        self, location: LakeLocation, config: CollectorConfig, lander: LanderProcess
    ) -> None:
        self._location = location
        self._config = config
        self._lander = lander
        self.made: dict[str, TenantPipeline] = {}
        self._left_over: list[WalFolder] = []
        self.counters = Counters()

    def of(self, tenant: str, limits: TenantLimits) -> TenantPipeline:
        """Return a tenant's pipeline; the limits are for a new one.

        Raises:
            OSError: Its folder cannot be written.
        """
        if tenant not in self.made:
            counters = self.counters.labeled(tenant=tenant) if tenant else self.counters
            location = self._location.of_tenant(tenant)
            pipeline = TenantPipeline(location, tenant, self._config, limits, counters)
            self._lander.land(location.lake, location.state, pipeline.folder.collector_id)
            self.made[tenant] = pipeline
        return self.made[tenant]

    async def land_left_over(self, stop: asyncio.Event) -> None:
        """Land the data that dead collectors left in their folders, of all tenants.

        If the system refuses one, for lack of files perhaps, it is tried again until the event is
        set.
        """
        while not await self._claim_left_over():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), CLAIM_AGAIN_SECS)
                return

    async def _claim_left_over(self) -> bool:
        """Return whether nothing is left that another try might claim."""
        is_done = True
        try:
            for location in await asyncio.to_thread(self._location.all_states):
                for path in await asyncio.to_thread(WalFolder.all_in, location.state):
                    is_done &= await self._claim_orphan(location, path)
        except OSError as error:
            logger.error("cannot list the logs left in %s: %s", self._location.state, error)
            return False
        return is_done

    async def _claim_orphan(self, location: LakeLocation, path: Path) -> bool:
        """Land a folder if it is an orphan; return False if another try may do better."""
        try:
            folder = await asyncio.to_thread(WalFolder.claim_orphan, path)
        except (CollectorError, OSError) as error:
            logger.error("cannot land the log left in %s: %s", path, error)
            return isinstance(error, CollectorError)
        if folder:
            self._left_over.append(folder)
            self._lander.land(location.lake, location.state, folder.collector_id)
        return True

    def check_landing(self) -> None:
        """Check that the lander does not die again and again.

        Raises:
            Unavailable: It does; arriving requests stay in the log.
        """
        if self._lander.deaths >= MOST_DEATHS:
            msg = (
                f"the lander died {self._lander.deaths} times in a row; the log keeps what arrives"
            )
            raise Unavailable(msg)

    def wal_bytes(self) -> int:
        """Return how many bytes of all logs wait for landing."""
        return sum(pipeline.intake.wal_bytes for pipeline in self.made.values())

    async def seal(self) -> None:
        """Write and seal the accepted requests; no more may come."""
        await asyncio.gather(*(pipeline.seal() for pipeline in self.made.values()))

    def close(self) -> None:
        """Give all folders back."""
        for folder in [*self._left_over, *(each.folder for each in self.made.values())]:
            folder.close()


class TenantRouter:
    """Authenticates requests and returns the intake of their tenant."""

    def __init__(self, pipelines: TenantPipelines, config: CollectorConfig) -> None:
        """Read the token file, if there is one; without it everything goes to the lake itself.

        Raises:
            BadCredentials: The file cannot be used, or holds no token.
            OSError: The lake's state folder cannot be written.
        """
        self._pipelines = pipelines
        self._config = config
        self.counters = pipelines.counters
        self.exports = exports()
        self._in_flight = InFlight(config.max_in_flight_bytes)
        self.counters.gauge("in_flight_bytes", lambda: self._in_flight.used_bytes)
        self.counters.gauge("wal_bytes", pipelines.wal_bytes)
        self._request_limits = RequestLimits(
            config.max_items_per_request, config.max_values_per_request
        )
        self._access: Reloaded[Access] | None = None
        if config.token_file:
            file = Path(config.token_file)
            self._access = Reloaded([file], partial(read_access, file))
            if not self._access.current.tokens:
                msg = f"{file} holds no token; `tracegrade token new --file {file}` creates one"
                raise BadCredentials(msg)
        else:
            pipelines.of(DEFAULT_TENANT, self._limits(DEFAULT_TENANT))

    def route(
        self,
        authorization: Sequence[str] = (),
        tenant_headers: Sequence[str] = (),
        certificate_name: str | None = None,
    ) -> Intake:
        """Return where a request goes; it is called before a byte of the body is read.

        Args:
            authorization: All values of the header `Authorization`.
            tenant_headers: All values of `X-Scope-OrgID`; they name the credential's tenant, or
                nothing comes in. Without tokens nothing vouches for them, and they are ignored.
            certificate_name: The common name of the client's certificate, which was verified.

        Raises:
            Unauthenticated: No valid credential was shown.
            Forbidden: A header names another tenant.
            Unavailable: The tenant's folder cannot be written at the moment.
        """
        if self._access is None:
            return self._intake_of(DEFAULT_TENANT)
        try:
            tenant = self._tenant(self._access.current, authorization, certificate_name)
        except Unauthenticated as error:
            self.counters.add("unauthenticated_requests", reason=error.reason)
            raise
        if any(given != tenant for given in tenant_headers):
            self.counters.add("forbidden_requests")
            msg = "the header X-Scope-OrgID names another tenant than the credential; leave it out"
            raise Forbidden(msg)
        return self._intake_of(tenant)

    @staticmethod
    def _tenant(access: Access, authorization: Sequence[str], name: str | None) -> str:
        if name is not None and not authorization:
            return access.tenant_of_certificate(name)
        return access.tenant_of_token(authorization, datetime.now(UTC))

    def _intake_of(self, tenant: str) -> Intake:
        known = self._pipelines.made.get(tenant)
        if known:
            return known.intake
        try:
            return self._pipelines.of(tenant, self._limits(tenant)).intake
        except (LakeError, OSError) as error:
            logger.error("cannot make the folder of tenant '%s': %s", tenant, error)
            msg = "the tenant's folder cannot be written"
            raise Unavailable(msg) from error

    def _limits(self, tenant: str) -> TenantLimits:
        """Return a tenant's limits: its own, else an equal share of the log and no rate.

        One tenant takes up at most half of the memory, so that another always finds room.
        """
        if self._access is None:
            return TenantLimits(self._in_flight, self._config.max_wal_bytes, self._request_limits)
        tenants = self._access.current.tenants
        own = tenants.get(tenant, TenantOptions())
        share = self._config.max_wal_bytes // max(1, len(tenants))
        in_flight = InFlight(self._in_flight.max_bytes // 2, self._in_flight)
        return TenantLimits(
            in_flight,
            own.max_wal_bytes or share,
            self._request_limits,
            Rate(own.max_bytes_per_sec),
        )

    def refresh(self) -> None:
        """Reload the tokens if their file has changed; a broken file changes nothing."""
        if self._access is None:
            return
        try:
            changed = self._access.refresh()
        except BadCredentials as error:
            self.counters.add("failed_reloads", file="tokens")
            logger.error("%s; the previous tokens stay valid", error)
            return
        if changed:
            logger.warning("reloaded %d tokens", len(self._access.current.tokens))
            for tenant, pipeline in self._pipelines.made.items():
                pipeline.limits.adopt(self._limits(tenant))

    async def measure(self) -> None:
        """Update the size of each log that its intake checks against its limit.

        Raises:
            OSError: One of them cannot be measured; the others were.
        """
        failures: list[OSError] = []
        for pipeline in [*self._pipelines.made.values()]:
            try:
                await pipeline.measure()
            except OSError as error:
                failures.append(error)
        if failures:
            raise failures[0]

    def check_ready(self) -> None:
        """Check that requests of at least one tenant can be received.

        Raises:
            Unavailable: None can at the moment, or nothing lands; the text gives the reason.
        """
        self._pipelines.check_landing()
        refusals: list[Unavailable] = []
        pipelines = self._pipelines.made.values()
        for pipeline in pipelines:
            try:
                pipeline.intake.check_ready()
            except Unavailable as error:
                refusals.append(error)
        if refusals and len(refusals) == len(pipelines):
            raise refusals[0]

    def metrics(self, authorization: Sequence[str] = ()) -> str:
        """Return the counters of all tenants in Prometheus' text format.

        Raises:
            Unauthenticated: There are tokens, and none that reads metrics was shown.
        """
        if self._access:
            self._access.current.check_metrics(authorization, datetime.now(UTC))
        landing = landing_text(each.folder for each in self._pipelines.made.values())
        return self.counters.prometheus_text() + landing
