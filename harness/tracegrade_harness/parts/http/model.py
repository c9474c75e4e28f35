"""HTTP services and their verifiers, as suites declare them."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from tracegrade_harness.suite.strict import Name, Strict
from tracegrade_scoring.tasks.model import Wanted


class HttpFault(Strict):
    """A request that an HTTP service fails to answer as it should."""

    at: Annotated[int, Field(ge=1)]
    """Number of the request to the service, from 1."""
    status: Annotated[int, Field(ge=400, le=599)]
    applied: bool = False
    """The request still changes the state; only its answer is lost."""


class Http(Strict):
    """An HTTP service with a state, on a port of this machine, from `routes` or `app`."""

    state: Name | None = None
    """A JSON document, relative to the suite, with the initial state of each trial; `{}` without
    it."""
    routes: Name | None = None
    """A YAML file, relative to the suite, with the routes: each reads and changes the state."""
    app: Name | None = None
    """`MODULE:NAME` of a function in the suite's folder that takes the state, a dict, and returns
    an ASGI app that changes it in place. It runs outside of the sandbox, and only with `--trust`.
    """
    url_env: Name | None = None
    """Environment variable that gets the service's URL."""
    calls: list[Name] = Field(default_factory=list)
    """Tool names of requests, as for an upstream; the routes follow them."""
    faults: list[HttpFault] = Field(default_factory=list)
    locks: list[Name] = Field(default_factory=list)
    """JSON paths, such as `$.holds.*`: a new or changed value there counts as held."""
    quota: list[Name] = Field(default_factory=list)
    """JSON paths of numbers, which are held while they are less than before."""
    ignore: list[Name] = Field(default_factory=list)
    """JSON paths, such as `$.orders.*.updated_at`, whose changes do not matter."""

    @model_validator(mode="after")
    def _is_one_service(self) -> Self:
        if (self.routes is None) == (self.app is None):
            msg = "it has both routes and an app, or neither; give one of them"
            raise ValueError(msg)
        return self


class HttpCalls(Strict):
    """Requests that a service got; keys that are not given allow any value."""

    method: Wanted = None
    """Value or rule, in capitals: `POST`."""
    path: Wanted = None
    """Value or rule for the path, without the query."""
    body: dict[Name, Wanted] | None = None
    """JSON path → value or rule that the request's JSON must fit."""
    status: Wanted = None
    """Value or rule for the answer's status."""
    times: Wanted = None
    """Value or rule for the number of requests; without it, there must be at least one."""


class HttpVerifier(Strict):
    """A condition on an HTTP service; exactly one of `state` and `calls`."""

    http: Name
    """Name of the part."""
    state: dict[Name, Wanted] | None = None
    """JSON path → value or rule that the state must fit."""
    calls: HttpCalls | None = None

    @model_validator(mode="after")
    def _asks_one_thing(self) -> Self:
        if (self.state is None) == (self.calls is None):
            msg = "it asks for both state and calls, or for neither; give one of them"
            raise ValueError(msg)
        return self
