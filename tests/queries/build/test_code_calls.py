"""Calls of tools are found in the Python code of code agents."""

import pytest

from tracegrade_queries.build.code_calls import calls_in, names_in


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('print(get_weather(city="Paris"))', [("get_weather", '{"city": "Paris"}')]),
        ("final_answer(get_weather('Paris'))", [("get_weather", None), ("final_answer", None)]),
        ("final_answer('22C')", [("final_answer", '{"answer": "22C"}')]),
        ("import math\nx = math.sqrt(float(2))", []),
        ("def double(x):\n    return x * 2\nsend(n=double(2))", [("send", None)]),
        ("now()", [("now", "{}")]),
        ("get_weather(city=", []),
        ("from tools import a as b\nb()\na()", [("a", "{}")]),
        ("f(*args)\nf(**named)", [("f", None), ("f", None)]),
        ("f()\nx = " + " + ".join("1" * 400), [("f", "{}")]),
        ("f()\nx = " + " + ".join("1" * 600), []),
        ("f()\nraise PythonFinalizationError()", [("f", "{}")]),
    ],
)
def test_calls_are_those_of_names_from_outside(
    code: str, expected: list[tuple[str, str | None]]
) -> None:
    """Python's own functions, methods and functions that the code defines are not tools."""
    assert calls_in(code) == expected


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("x = 1\ndef f(a): ...\nimport os.path as p", ["a", "f", "p", "x"]),
        ("for city in cities: look(city)", ["city"]),
        ("x = ", []),
    ],
)
def test_names_are_those_that_later_code_may_call(code: str, names: list[str]) -> None:
    """A function that a piece of code defines is not a tool in later pieces."""
    assert names_in(code) == names
