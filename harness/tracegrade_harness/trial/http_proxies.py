"""The proxies of a trial, between its agent and services that speak HTTP."""

import os
import string
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Self
from urllib.parse import urlsplit

from tracegrade_harness.control.deadline import Deadline
from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.mcp.http import McpRequests, without_stream
from tracegrade_harness.parts.environment import OpenedEnvironment
from tracegrade_harness.parts.part import ServiceAddress
from tracegrade_harness.parts.registry import declared_in
from tracegrade_harness.proxy.messages import CallNames
from tracegrade_harness.proxy.proxy import HttpProxy
from tracegrade_harness.proxy.rate_limit import PacedUpstream
from tracegrade_harness.proxy.upstream import LiveUpstream, UpstreamHandler
from tracegrade_harness.suite import upstreams
from tracegrade_harness.telemetry.observed_run import ObservedRun
from tracegrade_harness.trial.suite_run import SuiteRun, Trial
from tracegrade_harness.trial.tape_session import TapeSession


class HttpProxies:
    """A `with` block with a proxy for each service that is not reached directly."""

    def __init__(
        self,
        suite_run: SuiteRun,
        trial: Trial,
        environment: OpenedEnvironment,
        tape_session: TapeSession,
        run: ObservedRun | None = None,
        deadline: Deadline | None = None,
    ) -> None:
        """Prepare.

        Args:
            suite_run: The run.
            trial: The trial.
            environment: The environment with the services.
            tape_session: The tapes that answer for upstreams.
            run: The agent's run, if it uses the channel `http`; otherwise it reaches services of
                the environment directly.
            deadline: The end of the agent's time. Requests are signs of the agent, and the clock
                is paused while one waits for its turn.
        """
        self._suite_run = suite_run
        self._case = trial.case(suite_run)
        self._declared = suite_run.suite.environments[self._case.environment]
        self._environment = environment
        self._tape_session = tape_session
        self._run = run
        self._waiting: Callable[[], AbstractContextManager[None]] = (
            deadline.waiting if deadline else nullcontext
        )
        self._seen = deadline.seen if deadline else lambda: None
        self._paced: list[PacedUpstream] = []
        self._proxies: dict[str, HttpProxy] = {}
        self._behind: list[ServiceAddress] = []
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with self._stack:
            for name, upstream in self._declared.upstreams.items():
                run = None if upstream.protocol == "model" else self._run
                kind = McpRequests() if upstream.protocol == "mcp" else CallNames(upstream.calls)
                handler = self._handler_of(name, upstream)
                self._open(upstream.url_env, HttpProxy(handler, kind, run, self._seen))
            for part in declared_in(self._declared) if self._run is not None else ():
                variable = getattr(part.declared, "url_env", None)
                if part.kind.speaks_http and variable is not None:
                    url = self._environment.variables[variable]
                    self._behind.append(_address(url))
                    live = LiveUpstream(url, {})
                    folder = self._suite_run.suite_folder
                    names = CallNames(part.kind.call_names(part.declared, folder))
                    self._open(variable, HttpProxy(live, names, self._run, self._seen))
            self._stack = self._stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables with which an agent finds the services."""
        return {name: proxy.url for name, proxy in self._proxies.items()}

    @property
    def addresses(self) -> list[ServiceAddress]:
        """The addresses that an agent may reach: the proxies, and services without a proxy."""
        proxies = [_address(proxy.url) for proxy in self._proxies.values()]
        services = self._environment.addresses
        return [*proxies, *(each for each in services if each not in self._behind)]

    def notes(self) -> list[str]:
        """Return the notes about the proxies for readers of the trial."""
        return [note for proxy in self._proxies.values() for note in proxy.notes()]

    def close(self) -> None:
        """Take no more requests, after those in progress have returned. Idempotent."""
        for upstream in self._paced:
            upstream.close()
        self._stack.close()

    def _handler_of(self, name: str, upstream: upstreams.Upstream) -> UpstreamHandler:
        is_model = upstream.protocol == "model"
        source = self._suite_run.model_source(self._case) if is_model else "replay"
        is_mocked = self._suite_run.mode == "mocked" and source == "replay"
        live = None if is_mocked else self._live(upstream)
        if upstream.protocol == "mcp":
            return without_stream(self._tape_session.mcp_upstream(name, live))
        if is_model:
            return self._tape_session.model(name, live, source)
        return self._tape_session.upstream(name, live)

    def _live(self, upstream: upstreams.Upstream) -> UpstreamHandler:
        live = LiveUpstream(upstream.url, own_headers(upstream))
        limiter = self._suite_run.rate_limits.of(upstream)
        if limiter is None:
            return live
        self._paced.append(PacedUpstream(live, limiter, self._waiting))
        return self._paced[-1]

    def _open(self, variable: str, proxy: HttpProxy) -> None:
        self._proxies[variable] = self._stack.enter_context(proxy)


def _address(url: str) -> ServiceAddress:
    split = urlsplit(url)
    return ServiceAddress(split.hostname or "", split.port or 0)


def own_headers(upstream: upstreams.Upstream) -> dict[str, str]:
    """Return an upstream's own headers with variables replaced.

    Raises:
        EnvironmentFailed: A variable that they name is not set.
    """
    try:
        return {
            name: string.Template(value).substitute(os.environ)
            for name, value in upstream.headers.items()
        }
    except (KeyError, ValueError) as error:
        msg = f"headers of {upstream.url} name the variable {error}, which is not set; set it"
        raise EnvironmentFailed(msg) from error
