"""Prints, before agents run, which sandbox confines them and which live services are reached."""

import os

from tracegrade.terminal.visible import echo
from tracegrade_harness.sandbox.choice import available
from tracegrade_harness.suite.model import Suite
from tracegrade_harness.suite.upstreams import Upstream
from tracegrade_harness.trial.run import AUTO, ChosenTrials, chosen_cases, find_sandbox

NO_SANDBOX = "none; agents can read, write and reach all that this user can"
AS_SUPERUSER = ", the superuser: they may set this machine's clock and its name, too"


def announce(suite: Suite, chosen: ChosenTrials) -> None:
    """Print how agents are confined, and the live services that the run calls.

    Raises:
        SuiteUnusable: No case is chosen, or there is no such sandbox.
    """
    echo(f"sandbox: {sandbox_text(chosen.sandbox or suite.defaults.sandbox, chosen)}")
    mode = chosen.mode or suite.mode
    if mode == "live":
        _say_open_agents(suite, chosen)
        _say_live(suite, chosen)
    else:
        _say_live_models(suite, chosen)


def sandbox_text(name: str, chosen: ChosenTrials) -> str:
    """Return the sandbox's name, or what the lack of a sandbox means for this machine.

    Raises:
        SuiteUnusable: There is no such sandbox, or the superuser has none and did not agree to it.
    """
    found = find_sandbox(name, as_root=chosen.as_root).name
    if found != "none":
        return found
    reasons = [f"{each} cannot be used: {why}" for each, why in available().items() if why]
    none = NO_SANDBOX + (AS_SUPERUSER if os.geteuid() == 0 else "")
    return "; ".join([none, *(reasons if name == AUTO else [])])


def _say_open_agents(suite: Suite, chosen: ChosenTrials) -> None:
    agents = {case.agent for case in chosen_cases(suite, chosen).values()}
    for name in sorted(agents):
        if suite.agents[name].network == "open":
            echo(f"network: agent {name} can reach every host that this machine can reach")


def _say_live(suite: Suite, chosen: ChosenTrials) -> None:
    """Print the live services that the run calls."""
    used = {case.environment for case in chosen_cases(suite, chosen).values()}
    for environment in (suite.environments[name] for name in sorted(used)):
        for name, upstream in environment.upstreams.items():
            echo(f"live: {name}, {upstream.url}{_at_most(upstream)}")
        for name in environment.taped_tools:
            echo(f"live: tool {name}")


def _at_most(upstream: Upstream) -> str:
    return "" if upstream.rate is None else f", {upstream.rate:g} requests a second at most"


def _say_live_models(suite: Suite, chosen: ChosenTrials) -> None:
    """Print the models that a mocked run calls."""
    cases = chosen_cases(suite, chosen).values()
    used = {each.environment for each in cases if (chosen.models or each.model) != "replay"}
    for environment in sorted(used):
        for name, upstream in suite.environments[environment].upstreams.items():
            if upstream.protocol == "model":
                echo(f"live: {name}, {upstream.url}{_at_most(upstream)}")
