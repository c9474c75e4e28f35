r"""The formats of keys with a known prefix: one table, with the source of each fact.

The sources are the public rule sets of scanners, read for the formats of providers' keys:

- `b`: betterleaks, config/betterleaks.toml, July 2026
- `d`: detect-secrets, detect_secrets/plugins, 2026
- `g`: gitleaks, config/gitleaks.toml, July 2026
- `i`: Titus, pkg/rule/rules, April 2026
- `k`: Kingfisher, data/rules, June 2025
- `t`: TruffleHog, pkg/detectors, August 2026
- `p`: the provider's own pages: GitHub's changelog of April 2026 (`ghs_` with a JWT behind it),
  Anthropic, Langfuse, OpenAI, Stripe, Vercel

Lengths are those of the sources or less, so that a key with a character cut off is still found.
Patterns follow the rules of `patterns.py`. A prefix is literal: it is escaped here.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from tracegrade.redact.patterns import BOUNDARY, alternatives

_CHAR: Final = r"[A-Za-z0-9_-]"
_WORD: Final = r"[A-Za-z0-9]"
_BASE64: Final = r"[A-Za-z0-9+/=_-]"
_HEX: Final = r"[A-Fa-f0-9]"
_UUID: Final = rf"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"
_TAIL: Final = (
    rf"(?:[A-Za-z_-]{{0,30}}[0-9]{_CHAR}{{12,}}|{_CHAR}{{0,60}}[A-Za-z0-9]{{16}}{_CHAR}*)"
)
"""Letters and digits as keys have them; words between hyphens are none."""

_MIXED: Final = rf"[A-Za-z_]{{0,20}}[0-9]{_CHAR}{{22,}}"


class Format(NamedTuple):
    """The format of one service's keys."""

    service: str
    prefixes: str
    """With spaces between them."""

    rest: str
    """A pattern of what follows a prefix."""

    sources: str
    """Letters of the list above."""


