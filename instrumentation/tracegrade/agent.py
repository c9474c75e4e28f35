"""`agent_run`: one run of an agent on one task, as a span with all its steps inside.

    with tracegrade.agent_run("support", task="refund-order", trial=1, user_input="...") as run:
        run.thought("The customer wants ...")
        run.answer("Refunded.")

A run inside a run is a nested agent: it inherits task, trial and sub-goal; decisions are its own.
"""

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, get_args

from opentelemetry import context as otel_context
from opentelemetry.context import Context
from opentelemetry.trace import INVALID_SPAN, Span, set_span_in_context

from tracegrade import names, steps
from tracegrade.attachment import Attachment, current
from tracegrade.content import attribute_of, write_text
from tracegrade.definitions import definition_of
from tracegrade.ends import end_span, start_span
from tracegrade.guard import expect, expect_number, guarded, say
from tracegrade.rollback.handlers import Rollback, Rollbacks
from tracegrade.scope import (
    SCOPE_KEY,
    Attribute,
    Scope,
    ScopeOverride,
    scope_of,
    step_attributes,
)
from tracegrade.values.plain_types import listed

RunMode = Literal["production", "live", "mocked"]
Outcome = Literal["success", "failure", "invalid"]


class _Entered(Attachment):
    """A run's block: its span, current until it ends."""

    __slots__ = ("span",)

    def __init__(self) -> None:
        super().__init__()
        self.span: Span = INVALID_SPAN

    def end(self, error: BaseException | None) -> None:
        """End the span, unless it has ended."""
        self.detach()
        if self.span.is_recording():
            self._end(error)

    @guarded
    def _end(self, error: BaseException | None) -> None:
        try:
            if error is not None and not _is_quiet(error):
                steps.record_failure(self.span, error)
        finally:
            end_span(self.span)


class AgentRun:
    """One run of an agent, a `with` or `async with` block; its methods write steps."""

    def __init__(
        self,
        agent: str,
        scope: Mapping[str, Attribute],
        content: Mapping[str, Attribute],
        input_attributes: Mapping[str, Attribute],
    ) -> None:
        self.agent = agent
        self._input_attributes = input_attributes
        self._scope = scope
        self._own = content
        self._span: Span = INVALID_SPAN
        self._inside = Context()
        self._entered: list[_Entered] = []
        self._is_running = False
        self._rollbacks = Rollbacks()

    def __enter__(self) -> "AgentRun":
        try:
            self._start()
        except BaseException as error:  # a signal: Python does not call __exit__ then
            self._end(error)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        entered = self._entered[-1:]
        try:
            self._rollbacks.end(failed=error is not None and not _is_quiet(error))
            self._end(error)
        finally:  # once more, where a signal interrupted it
            for each in entered:
                each.end(error)

    async def __aenter__(self) -> "AgentRun":
        return self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.__exit__(kind, error, trace)

    @guarded
    def plan(self, plan: Sequence[steps.PlanStep]) -> None:
        """Write the agent's plan, or its new plan: a list of steps.

        A step is a text, or an object with `id` or `text` and any of `tool, inputs, outputs,
        effect, rollback, on_failure, status`; other keys are reported once. A single text is a
        whole plan, with one step a line.
        """
        steps.write_plan(self._context(), plan, self.agent)

    @guarded
    def thought(self, text: object) -> None:
        """Write a thought of the agent."""
        steps.write_thought(self._context(), text)

    @guarded
    def observe(self, text: object) -> None:
        """Write an observation that no tool returned."""
        steps.write_observation(self._context(), text)

    @guarded
    def answer(self, text: object) -> None:
        """Write the agent's final answer; of several, the last is the run's."""
        steps.write_answer(self._context(), text)
        written = dict(self._own)  # one list of marks for what the user said and this
        steps.write_content(written, names.OUTPUT_MESSAGES, steps.output_messages(text))
        if self._is_open("answer"):
            self._span.set_attributes(written)

    def rollback(self, name: str, *, undo: Mapping[str, Any]) -> Rollback:
        """Record durably how to undo a write that is about to begin.

        It lasts until the end of the run or, as a `with` block, of the block. At the end an
        exception undoes the write, else the write is final. If the run is killed, `tracegrade
        rollback` undoes it.

        Args:
            name: The object that is written; recorded as given. A kill test knows files by their
                path in the folder where the agent runs, or as `files:PART/PATH`.
            undo: `{"delete": PATH}`, `{"restore": PATH}`, which keeps a copy, `{"sql": STATEMENT,
                "at": DATABASE}`, `{"command": [...]}` or `{"manual": TEXT}`. If the object existed
                before, `delete` restores it, too.
        """
        return self._rollbacks.begin(name, undo)

    @guarded
    def outcome(self, outcome: Outcome) -> None:
        """Record how the run ended, if the program knows it; other words are reported once."""
        expect("outcome", outcome, get_args(Outcome))
        if self._is_open("outcome"):
            self._span.set_attribute(names.OUTCOME, attribute_of(outcome))

    def introduction(self) -> Mapping[str, Attribute]:
        """Return the agent's name, and the user's request until a span with it has ended.

        A process that is killed leaves its ended spans, and not the one of the run.
        """
        return {names.AGENT_NAME: self.agent, **self._input_attributes}

    def introduced(self) -> None:
        """Stop adding the user's request to spans."""
        self._input_attributes = {}

    def sub_goal(self, sub_goal: str) -> ScopeOverride:
        """Return a `with` block whose steps serve one sub-goal of the task."""
        return ScopeOverride(names.SUB_GOAL_ID, attribute_of(sub_goal))

    def decision(self, decision: str) -> ScopeOverride:
        """Return a `with` block whose tool calls belong to one decision point of the task."""
        return ScopeOverride(names.DECISION_ID, attribute_of(decision))

    @guarded
    def _start(self) -> None:
        self._is_running = True
        outer = current()
        attributes = {
            names.OPERATION_NAME: names.INVOKE_AGENT,
            names.AGENT_NAME: self.agent,
            **step_attributes(outer),
            **self._scope,
            **self._own,
        }
        name = f"{names.INVOKE_AGENT} {self.agent}"
        entered = _Entered()
        self._entered.append(entered)
        self._span = entered.span = start_span(name, outer, attributes)
        inherited = dict(scope_of(outer).attributes)
        inherited.pop(names.DECISION_ID, None)
        scope = Scope(self, {**inherited, **self._scope})
        self._inside = otel_context.set_value(
            SCOPE_KEY, scope, set_span_in_context(self._span, outer)
        )
        entered.inside = Context(self._inside)  # a copy: steps may be written after the end
        entered.attach(outer)

    def _end(self, error: BaseException | None) -> None:
        """End the innermost scope."""
        if not self._entered:
            self._is_running = False
            return
        self._entered[-1].end(error)
        self._entered.pop()
        self._is_running = bool(self._entered)

    def _is_open(self, step: str) -> bool:
        """Return whether the run's span still accepts its end; report it if the run is over."""
        if self._is_running:
            return True
        say(f"run.{step}", f"'{self.agent}' is not running, so its span does not say its {step}")
        return False

    def _context(self) -> Context:
        """Return the current context if it is inside this run, else the run's own."""
        context = current()
        return context if scope_of(context).run is self else self._inside


