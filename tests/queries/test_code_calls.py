"""Calls of tools are found in the Python code of code agents."""

import pytest

from tracegrade_queries.build.code_calls import calls_in


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('print(get_weather(city="Paris"))', [("get_weather", '{"city": "Paris"}')]),
        ("final_answer(get_weather('Paris'))", [("get_weather", None), ("final_answer", None)]),
        ("import math\nx = math.sqrt(float(2))", []),
        ("def double(x):\n    return x * 2\nsend(n=double(2))", [("send", None)]),
        ("now()", [("now", "{}")]),
        ("get_weather(city=", []),
        ("from tools import a as b\nb()\na()", [("a", "{}")]),
        ("f(*args)\nf(**named)", [("f", None), ("f", None)]),
    ],
)
def test_calls_are_those_of_names_from_outside(
    code: str, expected: list[tuple[str, str | None]]
) -> None:
    """Python's own functions, methods and what the code defines are no tools."""
    assert calls_in(code) == expected
