r"""What secrets look like: the one catalogue, for what an agent sends and for what the lake keeps.

Patterns are texts that both `re` and RE2 read alike: no lookaround, no backreference, nothing
possessive, every repetition bounded or of one class of characters. An agent compiles them with
`re`, the collector with RE2, which takes linear time whatever is sent; `rules.py` does both.

A text may be JSON, or JSON in a JSON string, where a line break is `\n` or `\\n` and a quote has
backslashes before it. So what stands before a secret may be the last character of an escape, and
every quote may have backslashes.
"""

from typing import Final

TYPED_NAMES: Final = (
    r"passwords?|passwd|pass[._ -]?(?:phrase|code)|passwort|kennwort|wachtwoord|contrase[nñ]a"
    r"|senha|mot[._ -]de[._ -]passe|пароль|密码|密碼|パスワード|비밀번호"
)
"""Names of what a human types in: any text under one is a secret."""

_KEY: Final = r"[._ -]?keys?"
KEY_NAMES: Final = (
    r"secrets?|credentials?"
    rf"|(?:api|access|account|private|signing|encryption|master|shared|ssh|secret|auth|subscription){_KEY}"
    r"|secret[._ -]?(?:access[._ -]?key|key[._ -]?base)|(?:proxy[._ -]?)?authorization"
    r"|(?:access|auth|refresh|id|session|bearer|api|csrf|xsrf|security|oauth|jwt|bot|device"
    r"|personal|deploy|push|private|secret|user|service|account|verification|reset)[._ -]?token"
    r"|session[._ -]?(?:key|cookie)|(?-i:sessionid|SESSIONID)|phpsessid|jsessionid|connect\.sid"
    r"|x[._-](?:amz|goog)[._-](?:signature|credential)|connection[._ -]?string|card[._ -]?number"
)
"""Names of what a machine made or a header carries."""

SHORT_NAMES: Final = r"pwd|pass|cvv|cvc|token|x[._-]?auth"
"""Names that are also the end of other words: no letter stands before one, but in camel case."""

NAME_SUFFIX: Final = (
    r"(?:[._ -]?(?:value|text|plain|raw|b64|base64|string|header|hash|new|old"
    r"|confirm(?:ation)?|repeat|again|[0-9]{1,3}))?"
)
"""What may follow a name without changing what it says."""

ENV_SUFFIX: Final = r"(?:_(?:for|of|in|on|at)_[a-z0-9_]{1,30})?"
"""As in `PASSWORD_FOR_DB`."""

ESCAPE: Final = (
    r"(?:\\[abefnrtv0]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|%[0-9A-Fa-f]{2}|\[[0-9;]{0,9}m)"
)
"""One character as JSON, Python or a URL writes it, and the colours of a terminal."""

_NO_WORD: Final = rf"{ESCAPE}|[^A-Za-z0-9\\]"
INSIDE: Final = rf"(?:{_NO_WORD})"
"""What stands before a secret inside a text."""

BOUNDARY: Final = rf"(?:^|{_NO_WORD})"
"""What stands before a secret: the start, an escape, or what is no letter, digit or backslash."""

_CHAR: Final = r"[A-Za-z0-9_-]"
_TAIL: Final = (
    rf"(?:[A-Za-z_-]{{0,30}}[0-9]{_CHAR}{{12,}}|{_CHAR}{{0,60}}[A-Za-z0-9]{{16}}{_CHAR}*)"
)
"""Letters and digits as keys have them; words between hyphens are none."""

