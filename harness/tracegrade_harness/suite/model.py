"""A suite as Python objects. One class per mapping of the file; unknown keys are refused."""

from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from tracegrade_harness.suite.defaults import Defaults, Network
from tracegrade_harness.suite.limits import TrialLimits
from tracegrade_harness.suite.normalise import Rules
from tracegrade_harness.suite.records import Record
from tracegrade_harness.suite.strict import Name, Seconds, Strict, by_key
from tracegrade_harness.suite.upstreams import Upstream
from tracegrade_scoring.tasks.model import Wanted

Glob = Name
"""`*` stands for anything within a name, `**` for any number of names, `?` for one character."""
Point = Literal["early", "mid", "late"]
Mode = Literal["live", "mocked"]
ModelSource = Literal["replay", "live", "replay-then-live"]
Door = Literal["sdk", "mcp", "http"]


def _list_or_word(value: Any) -> str:
    return "[list]" if isinstance(value, list) else "[word]"


def _number_or_word(value: Any) -> str:
    return "[word]" if isinstance(value, str) else "[number]"


Command = Annotated[list[Name], Field(min_length=1)]


class Variables(Strict):
    """Environment variables of an agent; it gets no others but what running programs needs."""

    pass_: list[Name] = Field(default_factory=list, alias="pass")
    """Names of variables that it gets as the harness has them."""
    set: dict[Name, str] = Field(default_factory=dict)
    """Variables and their values."""


class Agent(Strict):
    """A command that is an agent."""

    command: Command
    """Run in the environment's folder. `{release}`, `{task}`, `{trial}`, `{seed}`, `{suite}` (the
    suite's folder), `{python}` (the harness's own interpreter), `{mcp}` (a file that lists the
    MCP servers), `{user_input}` and `{user_input_file}` (what the case's user asks, as it is or
    in a file) are replaced."""
    release: Name | None = None
    """Its version; `--release` says another."""
    recover: (
        Annotated[
            Annotated[Command, Tag("[list]")] | Annotated[Literal["rerun"], Tag("[word]")],
            Discriminator(_list_or_word),
        ]
        | None
    ) = None
    """The command that sets right what a killed run left; `rerun`: the same command again."""
    records: list[Record] = Field(default_factory=list)
    """What says how to undo that which a killed run leaves."""
    environment: Variables = Variables()
    network: Network = "none"
    """`none`: in bubblewrap it reaches what its trial offers, and nothing else. `open`: whatever
    this machine reaches, a model for one."""
    read: list[Name] = Field(default_factory=list)
    """Files and folders beside the suite, or absolute, that it may read in bubblewrap beside those
    that its command names. What verifiers know is not among them, nor are keys and sockets."""
    doors: Annotated[list[Door], Field(min_length=1)] = Field(default=["sdk"])
    """Where it is stopped. `sdk`: where its spans say that a call has returned; it sends them
    itself. `mcp`: where an MCP server has answered, `http`: where a service or an upstream has;
    then the harness writes its spans."""


class McpServer(Strict):
    """An MCP server over standard input and output, which the harness starts for its agent."""

    command: Command
    """Run in the environment's folder, in a sandbox of its own. `{task}`, `{trial}`, `{seed}`,
    `{suite}` (the suite's folder) and `{python}` (the harness's own interpreter) are replaced."""
    taped: bool = False
    """It acts outside of the environment, which it does not see: it is recorded, and answered for
    in the mode `mocked`."""
    command_as: Name | None = None
    """Environment variable that gets the command, as shells read it, that an agent starts instead.
    `{mcp}` in an agent's command is a file that lists them all, as `mcpServers`."""
    environment: Variables = Variables()
    """Its variables, beside those by which the parts are found; its agent sees none of them."""
    network: Network = "none"
    """As an agent's."""
    read: list[Name] = Field(default_factory=list)
    """As an agent's."""


class Files(Strict):
    """A folder of files."""

    from_: Name = Field(alias="from")
    """The folder, beside the suite, that each trial starts from a copy of."""
    at: Name
    """Where the copy stands, in the folder in which the agent is run."""
    path_as: Name | None = None
    """Environment variable that gets the copy's absolute path."""
    ignore: list[Glob] = Field(default_factory=list)
    """Paths below it whose changes are of no interest."""
    overlay: bool = False
    """Mount an overlay of the kernel's instead of a copy: at once, however large the folder is."""


