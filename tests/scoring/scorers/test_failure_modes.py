"""What is a loop, a premature commitment or a drift, and what looks like one and is none."""

import json

import pytest
from tests.scenes import built_together
from tests.scoring.build import Case, Row, call
from tests.scoring.together import Scene

from tracegrade_scoring.scorers.failure_modes.claims import claim_words

TOOLS = """
tools:
  look: {effect: read}
  quote: {effect: read}
  bookRoom: {effect: write}
  mcp__shop__send_mail: {effect: write}
  cancel_order: {effect: destructive}
  cancel_hotel: {effect: destructive}
  wipe: {effect: destructive}
"""

TASK: Row = {
    "sub_goals": {
        "find": {"serves": ["look"], "critical": True},
        "price": {"serves": ["quote"], "deps": ["find"]},
        "room": {"serves": ["bookRoom"], "deps": ["price"], "critical": True},
    }
}


def made(*calls: tuple[str, Row] | tuple[str, Row, Row]) -> list[Row]:
    """Return calls of a tool with arguments, and what else the step says."""
    return [
        call("t1", i, tool, arguments=json.dumps(arguments), **(rest[0] if rest else {}))
        for i, (tool, arguments, *rest) in enumerate(calls)
    ]


def searches(*arguments: Row, tool: str = "look", result: str | None = "none") -> Case:
    """Return an attempt that asks these things, one after the other."""
    return Case(made(*((tool, each, {"result": result}) for each in arguments)))


def failing(*messages: str | None, kind: str | None = "ToolError") -> Case:
    """Return an attempt whose calls are the same and failed, and had no result."""
    errors = [{"status": "error", "error_type": kind, "error_message": each} for each in messages]
    return Case(made(*(("look", {"q": "x"}, each) for each in errors)))


@built_together
def test_reworded_question_with_the_same_result_is_a_loop() -> Scene:
    """Words may be added, dropped and moved, in any case; equal questions may stand among them."""
    found = yield [
        searches({"q": "Paris hotel"}, {"q": "hotel paris!"}, {"q": "paris hotel, cheap"}),
        searches({"q": "a b"}, {"q": "a b"}, {"q": "b a"}),
        searches({"q": "a b", "n": 1}, {"q": "b a", "n": 1}, {"q": "a, b", "n": 1}),
        searches({"q": "rote Schuhe"}, {"q": "Schuhe rote"}, {"q": "rote schuhe?"}),
    ]
    assert [each.scores["loop_trap"].value for each in found] == [1, 1, 1, 1]
    details = [each.rows("detail", "loop_traps") for each in found]
    assert details == [[("look in succession, 3 times in other words with the same result",)]] * 4


@built_together
def test_case_blanks_and_order_alone_are_a_rewording_and_not_the_same_arguments() -> Scene:
    """Also of names, whose order no rule understands; only with the same result, and no writes."""
    alike = (
        ({"q": "Bonn weather"}, {"q": "bonn weather"}, {"q": "BONN WEATHER"}),
        ({"q": "a  b"}, {"q": "a b"}, {"q": " a b "}),
        ({"q": "trains from Bonn to Ulm"}, {"q": "trains from Ulm to Bonn"},
         {"q": "from Bonn to Ulm trains"}),
    )  # fmt: skip
    found = yield [
        *(searches(*each) for each in alike),
        *(searches(*each, tool="bookRoom") for each in alike),
    ]
    assert [each.scores["loop_trap"].value for each in found] == [1, 1, 1, 0, 0, 0]
    assert [each.scores["redundant_calls"].value for each in found[:3]] == [0, 0, 0]


@built_together
def test_other_question_or_other_result_is_no_rewording() -> Scene:
    """Questions that are not the same differ in numbers, ids, single words, keys or places."""
    pages = [{"q": "the same words", "page": page} for page in range(3)]
    days = [{"day": f"day 2024-05-{day}"} for day in (19, 20, 21)]
    names = [{"city": city} for city in ("Paris", "Rome", "Oslo")]
    swapped = [{"a": "x", "b": "y"}, {"a": "y", "b": "x"}, {"a": "x", "b": "y"}]
    keys = [{"q": "a b"}, {"q": "b a", "n": None}, {"q": "a b"}]
    twice = [{"q": "a b"}, {"q": "b a"}]
    found = yield [
        *(searches(*each) for each in (pages, days, names, swapped, keys, twice)),
        searches({"q": "a b"}, {"q": "b a"}, {"q": "a, b"}, tool="bookRoom"),
        Case(made(*(("look", {"q": q}, {"result": q}) for q in ("a b", "b a", "a, b")))),
    ]
    assert [each.scores["loop_trap"].value for each in found] == [0] * 8


