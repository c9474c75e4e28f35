"""The scenarios on smolagents' agent that writes code."""

from scenario import begin
from smolagents import CodeAgent
from smolagents_agents import run

scenario = begin()
fenced = scenario.get("fence")
run(
    scenario,
    CodeAgent,
    form="fences" if fenced else "tags",
    code_block_tags="markdown" if fenced else None,
)
