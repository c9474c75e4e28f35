"""A judge file as Python objects; unknown keys are refused."""

import hashlib
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Annotated, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, model_validator

from tracegrade_judges.judge_file.providers import PROVIDERS, ProviderName

JudgeTool = Literal["list_steps", "read_step", "search_steps", "read_document"]
TOOLS: Final[tuple[JudgeTool, ...]] = (
    "list_steps",
    "read_step",
    "search_steps",
    "read_document",
)
AsksAbout = Literal["sub_goal", "success", "planning", "served"]
"""The subjects that a judge can decide."""
Name = Annotated[str, Field(min_length=1)]
JudgeName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]
AGENTIC: Final = "agentic"
"""The name of tracegrade's rubric for answers."""
MAX_RUBRIC_CHARACTERS: Final = 20_000
_CHAT_CLASS: Final = r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*$"
_OF_CLASSES: Final = ("class_", "options")
_SECRET: Final = re.compile(r"(key|token|secret|password|credentials)$", re.IGNORECASE)
"""Names of options that hold a secret."""
_VARIABLE: Final = re.compile(r"\$[A-Za-z_][A-Za-z0-9_]*")


def is_variable(text: str) -> bool:
    """Return whether a text names a variable of the environment: `$NAME`."""
    return _VARIABLE.fullmatch(text) is not None


def _endpoint(text: str) -> str:
    if is_variable(text):
        return text
    url = urlsplit(text)
    if url.username or url.password:
        msg = "the URL holds credentials; name their variable with api_key"
        raise ValueError(msg)
    if url.scheme not in {"http", "https"} or not url.hostname:
        msg = f"'{text}' is no URL; give https://HOST/v1, or $NAME for a variable that has it"
        raise ValueError(msg)
    return text


def _only_a_variable(text: str) -> str:
    if not is_variable(text):
        msg = "the file contains a key; give $NAME, the variable that holds it"  # never the key
        raise ValueError(msg)
    return text


def _refuse_keys(options: object) -> None:
    """Refuse options that hold a key as plain text.

    Raises:
        ValueError: One does; the message names it, never its value.
    """
    if isinstance(options, list):
        for each in options:
            _refuse_keys(each)
    if not isinstance(options, dict):
        return
    for name, value in options.items():
        if _SECRET.search(name) and isinstance(value, str) and not is_variable(value):
            msg = f"option {name} contains a key; give $NAME, the variable that holds it"
            raise ValueError(msg)
        _refuse_keys(value)


class _Strict(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        use_attribute_docstrings=True,
        hide_input_in_errors=True,
    )


class JudgeModel(_Strict):
    """The model to ask, and its endpoint."""

    provider: ProviderName = "openai"
    """`openai`: any OpenAI-compatible endpoint; `anthropic`: Anthropic's Messages API;
    `langchain`: any chat model of LangChain.
    """
    class_: Annotated[str, Field(pattern=_CHAT_CLASS)] | None = Field(None, alias="class")
    """PACKAGE:NAME of the `BaseChatModel`; with `provider: langchain` alone."""
    options: dict[Name, JsonValue] = Field(default_factory=dict)
    """Arguments of the class, such as `model` and `temperature`; a text `$NAME` is a variable of
    the environment, and a key must be one.
    """
    base_url: Annotated[str, AfterValidator(_endpoint)] | None = None
    """`$NAME` is a variable of the environment; None: `$OPENAI_BASE_URL`, or Anthropic's own.
    Answers in the lake are those of this URL, or of this variable with any value.
    """
    name: Name
    """As the endpoint names it, or `$NAME`. With `provider: langchain` it names the model in
    verdicts and prices only; the class gets its own from `options`.
    """
    api_key: Annotated[str, AfterValidator(_only_a_variable)] | None = None
    """The variable that holds the key, if one is needed; None: `$OPENAI_API_KEY`, or
    `$ANTHROPIC_API_KEY`."""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = 0
    """None: the model's own, for models that refuse another."""
    seed: int | None = 7
    """Each vote adds 1 to it. None: for endpoints that refuse a seed; Anthropic's takes none."""
    max_output_tokens: Annotated[int, Field(ge=50, le=32_000)] = 800
    timeout_secs: Annotated[float, Field(gt=0, le=600)] = 60

    @property
    def other_endpoint(self) -> str:
        """The endpoint as the file names it; empty if it is the provider's own."""
        own = PROVIDERS[self.provider].base_url
        given = (self.base_url or own).rstrip("/")
        return "" if given == own else given

    @model_validator(mode="after")
    def _fits_its_provider(self) -> Self:
        of_class = self.provider == "langchain"
        if of_class and self.class_ is None:
            msg = "provider langchain needs class; give PACKAGE:NAME"
            raise ValueError(msg)
        others = ("base_url", "api_key", "temperature", "seed") if of_class else _OF_CLASSES
        for key in others:
            if key in self.model_fields_set:
                way_out = "give it in options" if of_class else "remove it"
                msg = f"{key.rstrip('_')} is of no use with provider {self.provider}; {way_out}"
                raise ValueError(msg)
        if "max_retries" in self.options:
            msg = "max_retries is always 0, since limits.retries counts; remove it"
            raise ValueError(msg)
        _refuse_keys(self.options)
        return self


class JudgeLimits(_Strict):
    """Limits of one judgment."""

    requests: Annotated[int, Field(ge=1, le=100)] = 8
    tool_calls: Annotated[int, Field(ge=0, le=200)] = 12
    input_tokens: Annotated[int, Field(ge=500)] = 60_000
    """Limit of all requests together."""
    retries: Annotated[int, Field(ge=0, le=5)] = 2
    """Number of times that a request is repeated after an unusable answer."""