FORMATS: Final = (
    Format("OpenAI, Anthropic, Stripe, OpenRouter and others", "sk- sk_", _TAIL, "bgitp"),
    Format("Mapbox", "sk. tk.", r"[A-Za-z0-9+/=-]{32,}\.[A-Za-z0-9+/=-]{16,}", "kt"),
    Format("Stripe", "rk-live- rk-test- rk_live_ rk_test_ rk_prod_", rf"{_CHAR}{{10,}}", "gt"),
    Format("Stripe", "whsec_", rf"{_BASE64}{{16,}}", "p"),
    Format("AWS", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}", "dgt"),
    Format("AWS Bedrock", "ABSK", r"[A-Za-z0-9+/]{100,}={0,2}", "g"),
    Format("AWS Bedrock", "bedrock-api-key-", rf"{_BASE64}{{20,}}", "g"),
    Format("AWS AppSync", "da2-", r"[a-z0-9]{26}", "it"),
    Format("AWS Marketplace", "amzn.mws.", _UUID, "i"),
    Format("GitHub", "ghp_ gho_ ghu_ ghr_", rf"{_WORD}{{16,}}", "dgit"),
    Format("GitHub", "ghs_", rf"[A-Za-z0-9_]{{16,}}(?:\.{_CHAR}{{16,}}){{0,2}}", "gp"),
    Format("GitHub", "github_pat_", r"[A-Za-z0-9_]{16,}", "gkt"),
    Format(
        "GitLab",
        "glpat- gldt- glrt- glrtr- glptt- glagent- glsoat- glcbt- glffct- glft- glimt- gloas-",
        rf"{_TAIL}(?:\.[0-9a-z]{{2}}\.?[0-9a-z]{{7,9}})?",
        "bdgt",
    ),
    Format("GitLab", "GR1348941", rf"{_CHAR}{{16,}}", "dgk"),
    Format("Bitbucket", "ATBB", r"[A-Za-z0-9_=.-]{20,}", "it"),
    Format("Bitbucket", "BBDC-", r"[A-Za-z0-9+/@_-]{40,}", "t"),
    Format("Atlassian", "ATATT3 ATCTT3", rf"{_BASE64}{{16,}}", "git"),
    Format("Sourcegraph", "sgp_", rf"(?:(?:{_WORD}{{5,16}}_)?{_HEX}{{40}}|{_WORD}{{64}})", "bgkt"),
    Format("Sourcegraph", "slk_", r"[a-f0-9]{64}", "kt"),
    Format("Docker", "dckr_pat_ dckr_oat_", rf"{_CHAR}{{16,}}", "bt"),
    Format("Docker Swarm", "SWMTKN-1-", r"[a-z0-9]{40,}-[a-z0-9]{20,}", "b"),
    Format("Docker Swarm", "SWMKEY-1-", r"[A-Za-z0-9+/]{32,}", "b"),
    Format("npm", "npm_", rf"{_WORD}{{16,}}", "gkt"),
    Format("PyPI", "pypi-", _TAIL, "dgkt"),
    Format("RubyGems", "rubygems_", rf"{_WORD}{{16,}}", "gkt"),
    Format("NuGet", "oy2", r"[a-z0-9]{43}", "k"),
    Format("crates.io", "cio", rf"{_WORD}{{32}}", "bik"),
    Format("Clojars", "CLOJARS_", rf"{_WORD}{{40,}}", "g"),
    Format("Hugging Face", "hf_ api_org_", rf"{_WORD}{{16,}}", "gt"),
    Format("Groq", "gsk_", rf"{_WORD}{{16,}}", "bit"),
    Format("Fireworks", "fw_", rf"{_WORD}{{16,}}", "p"),
    Format("Replicate", "r8_", rf"{_CHAR}{{20,}}", "bkt"),
    Format("xAI, Perplexity, Tavily, NVIDIA", "xai- pplx- tvly- nvapi-", _TAIL, "bgkt"),
    Format("Cerebras", "csk-", r"[A-Za-z0-9]{32,}", "bi"),
    Format("Together", "tgp_v1_", rf"{_CHAR}{{32,}}", "bi"),
    Format("Voyage", "pa-", _MIXED, "i"),
    Format("Jina", "jina_", rf"{_WORD}{{40,}}", "i"),
    Format("Firecrawl", "fc-", r"[a-f0-9]{32}", "i"),
    Format("Friendli", "flp_", rf"{_WORD}{{40,}}", "i"),
    Format("Cursor", "key_", r"[a-f0-9]{64}", "bi"),
    Format("Devin", "apk_ apk_user_", r"[A-Za-z0-9+/]{80,}={0,2}", "b"),
    Format("Devin", "cog_", r"[a-z2-7]{52}", "b"),
    Format("Brave Search", "BSA", rf"{_CHAR}{{24,40}}", "b"),
    Format("Pinecone", "pcsk_", rf"{_WORD}{{4,8}}_{_WORD}{{40,}}", "bt"),
    Format("LangSmith", "lsv2_pt_ lsv2_sk_ lsv2_st_", r"[A-Za-z0-9_]{16,}", "bt"),
    Format("Weights & Biases", "wandb_v1_", r"[A-Za-z0-9_]{60,}", "b"),
    Format("Runpod", "rpa_", rf"{_WORD}{{30,}}", "b"),
    Format("Apify", "apify_api_", rf"{_WORD}{{30,}}", "bt"),
    Format("Prefect", "pnu_ pnb_", rf"{_WORD}{{36}}", "gt"),
    Format("Google", "AIza", rf"{_CHAR}{{30,}}", "git"),
    Format("Google Gemini", "AQ.Ab8RN6", rf"{_CHAR}{{30,}}", "b"),
    Format("Google OAuth", "ya29.", r"[A-Za-z0-9_.-]{16,}", "kt"),
    Format("Google OAuth", "GOCSPX-", rf"{_CHAR}{{16,}}", "ik"),
    Format(
        "Slack",
        "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs-",
        rf"{_CHAR}{{10,}}",
        "bdgt",
    ),
    Format("Slack", "xoxe.xoxb- xoxe.xoxp-", rf"{_CHAR}{{10,}}", "gk"),
    Format("Slack", "xapp-", rf"{_CHAR}{{10,}}", "gk"),
    Format("SendGrid", "SG.", rf"{_CHAR}{{16,}}\.{_CHAR}{{16,}}", "dgt"),
    Format("Mailgun", "key-", r"[a-z0-9]{32}", "gt"),
    Format("MailerSend", "mlsn.", rf"{_WORD}{{30,}}", "b"),
    Format("Brevo", "xkeysib- xsmtpsib-", rf"[a-f0-9]{{64}}-{_WORD}{{16}}", "gkt"),
    Format("Resend", "re_", rf"{_WORD}{{8}}_{_WORD}{{24}}", "i"),
    Format("Twilio", "SK", r"[A-Fa-f0-9]{32}", "dgkt"),
    Format("Telnyx", "KEY", rf"[0-9]{_CHAR}{{54}}", "b"),
    Format("OneSignal", "os_v2_app_ os_v2_org_", r"[a-z2-7]{60,}", "b"),
    Format("DigitalOcean", "dop_v1_ doo_v1_ dor_v1_", r"[a-f0-9]{16,}", "gkt"),
    Format("Cloudflare", "cfut_ cfat_ cfk_", r"[A-Za-z0-9]{40,}", "t"),
    Format("Cloudflare", "v1.0-", rf"{_CHAR}{{100,}}", "gt"),
    Format("Vercel", "vcp_ vci_ vca_ vcr_ vck_", _TAIL, "bp"),
    Format("Heroku", "HRKU-AA", rf"{_CHAR}{{50,}}", "gt"),
    Format("Render", "rnd_", rf"{_WORD}{{28}}", "b"),
    Format("Fly.io", "fm1a_ fm1r_ fm2_ fo1_", rf"{_BASE64}{{40,}}", "gt"),
    Format("Deno", "ddp_ ddw_", rf"{_WORD}{{36}}", "bt"),
    Format("Alibaba", "LTAI", rf"{_WORD}{{17,21}}", "gkt"),
    Format("Alibaba", "STS.", rf"{_WORD}{{16,64}}", "b"),
    Format("Exoscale", "EXO", r"[a-f0-9]{24,30}", "b"),
    Format("Scalingo", "tk-us-", rf"{_CHAR}{{48}}", "g"),
    Format("UpCloud", "ucat_", rf"{_WORD}{{24,}}", "b"),
    Format("Yandex", "AQVN", rf"{_CHAR}{{35,}}", "g"),
    Format("Yandex", "t1.", rf"{_CHAR}{{8,}}={{0,2}}\.{_CHAR}{{80,}}={{0,2}}", "g"),
    Format("HashiCorp Vault", "hvs. hvb. hvr.", rf"{_CHAR}{{16,}}", "git"),
    Format("Pulumi", "pul-", r"[a-f0-9]{40}", "gkt"),
    Format("Harness", "pat. sat.", rf"{_CHAR}{{22}}\.{_WORD}{{24}}\.{_WORD}{{20}}", "g"),
    Format("Infracost", "ico-", rf"{_WORD}{{32}}", "g"),
    Format("Octopus Deploy", "API-", r"[A-Z0-9]{26,34}", "gt"),
    Format("OpenShift", "sha256~", rf"{_CHAR}{{43}}", "g"),
    Format("Buildkite", "bkua_ bkaa_ bkaj_ bkar_ bkct_ bkpt_ bkpat_ bkps_", _TAIL, "bkt"),
    Format("CircleCI", "CCIPAT_", rf"{_WORD}{{16,}}_{_HEX}{{40}}", "bkt"),
    Format("SonarQube", "squ_ sqp_ sqa_", r"[a-z0-9]{40}", "gk"),
    Format("SonarCloud", "sqco_", rf"{_WORD}{{50,}}", "t"),
    Format("Artifactory", "AKCp", rf"{_WORD}{{50,}}", "dgkt"),
    Format("Artifactory", "cmVmdGtu", rf"{_WORD}{{48,}}", "gt"),
    Format("Cloudsmith", "csa_", rf"{_WORD}{{36}}", "b"),
    Format("Endor Labs", "endr+", r"[A-Za-z0-9-]{16}", "bt"),
    Format("Aikido", "AIK_CI_ AIK_SECRET_", rf"{_WORD}{{20,}}", "b"),
    Format("StackHawk", "hawk.", rf"{_CHAR}{{20}}\.{_CHAR}{{20}}", "k"),
    Format("Spectral", "spu-", r"[a-z0-9]{32}", "t"),
    Format("Nightfall", "NF-", rf"{_WORD}{{32}}", "kt"),
    Format("Dependency-Track", "odt_", rf"{_WORD}{{32,}}", "ik"),
    Format("Databricks", "dapi", r"[a-f0-9]{32}", "gkt"),
    # Digests in hexadecimal digits may begin so as well: a key has another letter early on.
    Format("ClickHouse", "4b1d", rf"[a-f0-9]{{0,17}}[A-Zg-z]{_WORD}{{20,}}", "g"),
    Format("CockroachDB", "CCDB1_", rf"{_WORD}{{22}}_{_WORD}{{40}}", "b"),
    Format("MongoDB Atlas", "mdb_sa_sk_", rf"{_CHAR}{{40}}", "bk"),
    Format("Neon", "napi_", rf"{_WORD}{{40,}}", "b"),
    Format("PlanetScale", "pscale_tkn_ pscale_oauth_ pscale_pw_", r"[A-Za-z0-9_=.-]{32,}", "gt"),
    Format("Supabase", "sbp_", rf"{_CHAR}{{40}}", "bt"),
    Format("Supabase", "sb_secret_", rf"{_CHAR}{{20,}}", "b"),
    Format("DataStax Astra", "AstraCS:", r"[A-Za-z0-9:]{20,}", "b"),
    Format("Elastic Cloud", "essu_", rf"{_BASE64}{{60,}}", "b"),
    Format("Databento", "db-", rf"{_WORD}{{29}}", "b"),
    Format("Grafana", "glsa_ glse_ glc_", rf"{_BASE64}{{16,}}", "gt"),
    Format("Grafana", "eyJrIjoi", r"[A-Za-z0-9+/]{60,}={0,3}", "gk"),
    Format("Sentry", "sntrys_ sntryu_", rf"{_BASE64}{{16,}}", "gt"),
    Format("New Relic", "NRAK- NRII- NRIQ- NRRA- NRJS- NRBR-", r"[A-Za-z0-9-]{19,}", "gt"),
    Format("Dynatrace", "dt0c01. dt0s01. dt0s02.", rf"{_WORD}{{24}}\.{_WORD}{{64}}", "gk"),
    Format("PostHog", "phx_", rf"{_CHAR}{{40,}}", "bt"),
    Format("pganalyze", "pgar_", rf"{_WORD}{{27}}", "t"),
    Format("Rootly", "rootly_", r"[a-f0-9]{64}", "bt"),
    Format(
        "Doppler", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"[A-Za-z0-9._-]{30,}", "gkt"
    ),
    Format("1Password", "A3-", r"[A-Z0-9]{6}-[A-Z0-9]{6}(?:-?[A-Z0-9]{5}){4}", "g"),
    Format("1Password", "ops_eyJ", r"[A-Za-z0-9+/]{100,}={0,3}", "g"),
    Format("age", "AGE-SECRET-KEY-1", r"[A-Z0-9]{16,}", "gk"),
    Format("Tailscale", "tskey-", r"[a-z]{2,10}-[A-Za-z0-9_-]{16,}", "bkt"),
    Format("Defined Networking", "dnkey-", r"[A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52}", "g"),
    Format(
        "Authress",
        "sc_ ext_ scauth_ authress_",
        r"[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,}",
        "g",
    ),
    Format("Unkey", "unkey_", rf"{_WORD}{{20,}}", "b"),
    Format("Zuplo", "zpka_", r"[a-z0-9]{32}_[0-9a-f]{8}", "b"),
    Format("DevCycle", "dvc_server_", _TAIL, "b"),
    Format("Linear", "lin_api_ lin_oauth_", rf"{_WORD}{{16,}}", "gkt"),
    Format("Notion", "ntn_ secret_", rf"{_WORD}{{40,}}", "gt"),
    Format("Airtable", "pat", rf"{_WORD}{{14}}\.[a-f0-9]{{60,}}", "gik"),
    Format("HubSpot", "pat-na1- pat-eu1-", _UUID, "kt"),
    Format("Figma", "figd_ figp_", r"[A-Za-z0-9_=-]{20,}", "bt"),
    Format("Postman", "PMAK-", r"[a-f0-9]{24}-[a-f0-9]{16,}", "gk"),
    Format("ReadMe", "rdme_", r"[a-z0-9]{60,}", "gkt"),
    Format("Typeform", "tfp_", r"[A-Za-z0-9_.=-]{40,}", "gt"),
    Format("Contentful", "CFPAT-", rf"{_CHAR}{{40,}}", "ikt"),
    Format("ClickUp", "pk_", r"[0-9]{7,9}_[0-9A-Za-z]{32}", "bk"),
    Format("Klaviyo", "pk_", rf"(?:{_WORD}{{6}}_)?[0-9a-f]{{34}}", "bt"),
    Format("Close", "api_", r"[A-Za-z0-9.]{45}", "t"),
    Format("Canva", "cnvca", rf"{_CHAR}{{51}}", "b"),
    Format("Dropbox", "sl.", rf"{_CHAR}{{60,}}", "gik"),
    Format("Frame.io", "fio-u-", r"[A-Za-z0-9_=-]{60,}", "gkt"),
    Format("Bannerbear", "bb_pr_ bb_ma_", r"[a-f0-9]{30}", "t"),
    Format("Lichess", "lip_", rf"{_WORD}{{16,}}", "b"),
    Format("WakaTime", "waka_", _UUID, "b"),
    Format("Val Town", "vtwn_", _TAIL, "b"),
    Format("Adafruit IO", "aio_", rf"{_WORD}{{28}}", "ikt"),
    Format("Samsara", "samsara_api_", rf"{_WORD}{{26,}}", "b"),
    Format("Ubidots", "BBFF-", rf"{_WORD}{{30}}", "kt"),
    Format("Ionic", "ion_", r"[a-z0-9]{42}", "ikt"),
    Format("Adobe", "p8e-", r"[a-z0-9-]{32}", "git"),
    Format("Voiceflow", "VF.", rf"(?:(?:DM|WS)\.)?{_HEX}{{24}}\.{_WORD}{{16}}", "kt"),
    Format("Salad Cloud", "salad_cloud_", rf"{_WORD}{{1,7}}_{_WORD}{{7,}}", "t"),
    Format("Asana", "1/ 2/", r"[0-9]{12,20}(?:/[0-9]{12,20})?:[a-f0-9]{32}", "k"),
    Format("Shopify", "shpat_ shpca_ shppa_ shpss_", rf"{_HEX}{{16,}}", "gkt"),
    Format("Square", "sq0atp- sq0csp-", rf"{_CHAR}{{20,}}", "dgkt"),
    Format("Square", "EAAA", rf"[E-Zb-z]{_CHAR}{{50,}}", "g"),
    Format("Plaid", "access-sandbox- access-development- access-production-", _UUID, "gi"),
    Format("Flutterwave", "FLWSECK- FLWSECK_TEST-", rf"{_WORD}{{12,}}", "gt"),
    Format("Paddle", "pdl_live_apikey_ pdl_sdbx_apikey_", r"[A-Za-z0-9_]{40,}", "b"),
    Format("Polar", "polar_at_ polar_oat_ polar_pat_", _TAIL, "b"),
    Format("Asaas", "$aact_prod_ $aact_hmlg_", rf"{_CHAR}{{20,}}", "b"),
    Format("GoCardless", "live_", _MIXED, "gt"),
    Format("Lob", "live_ test_", r"[a-f0-9]{35}", "gt"),
    Format("Pagar.me", "ak_live_", rf"{_WORD}{{30}}", "kt"),
    Format("Ramp", "ramp_sec_", rf"{_WORD}{{48}}", "bt"),
    Format("Mercury", "mercury_production_", r"[a-z]{3,6}_[A-Za-z0-9]{40,}", "b"),
    Format("EasyPost", "EZAK EZTK", rf"{_WORD}{{54}}", "gk"),
    Format("Shippo", "shippo_live_ shippo_test_", rf"{_HEX}{{40}}", "gkt"),
    Format("Duffel", "duffel_test_ duffel_live_", r"[A-Za-z0-9_=-]{40,}", "gt"),
    Format("Flexport", "shltm_", rf"{_CHAR}{{40}}", "kt"),
    Format("Onfido", "api_live. api_live_ca. api_live_us.", _TAIL, "b"),
    Format("Facebook", "EAA", r"[B-Z][A-Za-z0-9]{80,}", "g"),
    Format("Instagram", "IGQVJ", rf"{_CHAR}{{50,}}", "i"),
    Format("Pinterest", "pina_", _TAIL, "b"),
    Format("X", "AAAAAAAAAAAAAAAAAAAAA", r"[A-Za-z0-9]{4,40}%[A-Za-z0-9%]{30,}", "g"),
    Format("Firebase", "AAAA", rf"{_CHAR}{{7}}:{_CHAR}{{130,}}", "i"),
    Format("Zoho", "1000.", r"[a-f0-9]{32}\.[a-f0-9]{32}", "kt"),
    Format("Salesforce", "3MVG9 5AEP861", r"[A-Za-z0-9._+/=]{70,}", "t"),
    Format("Fullstory", "na1. eu1.", r"[A-Za-z0-9+/]{60,}", "bkt"),
    Format("Intra 42", "s-s4t2ud- s-s4t2af-", r"[a-f0-9]{64}", "gt"),
    Format("SettleMint", "sm_aat_ sm_pat_ sm_sat_", rf"{_WORD}{{16}}", "g"),
    Format("Robinhood", "rh-api-", _UUID, "t"),
    Format("TruffleHog", "thog-key- thog-secret-", r"[0-9a-f]{16,32}", "t"),
    Format(
        "a private key in base64",
        "LS0tLS1CRUdJTi",
        r"[A-Za-z0-9+/]{0,52}UFJJVkFURSBLRVkt[A-Za-z0-9+/=]*",
        "k",
    ),
    Format(
        "a private key in base64",
        "LS0tLS1CRUdJTi",
        r"[A-Za-z0-9+/]{4,52}(?:BSSVZBVEUgS0VZ|QUklWQVRFIEtFWS)[A-Za-z0-9+/=]*",
        "k",
    ),
    Format(
        "a hash as crypt writes it", "$2a$ $2b$ $2x$ $2y$", r"[0-9]{2}\$[./A-Za-z0-9]{53}", "ik"
    ),
    Format(
        "a hash as crypt writes it",
        "$1$ $5$ $6$ $8$ $apr1$",
        r"(?:rounds=[0-9]{1,9}\$)?[./A-Za-z0-9]{0,16}\$[./A-Za-z0-9]{22,86}",
        "ik",
    ),
)


