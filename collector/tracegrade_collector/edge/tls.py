"""TLS of both servers: one certificate, reloaded when its files change, and tested before use.

A new certificate applies to every later connection; open connections keep the old one. A
certificate that clients would reject (expired, of another key, not a server's) never replaces a
good one. Sessions are not resumed, so a client is always checked against the current authorities.
Exporters keep their connections open, so this costs almost nothing.
"""

import logging
import ssl
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from tracegrade_collector.edge.counters import Counters
from tracegrade_collector.edge.reloaded import Reloaded
from tracegrade_collector.errors import BadCredentials
from tracegrade_lake.files import is_open_to_all

QUIET_SECS = 60.0  # between two lines about handshakes that fail with one peer
MAX_PEERS = 1000  # whose lines are spaced; more at once are only counted

logger = logging.getLogger(__name__)


class Certificate(NamedTuple):
    """The server's certificate and key, and the authorities for client certificates."""

    chain: bytes
    key: bytes
    client_ca: bytes | None
    context: ssl.SSLContext
    expires: datetime


class TlsFiles(NamedTuple):
    """The PEM files of a certificate."""

    chain: Path
    key: Path
    client_ca: Path | None

    def read(self) -> Certificate:
        """Return a certificate that clients accept today.

        Raises:
            BadCredentials: A file cannot be read, they do not belong together, the certificate is
                not valid now or no server's, or every user of the machine can read the key.
        """
        try:
            context = self._context()
            expires = _rehearse(context, self.chain)
            client_ca = self._demand_clients(context)
            certificate = Certificate(
                self.chain.read_bytes(), self.key.read_bytes(), client_ca, context, expires
            )
        except (OSError, ValueError) as error:  # which those of ssl are too
            msg = f"cannot use the certificate {self.chain} with the key {self.key}: {_why(error)}"
            raise BadCredentials(msg) from error
        if is_open_to_all(self.key):
            msg = f"every user can read the key {self.key}; chmod 600 {self.key}"
            raise BadCredentials(msg)
        return certificate

    def _context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.options |= ssl.OP_NO_TICKET
        context.num_tickets = 0
        context.set_alpn_protocols(["http/1.1"])
        context.load_cert_chain(self.chain, self.key, password=_no_password)
        return context

    def _demand_clients(self, context: ssl.SSLContext) -> bytes | None:
        """Make the context demand a client's certificate, if there are authorities for these."""
        if self.client_ca is None:
            return None
        context.load_verify_locations(self.client_ca)
        context.verify_mode = ssl.CERT_REQUIRED
        return self.client_ca.read_bytes()


class Tls:
    """The certificate in use; counts and logs handshakes that fail."""

    def __init__(self, files: TlsFiles, counters: Counters) -> None:
        """Read the files.

        Raises:
            BadCredentials: They cannot be used.
        """
        given = [file for file in files if file]
        self._certificate = Reloaded(given, files.read)
        self._counters = counters
        self._logged_at: dict[str, float] = {}
        self.handshakes: set[object] = set()
        counters.gauge("tls_certificate_secs_left", self._secs_left)

    @property
    def certificate(self) -> Certificate:
        """The certificate for a connection that begins now."""
        return self._certificate.current

    def refresh(self) -> None:
        """Reload the files if one has changed; if they cannot be used, nothing changes."""
        try:
            changed = self._certificate.refresh()
        except BadCredentials as error:
            self._counters.add("failed_reloads", file="certificate")
            logger.error("%s; the previous certificate stays in use", error)
            return
        if changed:
            logger.warning("new certificate, valid until %s", self.certificate.expires.isoformat())

    def failed(self, peer: str, error: Exception) -> None:
        """Count a handshake that failed, and log it at most once a minute for each peer."""
        self._counters.add("failed_handshakes")
        now = time.monotonic()
        self._logged_at = {
            each: logged for each, logged in self._logged_at.items() if logged > now - QUIET_SECS
        }
        if peer not in self._logged_at and len(self._logged_at) < MAX_PEERS:
            self._logged_at[peer] = now
            logger.warning("the TLS handshake with %s failed: %s", peer, _why(error))

    def _secs_left(self) -> float:
        return (self.certificate.expires - datetime.now(UTC)).total_seconds()


def _rehearse(server_context: ssl.SSLContext, chain: Path) -> datetime:
    """Return until when the certificate is valid, once a client that trusts it has accepted it.

    Raises:
        ssl.SSLError: It did not.
    """
    client_context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client_context.check_hostname = False
    client_context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    client_context.load_verify_locations(chain)
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = server_context.wrap_bio(to_server, to_client, server_side=True)
    client = client_context.wrap_bio(to_client, to_server)
    while not _step(client):
        _step(server)
    peer_certificate = client.getpeercert() or {}
    expires = ssl.cert_time_to_seconds(str(peer_certificate["notAfter"]))
    return datetime.fromtimestamp(expires, UTC)


def _step(side: ssl.SSLObject) -> bool:
    """Continue a handshake; return whether this side has finished."""
    try:
        side.do_handshake()
    except ssl.SSLWantReadError:
        return False
    return True


def _no_password() -> str:
    msg = "the key has a password, which a service cannot enter; remove it"
    raise ValueError(msg)


def _why(error: Exception) -> str:
    """Return a few words; OpenSSL's own texts name the line of its source."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message
    if isinstance(error, ssl.SSLError) and error.reason:
        return error.reason.lower().replace("_", " ")
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.strerror} ({error.filename})"
    return str(error) or type(error).__name__
