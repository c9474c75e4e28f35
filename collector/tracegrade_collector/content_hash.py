"""What makes two rows equal: a hash of a span's (or log record's) bytes, its resource and scope.

It covers the item's own protobuf bytes as received, and, as salt, the bytes of its resource and
scope with their schema URLs. So a request that is sent again has the same hashes, and a file with
the same spans as JSON or as protobuf too, since import writes both anew. A sender whose encoder
writes fields in another order than protobuf's own has other hashes than an import of its spans.
"""

from collections.abc import Iterable
from hashlib import blake2b

HASH_BYTES = 16


def shared_salt(
    resource: bytes | None, resource_url: str, scope: bytes | None, scope_url: str
) -> bytes:
    """Return the salt of all items of one scope; None is another resource than an empty one."""
    found = blake2b(digest_size=HASH_BYTES)
    for part in (resource, resource_url.encode(), scope, scope_url.encode()):
        found.update((0 if part is None else len(part) + 1).to_bytes(8))
        found.update(part or b"")
    return found.digest()


def content_hashes(items: Iterable[bytes], salt: bytes) -> list[bytes]:
    """Return the hash of each item, 16 bytes."""
    return [blake2b(item, digest_size=HASH_BYTES, salt=salt).digest() for item in items]
