"""The providers of judge models: what their clients need, and defaults for judge files."""

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Final, Literal, NamedTuple

ProviderName = Literal["openai", "anthropic", "langchain"]


class Provider(NamedTuple):
    """One provider."""

    module: str
    """Its client library."""
    extra: str
    """The extra of tracegrade that installs it."""
    base_url: str
    """Unless the file says another; `$NAME` is a variable of the environment."""
    api_key: str
    """The variable unless the file names another; empty for a provider that takes none."""
    takes_seed: bool
    """Whether two requests that differ in their seed alone can be answered differently."""

    @property
    def is_installed(self) -> bool:
        """Whether its client is."""
        return find_spec(self.module) is not None


PROVIDERS: Final[Mapping[ProviderName, Provider]] = {
    "openai": Provider("openai", "judge", "$OPENAI_BASE_URL", "$OPENAI_API_KEY", takes_seed=True),
    "anthropic": Provider(
        "anthropic",
        "judge-anthropic",
        "https://api.anthropic.com",
        "$ANTHROPIC_API_KEY",
        takes_seed=False,
    ),
    "langchain": Provider(
        "langchain_core",
        "judge-langchain",
        "http://langchain.invalid/v1",  # no request goes there: the class sends them
        "",
        takes_seed=False,
    ),
}
