"""How frameworks and instrumentations write a run, each as spans of its own form."""

from typing import Final

from tests.queries.classes.forms.claude_code import ClaudeCode
from tests.queries.classes.forms.google_adk import GoogleADK
from tests.queries.classes.forms.haystack import Haystack
from tests.queries.classes.forms.langsmith import LangSmith
from tests.queries.classes.forms.logfire import PydanticAI
from tests.queries.classes.forms.mastra import Mastra
from tests.queries.classes.forms.openinference import OpenInference
from tests.queries.classes.forms.otel_genai import GenAI
from tests.queries.classes.forms.platforms import Langfuse
from tests.queries.classes.forms.traceloop import Traceloop
from tests.queries.classes.forms.vercel_ai import VercelAI

FORMS: Final = (
    ClaudeCode(), GoogleADK(), Haystack(), LangSmith(), PydanticAI(), Mastra(), OpenInference(),
    GenAI(), Langfuse(), Traceloop(), VercelAI(),
)  # fmt: skip