OTHER_THINGS = {
    "paths": [f"/src/app/models/{name}.py" for name in ("user", "order", "item")],
    "addresses": [f"write to {name}@example.com now please" for name in ("ann", "bob", "cyd")],
    "urls": [f"https://example.com/shop/{name}/list" for name in ("users", "orders", "items")],
    "ids": [f"prod-eu-{name}-service" for name in ("user", "order", "item")],
    "names": [f"email address of {name} Smith" for name in ("Anna", "Paul", "Zoe")],
    "names first": [f"{name} Smith email" for name in ("Anna", "Paul", "Zoe")],
    "symbols": ["+", "-", "*"],
    "sums": ["price + tax", "price * tax", "price - tax"],
}


@built_together
def test_other_names_ids_and_symbols_are_other_questions() -> Scene:
    """Few words differ between them, but they ask for other things."""
    found = yield [searches(*({"q": q} for q in each)) for each in OTHER_THINGS.values()]
    scores = [each.scores["loop_trap"].value for each in found]
    assert dict(zip(OTHER_THINGS, scores, strict=True)) == dict.fromkeys(OTHER_THINGS, 0)


@built_together
def test_names_and_ids_that_stay_are_in_other_words_still_one_question() -> Scene:
    """A capital letter that only one of them writes, or begins with, tells of no other name."""
    found = yield [
        searches(
            {"q": "find a.b@c.org of Anna"},
            {"q": "a.b@c.org of Anna"},
            {"q": "of anna: a.b@c.org"},
        ),
        searches({"q": "Open src/a.py"}, {"q": "src/a.py open"}, {"q": "please open src/a.py"}),
    ]
    assert [each.scores["loop_trap"].value for each in found] == [1, 1]


@built_together
def test_results_that_were_not_captured_leave_open_whether_it_is_a_loop() -> Scene:
    """Three rewordings without a result may have got the same."""
    (found,) = yield [searches({"q": "a b"}, {"q": "b a"}, {"q": "a, b"}, result=None)]
    assert found.scores["loop_trap"].reason == "content_missing"


@built_together
def test_asking_again_while_other_calls_find_something_new_is_no_loop() -> Scene:
    """What failed is asked for again in vain; the rest was not captured and is unknown."""
    asks: tuple[str, Row, Row] = ("look", {"job": 7}, {"result": "pending"})
    fails: tuple[str, Row, Row] = ("look", {"job": 7}, {"status": "error", "result": "down"})

    def between(first: str | None, second: str | None, ask: tuple[str, Row, Row]) -> Case:
        found = [("quote", {"n": i}, {"result": each}) for i, each in enumerate((first, second))]
        return Case(made(ask, found[0], ask, found[1], ask))

    found = yield [
        between("x1", "x2", asks),
        between("none", "none", asks),
        between("x1", "pending", asks),
        between("x1", None, asks),
        between("x1", "x2", fails),
        between("x1", None, fails),
    ]
    scores = [each.scores["loop_trap"] for each in found]
    assert [score.value for score in scores] == [0, 1, 0, None, 1, 1]
    assert scores[3].reason == "content_missing"


@built_together
def test_same_call_that_keeps_failing_is_a_loop() -> Scene:
    """Its error stands for its result; in direct succession each may say something else."""
    apart = failing("down", "down", "down").steps
    other = made(("quote", {}))[0]
    between = [{**step, "step_index": 2 * i} for i, step in enumerate(apart)]
    between += [{**other, "step_index": 2 * i + 1} for i in range(2)]
    found = yield [
        failing("down", "down", "down"),
        failing("after 1 s", "after 2 s", "after 3 s"),
        failing(None, None, None, kind=None),
        Case(between),
        failing("down", "down"),
    ]
    assert [each.scores["loop_trap"].value for each in found] == [1, 1, 1, 1, 0]


def answered(text: str | None, *tools: str, **columns: str) -> Case:
    """Return an attempt that made these calls, which went well, and then answered."""
    steps = made(*((tool, {}, columns) for tool in tools))
    answer = {"step_index": len(tools), "kind": "answer", "content": text}
    return Case([*steps, answer], TASK)


