"""Creates each provider's client, which sends its requests through tracegrade's own transport.

Clients are imported when they are needed: one that no judge asks for need not be installed.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Final

import httpx2
from pydantic_ai.models import Model

from tracegrade_judges.judge_file.load import ModelEndpoint
from tracegrade_judges.judge_file.providers import PROVIDERS, ProviderName

_HTTP_LOGGERS: Final = ("httpx2", "httpcore2")


@contextmanager
def silenced(provider: ProviderName) -> Iterator[None]:
    """Keep a provider's client from logging, at any level: it logs the text of its requests.

    It is imported first, since some clients set their level at import, from an environment
    variable.
    """
    module = PROVIDERS[provider].module
    import_module(module)
    disabled = logging.root.manager.disable
    if provider == "langchain":
        logging.disable(logging.CRITICAL)  # a class may log by any name
    loggers = [logging.getLogger(name) for name in (module, *_HTTP_LOGGERS)]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logging.disable(disabled)
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def model_of(endpoint: ModelEndpoint, http: httpx2.AsyncClient) -> Model:
    """Return a provider's model, which retries nothing by itself."""
    return _CLIENTS[endpoint.provider](endpoint, http)


def _openai(endpoint: ModelEndpoint, http: httpx2.AsyncClient) -> Model:
    from openai import AsyncOpenAI  # noqa: PLC0415
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider  # noqa: PLC0415

    client = AsyncOpenAI(
        base_url=endpoint.base_url, api_key=endpoint.key, http_client=http, max_retries=0
    )
    provider = OpenAICompatibleProvider("judge", openai_client=client)
    return OpenAIChatModel(endpoint.model, provider=provider)


def _anthropic(endpoint: ModelEndpoint, http: httpx2.AsyncClient) -> Model:
    from anthropic import AsyncAnthropic  # noqa: PLC0415
    from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415
    from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415

    client = AsyncAnthropic(
        base_url=endpoint.base_url, api_key=endpoint.key, http_client=http, max_retries=0
    )
    return AnthropicModel(endpoint.model, provider=AnthropicProvider(anthropic_client=client))


_CLIENTS: Final[Mapping[ProviderName, Callable[[ModelEndpoint, httpx2.AsyncClient], Model]]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "langchain": _openai,
}
