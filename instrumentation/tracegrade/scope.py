"""The scope in OpenTelemetry's context: the current run, task, trial, sub-goal and decision.

A `Scope` never changes; entering a sub-goal puts a new one into a new context. Its attributes are
made once, so that each span inside takes them by one dict update.
"""

import itertools
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, Protocol

from opentelemetry import context as otel_context
from opentelemetry.context import Context

from tracegrade import names
from tracegrade.attachment import Attachment, current
from tracegrade.guard import guarded

Attribute = str | bool | int | float | tuple[str, ...]

SCOPE_KEY: Final = otel_context.create_key("tracegrade-scope")

next_index = itertools.count().__next__  # orders the steps of one process; atomic under the GIL


class RunHandle(Protocol):
    """Interface of `AgentRun`, a layer above this module, for code inside a run."""

    @property
    def agent(self) -> str:
        """The agent's name."""

    def answer(self, text: object) -> None:
        """Write the agent's final answer."""

    def introduction(self) -> Mapping[str, Attribute]:
        """Return the run's attributes for a span inside; the run's own span may never come."""

    def introduced(self) -> None:
        """Note that such a span has ended."""


@dataclass(frozen=True)
class Scope:
    """The position of the current code in an agent's run."""

    run: RunHandle | None = None
    """The innermost run; None outside of any."""
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    """Task, trial, run mode, sub-goal and decision, as every span inside carries them."""

    def narrowed(self, key: str, value: Attribute) -> "Scope":
        """Return this scope with one more attribute."""
        return Scope(self.run, {**self.attributes, key: value})


OUTSIDE: Final = Scope()


def scope_of(context: Context) -> Scope:
    """Return the scope that `context` carries, or the empty one."""
    found = context.get(SCOPE_KEY)
    return found if isinstance(found, Scope) else OUTSIDE


def step_attributes(context: Context) -> dict[str, Attribute]:
    """Return what every span inside carries: its order in this process, and its scope."""
    return {
        names.STEP_INDEX: next_index(),
        names.STEP_MONOTONIC_NS: time.monotonic_ns(),
        **scope_of(context).attributes,
    }


def own_attributes(context: Context) -> dict[str, Attribute]:
    """Return the attributes of tracegrade's own spans inside: the scope's and the run's."""
    run = scope_of(context).run
    return {**step_attributes(context), **(run.introduction() if run else {})}


def has_ended(context: Context) -> None:
    """Note that one of tracegrade's spans inside has ended."""
    if run := scope_of(context).run:
        run.introduced()


class ScopeOverride:
    """`with` (or `async with`) block in which the scope has one more attribute."""

    def __init__(self, key: str, value: Attribute) -> None:
        self._key = key
        self._value = value
        self._entered: list[Attachment] = []

    def __enter__(self) -> None:
        try:
            self._enter()
        except BaseException:  # a signal: Python does not call __exit__ then
            self._leave()
            raise

    @guarded
    def _enter(self) -> None:
        attachment = Attachment()
        self._entered.append(attachment)
        context = current()
        scope = scope_of(context).narrowed(self._key, self._value)
        attachment.inside = otel_context.set_value(SCOPE_KEY, scope, context)
        attachment.attach(context)

    def _leave(self) -> None:
        if self._entered:
            self._entered[-1].detach()
            self._entered.pop()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        entered = self._entered[-1:]
        try:
            self._leave()
        finally:  # once more, where a signal interrupted it
            for each in entered:
                each.detach()

    async def __aenter__(self) -> None:
        self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.__exit__(kind, error, trace)
