"""The scenarios on smolagents' agent that requests tools; it answers through one."""

from scenario import begin
from smolagents import ToolCallingAgent
from smolagents_agents import run

run(begin(), ToolCallingAgent)
