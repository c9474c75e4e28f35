"""A task file as Python objects: the reference that trajectories are scored against.

One class per mapping of the file; unknown keys are refused. What needs more than one key to be
judged (unknown tools, cycles, patterns) is checked in `check.py`.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    model_validator,
)

from tracegrade_scoring.tasks.expected_value import SCHEMA, bound_name

Effect = Literal["read", "write", "destructive"]
Name = Annotated[str, Field(min_length=1)]
Wanted = Annotated[Any, WithJsonSchema(SCHEMA)]
"""A value or a rule for one, see `expected_value.py`."""


class _Strict(BaseModel):
    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True
    )


class Tool(_Strict):
    """One entry of `tools`: what the evaluator knows about a tool."""

    kind: Literal["tool_call", "plan", "handoff", "answer"] | None = None
    """What a call of it is; None: what its name says (docs/metrics.md, section 0.8)."""
    effect: Effect | None = None
    """What a call can do to the world; None if not known."""
    cost: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    """In any unit, the same for all tools of the file; None if not known."""
    parameters: dict[str, Any] | None = None
    """JSON Schema of the arguments; used where the trace itself does not carry one."""
    alternatives: list[Name] = Field(default_factory=list)
    """Tools that could do the same job."""
    error_pattern: Name | None = None
    """RE2; a result that it matches means that the call failed."""


class Match(_Strict):
    """Assigns trajectories without a task id to the task."""

    agent_name: Name | None = None
    """Must be equal."""
    user_input: Name | None = None
    """RE2, found anywhere; its named groups bind values that the task refers to."""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.agent_name is None and self.user_input is None:
            msg = "match is empty; give agent_name, user_input or both"
            raise ValueError(msg)
        return self


class Expected(_Strict):
    """One decision point: the call that an expert would make there."""

    decision: Name | None = None
    """Its name; the same as `tracegrade.decision.id` on spans."""
    tool: Name | None = None
    """None: any tool of the given effect."""
    effect: Effect | None = None
    """What the picked tool's effect must be; None: any."""
    accept: list[Name] = Field(default_factory=list)
    """Other tools that are as right."""
    arguments: dict[str, Wanted] | None = None
    """Argument, or JSON path into one, to a value or rule that it must fit. None: any."""
    turn: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    """The turn in which it is expected; None: turns do not matter, or the first, if others do."""

    @model_validator(mode="after")
    def _names_a_tool(self) -> Self:
        if self.tool is None and self.effect is None:
            msg = "the decision point expects nothing; give tool or effect"
            raise ValueError(msg)
        return self


def _pattern_or_bound(value: object) -> object:
    if (isinstance(value, str) and value) or bound_name(value):
        return value
    msg = "it is neither text nor a bound value; give a pattern or {input: NAME}"
    raise ValueError(msg)


class Criterion(_Strict):
    """A condition that must hold; all given keys must hold together."""

    answer: Annotated[
        Any,
        AfterValidator(_pattern_or_bound),
        WithJsonSchema({"type": ["string", "object"], "minLength": 1, "required": ["input"]}),
    ] = None
    """RE2, or `{input: NAME}` for a bound value unchanged; found anywhere in the final answer."""
    tool: Name | None = None
    """A call of this tool exists that has the given status and result."""
    status: Literal["ok", "error"] | None = None
    """Status of that call: `ok` = did not fail. None with `tool`: ok."""
    arguments: dict[Name, Wanted] | None = None
    """As in `expected`, of that call (without `tool`: of any)."""
    result: dict[Name, Wanted] | None = None
    """JSON path to value, in that call's result (without `tool`: any call's)."""
    state: dict[Name, Wanted] | None = None
    """JSON path to value, in the last successful result that has the path."""
    judge: Name | None = None
    """Question to a judge about a sub-goal that no rule can settle: a verdict says if it holds."""
    sql: Name | None = None
    """A boolean SQL expression aggregated over the trajectory's rows of `steps`."""
    any_of: Annotated[list["Criterion"], Field(min_length=1)] | None = None
    """Alternative criteria; at least one of them must hold too."""

    @model_validator(mode="after")
    def _asks_one_judge(self) -> Self:
        if any(criterion.judge for criterion in self.any_of or ()):
            msg = "judge inside any_of; put it next to any_of: a verdict is on the whole sub-goal"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not any(self.model_dump(exclude={"status"}, exclude_defaults=True).values()):
            parts = "tool, arguments, result, state, answer, sql, judge or any_of"
            msg = f"the criterion is empty; give {parts}"
            raise ValueError(msg)
        return self


