"""What is a sign of an agent puts off the end of one that is idle for too long."""

from collections.abc import Callable
from types import SimpleNamespace
from urllib.request import urlopen

import pytest

from tracegrade_harness.control import deadline
from tracegrade_harness.control.deadline import Deadline
from tracegrade_harness.proxy.messages import CallNames, ProxiedReply
from tracegrade_harness.proxy.proxy import HttpProxy


class Clock:
    """A clock that tests advance, and the output of an agent at that time."""

    def __init__(self) -> None:
        self.now = 0.0
        self.printed = 0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of deadlines."""
    made = Clock()
    monkeypatch.setattr(deadline, "time", SimpleNamespace(monotonic=lambda: made.now))
    return made


def waits(_: Deadline, clock: Clock) -> None:
    """Nothing is seen."""
    clock.now += 6


def is_seen(limit: Deadline, clock: Clock) -> None:
    """A channel has reported a sign of the agent."""
    clock.now += 6
    limit.seen()


def prints(_: Deadline, clock: Clock) -> None:
    """The agent has printed more."""
    clock.now += 6
    clock.printed += 1


def is_looked_at(limit: Deadline, clock: Clock) -> None:
    """The agent waited for the harness."""
    with limit.paused():
        clock.now += 6


@pytest.mark.parametrize("sign", [is_seen, prints, is_looked_at])
def test_each_sign_begins_the_time_anew(
    clock: Clock, sign: Callable[[Deadline, Clock], None]
) -> None:
    """Without it, the same time would be too long."""
    limit = Deadline(100, 10, lambda: clock.printed)

    for _ in range(3):
        sign(limit, clock)
        assert limit.left_secs() > 0
    waits(limit, clock)
    assert limit.left_secs() > 0
    waits(limit, clock)
    assert (limit.left_secs(), limit.was_idle) == (0, True)


def test_what_was_idle_for_too_long_is_over_for_good(clock: Clock) -> None:
    """A sign that comes later does not let it go on."""
    limit = Deadline(100, 10)
    clock.now += 11

    assert limit.left_secs() == 0
    limit.seen()
    assert limit.left_secs() == 0


def test_who_has_no_time_left_was_not_idle(clock: Clock) -> None:
    """The limit of all its time comes first."""
    limit = Deadline(8, 10)
    clock.now += 11

    assert (limit.left_secs(), limit.was_idle) == (0, False)


def test_requests_and_replies_at_a_channel_are_signs() -> None:
    """Each of them is one."""
    signs: list[None] = []
    reply = ProxiedReply(200, (), (b"found",))
    with HttpProxy(lambda _: reply, CallNames([]), None, lambda: signs.append(None)) as proxy:
        urlopen(proxy.url).close()  # noqa: S310 - ours

    assert len(signs) == 2
