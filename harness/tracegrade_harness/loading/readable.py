"""Reads the well-formed parts of a suite, with the classes of all kinds."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from tracegrade_harness.loading.model import suite_classes
from tracegrade_harness.parts.registry import part_kinds
from tracegrade_harness.suite import model, records
from tracegrade_harness.suite.apply_defaults import case_with_defaults
from tracegrade_harness.suite.defaults import Defaults
from tracegrade_harness.suite.readable import ReadableEnvironment, ReadableSuite
from tracegrade_harness.suite.upstreams import Upstream

Kind = TypeVar("Kind", bound=BaseModel)


def readable(values: Any) -> ReadableSuite:
    """Return the well-formed parts of a suite, from plain values."""
    agents, environments, cases = (
        _mapping(values, key) for key in ("agents", "environments", "cases")
    )
    tasks = values.get("tasks") if isinstance(values, dict) else None
    defaults = _one(Defaults, _mapping(values, "defaults")) or Defaults()
    return ReadableSuite(
        agents=_each(model.Agent, agents),
        records={name: _items(records.Record, agent, "records") for name, agent in agents.items()},
        environments={name: _environment(value) for name, value in environments.items()},
        cases={
            name: case and case_with_defaults(case, defaults)
            for name, case in _each(suite_classes().case, cases).items()
        },
        verifiers={
            name: _items(suite_classes().verifier, case, "verify") for name, case in cases.items()
        },
        tasks=tasks if isinstance(tasks, str) and tasks else None,
        read=defaults.read,
    )


def _environment(values: Any) -> ReadableEnvironment:
    parts = {
        (kind.name, name): None if kind.model is None else _one(kind.model, value)
        for kind in part_kinds().values()
        for name, value in _mapping(values, kind.name).items()
    }
    locks, taped_tools = (
        [*_texts(values.get(key) if isinstance(values, dict) else None)]
        for key in ("locks", "taped_tools")
    )
    servers = _each(model.McpServer, _mapping(values, "mcp"))
    upstreams = _each(Upstream, _mapping(values, "upstreams"))
    has_image = isinstance(values, dict) and values.get("image") is not None
    image = _one(model.Image, values["image"]) if has_image else None
    return ReadableEnvironment(parts, locks, servers, upstreams, taped_tools, has_image, image)


def _texts(values: Any) -> Iterator[str]:
    """Yield the items of a list; an item that is not a text becomes ''."""
    for value in values if isinstance(values, list) else ():
        yield value if isinstance(value, str) else ""


def _mapping(values: Any, key: str) -> dict[str, Any]:
    found = values.get(key) if isinstance(values, dict) else None
    return found if isinstance(found, dict) else {}


def _each(kind: type[Kind], values: Mapping[str, Any]) -> dict[str, Kind | None]:
    return {name: _one(kind, value) for name, value in values.items()}


def _one(kind: type[Kind], value: Any) -> Kind | None:
    """Return a mapping as an object, without its wrong keys."""
    try:
        return kind.model_validate(value, by_alias=True, by_name=False)
    except ValidationError as error:
        wrong = {fault["loc"][0] for fault in error.errors() if fault["loc"]}
    if not isinstance(value, dict) or not wrong & value.keys():
        return None
    return _one(kind, {key: item for key, item in value.items() if key not in wrong})


def _items(kind: Any, holder: Any, key: str) -> list[Any]:
    values = holder.get(key) if isinstance(holder, dict) else None
    return [_item(kind, value) for value in values] if isinstance(values, list) else []


def _item(kind: Any, value: Any) -> Any:
    try:
        return TypeAdapter(kind).validate_python(value, by_alias=True, by_name=False)
    except ValidationError:
        return None