class Sqlite(Strict):
    """An SQLite database."""

    from_: Name = Field(alias="from")
    """The database, or a file `*.sql` that makes it, beside the suite."""
    at: Name
    """Where the copy stands, in the folder in which the agent is run."""
    path_as: Name | None = None
    """Environment variable that gets the copy's absolute path."""
    ignore: list[Glob] = Field(default_factory=list)
    """`TABLE` or `TABLE.COLUMN` whose changes are of no interest."""


class Postgres(Strict):
    """A PostgreSQL database, on a server that the harness starts."""

    from_: Name = Field(alias="from")
    """An SQL script beside the suite that makes it, as `pg_dump --no-owner --no-privileges`
    writes it, too. It is run by a role without special rights."""
    url_as: Name | None = None
    """Environment variable that gets the database's URL."""
    ignore: list[Glob] = Field(default_factory=list)
    """`SCHEMA.TABLE`, `SCHEMA.TABLE.COLUMN`, or objects such as `function:public.*`, whose changes
    are of no interest."""


class Redis(Strict):
    """A Redis database, on a server that the harness starts."""

    from_: Name = Field(alias="from")
    """A file beside the suite with the commands that fill it, one a line, as `redis-cli` has
    them: `SET greeting "hello world"`."""
    url_as: Name | None = None
    """Environment variable that gets the database's URL."""
    ignore: list[Glob] = Field(default_factory=list)
    """Keys whose changes are of no interest."""


class HttpFault(Strict):
    """A request that an HTTP service fails to answer as it should."""

    at: Annotated[int, Field(ge=1)]
    """Which request of the service, from 1."""
    status: Annotated[int, Field(ge=400, le=599)]
    carried_out: bool = False
    """The request changes the state all the same, and only its answer is lost."""


class Http(Strict):
    """An HTTP service with a state, on a port of this machine; of `routes` and `app` one."""

    state: Name | None = None
    """The state that each trial starts from, a JSON document beside the suite; without it `{}`."""
    routes: Name | None = None
    """A YAML file beside the suite: what each request reads and changes."""
    app: Name | None = None
    """`MODULE:NAME` of a function beside the suite that takes the state, a dict, and returns an
    ASGI app that changes it in place. It runs outside of the sandbox, and only with `--trust`."""
    url_as: Name | None = None
    """Environment variable that gets the service's URL."""
    calls: list[Name] = Field(default_factory=list)
    """What requests are called as calls of tools, as of an upstream; after these, the routes."""
    faults: list[HttpFault] = Field(default_factory=list)
    locks: list[Name] = Field(default_factory=list)
    """JSON paths, such as `$.holds.*`: what is new or changed there is held."""
    quota: list[Name] = Field(default_factory=list)
    """JSON paths of numbers, which are held while they are less than before."""
    ignore: list[Name] = Field(default_factory=list)
    """JSON paths, such as `$.orders.*.updated_at`, whose changes are of no interest."""

    @model_validator(mode="after")
    def _is_one_service(self) -> Self:
        if (self.routes is None) == (self.app is None):
            msg = "it has both routes and an app, or neither; give one of them"
            raise ValueError(msg)
        return self


class BrowserCookie(Strict):
    """A cookie that a browser has in the beginning."""

    name: Name
    value: str
    url: Annotated[str, Field(pattern="^https?://")] | None = None
    """Whose it is; without it, the page's at which the browser starts."""
    path: Annotated[str, Field(pattern="^/")] = "/"
    secure: bool = False
    http_only: bool = False
    same_site: Literal["Strict", "Lax", "None"] | None = None


class BrowserStorage(Strict):
    """What is stored of an origin in the beginning."""

    local: dict[Name, str] = Field(default_factory=dict)
    session: dict[Name, str] = Field(default_factory=dict)
    """Of the tab in which the browser starts."""


class Browser(Strict):
    """A Chromium with a new profile, whose pages find HTTP services as `http://mail/inbox`."""

    url: Annotated[str, Field(pattern="^(https?://|about:blank$)")]
    """Where it starts."""
    url_as: Name | None = None
    """Environment variable that gets the URL at which it speaks the DevTools protocol."""
    network: Network = "none"
    """`none`: it reaches the environment's HTTP services, in bubblewrap nothing else. `open`:
    whatever this machine reaches."""
    cookies: list[BrowserCookie] = Field(default_factory=list)
    storage: dict[Annotated[str, Field(pattern="^https?://[^/]+$")], BrowserStorage] = Field(
        default_factory=dict
    )
    """By origin, such as `http://mail`."""
    watch: list[Name] = Field(default_factory=list)
    """Selectors of CSS: what its tabs show of each is an object."""
    ignore: list[Glob] = Field(default_factory=list)
    """Objects, such as `cookie:mail/csrf`, whose changes are of no interest."""


