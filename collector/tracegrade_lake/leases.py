"""Locks of a lake on an object store: leases that holders renew and others can take.

Each taking of a lease is an object of its own, `_locks/NAME/NUMBER.json`, and the highest number
holds it. It is put on the condition that it does not exist (`If-None-Match: *`), which every
accepted store obeys. Therefore only one of two processes gets a free lease. Its holder puts it
again and again. A lease is free once it was given back, or was not renewed for its time. The
store's clock decides, because it dates the objects, so a machine's own clock may be wrong.

A holder that stalls for longer than its lease lasts finds that out only later. So work under a
lease is checked again at the commit.
"""

import json
import os
import platform
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

import obstore
from obstore.exceptions import AlreadyExistsError

from tracegrade_lake.errors import LakeUnreachable, LeaseLost
from tracegrade_lake.locks import holder_words

if TYPE_CHECKING:
    from tracegrade_lake.object_store import ObjectStore

LEASE_SECS = 60.0
"""Time after which a lease that was not renewed expires."""

RENEWALS: Final = 4
"""In that time."""

ASK_AGAIN_SECS = 2.0
"""While another holds it."""

LOCK_FOLDER: Final = "_locks"


class LeaseRecord(NamedTuple):
    """The newest taking of a lease."""

    number: int
    holder: str
    is_given_back: bool
    lease_secs: float
    renewed: datetime
    """By the store's clock."""
    holder_words: str
    """Its machine and process."""


class Lease:
    """A lease of this process; it is renewed in the background until it is closed."""

    def __init__(self, store: "ObjectStore", name: str) -> None:
        self._store = store
        self._folder = f"{LOCK_FOLDER}/{name}"
        self._holder = uuid.uuid4().hex
        self._number = 0
        self._renewed_at = 0.0
        self._is_lost = False
        self._closed = threading.Event()
        self._renewer = threading.Thread(target=self._keep, daemon=True)

    def try_acquire(self) -> bool:
        """Return whether this process now holds the lease.

        Raises:
            LakeUnreachable: The store does not answer.
            StoreUnfit: It does not let exactly one of two writers take the lease.
        """
        self._store.prepare()
        with self._store.reading():
            newest = self._newest()
            if newest and not newest.is_given_back and not self._is_over(newest):
                return False
            asked_at = time.monotonic()
            if not self._take(newest.number + 1 if newest else 1):
                return False
            self._renewed_at = asked_at
            self._remove_older()
        self._renewer.start()
        return True

    def acquire(self) -> None:
        """Wait until this process holds the lease; raises as `try_acquire` does."""
        while not self.try_acquire():
            time.sleep(ASK_AGAIN_SECS)

    def sign(self) -> None:
        """Do nothing: the lease names the machine and the process."""

    def holder(self) -> str:
        """Return who holds the lease, or held it last, in words; '' if none did.

        Raises:
            LakeUnreachable: The store does not answer.
        """
        with self._store.reading():
            newest = self._newest()
        return newest.holder_words if newest else ""

    def check(self) -> None:
        """Check that this process still holds the lease, as far as it knows.

        Raises:
            LeaseLost: Another process has taken it over, or it was not renewed in time.
        """
        if self._is_lost or time.monotonic() - self._renewed_at > LEASE_SECS:
            msg = (
                f"the lock {self._folder} of the lake {self._store.location} was lost: it was not "
                f"renewed for {LEASE_SECS:.0f} s, or another process took it over; run this again"
            )
            raise LeaseLost(msg)

    def close(self) -> None:
        """Give the lease back if this process holds it; otherwise it expires by itself."""
        if not self._renewer.ident:
            return
        self._closed.set()
        self._renewer.join()
        if not self._is_lost:
            with _ignoring_outages(), self._store.reading():
                self._put(is_given_back=True)

    def _keep(self) -> None:
        while not self._is_lost and not self._closed.wait(LEASE_SECS / RENEWALS):
            with _ignoring_outages(), self._store.reading():
                asked_at = time.monotonic()
                self._put(is_given_back=False)
                newest = self._newest()
                self._is_lost = newest is None or newest.holder != self._holder
                self._renewed_at = asked_at

    def _put(self, *, is_given_back: bool) -> None:
        obstore.put(self._store.client, self._key(self._number), self._content(is_given_back))

    def _content(self, is_given_back: bool) -> bytes:
        return json.dumps(
            {
                "holder": self._holder,
                "host": platform.node(),
                "pid": os.getpid(),
                "lease_secs": LEASE_SECS,
                "given_back": is_given_back,
            }
        ).encode()

    def _take(self, number: int) -> bool:
        """Return whether this process took this number, even if the response was lost."""
        self._number = number
        key = self._key(number)
        try:
            obstore.put(self._store.client, key, self._content(False), mode="create")
        except AlreadyExistsError:
            taken = self._newest()
            return taken is not None and taken.holder == self._holder
        return True

    def _newest(self) -> LeaseRecord | None:
        keys = self._keys()
        if not keys:
            return None
        try:
            found = obstore.get(self._store.client, keys[-1])
        except FileNotFoundError:  # a newer one was taken, and this one removed
            return self._newest()
        record = json.loads(bytes(found.bytes()))
        number = int(keys[-1].rpartition("/")[2].removesuffix(".json"))
        return LeaseRecord(
            number,
            record["holder"],
            record["given_back"],
            record["lease_secs"],
            found.meta["last_modified"],
            holder_words(str(record.get("host")), record.get("pid")),
        )

    def _keys(self) -> list[str]:
        listed = obstore.list(self._store.client, self._folder).collect()
        return sorted(found["path"] for found in listed)

    def _remove_older(self) -> None:
        older = [key for key in self._keys() if key < self._key(self._number)]
        if older:
            self._store.delete(older)

    def _is_over(self, newest: LeaseRecord) -> bool:
        passed = self._store_time() - newest.renewed
        return passed.total_seconds() > newest.lease_secs

    def _store_time(self) -> datetime:
        """Return the store's time of an object that was put just now."""
        key = f"{LOCK_FOLDER}/_clock/{uuid.uuid4().hex}"
        obstore.put(self._store.client, key, b"")
        try:
            return obstore.head(self._store.client, key)["last_modified"]
        finally:
            self._store.delete([key])

    def _key(self, number: int) -> str:
        return f"{self._folder}/{number:020d}.json"


@contextmanager
def _ignoring_outages() -> Iterator[None]:
    """Leave it to the next renewal, or to the lease's end."""
    try:
        yield
    except LakeUnreachable:
        return
