"""A suite as Python objects. One class per mapping of the file; unknown keys are refused.

Kinds of parts add their keys in their own folders; `loading/model.py` makes the classes of whole
files.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from tracegrade_harness.suite.defaults import Defaults, Network
from tracegrade_harness.suite.limits import TrialLimits
from tracegrade_harness.suite.normalize import Rules
from tracegrade_harness.suite.records import Record
from tracegrade_harness.suite.strict import Command, Glob, Name, Strict
from tracegrade_harness.suite.upstreams import Upstream

_DIGEST = "^(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$"
_IMAGE_NAME = re.compile(r"[a-z0-9][\w.:/-]{0,254}@sha256:[0-9a-f]{64}", re.ASCII)
"""Does not begin like an option of a client."""
Point = Literal["early", "mid", "late"]
Mode = Literal["live", "mocked"]
ModelSource = Literal["replay", "live", "replay-then-live"]


def _list_or_word(value: Any) -> str:
    return "[list]" if isinstance(value, list) else "[word]"


def _number_or_word(value: Any) -> str:
    return "[word]" if isinstance(value, str) else "[number]"


class Variables(Strict):
    """Environment variables of an agent, in addition to those that programs need to run."""

    pass_: list[Name] = Field(default_factory=list, alias="pass")
    """Names of variables that get the harness's own values."""
    set: dict[Name, str] = Field(default_factory=dict)
    """Variables and their values."""


class Agent(Strict):
    """A command that runs an agent."""

    command: Command
    """Run in the environment's folder. These placeholders are replaced: `{release}`, `{task}`,
    `{trial}`, `{seed}`, `{suite}` (the suite's folder), `{python}` (the harness's interpreter) and
    `{mcp}` (a file with the MCP servers). `{user_input}` is the user's request,
    `{user_input_file}` a file with it."""
    release: Name | None = None
    """Version of the agent; `--release` overrides it."""
    recover: (
        Annotated[
            Annotated[Command, Tag("[list]")] | Annotated[Literal["rerun"], Tag("[word]")],
            Discriminator(_list_or_word),
        ]
        | None
    ) = None
    """The command that repairs what a killed run left; `rerun`: the same command again."""
    records: list[Record] = Field(default_factory=list)
    """Records that tell how to undo what a killed run leaves."""
    environment: Variables = Variables()
    network: Network = "none"
    """`none`: in bubblewrap, the agent reaches the services of its trial and nothing else. `open`:
    the agent reaches all that this machine reaches, such as a model."""
    read: list[Name] = Field(default_factory=list)
    """Files and folders that the agent may read in bubblewrap, in addition to those that its
    command names. Paths are absolute or relative to the suite. Keys, sockets and files with
    expected answers are never readable."""
    channels: Annotated[list[Literal["sdk", "mcp", "http"]], Field(min_length=1)] = Field(
        default=["sdk"]
    )
    """Channels on which the agent is stopped. `sdk`: after its spans report that a call has
    returned; the agent sends the spans itself. `mcp`: after an MCP server's answer. `http`: after
    an answer of a service or upstream. With `mcp` and `http`, the harness writes the spans."""


class McpServer(Strict):
    """An MCP server over standard input and output, which the harness starts for its agent."""

    command: Command
    """Run in the environment's folder, in a sandbox of its own. `{task}`, `{trial}`, `{seed}`,
    `{suite}` (the suite's folder) and `{python}` (the harness's own interpreter) are replaced."""
    taped: bool = False
    """It acts outside of the environment, which it does not see. Its calls are recorded, and
    answered from the tape in the mode `mocked`."""
    command_env: Name | None = None
    """Environment variable that gets the command, as a text for a shell, with which an agent
    starts the server. `{mcp}` in an agent's command is a file that lists all servers, as
    `mcpServers`."""
    environment: Variables = Variables()
    """Its own variables, in addition to those of the parts; its agent sees none of them."""
    network: Network = "none"
    """Network of the server; the values are those of an agent's `network`."""
    read: list[Name] = Field(default_factory=list)
    """Files and folders that the server may read, as for an agent's `read`."""


def _with_a_digest(name: str) -> str:
    if _IMAGE_NAME.fullmatch(name) is None:
        has_digest = "@" in name
        fact = "is not a name with a digest" if has_digest else "has no digest"
        msg = f"'{name}' {fact}, so it may be another image tomorrow; give NAME@sha256: and 64 "
        raise ValueError(msg + "digits, as `docker images --digests` prints them")
    return name


