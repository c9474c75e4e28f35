r"""Patterns of secrets known by their position: without a name, or far from their name.

The forms are those that browser tools fill: the MCP servers of Playwright, Chrome DevTools,
Selenium and Puppeteer. `selector`, `element`, `target`, `locator`, `name` or `label` names the
field; `value`, `text` or `keys` holds the typed text. Patterns follow the rules of `patterns.py`;
a line break may be written as `\n`.
"""

import re
from typing import Final, NamedTuple

from tracegrade.redact.patterns import (
    BOUNDARY,
    KEY_NAMES,
    NAME_SUFFIX,
    NAME_WORDS,
    TYPED_NAMES,
    TYPED_WORDS,
)

QUOTE: Final = r"(?:\\*[\"'`]|&quot;|&#3[49];|%2[27])"
BARE_QUOTE: Final = r"(?:[\"'`]|&quot;|&#3[49];|%2[27])"
"""Beginning of a pattern, because `re` would search for a quote from each backslash."""

TEXT: Final = r"(?P<value>(?:[^\"'\\]|\\+[^\"'\\])+)"
IN_QUOTES: Final = rf"[bru]?\\*[\"']{TEXT}\\*[\"']"
WORD: Final = r"(?P<value>[^\s\"'\\;|&,})\]][^\s\"'\\;|&]{0,200})"
_SPACE: Final = r"(?:\s|\\+[nrt]){1,9}"
_TYPED: Final = (
    rf"(?:{TYPED_NAMES}|passwd|\bpwd|\bpass\b|\bpw\b|\bpin\b|\bcvv|\bcvc|\botp\b|secret)"
)
_TYPED_WORDS: Final = (*TYPED_WORDS, "pin", "otp", "secret")
_SECRET_NAME: Final = rf"(?:{TYPED_NAMES}|{KEY_NAMES}|pwd|pass|token){NAME_SUFFIX}"
_FIELD_KEY: Final = (
    r"(?:selector|element(?:[._-]?(?:description|name))?|target|locator|css(?:[._-]?selector)?"
    r"|xpath|label|placeholder|description|name|field(?:[._-]?name)?|aria[._-]?label"
    r"|query|value|ref"
    r"|intent|objective)"
)
_TYPED_KEY: Final = r"(?:value|text|keys|input(?:[._-]?text)?)"
_BREAKS: Final = r"(?:\s|\\{1,8}[nrt]){0,40}"
_FIELD: Final = rf"(?P<field>[^{{}},:\n]{{0,120}}?{_TYPED}[^{{}},:\n]{{0,120}}?)"
_BETWEEN: Final = rf"(?:[^{{}}]{{0,200}}?,{_BREAKS})?"
_FOR: Final = r"(?:\s{1,4}(?:for|of)\s{1,4}[^\n.,:\"']{1,40}?)?\s{1,4}"
_IS: Final = r"(?:is|was|are|ist|war|es|est|will be|to)(?:\s{1,4}now)?:?\s{1,4}"
_ONE_WORD: Final = r"(?P<value>[^\s\"'`\\,;:(){}\[\]<>=|]{6,80})"


class Form(NamedTuple):
    """One way to write a secret, but for an assignment."""

    pattern: str
    """Has the group `value` and, where that depends on it, `name` or `field`."""

    words: tuple[str, ...]
    """Each matching text contains one of these words, in lower case."""

    signs: tuple[str, ...] = ("",)
    """And one of these, which are more frequent."""

    is_mixed: bool = False
    """A value is a secret only with letters and digits: others are words of a sentence."""

    may_be_number: bool = False
    """Also a number is a secret here."""