class Environment(Strict):
    """What an agent can change; its parts by kind and name."""

    files: dict[Name, Files] = Field(default_factory=dict)
    sqlite: dict[Name, Sqlite] = Field(default_factory=dict)
    postgres: dict[Name, Postgres] = Field(default_factory=dict)
    redis: dict[Name, Redis] = Field(default_factory=dict)
    http: dict[Name, Http] = Field(default_factory=dict)
    browser: dict[Name, Browser] = Field(default_factory=dict)
    mcp: dict[Name, McpServer] = Field(default_factory=dict)
    upstreams: dict[Name, Upstream] = Field(default_factory=dict)
    taped_tools: list[Name] = Field(default_factory=list)
    """Tools of the agent's own process (`@tracegrade.tool`) that act outside of the environment:
    they are recorded, and answered for in the mode `mocked`. `*` stands for all."""
    locks: list[Glob] = Field(default_factory=list)
    """Objects that are held as long as they are there, such as `files:data/**/*.lock`."""

    def is_taped_tool(self, name: str) -> bool:
        """Return whether a tool of the agent's own process is taped."""
        return name in self.taped_tools or "*" in self.taped_tools


class Kill(Strict):
    """Where runs of a case are killed on purpose."""

    points: Annotated[list[Point], Field(min_length=1)] = Field(default=["early", "mid", "late"])
    accept: Literal["before", "done"] = "before"
    """The state that is as good as undone: the one before the run, or also the finished one."""
    scope: Literal["tree", "process"] = "tree"
    """What is killed: all that the agent started, or its first process alone. Others live on
    then until the kill is judged, and are left over if they do so to the end."""
    trials: Annotated[
        Annotated[int, Field(ge=1, le=10_000), Tag("[number]")]
        | Annotated[Literal["all"], Tag("[word]")],
        Discriminator(_number_or_word),
    ] = 1
    """How many trials of the case are killed, from the first on; `all`: every one."""

    def points_of(self, trial: int) -> list[Point]:
        """Return where a trial is killed."""
        return self.points if self.trials == "all" or trial <= self.trials else []


class FilesVerifier(Strict):
    """Something of a folder of files holds; exactly one of `expect`, `only_changed` and `path`."""

    files: Name
    """The part."""
    expect: Name | None = None
    """A folder beside the suite: the same paths with the same content stand in the part."""
    under: Glob = "**"
    """With `expect`: the paths, in both, that are compared."""
    only_changed: list[Glob] | None = None
    """Nothing else was added, changed or removed."""
    path: Name | None = None
    """A file that has to be there."""
    json_: dict[Name, Wanted] | None = Field(default=None, alias="json")
    """With `path`: JSON path → value or rule (those of task files) that the file must fit."""
    text: Wanted = None
    """With `path`: value or rule that the file's whole text must fit."""

    @model_validator(mode="after")
    def _asks_one_thing(self) -> Self:
        given = [
            key for key in ("expect", "only_changed", "path") if getattr(self, key) is not None
        ]
        if len(given) != 1:
            fact = f"it has {' and '.join(given)}" if given else "it asks nothing"
            msg = f"{fact}; give one of expect, only_changed and path"
            raise ValueError(msg)
        for field, key, needed in (
            ("under", "under", "expect"),
            ("json_", "json", "path"),
            ("text", "text", "path"),
        ):
            if field in self.model_fields_set and needed not in given:
                msg = f"it has {key} without {needed}; {key} says more about {needed}: remove it"
                raise ValueError(msg)
        return self


class SqliteVerifier(Strict):
    """A query of an SQLite database gives a value."""

    sqlite: Name
    """The part."""
    query: Name
    equals: Wanted
    """A value or rule for the only value of the only row; a list of lists for several."""


class PostgresVerifier(Strict):
    """A query of a PostgreSQL database gives a value."""

    postgres: Name
    """The part."""
    query: Name
    equals: Wanted
    """A value or rule for the only value of the only row; a list of lists for several."""