CLAIMS = (
    "All booked!", "I have booked it.", "I've now booked it.", "The room has been booked.",
    "Sorry for that. The room is booked, and you can arrive at 3.", "Your booking is complete.",
    "**Booked**: two nights", "It\u2019s booked.", "I looked, and successfully booked it.",
)  # fmt: skip
NO_CLAIMS = (
    "done", "gave up", "The hotel is full, shall I look for another one?", "It is not booked.",
    "I couldn't get it booked.", "Once it is booked, I have booked you in.", "Is it booked?",
    "You have booked a room already.", "Let me complete the booking.",
    "I will book it.", "I have looked it up.", "No room was booked.", "Room 5 is free.",
)  # fmt: skip


@built_together
def test_answer_that_claims_what_no_call_did_is_premature() -> Scene:
    """A claim is said as a fact; a denial, a question, a condition or a plan is none."""
    found = yield [answered(text, "look") for text in (*CLAIMS, *NO_CLAIMS)]
    scores = [each.scores["premature_commitment"].value for each in found]
    assert dict(zip((*CLAIMS, *NO_CLAIMS), scores, strict=True)) == {
        **dict.fromkeys(CLAIMS, 1), **dict.fromkeys(NO_CLAIMS, 0)
    }  # fmt: skip
    assert found[0].rows("step_index, detail", "failure_rows") == [
        (1, "the answer says that sub-goal `room` was done, which no call did")
    ]


@built_together
def test_answer_may_say_what_was_done_or_tried() -> Scene:
    """A sub-goal that was done, or a call whose words belong to another task, is not a claim."""
    failed = answered("It is booked.", "look", "quote")
    failed_call = call("t1", 3, "bookRoom", status="error")
    found = yield [
        answered("It is booked.", "look", "quote", "bookRoom"),
        answered("It is booked.", "look", "bookRoom"),
        Case([*failed.steps[:-1], failed_call, {**failed.steps[-1], "step_index": 4}], TASK),
        answered(None, "look"),
    ]
    premature = [each.scores["premature_commitment"] for each in found]
    assert [score.value for score in premature] == [0, 1, 1, None]
    assert premature[-1].reason == "content_missing"
    assert found[1].rows("step_index", "failure_rows") == [(1,)]


@built_together
def test_words_of_a_tool_that_was_called_claim_no_other() -> Scene:
    """Two tools update something; an answer that says so after one of them claims nothing."""
    serves = {"one": ["cancel_order"], "other": ["cancel_hotel"]}
    task = {"sub_goals": {k: {"serves": v, "critical": True} for k, v in serves.items()}}
    steps = made(("cancel_hotel", {}, {"effect": "destructive"}))
    answer = {"step_index": 1, "kind": "answer", "content": "It has been cancelled."}
    found = yield [Case([*steps, answer], task), Case([{**answer, "step_index": 0}], task)]
    assert [each.scores["premature_commitment"].value for each in found] == [0, 1]


def critical(goal: Row, text: str, *tools: str, **columns: str) -> Case:
    """Return an attempt that answered after these calls, with one critical sub-goal: `room`."""
    sub_goals = {"look": {"serves": ["look"]}, "room": {**goal, "critical": True}}
    return answered(text, *tools, **columns)._replace(task={"sub_goals": sub_goals})


@built_together
def test_answer_that_lacks_what_its_criterion_asks_for_is_wrong_and_not_premature() -> Scene:
    """The tool was called with success, so what the answer says of it was done.

    docs/metrics.md, section 9.3: criteria that ask for the answer do not count.
    """
    numbered = {"serves": ["bookRoom"], "success": {"answer": "number [0-9]+"}}
    other_room = {"serves": [{"tool": "bookRoom", "arguments": '"room":5'}]}
    answer_alone = {"success": {"answer": "number [0-9]+"}}
    found = yield [
        critical(numbered, "I have booked it.", "look", "bookRoom"),
        critical(other_room, "I have booked it.", "look", "bookRoom"),
        critical(answer_alone, "It is booked.", "look"),
    ]
    assert all(
        ("room", False) in each.rows("sub_goal, completed", "sub_goal_rows") for each in found
    )
    assert [each.scores["premature_commitment"].value for each in found] == [0, 0, 0]


@built_together
def test_answer_that_meets_its_criterion_is_premature_where_no_call_did_it() -> Scene:
    """Saying the number makes nothing done; what no `serves` names, the criterion's tool does."""
    numbered = {"serves": ["bookRoom"], "success": {"answer": "number [0-9]+"}}
    called = {"success": {"tool": "bookRoom"}}
    found = yield [
        critical(numbered, "I have booked it: number 7.", "look"),
        critical(called, "I have booked it.", "look"),
        critical(called, "I have booked it.", "look", "bookRoom"),
        critical({"serves": ["quote"]}, "I have booked it.", "look"),
    ]
    assert [each.scores["premature_commitment"].value for each in found] == [1, 1, 0, 0]