PLACES: Final = (
    Form(
        rf"{BARE_QUOTE}{_FIELD_KEY}{QUOTE}\s{{0,4}}:\s{{0,4}}{QUOTE}{_FIELD}{QUOTE}\s{{0,4}},"
        rf"{_BREAKS}{_BETWEEN}{QUOTE}{_TYPED_KEY}{QUOTE}\s{{0,4}}:\s{{0,4}}{IN_QUOTES}",
        _TYPED_WORDS,
        ("value", "text", "keys", "input"),
        may_be_number=True,
    ),
    Form(
        rf"{BARE_QUOTE}{_TYPED_KEY}{QUOTE}\s{{0,4}}:\s{{0,4}}{IN_QUOTES}\s{{0,4}},{_BREAKS}"
        rf"{_BETWEEN}{QUOTE}{_FIELD_KEY}{QUOTE}\s{{0,4}}:\s{{0,4}}{QUOTE}{_FIELD}{QUOTE}",
        _TYPED_WORDS,
        ("value", "text", "keys", "input"),
        may_be_number=True,
    ),
    Form(  # code that drives a browser: page.fill("#password", "…")
        rf"\.(?:fill|type|input|setvalue|set_value|select_?text)\(\s{{0,9}}{QUOTE}"
        rf"(?P<field>[^\n]{{0,100}}?{_TYPED}[^\n]{{0,60}}?){QUOTE}\s{{0,4}},\s{{0,9}}{IN_QUOTES}",
        _TYPED_WORDS,
        (".fill(", ".type(", ".input(", "value(", "text("),
        may_be_number=True,
    ),
    Form(  # page.get_by_label("Password").fill("…")
        rf"{BARE_QUOTE}(?P<field>[^\"'\n]{{0,100}}?{_TYPED}[^\"'\n]{{0,60}}?){QUOTE}[^\n;]{{0,60}}?"
        r"(?:\.(?:fill|type|send_?keys|press_?sequentially|setvalue|set_value|val|input)\(\s{0,9}"
        rf"|\.value\s?=\s?){IN_QUOTES}",
        _TYPED_WORDS,
        (".fill(", ".type(", "keys(", "sequentially(", "value", ".val(", ".input("),
        may_be_number=True,
    ),
    Form(  # an element of a page: textbox "Password" [ref=e5]: …
        rf"textbox\s{{1,4}}{QUOTE}[^\"\n]{{0,60}}?{_TYPED}[^\"\n]{{0,40}}{QUOTE}[^\n:\\]{{0,100}}"
        r"(?::\s{1,4}|value=\\*\")(?P<value>[^\s\"\\][^\n\"\\]{0,100})",
        _TYPED_WORDS,
        ("textbox",),
        may_be_number=True,
    ),
    Form(  # type "…" into the password field
        rf"(?:type|typed|enter|entered|fill|filled|input|put"
        rf"|write)\s{{1,4}}(?:in\s{{1,4}})?{IN_QUOTES}"
        rf"\s{{1,4}}(?:in|into|as|for|to)\s{{1,4}}[^\n\"'.]{{0,40}}?{_TYPED}",
        _TYPED_WORDS,
        ("type", "enter", "fill", "input", "put", "write"),
        may_be_number=True,
    ),
    Form(
        rf"{_TYPED}(?:\s{{1,4}}(?:field|input|box|textbox))?\s{{1,4}}(?:with|to|as|is|was"
        rf"|be|ist|es|est)"
        rf"\s{{1,4}}(?:now\s{{1,4}})?\\*[\"'`]{TEXT}\\*[\"'`]",
        _TYPED_WORDS,
        (" with", " to", " as", " is", " was", " be", " ist", " es"),
    ),
    Form(  # the password is …
        rf"(?:{TYPED_NAMES}|\bpwd|\bpin){_FOR}(?:{_IS})?{_ONE_WORD}",
        ("pass", "wort", "woord", "pwd", "pin", "senha", "contrase"),
        is_mixed=True,
    ),
    Form(
        rf"(?:api[ _-]?key|secret|token){_FOR}{_IS}{_ONE_WORD}",
        ("key", "secret", "token"),
        (" is", " was", " are", " war", " es", " will", " to"),
        is_mixed=True,
    ),
    Form(
        r"(?:密码|密碼|口令|パスワード)(?:是|为|為|は)\s?(?P<value>[!-~]{4,80})",
        ("密", "口令", "パス"),
    ),
    Form(  # netrc
        rf"{BOUNDARY}(?:machine{_SPACE}[^\s\\]{{1,100}}"
        rf"|default){_SPACE}(?:login{_SPACE}[^\s\\]{{1,100}}"
        rf"{_SPACE})?(?:account{_SPACE}[^\s\\]{{1,100}}{_SPACE})?password{_SPACE}"
        r"(?P<value>[^\s\\\"']{1,200})",
        ("password",),
        ("machine", "default"),
        may_be_number=True,
    ),
    Form(  # pgpass
        r"[a-z0-9_.*-]{1,80}:(?:54[0-9]{2}|6432|\*):(?:\*|[a-z_][a-z0-9_-]{0,40}):"
        r"(?:\*|[a-z_][a-z0-9_@.-]{0,40}):(?P<value>[^\s:\"'\\]{1,100})",
        (":54", ":6432", ":*"),
        may_be_number=True,
    ),
    Form(  # Terraform
        rf"variable\s{{1,4}}\\*\"(?P<name>[a-z0-9._-]{{0,50}}?{_SECRET_NAME})\\*\"\s{{0,4}}\{{"
        rf"[^{{}}]{{0,400}}?default\s{{0,20}}=\s{{0,4}}{IN_QUOTES}",
        ("variable",),
    ),
    Form(  # auth=("user", "…")
        rf"(?:http(?:basic|digest)auth|basic_?auth|usernamepasswordcredentials"
        rf"|passwordauthentication"
        rf"|networkcredential|\.login"
        rf"|\bauth\s?[=:])\s{{0,4}}[(\[]\s{{0,9}}{QUOTE}[^\"'\\\n]{{1,100}}{QUOTE}"
        rf"\s{{0,4}},\s{{0,9}}(?:some\(|[a-z_]{{1,20}}\s?=\s?)?{IN_QUOTES}",
        ("auth", "credential", ".login"),
    ),
    Form(  # aws configure set aws_secret_access_key …
        rf"{BOUNDARY}(?:config|configure){_SPACE}(?:-{{1,2}}[a-z-]{{1,20}}{_SPACE})?(?:"
        rf"(?:set|add){_SPACE})?"
        rf"(?:-{{1,2}}[a-z-]{{1,20}}{_SPACE})?(?P<name>[a-z0-9_./:@-]{{0,80}}?{_SECRET_NAME}){_SPACE}"
        rf"{QUOTE}?{WORD}",
        NAME_WORDS,
        ("config",),
    ),
    Form(rf"--from-literal[= ]{QUOTE}?[a-z0-9_.-]{{1,60}}={QUOTE}?{WORD}", ("from-literal",)),
    Form(
        rf"secret{_SPACE}set{_SPACE}\S{{1,80}}{_SPACE}(?:--body|-b)(?:=|{_SPACE}){QUOTE}?{WORD}",
        ("secret",),
    ),
    Form(  # echo … | docker login --password-stdin
        rf"{BOUNDARY}(?:echo|printf){_SPACE}(?:-[neE]{{1,2}}{_SPACE})?{QUOTE}?"
        rf"(?:[a-z0-9_.-]{{1,40}}:)?"
        rf"(?P<value>[^\s\"'\\|:]{{3,200}}){QUOTE}?\s{{0,4}}"
        rf"\|\s{{0,4}}(?:sudo{_SPACE}(?:-[a-z]{{0,4}}S|--stdin"
        r"|chpasswd)|chpasswd|kinit|passwd|cryptsetup|su\b|gh{_SPACE}auth"
        r"|[a-z]{2,10}\s[^|\n]{0,200}password-stdin)".replace("{_SPACE}", _SPACE),
        ("echo", "printf"),
        may_be_number=True,
    ),
    Form(
        BOUNDARY
        + r"(?:7za?|rar|unrar)\s(?:[^\n|;]{0,200}?\s)?-h?(?-i:p)(?P<value>[^\s\"'\\|;]{3,100})",
        ("7z", "rar"),
    ),
    Form(
        BOUNDARY + r"(?:sqlcmd|bcp|isql)\s(?:[^\n|;]{0,300}?\s)?(?-i:-P)\s{0,2}"
        r"(?P<value>[^\s\"'\\|;]{3,100})",
        ("sqlcmd", "bcp", "isql"),
    ),
    Form(
        BOUNDARY + r"(?:smbclient|rpcclient|net)\s(?:[^\n|;]{0,200}?\s)?-U\s{0,2}[^\s%\"']{1,60}%"
        r"(?P<value>[^\s\"'\\]{3,100})",
        ("smbclient", "rpcclient", "net"),
        ("%",),
    ),
    Form(
        BOUNDARY + r"net\s{1,4}user\s{1,4}[^\s/]{1,60}\s{1,4}(?P<value>[^\s/\"'\\]{3,100})",
        ("net user",),
    ),
    Form(r"\s/p(?:ass)?:(?P<value>[^\s\"'\\]{3,100})", ("/p:", "/pass:")),
    Form(
        rf"{BOUNDARY}htpasswd\s{{1,4}}-[a-z]{{0,6}}b[a-z]{{0,6}}\s{{1,4}}\S{{1,100}}\s{{1,4}}\S{{1,60}}\s{{1,4}}{QUOTE}?{WORD}",
        ("htpasswd",),
    ),
    Form(
        BOUNDARY
        + r"(?:https?|xh|wget|curl)\s(?:[^\n|;]{0,200}?\s)?(?:-a|--auth)[= ][^\s:\"']{1,60}:"
        r"(?P<value>[^\s\"'\\]{3,100})",
        ("http", "xh", "wget", "curl"),
        (" -a", "--auth"),
    ),
    Form(rf"convertto-securestring\s(?:-string\s)?{IN_QUOTES}", ("securestring",)),
    Form(BOUNDARY + r"auth\s{1,4}(?:plain|login)\s{1,4}(?P<value>[a-z0-9+/=]{8,})", ("auth",)),
    Form(
        rf"{BOUNDARY}(?:requirepass|masterauth|rootpw|bindpw)\s{{1,4}}{QUOTE}?{WORD}",
        ("requirepass", "masterauth", "pw"),
    ),
    Form(
        BOUNDARY + r"(?:password|secret|key)\s{1,4}[0-9]\s{1,4}(?P<value>[^\s\"'\\]{6,100})",
        ("password ", "secret ", "key "),
        is_mixed=True,
    ),
    Form(
        BOUNDARY + r"snmp-server\s{1,4}community\s{1,4}(?P<value>[^\s\"'\\]{3,60})", ("community",)
    ),
    Form(
        r"[?&;](?:(?:amp;)?)(?:key|auth|hmac|code|st|signature|sig|x-amz-signature)="
        r"(?P<value>[a-z0-9%+/_=.~-]{16,})",
        ("key=", "auth=", "hmac=", "code=", "st=", "signature=", "sig="),
        is_mixed=True,
    ),
)
"""Each with what tells it from other texts."""

