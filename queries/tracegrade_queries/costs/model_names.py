"""The name of a model without the gateway, cloud or region that a client writes before it.

`usage_costs.sql` has the same patterns.
"""

from typing import Final

import re2

_ROUTE: Final = re2.compile(
    r"^((openrouter|openai|azure|azure_ai|anthropic|bedrock|converse|vertex_ai|google|gemini|"
    r"google-gla|google-vertex|mistral|mistralai|xai|x-ai|publishers|models)[/:])+"
)
"""Such as `openai/`, `openrouter/anthropic/`, `google-gla:` and `models/`."""
_BEDROCK: Final = re2.compile(
    r"^(arn:aws[a-z-]*:bedrock:[^/]*/)?((us|us-gov|eu|apac|ap|au|ca|jp|global)[.])?"
    r"(anthropic|mistral|openai|xai)[.](.+?)(-v[0-9]+(:[0-9]+)?)?$"
)
"""The identifier of a model or an inference profile of Amazon Bedrock."""
_DATE: Final = re2.compile(r"([-@][0-9]{8}|-[0-9]{4}(-[0-9]{2}-[0-9]{2})?)")


def bare_name(model: str) -> str:
    """Return the name of a model as its maker writes it."""
    return str(_BEDROCK.sub(r"\5", _ROUTE.sub("", model)))


def is_date(ending: str) -> bool:
    """Return whether the end of a model's name is a date, such as `-20240806` or `-0613`."""
    return _DATE.fullmatch(ending) is not None
