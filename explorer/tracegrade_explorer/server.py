"""Serves the pages on one address until a signal stops it."""

import contextlib
import logging
import socket
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import uvicorn
from starlette.applications import Starlette

from tracegrade_collector.edge.address import Address, is_loopback, parse_address
from tracegrade_collector.edge.tls import TlsFiles
from tracegrade_explorer import render
from tracegrade_explorer.app import PAGE_SECS, Explorer, Labeling
from tracegrade_explorer.errors import AddressTaken, NameRefused, UnsafeAddress
from tracegrade_explorer.guard import (
    Guard,
    Rules,
    allowed_hosts,
    knows_file,
    knows_one,
    new_token,
)
from tracegrade_explorer.labels.people import everybody_is, named_in
from tracegrade_explorer.labels.writer import LabelWriter
from tracegrade_explorer.logs import show_logs
from tracegrade_explorer.responses import Site
from tracegrade_explorer.snapshots.latest import MAX_RUNS, LatestSnapshot
from tracegrade_explorer.snapshots.scoring_need import ScoringNeed
from tracegrade_explorer.upkeep.builder import LakeBuilder
from tracegrade_explorer.upkeep.score_timer import ScoreTimer
from tracegrade_explorer.upkeep.scoring_process import ScoringProcess
from tracegrade_explorer.upkeep.upkeep import LakeUpkeep
from tracegrade_queries.engine.connection import open_lake
from tracegrade_queries.engine.no_writes import WITHOUT, landlock_version

WILDCARDS: Final = ("0.0.0.0", "::")  # noqa: S104 - which are not bound, but asked about
DRAIN_SECS: Final = 5


class Options(NamedTuple):
    """The options of the command."""

    listen: str = "127.0.0.1:8321"
    host_names: Sequence[str] = ()
    """Other host names that browsers use for it."""
    token_file: Path | None = None
    """File of hashed tokens; None: a new token for this start."""
    no_token: bool = False
    tls_cert: Path | None = None
    tls_key: Path | None = None
    insecure: bool = False
    max_runs: int = MAX_RUNS
    sql: bool | None = None
    """Whether readers may ask in SQL; None: on loopback."""
    timeout_secs: float = PAGE_SECS
    """Time limit of a page."""
    open_browser: bool = False
    label_as: str | None = None
    """Name with which every caller labels; None: the token file names the callers."""
    build: bool = True
    """Whether new spans are built into runs."""
    score_every_secs: float | None = None
    """Seconds between scoring runs; None: none is started."""


class AccessPolicy(NamedTuple):
    """The callers that may enter, and the token to print."""

    knows: Callable[[str], bool] | None
    token: str | None
    """Token to print; None if it comes from the user."""


AddedApp: TypeAlias = Callable[[Explorer, bool], Starlette]
"""Makes an application of an explorer, and of whether it takes SQL that was allowed by name."""


def serve(
    location: str,
    options: Options,
    say: Callable[[str], object],
    added: AddedApp | None = None,
) -> None:
    """Serve a lake's pages until SIGINT or SIGTERM.

    Args:
        location: Path or URL of the lake.
        options: The options of the command.
        say: Receives a line for each note to the user.
        added: Serves tools for programs at `/mcp`; None: nothing is there.

    Raises:
        LakeMissing: There is no lake.
        UnsafeAddress: Other users could reach the address without a token.
        BadCredentials: The token file or the certificate cannot be used.
        AddressTaken: The server cannot listen on the address.
        NameRefused: The given name cannot label.
    """
    show_logs()
    address = _address(options)
    tls = _tls(options)
    policy = _access_policy(options)
    scoring = ScoringProcess(location)
    labeling = _labeling(location, options, address, scoring)
    lake = open_lake(location, say)
    with (
        _listener(address) as listener,
        contextlib.closing(
            LatestSnapshot(lake, options.max_runs, is_built=options.build)
        ) as latest,
        contextlib.closing(_upkeep(latest, options, scoring)) as upkeep,
    ):
        bound = Address(address.host, int(listener.getsockname()[1]))
        sql = is_loopback(address.host) if options.sql is None else options.sql
        explorer = Explorer(latest, Site(str(location), sql), options.timeout_secs)
        explorer.labeling, explorer.upkeep = labeling, upkeep
        rules = Rules(
            allowed_hosts(bound, options.host_names), policy.knows, f"tracegrade_{bound.port}",
            tls=tls is not None, mcp=added is not None,
        )  # fmt: skip
        url = _url(bound, options, policy.token)
        render.load_templates()
        scoring.when_scored = latest.wake
        latest.follow()
        upkeep.follow()
        say(f"ui: {url}")
        if not landlock_version():
            say(f"note: {WITHOUT}")
        if options.open_browser:
            webbrowser.open(url)
        with contextlib.closing(explorer):
            app = explorer.app(added(explorer, options.sql is True) if added else None)
            _run(Guard(app, rules), listener, tls)


