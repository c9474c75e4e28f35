"""A LangChain chat model that answers by the rules of `model_server`, and calls tools itself."""

import json
from typing import Any, ClassVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, convert_to_openai_messages
from langchain_core.outputs import ChatGeneration, ChatResult

from .model_server import honest


class HonestChatModel(BaseChatModel):
    """Answers as `honest` does."""

    max_tokens: int = 10
    max_retries: int = 2
    counts: bool = True
    fails_with: int | None = None
    api_key: str = ""
    made: ClassVar[list["HonestChatModel"]] = []
    """The models of this class so far."""
    handlers: ClassVar[list[str]] = []
    """Names of the classes of callbacks that were active."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.made.append(self)

    @property
    def _llm_type(self) -> str:
        return "honest"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        """Send the tools with each request."""
        return self.bind(tools=tools, **options)

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None,
                  **options: Any) -> ChatResult:  # fmt: skip
        assert options["tools"]
        self.handlers.extend(type(each).__name__ for each in run_manager.handlers)
        if self.fails_with is not None:
            raise RefusedError(self.fails_with)
        request = {"messages": convert_to_openai_messages(messages)}
        given = json.loads(honest(request).body)
        (call,) = given["choices"][0]["message"]["tool_calls"]
        function = call["function"]
        message = AIMessage(
            "",
            tool_calls=[
                {"name": function["name"], "args": json.loads(function["arguments"]), "id": "c"}
            ],
        )
        if self.counts:
            usage = given["usage"]
            message.usage_metadata = {
                "input_tokens": usage["prompt_tokens"],
                "output_tokens": usage["completion_tokens"],
                "total_tokens": usage["total_tokens"],
            }
        return ChatResult(generations=[ChatGeneration(message=message)])


class RefusedError(Exception):
    """A failure with a status, as the clients of vendors raise it."""

    def __init__(self, status_code: int) -> None:
        super().__init__("secret text")
        self.status_code = status_code
