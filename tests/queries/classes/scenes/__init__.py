"""All scenes of all classes."""

from tests.queries.classes.scenes import agents, arguments, failures, rounds, tokens
from tests.queries.classes.scenes.scene import SCENES

__all__ = ["SCENES", "agents", "arguments", "failures", "rounds", "tokens"]
