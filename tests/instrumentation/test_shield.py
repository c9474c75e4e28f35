"""A tool with an argument named `method` is called, whatever an instrumentor does with it."""

import inspect
import json
import sys
from types import ModuleType
from typing import Any

import pytest

from tracegrade.shield import shield


def request(url: str, *, method: str = "GET") -> str:
    """Stand for a tool."""
    return f"{method} {url}"


def _get_input_value(method: Any, *args: Any, **kwargs: Any) -> str:
    return json.dumps(inspect.signature(method).bind(*args, **kwargs).arguments)


@pytest.mark.parametrize("name", ["acme", "acme._wrappers"])
def test_helper_bears_an_argument_named_method(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """And says the arguments; without one it is what it was."""
    module: Any = ModuleType(name)
    module._get_input_value = _get_input_value
    monkeypatch.setitem(sys.modules, name, module)
    with pytest.raises(TypeError):
        module._get_input_value(request, "u", method="PUT")
    shield("acme")

    told = json.loads(module._get_input_value(request, "u", method="PUT"))
    assert told == {"url": "u", "method": "PUT"}
    assert json.loads(module._get_input_value(request, "u")) == {"url": "u"}


def test_helper_that_is_sound_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """So is a package that has none."""

    def sound(_wrapped: Any, /, **_: Any) -> str:
        return ""

    module: Any = ModuleType("acme")
    module._get_input_value = sound
    monkeypatch.setitem(sys.modules, "acme", module)
    shield("acme")
    shield("not_there")

    assert module._get_input_value is sound
