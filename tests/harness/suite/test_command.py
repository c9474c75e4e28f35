"""Commands of suites name what only a trial knows."""

import pytest

from tracegrade_harness.errors import SuiteUnusable
from tracegrade_harness.suite.command import filled


def test_substitutions_are_replaced_once() -> None:
    """What replaces one is not read again, and other braces stay."""
    command = ["run", "--task={task}", "{release}{release}", '{"a": 1}', "{}"]

    assert filled(command, {"task": "{release}", "release": "1"}) == [
        "run",
        "--task={release}",
        "11",
        '{"a": 1}',
        "{}",
    ]


def test_a_substitution_without_a_value_is_named() -> None:
    """It is never left as it stands."""
    with pytest.raises(SuiteUnusable, match=r"names '\{suite\}', which has no value; known: task"):
        filled(["{suite}"], {"task": "t"})