API_KEYS: Final = (
    rf"sk[-_]{_TAIL}",  # OpenAI, Anthropic, Stripe, OpenRouter, Langfuse
    r"rk[-_](?:live|test|prod)[-_][A-Za-z0-9_-]{10,}",  # Stripe
    r"whsec_[A-Za-z0-9+/=_-]{16,}",
    r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}|ABSK[A-Za-z0-9+/]{100,}={0,2}",  # AWS
    r"gh[opsur]_[A-Za-z0-9]{16,}",
    r"github_pat_[A-Za-z0-9_]{16,}",
    rf"gl(?:pat|dt|rt|ptt|agent|soat|cbt|ffct|ft|imt|oas)-{_TAIL}",
    r"xox[abceoprs]-[A-Za-z0-9-]{10,}",  # Slack
    r"xapp-[A-Za-z0-9-]{10,}",
    r"AIza[A-Za-z0-9_-]{30,}",  # Google
    r"ya29\.[A-Za-z0-9_-]{16,}",
    r"GOCSPX-[A-Za-z0-9_-]{16,}",
    r"(?:hf|npm|gsk|fw|r8|rubygems)_[A-Za-z0-9]{16,}",
    rf"pypi-{_TAIL}",
    r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",  # SendGrid
    r"do[opr]_v1_[a-f0-9]{16,}",  # DigitalOcean
    r"lsv2_(?:pt|sk|st)_[A-Za-z0-9_]{16,}",  # LangSmith
    r"lin_api_[A-Za-z0-9]{16,}",
    rf"(?:xai|pplx|tvly|nvapi)-{_TAIL}",
    r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{16,}",  # Shopify
    r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{16,}",
    r"hv[sb]\.[A-Za-z0-9_-]{16,}",  # HashiCorp Vault
    r"gl(?:sa|se|c)_[A-Za-z0-9_=+/-]{16,}",  # Grafana
    r"sntry[su]_[A-Za-z0-9+/=_-]{16,}",
    r"ATATT3[A-Za-z0-9_=-]{16,}",  # Atlassian
    r"AGE-SECRET-KEY-1[A-Z0-9]{16,}",
    r"(?:ntn|secret)_[A-Za-z0-9]{40,}",  # Notion
    r"dapi[a-f0-9]{32}",  # Databricks
    r"figd_[A-Za-z0-9_-]{20,}",  # Figma
    r"PMAK-[a-f0-9]{24}-[a-f0-9]{16,}",  # Postman
    r"sq0(?:atp|csp)-[A-Za-z0-9_-]{20,}",  # Square
    r"LTAI[A-Za-z0-9]{20}",  # Alibaba
    r"AQVN[A-Za-z0-9_-]{35,}",  # Yandex
    r"A3-[A-Z0-9]{6}-[A-Z0-9]{6}(?:-?[A-Z0-9]{5}){4}",  # 1Password
    r"AKCp[A-Za-z0-9]{50,}",  # Artifactory
    r"EAA[A-Z][A-Za-z0-9]{80,}",  # Facebook
    r"FLWSECK(?:_TEST)?-[A-Za-z0-9]{12,}",  # Flutterwave
    r"HRKU-AA[A-Za-z0-9_-]{50,}",  # Heroku
    r"NR(?:AK|II|RA)-[A-Za-z0-9-]{20,}",  # New Relic
    r"dt0[a-z][0-9]{2}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}",  # Dynatrace
    r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{30,}",  # Doppler
    r"fm[12][ar]?_[A-Za-z0-9+/=_-]{60,}",  # Fly.io
    r"pscale_(?:tkn|oauth|pw)_[A-Za-z0-9_=.-]{32,}",  # PlanetScale
    r"pcsk_[A-Za-z0-9]{4,8}_[A-Za-z0-9]{40,}",  # Pinecone
    r"pn[ub]_[A-Za-z0-9]{36}",  # Prefect
    r"rdme_[a-z0-9]{60,}",  # ReadMe
    r"sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,}",  # Supabase
    r"sgp_(?:[A-Za-z0-9]{5,16}_)?[0-9A-Fa-f]{40}",  # Sourcegraph
    r"shippo_(?:live|test)_[0-9A-Fa-f]{40}",
    r"tskey-[a-z]{2,10}-[A-Za-z0-9-]{16,}",  # Tailscale
    r"x(?:keysib|smtpsib)-[a-f0-9]{64}-[A-Za-z0-9]{16}",  # Brevo
)
"""Keys that are known by their prefix."""

API_KEY_STARTS: Final = (
    *("sk", "rk", "wh", "AK", "AS", "AB", "AC", "gh", "gi", "gl", "xo", "xa", "AI", "ya"),
    *("GO", "hf", "np", "gs", "fw", "r8", "ru", "py", "SG", "do", "ls", "li", "pp", "tv", "nv"),
    *("sh", "dc", "hv", "sn", "AT", "AG", "nt", "se", "da", "fi", "PM", "sq", "LT", "AQ", "A3"),
    *("EA", "FL", "HR", "NR", "dt", "dp", "fm", "ps", "pc", "pn", "rd", "sb", "sg", "ts", "xk"),
    "xs",
)
"""The first two characters of each of them."""

URL_KEYS: Final = (
    r"hooks\.slack\.com/(?:services|workflows)/",
    r"discord(?:app)?\.com/api/webhooks/",
    r"api\.telegram\.org/bot",
)
"""Addresses after which a key stands."""

BOT_KEY: Final = r"[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}"
"""Of a Telegram bot."""

JWT: Final = r"eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*){0,3}"
PRIVATE_KEY_BEGIN: Final = r"-----BEGIN[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"

_KEY_CHARS: Final = r"[A-Za-z0-9._~+/=-]"
_NO_DIGIT: Final = r"[A-Za-z._~+/=-]"
KEY_LIKE: Final = (
    rf"(?:{_NO_DIGIT}{{0,7}}[0-9]{_KEY_CHARS}{{7,}}|{_NO_DIGIT}{{8,40}}[0-9]{_KEY_CHARS}{{7,}}"
    rf"|{_NO_DIGIT}{{15,40}}[0-9]{_KEY_CHARS}*|[A-Za-z0-9_]{{24,}}{_KEY_CHARS}*)"
)
"""A text as long and as mixed as keys are."""

AFTER_BEARER: Final = rf"(?:{KEY_LIKE}|[A-Za-z0-9_]{{16,}}{_KEY_CHARS}*)"
AFTER_BASIC: Final = rf"(?:[A-Za-z0-9+/]{{6,}}={{1,2}}|{KEY_LIKE})"