class RedisVerifier(Strict):
    """A key of a Redis database has a value."""

    redis: Name
    """The part."""
    key: Name
    equals: Wanted
    """Value or rule: a text, a list, a sorted list for a set, a mapping for a hash, one of numbers
    for a sorted set."""


class HttpCalls(Strict):
    """Requests that a service got; what is not given may be anything."""

    method: Wanted = None
    """Value or rule, in capitals: `POST`."""
    path: Wanted = None
    """Value or rule for the path, without the query."""
    body: dict[Name, Wanted] | None = None
    """JSON path → value or rule that the request's JSON must fit."""
    status: Wanted = None
    """Value or rule for the answer's status."""
    times: Wanted = None
    """Value or rule for how many there are; without it at least one."""


class HttpVerifier(Strict):
    """Something of an HTTP service holds; exactly one of `state` and `calls`."""

    http: Name
    """The part."""
    state: dict[Name, Wanted] | None = None
    """JSON path → value or rule that the state must fit."""
    calls: HttpCalls | None = None

    @model_validator(mode="after")
    def _asks_one_thing(self) -> Self:
        if (self.state is None) == (self.calls is None):
            msg = "it asks for both state and calls, or for neither; give one of them"
            raise ValueError(msg)
        return self


class DomVerifier(Strict):
    """Elements of pages fit; what is not given may be anything."""

    dom: Name
    """The browser."""
    url: Annotated[str, Field(pattern="^https?://")] | None = None
    """A page to be looked at with the browser's cookies and storage, in a copy of it; without it,
    those that the agent left open."""
    selector: Name
    """Of CSS."""
    text: Wanted = None
    """Value or rule for an element's text as it is shown, with one space where there is more."""
    value: Wanted = None
    """Value or rule for the value of a form's field."""
    attributes: dict[Name, Wanted] | None = None
    """Name → value or rule."""
    visible: bool | None = None
    """Whether an element is shown."""
    count: Wanted = None
    """Value or rule for how many elements fit; without it at least one."""
    timeout_secs: Seconds = 10
    """With `url`: how long its scripts may take until the elements fit."""


class CommandVerifier(Strict):
    """A command ends with 0 (it holds) or 1 (it does not); anything else is an error."""

    command: Command
    """Run in a copy of the environment's folder. `{suite}` stands for the suite's folder,
    `{python}` for the harness's own interpreter."""
    timeout_secs: Seconds = 60


Verifier = Annotated[
    Annotated[FilesVerifier, Tag("[files]")]
    | Annotated[SqliteVerifier, Tag("[sqlite]")]
    | Annotated[PostgresVerifier, Tag("[postgres]")]
    | Annotated[RedisVerifier, Tag("[redis]")]
    | Annotated[HttpVerifier, Tag("[http]")]
    | Annotated[DomVerifier, Tag("[dom]")]
    | Annotated[CommandVerifier, Tag("[command]")],
    by_key("files", "sqlite", "postgres", "redis", "http", "dom", "command"),
]


class Case(Strict):
    """What is tried; its key is the task's id."""

    environment: Name
    agent: Name
    trials: Annotated[int, Field(ge=1, le=10_000)] = 1
    kill: Kill | None = None
    verify: list[Verifier] = Field(default_factory=list)
    """All have to hold."""
    limits: TrialLimits = TrialLimits()
    user_input: str | None = None
    """What the user asks; a command gets it as `{user_input}`, or as `{user_input_file}`."""
    model: ModelSource = "replay"
    """What answers for models in the mode `mocked`: the tape; the model itself; or the tape, and
    the model for what is not on it."""
    tape: Name | None = None
    """File beside the suite with what was answered; without it `tapes/TASK.jsonl`."""
    normalise: Rules = Field(default_factory=list)
    """What of calls tapes pass over when they compare them: dates, ids, temporary paths."""
    on_miss: Literal["error", "continue"] = "error"
    """What a trial is whose agent asked for what its tape does not have: an error, or judged all
    the same. The agent gets an error either way."""


class Suite(Strict):
    """A suite file."""

    version: Literal[1]
    suite: Name
    """Its name."""
    mode: Mode = "live"
    """`mocked`: upstreams, taped servers and taped tools are not asked; their tapes answer."""
    tasks: Name | None = None
    """Task file, or a folder of them, beside the suite: which tools write, what is expected."""
    defaults: Defaults = Defaults()
    """Of cases and agents that say nothing else, and of options that are not given."""
    agents: dict[Name, Agent]
    environments: dict[Name, Environment]
    cases: dict[Name, Case]