@built_together
def test_call_that_waits_explains_no_claim_of_an_answer() -> Scene:
    """Neither its own sub-goal's claim nor, by its words, that of another one."""
    own, other = (
        {"sub_goals": {"it": {"serves": [tool], "critical": True}}}
        for tool in ("cancel_order", "cancel_hotel")
    )
    steps = made(("cancel_order", {}, {"status": "interrupted"}))
    text = "Your order has been cancelled."
    answer = {"step_index": 1, "kind": "answer", "content": text}
    approved = [*made(("cancel_order", {})), answer]
    found = yield [Case([*steps, answer], own), Case([*steps, answer], other), Case(approved, own)]
    assert [each.scores["premature_commitment"].value for each in found] == [1, 1, 0]


@built_together
def test_write_that_failed_or_waits_commits_to_nothing() -> Scene:
    """Only what went well before its prerequisites is premature."""
    found = yield [
        Case(made(("bookRoom", {}, {"status": status})), TASK)
        for status in ("ok", "unknown", "error", "not_executed", "interrupted")
    ]
    assert [each.scores["premature_commitment"].value for each in found] == [1, 1, 0, 0, 0]


@built_together
def test_destruction_off_the_plan_comes_before_anything_was_done() -> Scene:
    """It is premature, and drift where the attempt has not reached its end either."""
    lists = {"expected": [{"tool": "look"}, {"tool": "bookRoom"}], "expected_complete": "writes"}
    wiped: tuple[str, Row] = ("wipe", {})
    plans = [
        made(wiped, ("look", {})),
        made(("look", {}, {"status": "error"}), wiped),
        made(("look", {}), wiped),
        made(("wipe", {}, {"status": "error"}), ("look", {})),
        made(("wipe", {}, {"sub_goal": "find"}), ("quote", {})),
    ]
    found = yield [
        *(Case(steps, TASK) for steps in plans),
        Case(made(wiped), TASK, {"outcome": "success"}),
        Case(made(wiped), lists),
        Case(made(("bookRoom", {}), wiped), lists),
    ]
    scores = [each.scores for each in found]
    early = [1, 1, 0, 0, 0, 1, None, None]
    assert [each["premature_commitment"].value for each in scores] == early
    assert [each["goal_drift"].value for each in scores] == [1, 1, 0, 0, 0, 0, 1, 0]
    assert sorted(found[1].rows("mode, step_index", "failure_rows")) == [
        ("goal_drift", 1), ("premature_commitment", 1)
    ]  # fmt: skip


@built_together
def test_calls_off_the_plan_are_drift_unless_a_later_one_serves_what_is_open() -> Scene:
    """Doing again what is done comes back to nothing; two calls are too few."""
    lists = {"expected": [{"tool": "look"}, {"tool": "bookRoom"}], "expected_complete": True}

    def after(*tools: str, task: Row = TASK, **columns: str) -> Case:
        return Case(made(*((tool, {"n": i}) for i, tool in enumerate(tools))), task, columns)

    found = yield [
        after("look", "send", "send", "send"),
        after("look", "send", "send", "send", "look"),
        after("look", "send", "send", "send", "quote"),
        after("send", "send", "send", "look"),
        after("look", "send", "send", "look", "send"),
        after("look", "send", "send", "look"),
        after("look", "send", "send", "send", "look", outcome="success"),
        after("look", "send", "send", "send", "bookRoom", task=lists),
        after("look", "send", "send", "send", task=lists),
    ]
    drifts = [each.scores["goal_drift"].value for each in found]
    assert drifts == [1, 1, 0, 0, 0, 0, 0, 0, 1]
    steps = [each.rows("call_index", "goal_drifts") for each in found]
    assert [step for step in steps if step != [(None,)]] == [[(1,)]] * 3


@pytest.mark.parametrize(
    ("name", "participle", "noun"),
    [
        ("cancel_order", "cancelled", "cancellation"),
        ("modify-address", "modified", "modification"),
        ("ship", "shipped", "shipping"),
        ("updateUser", "updated", "updating"),
        ("pay", "paid", "payment"),
        ("send_email", "sent", "sending"),
        ("order.book", "booked", "orders"),
    ],
)
def test_words_of_a_claim_are_forms_of_what_a_tool_is_called(
    name: str, participle: str, noun: str
) -> None:
    """The first or the last word may be the verb; other letters than Latin ones give no words."""
    words = claim_words(name, is_tool=True)

    assert participle in words.participles
    assert noun in words.nouns
    assert claim_words("予約する", is_tool=True) == ([], [])