def _address(options: Options) -> Address:
    address = parse_address(options.listen)
    if address is None:
        msg = "--listen off leaves nothing to listen on; give HOST:PORT"
        raise UnsafeAddress(msg)
    if (options.tls_cert is None) != (options.tls_key is None):
        msg = "--tls-cert and --tls-key belong together; give both or none"
        raise UnsafeAddress(msg)
    if is_loopback(address.host):
        return address
    if not options.insecure and not (options.tls_cert and options.token_file):
        msg = (
            f"{address} can be reached from outside, which needs --tls-cert, --tls-key and "
            "--token-file; else listen on 127.0.0.1, or use --insecure"
        )
        raise UnsafeAddress(msg)
    if options.no_token:
        msg = f"--no-token is for loopback alone, not for {address}; leave it out"
        raise UnsafeAddress(msg)
    if address.host in WILDCARDS and not options.host_names:
        msg = f"{address} is not a name for browsers; give the names to use with --host-name NAME"
        raise UnsafeAddress(msg)
    return address


def _access_policy(options: Options) -> AccessPolicy:
    if options.token_file:
        return AccessPolicy(knows_file(options.token_file), None)
    if options.no_token:
        return AccessPolicy(None, None)
    token = new_token()
    return AccessPolicy(knows_one(token), token)


def _upkeep(latest: LatestSnapshot, options: Options, scoring: ScoringProcess) -> LakeUpkeep:
    """Return the jobs that run on the lake while it is shown."""
    builder = LakeBuilder(latest.lake, latest.wake) if options.build else None
    secs = options.score_every_secs
    timer = ScoreTimer(scoring, secs, ScoringNeed(latest).may_exist) if secs else None
    return LakeUpkeep(scoring, builder, timer)


def _labeling(
    location: str, options: Options, address: Address, scoring: ScoringProcess
) -> Labeling | None:
    """Return the names of labelers and the label writer; None if labeling is off."""
    if options.label_as is not None:
        if not is_loopback(address.host):
            msg = (
                f"--label-as is for loopback alone, not for {address}; give readers a name and "
                "may_label = true in the file of --token-file"
            )
            raise NameRefused(msg)
        return Labeling(everybody_is(options.label_as), LabelWriter(location, scoring))
    if options.token_file:
        return Labeling(named_in(options.token_file), LabelWriter(location, scoring))
    return None


def _tls(options: Options) -> TlsFiles | None:
    if options.tls_cert is None or options.tls_key is None:
        return None
    return TlsFiles(options.tls_cert, options.tls_key, None)


def _url(bound: Address, options: Options, token: str | None) -> str:
    host = options.host_names[0] if bound.host in WILDCARDS else bound.host
    scheme = "https" if options.tls_cert else "http"
    return f"{scheme}://{Address(host, bound.port)}/" + (f"?token={token}" if token else "")


def _listener(address: Address) -> socket.socket:
    bound = socket.socket(socket.AF_INET6 if ":" in address.host else socket.AF_INET)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(address)
        bound.listen()  # from now on, so that who reads the address can ask
    except OSError as error:
        bound.close()
        msg = (
            f"cannot listen on {address}: {error.strerror}; choose another with "
            "--listen HOST:PORT, port 0 for any"
        )
        raise AddressTaken(msg) from error
    return bound


def _run(app: Guard, listener: socket.socket, tls: TlsFiles | None) -> None:
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # else a line per broken request
    config = uvicorn.Config(
        app,
        ws="none",
        lifespan="on",  # that of what is added to the pages; pages alone have none
        proxy_headers=False,  # forwarded headers are not trusted
        log_config=None,
        access_log=False,  # addresses hold what users asked
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=DRAIN_SECS,
    )
    config.load()
    if tls is not None:
        config.ssl = tls.read().context
    uvicorn.Server(config).run(sockets=[listener])