FORM_WORDS: Final = (
    *("identified", "curl", "mysql", "mariadb", "mongo", "login", "redis-cli", "ldap", "zip"),
    *("sig", "://", ":54", ":6432", ":*:", "pin", "from-literal", "echo", "printf", "7z", "rar"),
    *("sqlcmd", "bcp", "net user", "/p:", "smbclient", "hmac=", "code=", "securestring", " -a "),
)
"""Each text with a form contains one of these words, or of the names' words."""

FORM_HINTS: Final = (
    TYPED_NAMES,
    r"[#\"'=_ -](?:pin|otp|cvv|cvc|pw|pass|pwd|secret)[\]\"' ]",
    r"(?:key|token|secret|pin|pwd)\s{1,4}(?:is|was|to|for|of|will|are|[a-z]*[0-9])",
    r":(?:54[0-9]{2}|6432|\*):|variable\s{1,4}\\*\"|config(?:ure)?(?:\s|\\+[nrt])",
    r"(?:basic|digest)_?auth|networkcredential|\.login|auth\s?[=:]\s{0,4}[(\[]",
    r"from-literal|secret\sset|(?:echo|printf)\s|(?:7za?|rar|sqlcmd|bcp|isql|htpasswd)\s",
    r"-U\s?[^\s%]+%|net\s{1,4}user\s|/p(?:ass)?:|securestring|auth\s{1,4}(?:plain|login)\s",
    r"requirepass|masterauth|rootpw|bindpw|snmp-server|(?:secret|key)\s{1,4}[0-9]\s"
    r"|-a\s|--auth[= ]",
    r"[?&;](?:amp;)?(?:key|auth|hmac|code|st|signature|sig|x-amz-signature)=",
)
"""Without anchors, as the other hints, and without long repetitions, which make many states."""

_NO_FIELD: Final = re.compile(
    r"(?i)(?:^|[^a-z])(?:forgot(?:ten)?|reset|show|hide|toggle|button|btn|link"
    r"|strength|policy|error"
    r"|message|manager|requirements?|hint|check|change|generate|hash|verify|validate"
    r"|get|set|update"
    r"|create|store|find|list|rotate|test|tests|is|has|min|max|length)(?:[^a-z]|\Z)"
)
MOST_WORDS: Final = 8
"""Most words in a label of a field; a longer text is a sentence about one."""


def is_field(text: str) -> bool:
    """Return whether a selector or a label is of a field for a secret."""
    return len(text.split()) <= MOST_WORDS and _NO_FIELD.search(text) is None
