"""Locks on an object store: one holder among all; a dead holder's lease expires by the store."""

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import obstore
import pytest
from tests.waiting import wait_until

from tracegrade_lake import Lake, leases
from tracegrade_lake.errors import LakeUnreachable, LeaseLost
from tracegrade_lake.leases import Lease
from tracegrade_lake.object_store import ObjectStore

from .stores import Reply, Store

OBJECT = r"/_locks/score/\d+\.json"


@pytest.fixture
def place(store: Store, tmp_path: Path) -> str:
    """Where a lake may be."""
    return store.url(tmp_path.name)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Leases of this process run out after a second, and are renewed four times in it."""
    with monkeypatch.context() as patch:
        patch.setattr(leases, "LEASE_SECS", 1.0)
        patch.setattr(leases, "ASK_AGAIN_SECS", 0.1)
        yield


def lease(place: str, state: Path) -> Lease:
    """Return a lease of the lake, as another machine would have it."""
    lock = Lake.create(place, state).lock("score")
    assert isinstance(lock, Lease)
    return lock


def objects(place: str, state: Path) -> list[str]:
    """Return the objects that leases leave."""
    listed = obstore.list(ObjectStore(place, state).client, "_locks").collect()
    return [found["path"] for found in listed]


def test_one_of_two_machines_holds_a_lease(place: str, tmp_path: Path) -> None:
    """The other one gets it when it was given back, with nothing of the first left."""
    with closing(lease(place, tmp_path / "1")) as first:
        assert first.try_acquire()
        first.check()
        with closing(lease(place, tmp_path / "2")) as second:
            assert not second.try_acquire()
    with closing(lease(place, tmp_path / "2")) as second:
        assert second.try_acquire()
        assert objects(place, tmp_path / "2") == [f"_locks/score/{2:020d}.json"]
    assert Lake.create(place, tmp_path / "2").tables() == []


@pytest.mark.usefixtures("short")
def test_a_lease_lasts_while_it_is_renewed(place: str, tmp_path: Path) -> None:
    """Longer than it would without; who waits gets it at its end."""
    with closing(lease(place, tmp_path / "1")) as first:
        assert first.try_acquire()
        begun = time.monotonic()
        while time.monotonic() < begun + 1.5:
            with closing(lease(place, tmp_path / "2")) as second:
                assert not second.try_acquire()
        first.check()
    with closing(lease(place, tmp_path / "2")) as second:
        second.acquire()
        second.check()


@pytest.mark.usefixtures("short")
def test_a_holder_that_stalls_loses_its_lease_and_is_told(
    place: str, store: Store, tmp_path: Path
) -> None:
    """It cannot renew; another takes over, by the store's clock; what comes late takes nothing."""
    first, second = lease(place, tmp_path / "1"), lease(place, tmp_path / "2")
    assert first.try_acquire()
    stalled = store.fault("PUT", r"/0*1\.json", reply=Reply(403, "AccessDenied"), times=10**6)
    wait_until(lambda: stalled.hits >= 6)
    with pytest.raises(LeaseLost, match=r"was not renewed for 1 s.*run this again"):
        first.check()
    with closing(second), closing(first):
        second.acquire()
        store.heal()
        wait_until(lambda: first._is_lost)
        second.check()
        with pytest.raises(LeaseLost):
            first.check()
    with closing(lease(place, tmp_path / "3")) as third:
        assert third.try_acquire()


def test_a_lost_answer_gives_the_lease_all_the_same(
    place: str, store: Store, tmp_path: Path
) -> None:
    """The object that is there says whose it is."""
    store.fault("PUT", OBJECT, applied=True, reply=Reply(412, "PreconditionFailed"))
    with closing(lease(place, tmp_path / "1")) as first:
        assert first.try_acquire()


def test_a_store_that_does_not_answer_is_said(
    place: str, store: Store, tmp_path: Path, no_patience: None
) -> None:
    """Without an answer no process holds the lock; a loss at the end is harmless."""
    store.fault("*", "/", reply=Reply(403, "AccessDenied"), times=10**6)
    with closing(lease(place, tmp_path / "1")) as first, pytest.raises(LakeUnreachable):
        first.try_acquire()
    store.heal()
    with closing(lease(place, tmp_path / "1")) as first:
        assert first.try_acquire()
        store.fault("PUT", OBJECT, reply=Reply(403, "AccessDenied"), times=10**6)