class Infix(NamedTuple):
    """A key that is known by something in its middle or at its end."""

    service: str
    pattern: str
    infix: str
    """A pattern that any text with such a key matches, wherever the key stands."""

    sources: str


INFIXES: Final = (
    Infix("Terraform", rf"{_WORD}{{14}}\.atlasv1\.{_BASE64}{{60,}}", r"\.atlasv1\.", "gt"),
    Infix("Mailchimp", r"[0-9a-f]{32}-us[0-9]{1,2}", r"[0-9a-f]-us[0-9]", "dgt"),
    Infix("Mailgun", r"[a-f0-9]{32}-[a-f0-9]{8}-[a-f0-9]{8}", r"-[a-f0-9]{8}-[a-f0-9]{8}", "gt"),
    Infix("MaxMind", rf"{_WORD}{{6}}_{_WORD}{{29}}_mmk", "_mmk", "gkt"),
    Infix(
        "Discord",
        rf"[MNO]{_CHAR}{{23,27}}\.{_CHAR}{{6}}\.{_CHAR}{{27,40}}",
        rf"\.{_CHAR}{{6}}\.{_CHAR}{{9}}",
        "di",
    ),
    Infix("Azure", r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}", "[0-9]Q~", "gt"),
    Infix("Azure DevOps", rf"{_WORD}{{76}}AZDO{_WORD}{{4,5}}", "AZDO", "i"),
    Infix("Azure registry", r"[A-Za-z0-9+/]{42}\+ACR[A-Za-z0-9]{6}", r"\+ACR", "t"),
    Infix("New Relic", r"(?:[0-9a-f]{32}|eu01xx[0-9a-f]{26})(?:FFFF)?NRAL", "NRAL", "t"),
    Infix("Stripe", r"(?:pi|seti)_[A-Za-z0-9]{24}_secret_[A-Za-z0-9]{25}", "_secret_", "t"),
    Infix(
        "Salesforce",
        r"00[A-Za-z0-9]{13}![A-Za-z0-9_.]{80,}",
        "[A-Za-z0-9]![A-Za-z0-9_.]{9}",
        "ktb",
    ),
    Infix("Tableau", r"[A-Za-z0-9+/]{22}==:[A-Za-z0-9]{32}", "==:[A-Za-z0-9]", "bt"),
)