def _is_quiet(error: BaseException) -> bool:
    """Return whether an exception only ends the block: a stream closed early, `sys.exit(0)`."""
    return isinstance(error, GeneratorExit) or (
        isinstance(error, SystemExit) and error.code in (None, 0)
    )


def agent_run(  # noqa: PLR0913 - all but the name are optional and by keyword
    agent: str,
    *,
    task: str | None = None,
    category: str | None = None,
    trial: int | None = None,
    mode: RunMode | None = None,
    conversation: str | None = None,
    user_input: object = None,
    tools: Sequence[Callable[..., Any] | Mapping[str, Any]] = (),
) -> AgentRun:
    """Return the run of an agent on a task: a `with` or `async with` block.

    An exception that leaves the block marks the run as failed and propagates.

    Args:
        agent: The agent's name.
        task: The task's id in the task file.
        category: The task's category, if no task file gives it.
        trial: The number of this attempt at the task, from 1.
        mode: Whether this is production, a live test or one with mocked tools; other values are
            reported once.
        conversation: An id that several runs share.
        user_input: The user's request.
        tools: The tools on offer: callables (wrapped or not) or GenAI tool definitions.
    """
    given = {
        names.TASK_ID: task,
        names.TASK_CATEGORY: category,
        names.TRIAL: trial,
        names.RUN_MODE: mode,
    }
    expect("mode=", mode, get_args(RunMode))
    expect_number("trial=", trial, 1)
    scope = {key: attribute_of(value) for key, value in given.items() if value is not None}
    content = _content(conversation, user_input, tools) or {}
    return AgentRun(
        str(attribute_of(agent)), scope, content, _user_input_attributes(user_input) or {}
    )


@guarded
def _user_input_attributes(user_input: object) -> dict[str, Attribute]:
    attributes: dict[str, Attribute] = {}
    if user_input is not None:
        steps.write_content(attributes, names.RUN_USER_INPUT, steps.as_text(user_input))
    return attributes


@guarded
def _content(
    conversation: str | None,
    user_input: object,
    tools: Sequence[Callable[..., Any] | Mapping[str, Any]],
) -> dict[str, Attribute]:
    content: dict[str, Attribute] = {}
    if conversation is not None:
        content[names.CONVERSATION_ID] = attribute_of(conversation)
    if user_input is not None:
        steps.write_content(content, names.INPUT_MESSAGES, steps.input_messages(user_input))
    definitions = [definition_of(tool) for tool in listed(tools)]
    if definitions:
        # Names of tools are not secret, so definitions are written in every content mode.
        write_text(content, names.TOOL_DEFINITIONS, steps.as_json(definitions))
    return content
