"""Code agents of smolagents act by Python: fences of other languages hold no calls."""

from tests.queries.test_openinference import oi
from tests.queries.together import Scene
from tests.queries.traces import story
from tests.scenes import built_together

SCOPE = "openinference.instrumentation.smolagents"
SHELL = "```bash\nlook(city='Rome')\n```\n"
BETWEEN = "then\nlook(city='Oslo')\nand\n"
CODE = "```py\nlook(city='Paris')\n```<end_code>"


@built_together
def test_only_python_is_read_as_python() -> Scene:
    """Neither what another fence holds nor what stands between two is code that was run."""
    said = {
        "llm__output_messages__0__message__role": "assistant",
        "llm__output_messages__0__message__content": f"I look.\n{SHELL}{BETWEEN}{CODE}",
    }
    lake = yield [
        oi(1, None, "AGENT", SCOPE, name="CodeAgent.run", ms=100),
        oi(2, 1, "CHAIN", SCOPE, name="Step 1", at=1, ms=50),
        oi(3, 2, "LLM", SCOPE, at=2, ms=5, **said),
        oi(
            4,
            2,
            "TOOL",
            SCOPE,
            at=8,
            ms=5,
            name="LookTool",
            tool__name="look",
            output__value="rain",
        ),
    ]

    calls = [line for line in story(lake) if line.startswith("tool_call")]
    assert calls == ['tool_call look {"city":"Paris"} ok']