_BODY: Final = r"[A-Za-z0-9_.:$/+%~=-]{9}"
_ESCAPE_LETTERS: Final = "bfnrtu"
"""Behind a backslash JSON reads them as an escape."""


_ENDINGS: Final = [(prefix, each.rest) for each in FORMATS for prefix in each.prefixes.split()]
API_KEY_HINT: Final = alternatives((prefix, "") for prefix, _ in _ENDINGS) + _BODY
"""Beginning of any key with a prefix; cheap to search."""

INFIX_HINT: Final = "|".join(each.infix for each in INFIXES)
API_KEY_STARTS: Final = tuple(sorted({prefix[:2] for prefix, _ in _ENDINGS}))
"""The first two characters of each prefix."""


def _behind_backslash() -> Iterator[tuple[str, str]]:
    r"""Yield each escape before a key, and the pattern of the key after it.

    `C:\\npm_…` may be a line break and `pm_…`, so the first letter stays.
    """
    plain = [each for each in _ENDINGS if each[0][0] not in _ESCAPE_LETTERS]
    yield r"\\", alternatives(plain)
    for letter in _ESCAPE_LETTERS:
        own = [(prefix[1:], rest) for prefix, rest in _ENDINGS if prefix[0] == letter]
        if own:
            yield rf"\\{letter}", alternatives(own)


API_KEY: Final = "|".join(
    rf"({before})(?:{rest}){_CHAR}*"
    for before, rest in ((BOUNDARY, alternatives(_ENDINGS)), *_behind_backslash())
)
"""A key with a prefix, after the character before it, which is the one group that matches."""

INFIX_KEY: Final = rf"({BOUNDARY}|\\)(?:{'|'.join(each.pattern for each in INFIXES)}){_CHAR}*"
"""A key that is recognized by its middle, after the character before it."""
