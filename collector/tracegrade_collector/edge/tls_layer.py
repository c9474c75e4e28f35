"""TLS of one HTTP connection: decrypts for the protocol inside, and encrypts its responses.

A server of asyncio has its own TLS, but its certificate is fixed at the start, and it does not
report a failed handshake. It also begins to read before `loop.start_tls` could take over. OpenSSL
does all the work here; this module only carries bytes to and from it.
"""

import asyncio
import contextlib
import ssl
from typing import Any, cast

from tracegrade_collector.edge.tls import Tls

READ_BYTES = 16 << 10  # a record of TLS; no more comes at once
MAX_HANDSHAKES = 1000  # at once; each ends within `max_head_secs`

Subject = tuple[tuple[tuple[str, str], ...], ...]


class HandshakeEnded(Exception):
    """The peer went, or took too long, before the handshake was done."""


class TlsLayer(asyncio.Protocol):
    """The TLS layer between one connection's socket and its protocol."""

    def __init__(self, tls: Tls, inside: asyncio.Protocol, max_secs: float) -> None:
        """Let a connection in to `inside` if the handshake succeeds within so many seconds."""
        self._tls = tls
        self.inside = inside
        self._max_secs = max_secs
        self._came, self._goes = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.session = tls.certificate.context.wrap_bio(self._came, self._goes, server_side=True)
        self.is_open = self.is_paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the handshake with a deadline; refuse it if too many are in progress."""
        self.outside = cast(asyncio.Transport, transport)
        self._peer = (transport.get_extra_info("peername") or ("unknown",))[0]
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(self._max_secs, self._expire)
        self._tls.handshakes.add(self)
        if len(self._tls.handshakes) > MAX_HANDSHAKES:
            self._fail(HandshakeEnded("too many are under way"))

    def data_received(self, data: bytes) -> None:
        """Continue the handshake, or decrypt and pass on the received bytes."""
        self._came.write(data)
        try:
            if not self.is_open:
                self._shake_hands()
            if self.is_open:
                self.read()
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as error:
            self._fail(error)
        finally:
            self.flush()

    def _shake_hands(self) -> None:
        self.session.do_handshake()
        self._end_handshake()
        self.is_open = True
        peer_certificate = self.session.getpeercert()
        if peer_certificate:  # uvicorn shows this to the application as `scope["state"]`
            state = {"certificate_name": common_name(cast(Subject, peer_certificate["subject"]))}
            cast(Any, self.inside).app_state = state
        self.inside.connection_made(TlsTransport(self))

    def read(self) -> None:
        """Pass on decrypted data until there is no more.

        Raises:
            ssl.SSLWantReadError: There is no more.
            ssl.SSLError: The bytes are invalid.
        """
        while not self.is_paused and not self.outside.is_closing():
            data = self.session.read(READ_BYTES)
            if not data:  # the peer says that nothing more comes
                self.outside.close()
                return
            self.inside.data_received(data)

    def flush(self) -> None:
        """Send the encrypted bytes."""
        data = self._goes.read()
        if data:
            self.outside.write(data)

    def _expire(self) -> None:
        self._fail(HandshakeEnded(f"it took more than {self._max_secs:g} s"))

    def _fail(self, error: Exception) -> None:
        if not self.is_open:
            self._end_handshake()
            self._tls.failed(self._peer, error)
        self.flush()  # why, for the peer
        self.outside.close()

    def _end_handshake(self) -> None:
        self._timer.cancel()
        self._tls.handshakes.discard(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the protocol inside, or count a handshake that was cut off."""
        if self.is_open:
            self.inside.connection_lost(exc)
        elif self in self._tls.handshakes:
            self._end_handshake()
            self._tls.failed(self._peer, exc or HandshakeEnded("the connection was closed"))

    def pause_writing(self) -> None:
        """Pass it on to the protocol inside."""
        if self.is_open:
            self.inside.pause_writing()

    def resume_writing(self) -> None:
        """Pass it on to the protocol inside."""
        if self.is_open:
            self.inside.resume_writing()


class TlsTransport(asyncio.Transport):
    """The transport that the protocol inside writes to."""

    def __init__(self, layer: TlsLayer) -> None:
        super().__init__()
        self._layer = layer

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Return information about the connection: that of the socket, and the TLS context."""
        if name == "sslcontext":
            return self._layer.session.context
        return self._layer.outside.get_extra_info(name, default)

    def write(self, data: "bytes | bytearray | memoryview[Any]") -> None:
        """Encrypt and send some bytes."""
        rest = memoryview(data)
        while rest and not self.is_closing():
            rest = rest[self._layer.session.write(rest) :]
        self._layer.flush()

    def close(self) -> None:
        """End the connection once everything is sent."""
        if self.is_closing():
            return
        with contextlib.suppress(ssl.SSLError):  # no wait for the peer's closing alert
            self._layer.session.unwrap()
        self._layer.flush()
        self._layer.outside.close()

    def abort(self) -> None:
        """End the connection at once."""
        self._layer.outside.abort()

    def is_closing(self) -> bool:
        """Return whether the connection is being closed."""
        return self._layer.outside.is_closing()

    def pause_reading(self) -> None:
        """Stop passing on received data, until `resume_reading`."""
        self._layer.is_paused = True
        self._layer.outside.pause_reading()

    def resume_reading(self) -> None:
        """Pass on received data again, first the data decrypted before."""
        self._layer.is_paused = False
        self._layer.outside.resume_reading()
        asyncio.get_running_loop().call_soon(self._layer.data_received, b"")


def common_name(subject: Subject) -> str | None:
    """Return the common name in a certificate's subject, None if it has none."""
    return next((value for part in subject for key, value in part if key == "commonName"), None)
