"""Fills in values that cases and agents do not give from their suite's defaults."""

from tracegrade_harness.suite.defaults import Defaults
from tracegrade_harness.suite.model import Agent, Case, Suite


def suite_with_defaults(suite: Suite) -> Suite:
    """Return a suite in which the defaults fill in missing values of cases and agents."""
    agents = {
        name: agent_with_defaults(each, suite.defaults) for name, each in suite.agents.items()
    }
    cases = {name: case_with_defaults(each, suite.defaults) for name, each in suite.cases.items()}
    return suite.model_copy(update={"agents": agents, "cases": cases})


def agent_with_defaults(agent: Agent, defaults: Defaults) -> Agent:
    """Return an agent with the network of the defaults, unless it has its own."""
    if "network" in agent.model_fields_set:
        return agent
    return agent.model_copy(update={"network": defaults.network})


def case_with_defaults(case: Case, defaults: Defaults) -> Case:
    """Return a case whose missing trials and limits come from the defaults."""
    own = {name: getattr(case.limits, name) for name in case.limits.model_fields_set}
    trials = case.trials if "trials" in case.model_fields_set else defaults.trials
    limits = defaults.limits.model_copy(update=own)
    return case.model_copy(update={"trials": trials, "limits": limits})
