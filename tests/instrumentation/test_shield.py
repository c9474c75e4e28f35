"""A tool with an argument named `method` is called, under every instrumentor."""

import inspect
import json
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from tracegrade.libraries.shield import shield


def request(url: str, *, method: str = "GET") -> str:
    """Stand for a tool."""
    return f"{method} {url}"


def helpers() -> dict[str, Callable[..., Any]]:
    """Return new ones, as OpenInference's instrumentors have them: texts, mappings, in a row."""

    def _bind_arguments(method: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        return dict(inspect.signature(method).bind(*args, **kwargs).arguments)

    def _get_input_value(method: Any, *args: Any, **kwargs: Any) -> str:
        return json.dumps(_bind_arguments(method, *args, **kwargs))

    return {"_bind_arguments": _bind_arguments, "_get_input_value": _get_input_value}


@pytest.mark.parametrize("name", ["acme", "acme._wrappers", "acme.deeper._wrappers"])
def test_helpers_bear_an_argument_named_method(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """They say all arguments, also to those who took them before; else they are what they were."""
    module: Any = ModuleType(name)
    vars(module).update(helpers())
    bind = module._bind_arguments
    monkeypatch.setitem(sys.modules, name, module)
    with pytest.raises(TypeError):
        bind(request, "u", method="PUT")
    shield("acme")

    put = {"url": "u", "method": "PUT"}
    assert bind(request, "u", method="PUT") == put
    assert json.loads(module._get_input_value(request, "u", method="PUT")) == put
    assert bind(request, "u") == {"url": "u"}


def test_function_that_may_be_called_by_name_is_left_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One of HTTP has a method as well; and a package that is not there has no helper."""

    def send(method: str, url: str, **_: Any) -> str:
        return f"{method} {url}"

    def sound(_wrapped: Any, /, **_: Any) -> str:
        return ""

    module: Any = ModuleType("acme")
    vars(module).update(send=send, sound=sound, other=helpers)
    monkeypatch.setitem(sys.modules, "acme", module)
    shield("acme")
    shield("not_there")

    assert module.send(method="GET", url="u") == "GET u"
    assert module.sound(request, method="PUT") == ""
