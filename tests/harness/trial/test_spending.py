"""What a run used is known from two places; each may see answers that the other misses."""

import pytest

from tracegrade_harness.control.gate_messages import TokensUsed
from tracegrade_harness.proxy.model_answers import ModelAnswer
from tracegrade_harness.suite.limits import TrialLimits
from tracegrade_harness.trial.spending import Spending, Stop
from tracegrade_queries.costs.answer_cost import TokenCounts
from tracegrade_queries.costs.pricing import Price

PRICES = {"m-*": Price(*[1_000_000_000] * 5)}
"""A tenth of a cent a token."""
TEN = ModelAnswer("m-1", TokenCounts(6, 4))
SILENT = ModelAnswer("m-1", None)
FOREIGN = ModelAnswer("x", TokenCounts(6, 4))


def used(*, ok: bool = True, tokens: int | None = 6) -> TokensUsed:
    """Return what a span tells of an answer of ten tokens."""
    return TokensUsed(type="usage", model="m-1", input_tokens=tokens, output_tokens=4, ok=ok)


@pytest.fixture
def spending() -> Spending:
    """Of a run without limits."""
    return Spending(PRICES)


def test_a_run_that_asked_no_model_has_no_cost(spending: Spending) -> None:
    """Or a model whose answers were not observed."""
    assert (spending.tokens, spending.usd) == (None, None)


def test_an_answer_that_two_places_saw_is_counted_once(spending: Spending) -> None:
    """At the upstream and by the span."""
    for _ in range(2):
        spending.add_from_upstream(TEN)
        spending.add_from_spans(used())

    assert (spending.tokens, spending.usd) == (20, 0.02)


def test_the_place_that_saw_more_answers_is_believed(spending: Spending) -> None:
    """An agent may ask models behind no channel, or ask through a channel and write no spans."""
    spending.add_from_upstream(TEN)
    for _ in range(3):
        spending.add_from_spans(used())

    assert (spending.tokens, spending.usd) == (30, 0.03)


def test_of_two_places_that_saw_as_much_the_one_that_knows_is_believed(spending: Spending) -> None:
    """Streams often do not say their tokens to an upstream, and spans not to the gate."""
    spending.add_from_upstream(SILENT)
    spending.add_from_spans(used())

    assert (spending.tokens, spending.usd, spending.notes()) == (10, 0.01, [])


def test_calls_that_failed_took_nothing(spending: Spending) -> None:
    """A refused request has a span, too."""
    spending.add_from_spans(used(ok=False, tokens=None))
    spending.add_from_upstream(TEN)

    assert (spending.tokens, spending.usd) == (10, 0.01)


def test_played_answers_took_tokens_and_cost_nothing(spending: Spending) -> None:
    """Whoever tells of them."""
    spending.add_from_tape(TEN)
    spending.add_from_spans(used())

    assert (spending.tokens, spending.usd) == (10, 0.0)


def test_what_does_not_say_its_tokens_leaves_them_unknown(spending: Spending) -> None:
    """Which the notes tell."""
    spending.add_from_upstream(TEN)
    spending.add_from_upstream(SILENT)

    assert (spending.tokens, spending.usd) == (None, None)
    assert spending.notes() == ["no_tokens: model 'm-1' does not report its tokens"]


def test_a_model_without_a_price_is_not_free(spending: Spending) -> None:
    """Its cost is unknown, though what it took is not."""
    spending.add_from_upstream(FOREIGN)

    assert (spending.tokens, spending.usd) == (10, None)


@pytest.mark.parametrize(
    ("limits", "answers", "stop"),
    [
        (TrialLimits(tokens=20), [TEN, TEN], None),
        (TrialLimits(tokens=19), [TEN, TEN], Stop("budget", "tokens: more than 19")),
        (TrialLimits(usd=0.02), [TEN, TEN], None),
        (TrialLimits(usd=0.019), [TEN, TEN], Stop("budget", "usd: more than 0.019")),
        (
            TrialLimits(usd=1),
            [FOREIGN],
            Stop(
                "error",
                "no_price: model 'x' has no price; give it one with --prices, "
                "or leave out the limit",
            ),
        ),
        (
            TrialLimits(tokens=1000),
            [SILENT],
            Stop(
                "error",
                "no_tokens: model 'm-1' does not report its tokens; let it report its usage, "
                "or leave out the limit",
            ),
        ),
    ],
)
def test_a_limit_stops_a_run(
    limits: TrialLimits, answers: list[ModelAnswer], stop: Stop | None
) -> None:
    """Once it is exceeded, or cannot be held, and from then on no model is asked."""
    stopped: list[None] = []
    spending = Spending(PRICES, limits)
    spending.when_stopped(lambda: stopped.append(None))

    for answer in answers:
        spending.add_from_upstream(answer)

    assert spending.stop == stop
    assert spending.refusal() == (None if stop is None else stop.reason)
    assert len(stopped) == (stop is not None)


def test_what_was_told_late_is_paid_as_the_difference() -> None:
    """The budget receives each cost once."""
    costs: list[int] = []
    spending = Spending(PRICES, on_spent=costs.append)

    spending.add_from_upstream(TEN)
    spending.add_from_spans(used())
    spending.add_from_spans(used())

    assert costs == [10_000_000_000, 10_000_000_000]