def _of_a_whole_task(criterion: Criterion | None) -> Criterion | None:
    """Return the criterion, which no judge can be asked: judges of success need no task file."""
    if criterion is not None and criterion.judge:
        msg = (
            "judge is for sub-goals; leave it out, and ask about the whole run in a judge file "
            "with `subject: success`"
        )
        raise ValueError(msg)
    return criterion


class Serves(_Strict):
    """A rule that says which calls serve a sub-goal."""

    tool: Name
    arguments: Name | None = None
    """RE2, found anywhere in the canonical JSON of the arguments; None: any arguments."""


def _serves_rule(value: object) -> object:
    """Return `{tool: NAME}` for the short form, a bare tool name."""
    return {"tool": value} if isinstance(value, str) else value


class Node(_Strict):
    """A sub-goal's place in one plan graph."""

    deps: list[Name] = Field(default_factory=list)
    """Sub-goals that must be completed before it."""
    any_of: list[list[Name]] = Field(default_factory=list)
    """Alternative paths, each a list of sub-goals; one of them is taken."""


class SubGoal(Node):
    """A sub-goal, with its place in the task's plan graph unless `graphs` say it."""

    serves: list[
        Annotated[Serves, BeforeValidator(_serves_rule, json_schema_input_type=Name | Serves)]
    ] = Field(default_factory=list)
    """Calls of these tools serve it, unless their span names another sub-goal."""
    critical: bool = False
    weight: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    success: Criterion | None = None
    """None: a call that serves it succeeded."""


class Task(_Strict):
    """One kind of task."""

    category: Name | None = None
    match: Match | None = None
    expected: list[Expected] | None = None
    """Decision points in order. None: nothing is expected; []: no call is."""
    expected_complete: Literal[True, False, "writes"] = True
    """Whether other calls than the expected ones are wrong; `writes`: only the writes are all."""
    sequence_matters: bool = True
    """Whether the order of the expected calls counts in tool selection and tool correctness."""
    optimal_steps: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    count_steps: Literal["tool_calls", "all"] = "tool_calls"
    """What `optimal_steps` counts."""
    scope: list[Name] | None = None
    """Tools inside the objective."""
    given: list[Name] = Field(default_factory=list)
    """Inputs that a plan has without making them, in addition to the groups of `match.user_input`.
    """
    can_fail: list[Name] | None = None
    """Tools, or ids of planned steps, whose failure a plan must provide for. None: all tools."""
    sub_goals: dict[Name, SubGoal] = Field(default_factory=dict)
    graphs: dict[Name, dict[Name, Node]] = Field(default_factory=dict)
    """Several plan graphs of these sub-goals by name; the one that fits is scored."""
    success: Annotated[Criterion | None, AfterValidator(_of_a_whole_task)] = None
    reference: Name | Annotated[list[Name], Field(min_length=1)] | None = None
    """The right answer, or that of each turn in order: a judge of answers compares with it."""
    documents: list[Name] = Field(default_factory=list)
    """Documents that a judge may read in addition to the trajectory, by their names in its judge
    file.
    """
    x: dict[Name, Any] = Field(default_factory=dict)
    """Keys of the user's own, which metrics of the user's own read as `task_fields`."""

    @property
    def plan_graphs(self) -> Mapping[str | None, Mapping[str, Node]]:
        """The plan graphs in file order; that of the sub-goals themselves has no name."""
        if self.graphs:
            return {name: nodes for name, nodes in self.graphs.items()}
        return {None: self.sub_goals} if self.sub_goals else {}


class TaskFile(_Strict):
    """A whole file."""

    version: Literal[1]
    tools: dict[Name, Tool] = Field(default_factory=dict)
    tasks: dict[Name, Task] = Field(default_factory=dict)


class ToolCorrectness(_Strict):
    """The way in which the dimensions of tool correctness make one score."""

    selection: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.0
    parameters: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.0
    sequence: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.0
    utilization: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.0
    threshold: Annotated[float, Field(ge=0, le=1)] = 1.0
    """The least tool correctness of an attempt that is tool-correct."""
    compat: Literal["agentic"] | None = None
    """`agentic`: the dimensions as that paper's text has them, see `agentic_grades.sql`."""

    @model_validator(mode="after")
    def _weighs_something(self) -> Self:
        if not any(self.weights):
            msg = "every weight of tool correctness is 0; give one that is more"
            raise ValueError(msg)
        return self

    @property
    def weights(self) -> list[float]:
        """The four weights in the order of the dimensions."""
        return [self.selection, self.parameters, self.sequence, self.utilization]
