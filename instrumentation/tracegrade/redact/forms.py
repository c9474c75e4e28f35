r"""Patterns of values that are written after the name of a secret; `named.py` uses them.

Each is read without regard to case by `re` and by RE2, see `patterns.py`.
"""

from typing import Final

from tracegrade.redact.patterns import (
    ANY_KEY,
    BOUNDARY,
    ENV_SUFFIX,
    ESCAPE,
    KEY_NAMES,
    NAME_SUFFIX,
    NAME_WORDS,
    SHORT_NAMES,
    TYPED_NAMES,
)
from tracegrade.redact.places import (
    BARE_QUOTE,
    FORM_HINTS,
    IN_QUOTES,
    PLACES,
    QUOTE,
    WORD,
    Form,
)

NAMED: Final = (
    rf"(?:{TYPED_NAMES}|{KEY_NAMES}|(?:set[._ -]?)?cookies?|{BOUNDARY}(?:{SHORT_NAMES})"
    rf"|[a-z0-9](?-i:Pwd|Pass|Token|Auth)|{ANY_KEY}){NAME_SUFFIX}{ENV_SUFFIX}"
)
"""The last words of a secret's name; a short name may follow another character."""

_ASSIGNED: Final = r"\s{0,4}(?:=>|:=|={1,3}|[:：＝]|%3[AaDd])\s{0,4}"  # noqa: RUF001 - Chinese
_BOLD: Final = r"(?:\*\*)"  # in Markdown
_WHOLE_NAME: Final = rf"{QUOTE}(?P<name>[A-Za-z0-9._$ -]{{0,50}}?{NAMED}){QUOTE}"
_NAME_KEY: Final = (
    r"(?:name|key|header(?:[._-]?name)?|field|id|k|param(?:eter)?|variable|env)"
    rf"{QUOTE}?\s{{0,4}}[:=]\s{{0,4}}"
)
_VALUE_KEY: Final = (
    rf"{QUOTE}?(?:value|val|v)\b{QUOTE}?\s{{0,4}}[:=]\s{{0,4}}"
    rf"(?:\{{\s{{0,99}}{QUOTE}string_?value{QUOTE}\s{{0,4}}:\s{{0,4}})?"
)
_GAP: Final = r"\s{0,99}[,\s](?:[^{}<>]{0,200}?[,\s{])?"
_LIST_GAP: Final = rf"{QUOTE}?(?:\s{{1,4}}|,\s{{0,4}}){QUOTE}?"

ASSIGNMENT: Final = rf"(?P<name>{NAMED})(?P<close>{QUOTE}?[\])]?){_BOLD}?{_ASSIGNED}(?:\*\*[ ]?)?"
"""Ends where the value begins."""

_FLAG: Final = (
    rf"(?:^|[\s\"'`,(\[]|{ESCAPE})(?:--[a-z0-9._-]{{0,40}}token"
    rf"|--?(?P<name>[a-z0-9._-]{{0,40}}(?:{TYPED_NAMES}|{KEY_NAMES}){NAME_SUFFIX}))"
    rf"{_LIST_GAP}(?P<value>[^\s\"'\\,-][^\s\"'\\]*)"
)


