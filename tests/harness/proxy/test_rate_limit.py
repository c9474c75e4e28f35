"""Live services are asked no more often than a suite says; who is too early waits."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from tracegrade_harness.control.deadline import MAX_WAITS, Deadline
from tracegrade_harness.proxy.messages import ProxiedReply, ProxiedRequest
from tracegrade_harness.proxy.rate_limit import PacedUpstream, RateLimiter, UpstreamRateLimits
from tracegrade_harness.proxy.upstream import UpstreamFailed
from tracegrade_harness.suite.upstreams import Upstream

RATE = 20.0
REPLY = ProxiedReply(200, (), (b"found",))
REQUEST = ProxiedRequest("GET", "/x", "", (), b"")


def declared(url: str = "http://127.0.0.1:1", rate: float | None = RATE) -> Upstream:
    """Return an upstream as a suite declares it."""
    return Upstream(url=url, url_env="X", rate=rate)


def test_parallel_trials_share_the_rate_limit_of_a_service() -> None:
    """The last is let go when all before it have had theirs; each is answered."""
    limits = UpstreamRateLimits()
    began = time.monotonic()

    def trial(_: int) -> list[ProxiedReply]:
        shared = limits.of(declared())
        assert shared is not None
        upstream = PacedUpstream(lambda _: REPLY, shared)
        return [upstream(REQUEST), upstream(REQUEST), upstream(REQUEST)]

    with ThreadPoolExecutor(4) as pool:
        replies = [reply for each in pool.map(trial, range(4)) for reply in each]

    assert replies == [REPLY] * 12
    assert time.monotonic() - began >= 11 / RATE


def test_those_that_wait_go_in_the_order_in_which_they_came() -> None:
    """None is overtaken, so that none waits for ever."""
    limiter, looked = RateLimiter(RATE), list[int]()

    def go(number: int) -> None:
        def looks() -> bool:  # the last time immediately before it goes
            looked.append(number)
            return False

        assert limiter.wait(looks)

    threads = [threading.Thread(target=go, args=(number,)) for number in range(5)]
    for number, thread in enumerate(threads):
        thread.start()
        until(partial(looked.__contains__, number))
    for thread in threads:
        thread.join()
    went = sorted(range(5), key=looked[::-1].index, reverse=True)

    assert went == [0, 1, 2, 3, 4]


def until(holds: Callable[[], bool]) -> None:
    """Return once something holds."""
    while not holds():
        time.sleep(0.001)


def test_other_services_do_not_wait() -> None:
    """Nor does one without a rate."""
    limits = UpstreamRateLimits()

    assert limits.of(declared()) is limits.of(declared())
    assert limits.of(declared("http://127.0.0.1:2")) is not limits.of(declared())
    assert limits.of(declared(rate=None)) is None


def test_what_waits_when_its_agent_has_ended_is_not_asked() -> None:
    """It fails at once, and takes no turn from others."""
    limiter, asked = RateLimiter(0.001), list[ProxiedRequest]()

    def ask(request: ProxiedRequest) -> ProxiedReply:
        asked.append(request)
        return REPLY

    first, other = PacedUpstream(ask, limiter), PacedUpstream(ask, limiter)
    assert first(REQUEST) == REPLY
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(first, REQUEST), pool.submit(other, REQUEST)]
        first.close()
        with pytest.raises(UpstreamFailed, match="GET /x still waited for its turn"):
            waiting[0].result()
        assert not waiting[1].done()
        other.close()
        with pytest.raises(UpstreamFailed):
            waiting[1].result()

    assert asked == [REQUEST]


def test_time_stands_still_while_requests_wait() -> None:
    """However many wait at once."""
    began = time.monotonic()
    deadline = Deadline(60)
    with deadline.waiting():
        with deadline.paused(), deadline.waiting():
            time.sleep(0.02)
        time.sleep(0.02)
        left = deadline.left_secs()
        assert deadline.left_secs() == left

    assert deadline.spent_secs() + 0.04 <= time.monotonic() - began
    assert deadline.left_secs() <= left


def test_time_that_is_over_does_not_come_back() -> None:
    """Whoever waits then."""
    deadline = Deadline(0)
    with deadline.waiting():
        assert deadline.left_secs() == 0


def test_an_agent_that_waits_again_and_again_ends() -> None:
    """Once it has waited for many times its own time."""
    secs = 0.02
    deadline = Deadline(secs)
    with deadline.waiting():
        time.sleep(MAX_WAITS * secs)
    with deadline.waiting():
        time.sleep(secs)

        assert deadline.left_secs() == 0
