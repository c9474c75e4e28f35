r"""What secrets look like: the one catalogue, for what an agent sends and for what the lake keeps.

Patterns are texts that both `re` and RE2 read alike: no lookaround, no backreference, nothing
possessive. An agent compiles them with `re` (`redact.py`), the collector with RE2
(`tracegrade_collector/redact/redaction_rules.py`), which takes linear time whatever is sent.
"""

from typing import Final

STRONG_NAMES: Final = (
    r"pass(?:wor)?ds?|passwd|passphrase|pass[._ -]?code|secrets?|credentials?"
    r"|(?:api|access|account|private|signing|encryption|master|shared|ssh|secret)[._ -]?keys?"
    r"|secret[._ -]?access[._ -]?key|(?:proxy[._ -]?)?authorization|(?:set[._ -]?)?cookies?"
    r"|(?:access|auth|refresh|id|session|bearer|api|csrf|xsrf|security|oauth|jwt|bot|device"
    r"|personal|deploy|push|private|secret|user|service|account|verification|reset)[._ -]?token"
    r"|session[._ -]?(?:key|cookie)|(?-i:sessionid|SESSIONID)|phpsessid|jsessionid|connect\.sid"
    r"|x[._-]amz[._-](?:signature|credential)|connection[._ -]?string|card[._ -]?number|cvv|cvc"
)
"""Names whose value is a secret, whatever it looks like. Compiled without regard to case."""

OPEN_NAMES: Final = (
    r"passw(?:or)?d|passphrase|passcode|secret|(?:api|access|account|private)[_-]?key"
    r"|authorization|(?:access|auth|refresh|id|session|bearer|api)[_-]?token"
)
"""Those of them after which a few more words may stand, as in `PASSWORD_FOR_DB`. They are few, so
that an agent can look for them in all its texts."""

NAME_SUFFIX: Final = (
    r"(?:[._ -]?(?:value|text|plain|raw|b64|base64|string|header|hash|new|old|[0-9]+))?"
)
"""What may follow such a name without changing what it says."""

WEAK_NAMES: Final = r"token|x[._-]?auth"
"""Names whose value is a secret if it looks like a key: language models count tokens, too."""

_KEY_CHARS: Final = r"[A-Za-z0-9._~+/=-]"
KEY_LIKE: Final = rf"(?:{_KEY_CHARS}{{16,}}|[A-Za-z._~+/=-]{{0,7}}[0-9]{_KEY_CHARS}{{7,}})"
"""A text as long and as mixed as keys are."""

API_KEYS: Final = (
    r"sk[-_][A-Za-z0-9_-]{16,}",  # OpenAI, Anthropic, Stripe, OpenRouter
    r"[rp]k[-_](?:live|test|lf)[-_][A-Za-z0-9_-]{10,}",  # Stripe, Langfuse
    r"whsec_[A-Za-z0-9+/=_-]{16,}",
    r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}",  # AWS
    r"gh[opsur]_[A-Za-z0-9]{16,}",
    r"github_pat_[A-Za-z0-9_]{16,}",
    r"gl(?:pat|dt|rt|ptt|agent|soat)-[A-Za-z0-9_.-]{16,}",
    r"xox[abceoprs]-[A-Za-z0-9-]{10,}",  # Slack
    r"xapp-[A-Za-z0-9-]{10,}",
    r"AIza[A-Za-z0-9_-]{30,}",  # Google
    r"ya29\.[A-Za-z0-9_-]{16,}",
    r"GOCSPX-[A-Za-z0-9_-]{16,}",
    r"(?:hf|npm|gsk|fw|r8|rubygems)_[A-Za-z0-9]{16,}",
    r"pypi-[A-Za-z0-9_-]{16,}",
    r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",  # SendGrid
    r"do[opr]_v1_[a-f0-9]{16,}",  # DigitalOcean
    r"lsv2_(?:pt|sk|st)_[A-Za-z0-9_]{16,}",  # LangSmith
    r"lin_api_[A-Za-z0-9]{16,}",
    r"(?:xai|pplx|tvly|nvapi)-[A-Za-z0-9_-]{16,}",
    r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{16,}",  # Shopify
    r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{16,}",
    r"hv[sb]\.[A-Za-z0-9_-]{16,}",  # HashiCorp Vault
    r"gls[ae]_[A-Za-z0-9_]{16,}",  # Grafana
    r"sntry[su]_[A-Za-z0-9+/=_-]{16,}",
    r"ATATT3[A-Za-z0-9_=-]{16,}",  # Atlassian
    r"AGE-SECRET-KEY-1[A-Z0-9]{16,}",
    r"(?:ntn|secret)_[A-Za-z0-9]{40,}",  # Notion
    r"dapi[a-f0-9]{32}",  # Databricks
)
"""Keys that are known by their prefix; no letter and no digit stands before one."""

API_KEY_STARTS: Final = (
    *("sk", "rk", "pk", "wh", "AK", "AS", "AB", "AC", "gh", "gi", "gl", "xo", "xa", "AI", "ya"),
    *("GO", "hf", "np", "gs", "fw", "r8", "ru", "py", "SG", "do", "ls", "li", "pp", "tv", "nv"),
    *("sh", "dc", "hv", "sn", "AT", "AG", "nt", "se", "da"),
)
"""The first two characters of each of them."""

JWT: Final = r"eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*){0,3}"
PRIVATE_KEY_BEGIN: Final = r"-----BEGIN[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
PRIVATE_KEY_END: Final = r"-----END[A-Z0-9 ]{0,40}-----"


def passes_luhn(digits: str) -> bool:
    """Return whether the last digit is Luhn's check digit of the others (ISO/IEC 7812-1)."""
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (sum(int(digit) for digit in digits[-1::-2]) + sum(doubled)) % 10 == 0