class Judge(_Strict):
    """One judge: its questions, and the rules for counting its answers."""

    subject: AsksAbout
    """`sub_goal`: each `success: {judge: TEXT}`; `success`: each answer, compared with its
    reference; `planning`: the questions about each plan that neither people nor a rule settled;
    `served`: the sub-goal that a call serves, among several, if neither its span nor people
    decide.
    """
    model: JudgeModel
    tools: list[JudgeTool] | None = None
    """Tools with which a judge of sub-goals, plans or calls may read; None: all."""
    limits: JudgeLimits = JudgeLimits()
    votes: Annotated[int, Field(ge=1, le=9)] = 1
    """Number of votes on each question; the majority decides. Odd."""
    only: list[Name] = Field(default_factory=lambda: ["*"])
    """Tasks, or TASK/SUB_GOAL, that it judges, with * and ?."""
    evidence: Literal["actions", "any"] = "actions"
    """`actions`: a yes cites a tool call or an observation; `any`: the agent's words are enough.
    It has no effect for `subject: planning`, where plans and thoughts are cited, and for `subject:
    served`, where the call is.
    """
    reference: Literal["task"] | None = None
    """The place of the right answer; of `subject: success`."""
    rubric: JudgeName | None = None
    """By what it judges: one of `rubrics`. `agentic` is the rubric that judges of `subject:
    success` have unless they name another.
    """
    threshold: Annotated[float, Field(ge=0, le=1)] | None = None
    """The least score of a yes, 0.7 unless given; of `subject: success`, and of graded rubrics."""

    @model_validator(mode="after")
    def _fits_what_it_asks(self) -> Self:
        if self.votes % 2 == 0:
            msg = f"votes is {self.votes}, so that they can tie; give an odd number"
            raise ValueError(msg)
        if self.votes > 1 and not PROVIDERS[self.model.provider].takes_seed:
            whose = f"provider {self.model.provider}, which takes no seed,"
            msg = f"votes of {whose} would all be the same request; remove votes"
            raise ValueError(msg)
        if self.votes > 1 and self.model.seed is None:
            msg = "votes without a seed would all be the same request; give model.seed"
            raise ValueError(msg)
        for key in self._of_no_use():
            if getattr(self, key) is not None:
                msg = f"{key} is of no use to a judge of {self.subject}; remove it"
                raise ValueError(msg)
        return self

    def _of_no_use(self) -> Iterator[str]:
        """Yield the keys that do nothing for its subject and rubric."""
        if self.subject == "success":
            yield "tools"
        else:
            yield "reference"
            if self.rubric in {None, AGENTIC}:
                yield from ("rubric", "threshold")

    @property
    def least_score(self) -> float:
        """The lowest score of a yes, in [0, 1]."""
        return 0.7 if self.threshold is None else self.threshold

    @property
    def own_rubric(self) -> str | None:
        """The name of its rubric in `rubrics`; None for the rubric of its subject."""
        return None if self.rubric == AGENTIC else self.rubric

    def covers(self, task_id: str, sub_goal: str | None) -> bool:
        """Return whether it judges attempts at a task, or a sub-goal of it."""
        names = [task_id] if sub_goal is None else [task_id, f"{task_id}/{sub_goal}"]
        return any(fnmatchcase(name, pattern) for name in names for pattern in self.only)


class Rubric(_Strict):
    """A rubric of the user's own, in place of tracegrade's."""

    text: Annotated[str, Field(min_length=1, max_length=MAX_RUBRIC_CHARACTERS)]
    """The instructions to the judge, with places: `{criterion}`, `{sub_goal}` and `{task}`, for
    `subject: served` also `{candidates}`, and for `subject: success` only `{answer}`,
    `{reference}`, `{question}` and `{task}`. How to answer and what to cite is added to it. Texts
    of runs are quoted apart from it.
    """
    graded: bool = False
    """Whether the answer is a score from 0 to 1, which is a yes from the judge's `threshold` on;
    otherwise it is yes or no.
    """

    @property
    def digest(self) -> str:
        """The first 12 hex digits of a SHA-256 of all that it says."""
        return hashlib.sha256(f"{self.graded}\0{self.text}".encode()).hexdigest()[:12]


class JudgePanel(_Strict):
    """A panel of judges of this file, which answers what more than half of them answer."""

    judges: Annotated[list[JudgeName], Field(min_length=2, max_length=9)]
    """Judges of one subject. They have no verdicts of their own."""
    only: list[Name] = Field(default_factory=lambda: ["*"])
    """Tasks, or TASK/SUB_GOAL, that it judges, with * and ?; that of its judges has no effect."""


class JudgeFile(_Strict):
    """A whole file."""

    version: Literal[1]
    judges: Annotated[dict[JudgeName, Judge], Field(min_length=1)]
    """By name: the verdicts' source is `judge:NAME`."""
    panels: dict[JudgeName, JudgePanel] = Field(default_factory=dict)
    """By name, which no judge has: the verdicts' source is `judge:NAME`."""
    rubrics: dict[JudgeName, Rubric] = Field(default_factory=dict)
    """By name, for the key `rubric` of judges."""
    documents: dict[Name, Name] = Field(default_factory=dict)
    """Text files that judges may read if a task names them; in the same folder as the judge file.
    """
