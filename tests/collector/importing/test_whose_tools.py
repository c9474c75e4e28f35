"""Chats in which a simulated user calls tools too, or a tool's reply has no call."""

from pathlib import Path

from tests.collector.importing.test_chats import Row, asks, chats, reply, user
from tests.collector.importing.together import Scene
from tests.scenes import built_together


def of_user(*calls: tuple[str | None, str]) -> Row:
    """Return a message of a simulated user that calls tools of its own."""
    return asks(*calls) | {"role": "user"}


@built_together
def test_tools_of_the_user_are_not_the_agents(folder: Path) -> Scene:
    """tau2-bench says of each reply who requested it; ids and the order say so elsewhere."""
    told = {"requestor": "user"}
    runs = {
        "tau2": [user("Hi"), asks(("a", "look")), reply("a", "1"), reply("u", "on", **told)],
        "ids": [user("Hi"), asks(("a", "look")), of_user(("u", "toggle")), reply("u", "on")],
        "order": [user("Hi"), of_user((None, "toggle")), reply(None, "on"), asks(("a", "look"))],
    }
    outcome = yield chats(folder, runs)

    assert outcome.imported.ignored["replies to tools that the user called"] == 3
    assert sorted(outcome.calls()) == [
        ("look", "{}", "ok"),
        ("look", "{}", "unknown"),
        ("look", "{}", "unknown"),
    ]


@built_together
def test_reply_before_any_call_is_of_none(folder: Path) -> Scene:
    """Unless the log tells its tools by their replies alone."""
    runs = {
        "before": [user("Hi"), reply("x", "on"), asks(("a", "look")), reply("a", "1")],
        "named": [user("Hi"), reply("x", "on", name="toggle"), asks(("a", "look"))],
        "alone": [user("Hi"), reply("x", "on", name="toggle"), asks(text="Done.")],
    }
    outcome = yield chats(folder, runs)

    assert outcome.imported.ignored["replies of tools before any tool call"] == 2
    names = outcome.rows("SELECT tool_name FROM steps WHERE kind = 'tool_call' ORDER BY ALL")
    assert names == [("look",), ("look",), ("toggle",)]