FORMS: Final = (
    Form(_FLAG, NAME_WORDS, ("--", " -", '"-', "'-", "`-", "(-", "[-", ",-", "n-", "r-", "t-")),
    Form(
        rf"{_NAME_KEY}{_WHOLE_NAME}{_GAP}{_VALUE_KEY}{IN_QUOTES}",
        NAME_WORDS,
        ("val", '"v"', "'v'"),
    ),
    Form(
        rf"{BARE_QUOTE}(?:value|val|v){QUOTE}\s{{0,4}}:\s{{0,4}}{IN_QUOTES}{_GAP}"
        rf"{QUOTE}?{_NAME_KEY}{_WHOLE_NAME}",
        NAME_WORDS,
        ("val", '"v', "'v"),
    ),
    Form(
        rf"(?:\(|[\[(,]\s{{0,99}}\[)\s{{0,99}}[bru]?{_WHOLE_NAME}\s{{0,9}},\s{{0,99}}{IN_QUOTES}",
        NAME_WORDS,
        ("[", "("),
    ),
    Form(
        rf"(?:<|&lt;)(?P<name>[a-z0-9_.:-]{{0,40}}?{NAMED})(?:\s[^<>&]{{0,200}})?(?:>|&gt;)"
        r"(?:<!\[CDATA\[)?(?P<value>(?:[^<>&]|&(?:amp|quot|apos|#x?[0-9a-f]{1,6});)+?)(?:\]\]>)?"
        r"(?:<|&lt;)\\*/",
        NAME_WORDS,
        ("<", "&lt;"),
    ),
    Form(  # a field of a form in a browser
        rf"type{QUOTE}?\s{{0,4}}[:=]\s{{0,4}}{QUOTE}password{QUOTE}{_GAP}{_VALUE_KEY}{IN_QUOTES}",
        ("password",),
        ("val",),
    ),
    Form(  # YAML
        rf"{BOUNDARY}(?:name|key)\s{{0,2}}:\s{{1,4}}(?P<name>[a-z0-9._-]{{0,50}}?{NAMED})\s{{0,4}}"
        rf"(?:,|\n|\\+n)\s{{0,40}}value\s{{0,2}}:\s{{1,4}}{QUOTE}?(?P<value>[^\"'\\\n,}}]{{1,300}})",
        NAME_WORDS,
        ("val",),
    ),
    Form(
        rf"{BOUNDARY}(?:identified\s{{1,9}}(?:with\s{{1,9}}\S{{1,60}}\s{{1,9}})?by"
        rf"|(?P<name>password))"
        rf"\s{{1,9}}(?:as\s{{1,9}})?{IN_QUOTES}",
        ("identified", "password"),
    ),
    Form(
        rf"{BOUNDARY}curl{_LIST_GAP}(?:[^\n|;]{{0,400}}?[\s\"'])?(?:-u|--user|--proxy-user|-U)"
        rf"(?:=|{_LIST_GAP})?[^\s:\"'\\]{{1,100}}:{WORD}",
        ("curl",),
    ),
    Form(rf"{BOUNDARY}sshpass{_LIST_GAP}-p(?:{_LIST_GAP})?{WORD}", ("sshpass",)),
    Form(
        rf"{BOUNDARY}(?:mysql(?:dump|admin|import|sh)?|mariadb(?:-dump|-admin)?){_LIST_GAP}"
        rf"(?:[^\n|;]{{0,300}}?[\s\"'])?(?-i:-p){QUOTE}?{WORD}",
        ("mysql", "mariadb"),
    ),
    Form(
        rf"{BOUNDARY}(?:mongo(?:sh|dump|restore)?|(?:docker|podman|helm|az|oc){_LIST_GAP}"
        rf"(?:registry{_LIST_GAP})?login)"
        rf"{_LIST_GAP}(?:[^\n|;]{{0,300}}?[\s\"'])?(?-i:-p){_LIST_GAP}{WORD}",
        ("mongo", "login"),
    ),
    Form(
        rf"{BOUNDARY}(?:redis-cli{_LIST_GAP}(?:[^\n|;]{{0,200}}?[\s\"'])?(?-i:-a)"
        rf"|ldap(?:search|modify|add|whoami){_LIST_GAP}(?:[^\n|;]{{0,300}}?[\s\"'])?(?-i:-w)"
        rf"|(?:un)?zip{_LIST_GAP}(?:[^\n|;]{{0,200}}?[\s\"'])?(?-i:-P)){_LIST_GAP}{WORD}",
        ("redis-cli", "ldap", "zip"),
    ),
    Form(rf"{BOUNDARY}pass(?:in|out)?{_LIST_GAP}pass:{WORD}", ("pass:",)),
    *PLACES,
)

_ANY_NAME: Final = (
    rf"(?:{TYPED_NAMES}|{SHORT_NAMES}|secrets?|credentials?|keys?|keys?[._ -]?(?:base|data)|token"
    r"|authorization|cookies?|requirepass|masterauth|salt|seed[._ -]?phrase|mnemonic"
    r"|(?:root|bind)pw"
    r"|docker(?:config(?:json)?|cfg|_auth_config)|(?:connection|community)[._ -]?string|sessionid"
    r"|phpsessid|jsessionid|connect\.sid|card[._ -]?number|signature)"
    rf"{NAME_SUFFIX}(?:_(?:for|of|in|on|at)_[a-z0-9_]*)?"
)
"""The last words of a name: cheaper than all there are."""

_ESCAPED_NAMES: Final = "|".join(
    "".join(rf"\\+u{ord(character):04x}" for character in name)
    for name in TYPED_NAMES.split("|")
    if not name.isascii() and name.isalpha()
)
HINTS: Final = tuple(
    f"(?i:{hint})"
    for hint in (
        rf"{_ANY_NAME}{QUOTE}?[\])]?{_BOLD}?\s{{0,4}}(?:[=:>：＝]|%3[ad]|&gt;)",  # noqa: RUF001
        rf"{_ANY_NAME}{QUOTE}[\s,}}]",
        rf"{_ANY_NAME}\s{{0,4}}(?:[,\s]|\\+n)\s{{0,40}}value\s{{0,2}}:",
        rf"-[a-z0-9._-]*{_ANY_NAME}[\s,]",
        rf"identified\s|password\s{{1,9}}(?:as\s{{1,9}})?{QUOTE}|sshpass|pass:|[?&;]sig=",
        r"(?:curl|mysql[a-z]{0,6}|mariadb[a-z-]{0,6}|mongo[a-z]{0,7}|login|redis-cli"
        r"|ldap[a-z]{3,6}"
        r"|zip)(?:\\*[\"'])?[\s,]",
        _ESCAPED_NAMES,
        rf"\\u0[01][0-9a-f]{{2}}[a-z]{{0,8}}{QUOTE}\s{{0,4}}[:=]",  # a letter with an accent
        *FORM_HINTS,
    )
)
"""Without anchors: each text with a form matches one of them, decoded or not."""
