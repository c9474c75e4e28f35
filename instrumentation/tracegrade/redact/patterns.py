r"""Patterns of secrets that have a form of their own, for all code that redacts text.

`re` and RE2 read these patterns alike: no lookaround, no backreference, nothing possessive, every
repetition bounded or of one class of characters. An agent compiles them with `re`, the collector
with RE2, which takes linear time for any input; `secret_rules.py` has all rules.

A text may be JSON, or JSON in a JSON string. Then a line break is `\n` or `\\n`, and a quote has
backslashes before it. So the last character of an escape may precede a secret, and every quote may
have backslashes.
"""

import re
from collections.abc import Iterable
from itertools import groupby
from typing import Final

TYPED_NAMES: Final = (
    r"passwords?|passwd|pass[._ -]?(?:phrase|code)|passwort|kennwort|wachtwoord|contrase[nñ]a"
    r"|senha|mot[._ -]de[._ -]passe|contrasenya|clave[._ -](?:de[._ -]acceso|secreta)|has[lł]o"
    r"|[hg]eslo|lozinka|l[oö]senord|passord|adgangskode|kodeord|salasana|salas[oõ]na|jelsz[oó]"
    r"|[sş]ifre|parol[ăá]|parola d'ordine|slapta[zž]odis|m[aậ]t kh[aẩ]u|kata (?:sandi|laluan)"
    r"|пароль|парола|лозинка|密码|密碼|口令|パスワード|暗証番号|비밀번호|암호"
    r"|รหัสผ่าน|كلمة المرور|كلمة السر|رمز عبور|סיסמה|סיסמא|पासवर्ड|κωδικός πρόσβασης|συνθηματικό"
)
"""Names of secrets that a human types: any text under one is a secret."""

_KEY: Final = r"[._ -]?keys?"
_SERVICES: Final = (
    r"github|gitlab|gitea|npm|pypi|nuget|rubygems|cargo|slack|discord|telegram|twilio|sendgrid"
    r"|mailgun|mailchimp|postmark|stripe|square|paypal|plaid|shopify|vault|consul|nomad|sentry"
    r"|datadog|newrelic|new[._-]relic|grafana|influx(?:db)?|honeycomb|splunk|elastic|algolia"
    r"|hugging[._-]?face|openai|anthropic|claude|gemini|cohere|mistral|groq|replicate|deepseek"
    r"|pinecone|docker(?:hub)?|registry|circle(?:ci)?|travis|codecov|sonar|snyk|jenkins|argocd"
    r"|netlify|vercel|cloudflare|heroku|digitalocean|linode|azure|aws|gcp|firebase|supabase|jira"
    r"|confluence|atlassian|bitbucket|notion|linear|figma|airtable|hubspot|zendesk"
    r"|intercom|dropbox"
    r"|facebook|twitter|instagram|linkedin|spotify|twitch|mapbox|terraform|pulumi|kube|k8s|rancher"
)
KEY_NAMES: Final = (
    r"secrets?|credentials?"
    rf"|(?:api|access|account|private|signing|encryption|master|shared|ssh|secret|auth"
    rf"|subscription"
    rf"|admin|root|host|decryption|crypto|cipher|aes|hmac|jwt|fernet|vault|unseal|recovery|license"
    rf"|service|storage[._ -]?account|deploy|webhook|app(?:lication)?|consumer|server|write|ingest"
    rf"|integration|wrapping|data[._ -]encryption|function|psk|pre[._ -]?shared|wpa|otp|totp"
    rf"|wireguard|seal|kek|dek|{_SERVICES}){_KEY}"
    r"|secret[._ -]?(?:access[._ -]?key|key[._ -]?base)|(?:proxy[._ -]?)?authorization"
    r"|client[._ -]?key[._ -]?data|docker(?:config(?:json)?|cfg)|(?-i:DOCKER_AUTH_CONFIG)"
    r"|requirepass|masterauth|community[._ -]?string|cookie[._ -]?secret|(?:bind|root)pw"
    r"|(?:auth|nonce|logged[._-]in|password)[._-]salt|webhook[._ -]?secret"
    r"|seed[._ -]?phrase|mnemonic"
    r"|(?:access|auth|refresh|id|session|bearer|api|csrf|xsrf|security|oauth|jwt|bot|device"
    r"|personal|deploy|push|private|secret|user|service|account|verification|reset|identity|admin"
    r"|root|app|client|login|sso|webhook|invite|activation|join|agent|runner|license|write|read"
    rf"|server|cluster|bootstrap|management|upload|repo|magic|{_SERVICES})[._ -]?token"
    r"|session[._ -]?(?:key|cookie)|(?-i:sessionid|SESSIONID)|phpsessid|jsessionid|connect\.sid"
    r"|x[._-](?:amz|goog)[._-](?:signature|credential)|connection[._ -]?string|card[._ -]?number"
)
"""Names of secrets that a machine made or a header carries."""

