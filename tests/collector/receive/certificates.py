"""Certificate authorities and certificates, made for one test."""

import ssl
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import grpc
import trustme

HOST = "127.0.0.1"
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


class Authority:
    """A certificate authority with a folder for what it signs."""

    def __init__(self, folder: Path) -> None:
        """Make a new one."""
        folder.mkdir(exist_ok=True)
        self._authority = trustme.CA()
        self._folder = folder
        self.file = folder / "ca.pem"
        self.pem = self._authority.cert_pem.bytes()
        self.file.write_bytes(self.pem)

    def sign(
        self, name: str, common_name: str | None = None, expires: datetime | None = None
    ) -> "Signed":
        """Write a new certificate for this machine under a name, in place of an older one."""
        leaf = self._authority.issue_cert(HOST, common_name=common_name, not_after=expires)
        signed = Signed(self._folder / f"{name}.pem", self._folder / f"{name}.key")
        for file, content in (
            (signed.key, leaf.private_key_pem.bytes()),
            (signed.chain, b"".join(blob.bytes() for blob in leaf.cert_chain_pems)),
        ):
            fresh = file.with_suffix(".new")
            fresh.touch(0o600)
            fresh.write_bytes(content)
            fresh.rename(file)
        return signed

    def context(self, client: "Signed | None" = None) -> ssl.SSLContext:
        """Return what an HTTP client that trusts this authority connects with."""
        context = ssl.create_default_context(cafile=str(self.file))
        if client:
            context.load_cert_chain(client.chain, client.key)
        return context

    def credentials(self, client: "Signed | None" = None) -> grpc.ChannelCredentials:
        """Return what a gRPC client that trusts this authority connects with."""
        if client is None:
            return grpc.ssl_channel_credentials(self.pem)
        return grpc.ssl_channel_credentials(
            self.pem, client.key.read_bytes(), client.chain.read_bytes()
        )


class Signed(NamedTuple):
    """A certificate's files."""

    chain: Path
    key: Path

    @property
    def options(self) -> dict[str, str]:
        """The collector's options for it."""
        return {"tls_cert_file": str(self.chain), "tls_key_file": str(self.key)}