class Image(Strict):
    """A container image, whose content is the root file system of each trial."""

    path: Name | None = None
    """An OCI layout, as a folder or a tar archive, or an archive of `docker save` or `podman
    save`; relative to the suite."""
    digest: Annotated[str, Field(pattern=_DIGEST)] | None = None
    """With `path`: the digest of the image's manifest or configuration (its id); any other image
    is refused."""
    name: Annotated[str, AfterValidator(_with_a_digest)] | None = None
    """Instead of `path`: NAME@sha256:… of an image that Docker or podman has; its client saves it
    once."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if self.name is not None and (self.path, self.digest) != (None, None):
            msg = "name is given, which has its own digest, and path or digest as well; remove one"
            raise ValueError(msg)
        if self.name is None and (self.path is None or self.digest is None):
            missing = "digest" if self.path is not None else "path"
            msg = f"{missing} is missing; give path and digest, or name"
            raise ValueError(msg)
        return self


class Environment(Strict):
    """The state that an agent can change; its parts by kind and name."""

    image: Image | None = None
    """The agent's programs and files come from this image and none from this machine. It is
    started with the image's variables, working folder and user. This needs bubblewrap and
    overlays."""
    mcp: dict[Name, McpServer] = Field(default_factory=dict)
    upstreams: dict[Name, Upstream] = Field(default_factory=dict)
    taped_tools: list[Name] = Field(default_factory=list)
    """Tools of the agent's own process (`@tracegrade.tool`) that act outside of the environment.
    Their calls are recorded, and answered from the tape in the mode `mocked`. `*` matches all
    tools."""
    locks: list[Glob] = Field(default_factory=list)
    """Objects that count as held while they exist, such as `files:data/**/*.lock`."""

    @property
    def parts(self) -> Mapping[str, Mapping[str, Strict]]:
        """Its parts by kind and name, in order; the loader adds a key for each kind."""
        kinds = (key for key in type(self).model_fields if key not in Environment.model_fields)
        return {kind: getattr(self, kind) for kind in kinds}

    def is_taped_tool(self, name: str) -> bool:
        """Return whether a tool of the agent's own process is taped."""
        return name in self.taped_tools or "*" in self.taped_tools


class Kill(Strict):
    """The kill points of a case, and how they are judged."""

    points: Annotated[list[Point], Field(min_length=1)] = Field(default=["early", "mid", "late"])
    accept: Literal["before", "done"] = "before"
    """The state that counts as undone: the one before the run, or also the finished one."""
    scope: Literal["tree", "process"] = "tree"
    """The processes that are killed: all that the agent started, or its first process alone. The
    others live until the kill is judged, and are leftovers if they never end."""
    trials: Annotated[
        Annotated[int, Field(ge=1, le=10_000), Tag("[number]")]
        | Annotated[Literal["all"], Tag("[word]")],
        Discriminator(_number_or_word),
    ] = 1
    """Number of trials of the case that are killed, from the first one; `all` kills every trial.
    """

    def points_of(self, trial: int) -> list[Point]:
        """Return the kill points of a trial."""
        return self.points if self.trials == "all" or trial <= self.trials else []


class Case(Strict):
    """A task with its agent, environment and checks; its key is the task's id."""

    environment: Name
    agent: Name
    trials: Annotated[int, Field(ge=1, le=10_000)] = 1
    kill: Kill | None = None
    verify: list[Strict] = Field(default_factory=list)
    """The verifiers; all must pass."""
    limits: TrialLimits = TrialLimits()
    user_input: str | None = None
    """The user's request; a command gets it as `{user_input}`, or as `{user_input_file}`."""
    model: ModelSource = "replay"
    """Source of models' answers in the mode `mocked`. `replay`: the tape. `live`: the model
    itself. `replay-then-live`: the tape, and the model for answers that are missing on it."""
    tape: Name | None = None
    """Tape file of the case, relative to the suite; `tapes/TASK.jsonl` if it is not given."""
    normalize: Rules = Field(default_factory=list)
    """Parts of calls that a tape ignores when it compares them: dates, ids, temporary paths."""
    on_miss: Literal["error", "continue"] = "error"
    """Status of a trial whose agent asked for an answer that is missing on its tape: an error, or
    judged all the same. The agent gets an error in both cases."""


class Suite(Strict):
    """A suite file."""

    version: Literal[1]
    suite: Name
    """Name of the suite."""
    mode: Mode = "live"
    """`mocked`: tapes answer for upstreams, taped servers and taped tools, which are not called.
    """
    tasks: Name | None = None
    """Task file, or a folder of them, relative to the suite: tools that write, and expectations.
    """
    defaults: Defaults = Defaults()
    """Values for cases and agents that give none, and for options that are not given."""
    agents: dict[Name, Agent]
    environments: dict[Name, Environment]
    cases: dict[Name, Case]
