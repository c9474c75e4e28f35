"""Pseudonyms: equal values get equal words, and only the secret's owner can link the two.

HMAC-SHA256 with a secret of the lake, cut to 128 bits, so that rows of one user still join. The
secret is a file next to the lake's private folders; deleting it makes every past pseudonym
anonymous.
"""

import hmac
import os
import re
import secrets
import uuid
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Final

from tracegrade_collector.errors import BadSecret
from tracegrade_lake.files import make_folder, sync_folder, write_synced
from tracegrade_lake.lake_root import writing_to

PREFIX: Final = "pseudonym:"
SECRET_FILE: Final = "redaction.secret"  # noqa: S105 - a name
SECRET_BYTES: Final = 32
LEAST_SECRET_BYTES: Final = 16
PSEUDONYM_DIGITS: Final = 32
HASH_BYTES: Final = 16
_PSEUDONYM: Final = re.compile(rf"{PREFIX}[0-9a-f]{{{PSEUDONYM_DIGITS}}}")


class Pseudonyms:
    """Pseudonyms and keyed hashes under one secret."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def of(self, value: str) -> str:
        """Return the pseudonym of a value; one that is a pseudonym already stays."""
        if _PSEUDONYM.fullmatch(value):
            return value
        digest = hmac.new(self._secret, value.encode(), sha256).hexdigest()
        return PREFIX + digest[:PSEUDONYM_DIGITS]

    def keyed_hash(self, content_hash: str) -> str:
        """Return 32 hex digits in place of a content hash; they cannot be guessed by trial."""
        key = self._secret[:64]
        return blake2b(content_hash.encode(), key=key, digest_size=HASH_BYTES).hexdigest()


def load_secret(state: Path, given: Path | None) -> bytes:
    """Return the lake's secret: of the given file, or of its own, which is made if absent.

    A given file may serve several tenants: each has a secret of its own, derived from it.

    Raises:
        BadSecret: The file cannot be read, or holds too little.
        LakeUnwritable: It cannot be made.
    """
    path = given or state / SECRET_FILE
    if given is None and not path.exists():
        with writing_to(state):
            _make_secret(path)
    try:
        secret = path.read_bytes().strip()
    except OSError as error:
        msg = f"the secret of pseudonyms cannot be read: {error.strerror} ({path})"
        raise BadSecret(msg) from error
    if len(secret) < LEAST_SECRET_BYTES:
        msg = f"{path} must hold at least {LEAST_SECRET_BYTES} bytes, got {len(secret)}"
        raise BadSecret(msg)
    tenant = state.name if given and state.parent.name == "tenants" else ""
    return hmac.new(secret, b"tenant:" + tenant.encode(), sha256).digest()


def _make_secret(path: Path) -> None:
    """Write a secret unless another process does so at the same time; the first one stays."""
    make_folder(path.parent)
    unfinished = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    content = secrets.token_hex(SECRET_BYTES).encode() + b"\n"
    write_synced(unfinished, lambda file: file.write(content))
    try:
        os.link(unfinished, path)
    except FileExistsError:
        pass
    finally:
        unfinished.unlink()
    sync_folder(path.parent)