SHORT_NAMES: Final = (
    r"pwd|pass|pw|cvv|cvc|psk|token|x[._-]?auth|_?auth"
    r"|(?:db|root|user|admin|smtp|ftp|ssh|mail|key|store|keystore|proxy|ldap|sudo|my|sql|pg)"
    r"(?:pass|pwd|pw)"
)
"""Names that are also the end of other words: no letter precedes one, except in camel case."""

ANY_KEY: Final = r"[a-z0-9][._-]keys?|[a-z0-9](?-i:Keys?)"
"""The name of any key, with the end of the word before: only its value shows its kind."""

TYPED_WORDS: Final = (
    *("pass", "pwd", "pw", "cvv", "cvc", "wort", "woord", "senha", "contrase", "mot", "clave"),
    *("haslo", "heslo", "geslo", "lozinka", "senord", "kode", "salas", "jelsz", "sifre", "slapta"),
    *("khau", "kata ", "parola", "ł", "ş", "ă", "ậ", "á", "ö", "õ", "ž", "ó"),
    *("пароль", "парола", "лозинка", "密码", "密碼", "口令", "パスワード", "暗証", "비밀번호"),
    *("암호", "รหัส", "كلمة", "رمز", "סיסמ", "पासवर्ड", "κωδικ", "συνθημ"),
)
"""Each text with a typed secret's name contains one of these words, in lower case."""

NAME_WORDS: Final = (
    *TYPED_WORDS,
    *("secret", "token", "key", "auth", "cookie", "credential", "sess", "connect", "card", "psk"),
    *("x-amz", "x.amz", "x_amz", "x-goog", "x.goog", "x_goog", "docker", "salt", "community"),
    *("phrase", "mnemonic"),
)
"""Each text with a secret's name contains one of these words, in lower case."""

NAME_SUFFIX: Final = (
    r"(?:[._ -]?(?:value|text|plain|raw|b64|base64|string|header|hash|new|old"
    r"|confirm(?:ation)?|repeat|again|[0-9]{1,3}))?"
)
"""Suffix of a name that does not change its meaning."""

ENV_SUFFIX: Final = r"(?:_(?:for|of|in|on|at)_[a-z0-9_]{1,30})?"
"""As in `PASSWORD_FOR_DB`."""

ESCAPE: Final = (
    r"(?:\\[abefnrtv0]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|%[0-9A-Fa-f]{2}|\[[0-9;]{0,9}m)"
)
"""One character as JSON, Python or a URL writes it, and the colors of a terminal."""

_NO_WORD: Final = rf"{ESCAPE}|[^A-Za-z0-9\\]"
INSIDE: Final = rf"(?:{_NO_WORD})"
"""Boundary before a secret inside a text."""

BOUNDARY: Final = rf"(?:^|{_NO_WORD})"
"""Boundary before a secret: the start, an escape, or any character but a letter, digit or
backslash.
"""

URL_KEYS: Final = (
    r"hooks\.slack\.com/(?:services|workflows)/",
    r"discord(?:app)?\.com/api/webhooks/",
    r"api\.telegram\.org/bot",
)
"""Addresses after which a key stands."""

BOT_KEY: Final = r"[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}"
"""Key of a Telegram bot."""

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


def alternatives(endings: Iterable[tuple[str, str]]) -> str:
    """Return one pattern of literal beginnings, each followed by its own pattern.

    Equal beginnings are merged: `re` tries alternatives one after the other.
    """
    by_start = groupby(sorted(endings), key=lambda ending: ending[0][:1])
    grouped = []
    for start, members in by_start:
        rests = [(beginning[1:], rest) for beginning, rest in members]
        inner = alternatives(rests) if start and len(rests) > 1 else _joined(rests)
        grouped.append(re.escape(start) + inner)
    return grouped[0] if len(grouped) == 1 else f"(?:{'|'.join(grouped)})"


def _joined(endings: Iterable[tuple[str, str]]) -> str:
    found = dict.fromkeys(re.escape(beginning) + rest for beginning, rest in endings)
    return next(iter(found)) if len(found) == 1 else f"(?:{'|'.join(found)})"
