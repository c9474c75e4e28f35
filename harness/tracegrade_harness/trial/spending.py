"""Counts the tokens and US dollars of one run of an agent, and enforces its limits.

Two places report answers of models: the agent's spans at the gate, and upstreams that are models.
One answer may appear in both, so the places are not added up. The place with more answers counts.
If both have as many, the place that knows its tokens counts, or the one with the greater sum. An
answer from a tape used tokens, but costs nothing.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from tracegrade_harness.control.gate_messages import TokensUsed
from tracegrade_harness.proxy.model_answers import ModelAnswer
from tracegrade_harness.suite.limits import TrialLimits
from tracegrade_harness.trial.result import NO_TOKENS
from tracegrade_queries.costs.answer_cost import TokenCounts, cost_of, price_of
from tracegrade_queries.costs.pricing import NO_PRICES, Prices

PICO: Final = 10**12
"""Units of cost per US dollar."""
NO_LIMITS: Final = TrialLimits()
LET_SAY: Final = "let it report its usage, or leave out the limit"
GIVE_PRICE: Final = "give it one with --prices, or leave out the limit"


class Stop(NamedTuple):
    """The reason why a run must end."""

    status: Literal["budget", "error"]
    """`error`: it is unknown whether the run has reached a limit."""
    reason: str


@dataclass
class _Seen:
    """The usage that one place reported."""

    answers: int = 0
    tokens: int = 0
    pico_usd: int = 0
    untold: str | None = None
    """Why its tokens are unknown, from the first answer that did not report them."""
    unpriced: str | None = None
    """Why its cost is unknown, from the first answer without a price."""

    def add(self, answer: ModelAnswer, prices: Prices) -> None:
        """Count an answer."""
        self.answers += 1
        name = "a model without a name" if answer.model is None else f"model '{answer.model}'"
        if answer.counts is None:
            self.untold = self.untold or f"{NO_TOKENS}{name} does not report its tokens"
            return
        self.tokens += answer.counts.total
        price = None if answer.model is None else price_of(prices, answer.model)
        if price is None:
            self.unpriced = self.unpriced or f"no_price: {name} has no price"
        else:
            self.pico_usd += cost_of(price, answer.counts)


class Spending:
    """The usage of a run so far; any thread may use it."""

    def __init__(
        self,
        prices: Prices = NO_PRICES,
        limits: TrialLimits = NO_LIMITS,
        on_spent: Callable[[int], None] = lambda _: None,
    ) -> None:
        """Begin with nothing.

        Args:
            prices: The prices of models.
            limits: The limits; only `tokens` and `usd` count.
            on_spent: Called with each cost as it arises, in millionths of a millionth of a US
                dollar.
        """
        self._prices = prices
        self._limits = limits
        self._on_spent = on_spent
        self._on_stop: Callable[[], None] = lambda: None
        self._lock = threading.Lock()
        self._by_spans, self._by_upstreams, self._by_tapes = _Seen(), _Seen(), _Seen()
        self._reported = 0
        self._stop: Stop | None = None

    def add_from_spans(self, used: TokensUsed) -> None:
        """Add the usage in the agent's spans for an answer; a failed call used nothing."""
        if used.ok:
            self._take(self._by_spans, ModelAnswer(used.model, _counts(used)))

    def add_from_upstream(self, answer: ModelAnswer) -> None:
        """Add an answer of an upstream."""
        self._take(self._by_upstreams, answer)

    def add_from_tape(self, answer: ModelAnswer) -> None:
        """Add an answer of a tape."""
        self._take(self._by_tapes, answer)

    def refusal(self) -> str | None:
        """Return why no model may be asked any more; None if models may be asked."""
        return None if self._stop is None else self._stop.reason

    def when_stopped(self, call: Callable[[], None]) -> None:
        """Set a function that is called, from any thread, when the run must end."""
        self._on_stop = call

    @property
    def stop(self) -> Stop | None:
        """Why the run must end; None while it may continue."""
        return self._stop

    @property
    def tokens(self) -> int | None:
        """Input and output tokens of all models, including answers from a tape.

        None if there was no answer, or if an answer did not report its tokens.
        """
        with self._lock:
            return self._tokens()

    @property
    def usd(self) -> float | None:
        """The cost; None if there was no answer, or the cost of an answer is unknown."""
        with self._lock:
            found = self._pico_usd()
            return None if found is None else found / PICO

    def notes(self) -> list[str]:
        """Return the notes about the numbers for readers of the trial."""
        with self._lock:
            untold = self._untold() if self._tokens() is None else None
        return [untold] if untold else []

    def _take(self, seen: _Seen, answer: ModelAnswer) -> None:
        with self._lock:
            seen.add(answer, self._prices)
            more = (self._pico_usd() or 0) - self._reported
            self._reported += max(more, 0)
            stops = self._stop is None and (stop := self._limit()) is not None
            if stops:
                self._stop = stop
        if more > 0:
            self._on_spent(more)
        if stops:
            self._on_stop()

    def _limit(self) -> Stop | None:
        """Return the exceeded limit, or a limit that cannot be checked."""
        if (most := self._limits.tokens) is not None:
            tokens = self._tokens()
            if tokens is None:
                return Stop("error", f"{self._untold()}; {LET_SAY}")
            if tokens > most:
                return Stop("budget", f"tokens: more than {most}")
        if (dollars := self._limits.usd) is not None:
            cost = self._pico_usd()
            if cost is None:
                untold = self._untold()
                reason = f"{untold}; {LET_SAY}" if untold else f"{self._unpriced()}; {GIVE_PRICE}"
                return Stop("error", reason)
            if cost > dollars * PICO:
                return Stop("budget", f"usd: more than {dollars:g}")
        return None

    def _untold(self) -> str | None:
        return next((each.untold for each in self._believed() if each.untold), None)

    def _unpriced(self) -> str | None:
        return next((each.unpriced for each in self._believed() if each.unpriced), None)

    def _believed(self) -> list[_Seen]:
        """Return the places with the most answers: the gate, the upstreams or both."""
        upstreams = self._upstreams()
        most = max(self._by_spans.answers, upstreams.answers)
        return [each for each in (upstreams, self._by_spans) if each.answers == most > 0]

    def _upstreams(self) -> _Seen:
        """Return the usage of upstreams and tapes, with the cost of upstreams."""
        upstream, tape = self._by_upstreams, self._by_tapes
        return _Seen(
            upstream.answers + tape.answers,
            upstream.tokens + tape.tokens,
            upstream.pico_usd,
            upstream.untold or tape.untold,
            upstream.unpriced,
        )

    def _tokens(self) -> int | None:
        known = [each.tokens for each in self._believed() if each.untold is None]
        return max(known, default=None)

    def _pico_usd(self) -> int | None:
        if not self._by_upstreams.answers and not self._by_spans.answers:
            return 0 if self._by_tapes.answers else None
        found: list[int] = []
        for each in self._believed():
            if each is self._by_spans and not each.untold and not each.unpriced:
                found.append(each.pico_usd - self._by_tapes.pico_usd)
            elif each is not self._by_spans and not (self._by_upstreams.untold or each.unpriced):
                found.append(each.pico_usd)
        return max([*found, self._by_upstreams.pico_usd]) if found else None


def _counts(used: TokensUsed) -> TokenCounts | None:
    if used.input_tokens is None or used.output_tokens is None:
        return None
    cached = used.cache_read_tokens or 0, used.cache_write_tokens or 0
    return TokenCounts(used.input_tokens, used.output_tokens, *cached, used.reasoning_tokens or 0)
