"""Former names of suite keys, which this release still reads."""

from typing import Final

from tracegrade_queries.files.former_keys import ANY, FormerKeys

_ENVIRONMENT: Final = ("environments", ANY)

FORMER_KEYS: Final[FormerKeys] = {
    ("agents", ANY, "doors"): "channels",
    (*_ENVIRONMENT, "mcp", ANY, "command_as"): "command_env",
    (*_ENVIRONMENT, "upstreams", ANY, "is_a"): "protocol",
    (*_ENVIRONMENT, ANY, ANY, "url_as"): "url_env",
    (*_ENVIRONMENT, ANY, ANY, "path_as"): "path_env",
    (*_ENVIRONMENT, "http", ANY, "faults", ANY, "carried_out"): "applied",
    ("cases", ANY, "normalise"): "normalize",
}
