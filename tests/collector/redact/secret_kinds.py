"""Kinds of secrets by shape, by name and by place, made at run time, and six places for each.

No value stands here as a scanner of repositories would know it: `{w36}` becomes 36 letters and
digits, `{h32}` hex digits, `{u16}` capitals and digits, `{l30}` small letters and digits, `{d12}`
digits.
"""

from __future__ import annotations

import json
import random
import re
import string
from typing import NamedTuple
from urllib.parse import quote

_RANDOM = random.Random(32)  # noqa: S311 - the same values in each run
_ALPHABETS = {
    "w": string.ascii_letters + string.digits,
    "h": "0123456789abcdef",
    "u": string.ascii_uppercase + string.digits,
    "l": string.ascii_lowercase + string.digits,
    "d": string.digits,
    "b": string.ascii_lowercase + "234567",
}
PASSWORD = "horse7battery"  # noqa: S105


class Kind(NamedTuple):
    """One kind of secret."""

    name: str
    secret: str
    """What must not stay."""

    written: dict[str, str]
    """The text in each place."""


def made(template: str) -> str:
    """Return a template with random characters for what stands in braces."""
    return re.sub(r"\{([whuldb])([0-9]+)\}", _random, template)


def _random(match: re.Match[str]) -> str:
    alphabet, length = _ALPHABETS[match[1]], int(match[2])
    found = "".join(_RANDOM.choice(alphabet) for _ in range(length))
    digits = found if match[1] == "d" else f"{found[:2]}7{found[3:]}"
    return digits[:length]


SHAPES = """
openai sk-{w48} | openai-project sk-proj-{w74}T3BlbkFJ{w40} | openai-service sk-svcacct-{w58}
openai-admin sk-admin-{w58} | anthropic sk-ant-api03-{w93}AA
anthropic-admin sk-ant-admin01-{w93}AA | anthropic-oauth sk-ant-oat01-{w90}
openrouter sk-or-v1-{h64} | deepseek sk-{h32} | langfuse sk-lf-{h8}-{h4}-4{h3}-{h4}-{h12}
elevenlabs sk_{h48} | minimax sk-api-{w119} | groq gsk_{w52} | xai xai-{w80}
perplexity pplx-{w48} | cerebras csk-{l48} | together tgp_v1_{w43} | voyage pa-{w43}
jina jina_{w60} | firecrawl fc-{h32} | friendli flp_{w46} | replicate r8_{w37}
huggingface hf_{w34} | huggingface-organization api_org_{w34} | nvidia nvapi-{w64}
tavily tvly-{w32} | cursor key_{h64} | devin apk_user_{w120} | devin-service cog_{b52}
pinecone pcsk_{w6}_{w63} | langsmith lsv2_pt_{h32}_{h10} | wandb wandb_v1_{w77}
runpod rpa_{u46} | apify apify_api_{w36} | brave BSA{w28} | gemini AIza{w35}
gemini-2026 AQ.Ab8RN6{w44} | google-oauth ya29.{w60} | google-client GOCSPX-{w28}
aws AKIA{u16} | aws-session ASIA{u16} | bedrock ABSK{w120} | bedrock-short bedrock-api-key-{w80}
appsync da2-{l26} | azure-ad {w3}7Q~{w34} | azure-devops {w76}AZDO{w4}
azure-registry {w42}+ACR{w6} | alibaba LTAI{w20} | yandex AQVN{w38} | digitalocean dop_v1_{h64}
cloudflare-user cfut_{w40}{h8} | cloudflare-account cfat_{w40}{h8}
cloudflare-global cfk_{w40}{h8} | vercel vcp_{w56} | vercel-gateway vck_{w56}
heroku HRKU-AA{w58} | render rnd_{w28} | fly fm2_{w100} | deno ddp_{w36} | github ghp_{w36}
github-oauth gho_{w36} | github-user ghu_{w36} | github-server ghs_{w36}
github-server-2026 ghs_{d7}_{w40}.{w120}.{w86} | github-refresh ghr_{w76}
github-fine github_pat_{w22}_{w59} | gitlab glpat-{w20} | gitlab-routable glpat-{w27}.01.{l9}
gitlab-runner glrt-{w20} | gitlab-deploy gldt-{w20} | gitlab-job glcbt-64_{w20}
gitlab-trigger glptt-{h40} | gitlab-agent glagent-{w50} | gitlab-oauth gloas-{h64}
gitlab-registration GR1348941{w20} | bitbucket ATBB{w32} | bitbucket-server BBDC-{w44}
atlassian ATATT3xFfGF0{w180} | npm npm_{w36} | pypi pypi-AgEIcHlwaS5vcmc{w90}
rubygems rubygems_{h48} | nuget oy2{l43} | crates cio{w32} | clojars CLOJARS_{l60}
docker dckr_pat_{w27} | docker-organization dckr_oat_{w32} | swarm SWMTKN-1-{l50}-{l25}
slack-bot xoxb-{d12}-{d12}-{w24} | slack-user xoxp-{d12}-{d12}-{d12}-{h32}
slack-app xapp-1-A{u10}-{d12}-{h64} | slack-refresh xoxe-1-{u146}
slack-browser xoxc-{d12}-{d12}-{d12}-{h64} | discord M{w24}.{w6}.{w38} | telegram {d9}:AA{w33}
twilio SK{h32} | sendgrid SG.{w22}.{w43} | mailgun key-{h32} | mailgun-signing {h32}-{h8}-{h8}
mailchimp {h32}-us17 | mailersend mlsn.{w64} | brevo xkeysib-{h64}-{w16} | resend re_{w8}_{w24}
stripe sk_live_{w24} | stripe-restricted rk_live_{w24} | stripe-webhook whsec_{w32}
stripe-intent pi_{w24}_secret_{w25} | square sq0atp-{w22} | square-secret sq0csp-{w43}
plaid access-production-{h8}-{h4}-{h4}-{h4}-{h12} | shopify shpat_{h32}
shopify-shared shpss_{h32} | paddle pdl_live_apikey_{l26}_{w22}_{w3} | polar polar_oat_{w43}
flutterwave FLWSECK-{l32}-X | easypost EZAK{w54} | shippo shippo_live_{h40}
duffel duffel_live_{w43} | lob live_{h35} | ramp ramp_sec_{w48} | pagarme ak_live_{w30}
databricks dapi{h32} | clickhouse 4b1d{w38} | cockroach CCDB1_{w22}_{w40}
atlas mdb_sa_sk_{w40} | neon napi_{w64} | planetscale pscale_tkn_{w43}
planetscale-password pscale_pw_{w43} | supabase sbp_{h40} | supabase-secret sb_secret_{w31}
astra AstraCS:{w24}:{h64} | elastic essu_{w80} | vault hvs.{w90} | vault-batch hvb.{w140}
terraform {w14}.atlasv1.{w67} | pulumi pul-{h40} | harness pat.{w22}.{h24}.{w20}
infracost ico-{w32} | octopus API-{u30} | openshift sha256~{w43} | buildkite bkua_{l40}
circleci CCIPAT_{w22}_{h40} | sonar squ_{h40} | sonarcloud sqco_{w59} | artifactory AKCp{w69}
cloudsmith csa_{h30}{w6} | grafana glsa_{w32}_{h8} | grafana-cloud glc_{w80}
sentry sntryu_{h64} | sentry-organization sntrys_{w120} | newrelic NRAK-{u27}
newrelic-license {h32}FFFFNRAL | dynatrace dt0c01.{u24}.{u64} | posthog phx_{w43}
doppler dp.pt.{w43} | onepassword ops_eyJ{w260}
onepassword-secret A3-{u6}-{u11}-{u5}-{u5}-{u5} | age AGE-SECRET-KEY-1{u58}
tailscale tskey-auth-{w17}-{w32} | linear lin_api_{w40} | notion ntn_{d11}{w35}
airtable pat{w14}.{h64} | hubspot pat-na1-{h8}-{h4}-{h4}-{h4}-{h12} | figma figd_{w40}
postman PMAK-{h24}-{h34} | readme rdme_{l70} | typeform tfp_{w44}_{w14} | contentful CFPAT-{w43}
clickup pk_{d8}_{u32} | klaviyo pk_{h34} | dropbox sl.{w135} | canva cnvca{w51}
frameio fio-u-{w64} | adafruit aio_{w28} | adobe p8e-{l32} | maxmind {w6}_{w29}_mmk
zoho 1000.{h32}.{h32} | facebook EAAM{w100} | instagram IGQVJ{w80} | pinterest pina_{w64}
salesforce 00D{w12}!{w96} | jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ{w20}.{w43}
bcrypt $2b$12${w53} | sha512-crypt $6${w16}${w86}
private-key-base64 LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo{w80}
"""
NAMES = """
DB_PASSWORD MYSQL_PWD SSHPASS SMTP_PASS ADMIN_PASSWD KEYSTORE_PASSPHRASE DB_PW JWT_SECRET
SESSION_SECRET WEBHOOK_SECRET AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN OPENAI_API_KEY GITHUB_TOKEN
DEPLOY_TOKEN CI_JOB_TOKEN NPM_TOKEN VAULT_TOKEN SLACK_BOT_TOKEN HF_TOKEN CODECOV_TOKEN
MAILGUN_KEY STRIPE_KEY ALGOLIA_ADMIN_KEY DATADOG_APP_KEY ENCRYPTION_KEY MASTER_KEY FERNET_KEY
LICENSE_KEY SIGNING_KEY AZURE_STORAGE_KEY COSMOS_KEY SEARCH_KEY REDIS_AUTH TWILIO_AUTH_TOKEN
db.password spring.datasource.password clientSecret refreshToken accessToken idToken apiKey
privateKey x-api-key X-Auth-Token Ocp-Apim-Subscription-Key authToken _authToken _password
ansible_become_pass ansible_ssh_pass ansible_password dbpass userpass smtppass rootpw bindpw
identitytoken registrytoken client-key-data secret_key_base consumer_key consumer_secret
connection_string shared_access_key hmac_key webhook_key wpa_passphrase pre_shared_key psk
requirepass masterauth community_string seed_phrase recovery_key bootstrap_token join_token
passwort kennwort wachtwoord contraseña senha hasło heslo lösenord adgangskode salasana jelszó
şifre lozinka passord пароль 密码 パスワード 비밀번호
"""
FIELDS = {
    "playwright-fill": '{"selector": "#password", "value": "¤"}',
    "playwright-input": '{"selector": "input[name=\'pass\'][type=password]", "value": "¤"}',
    "playwright-type": '{"element": "Password field", "target": "e12", "text": "¤"}',
    "playwright-form": '{"fields": [{"name": "Password", "type": "textbox", "value": "¤"}]}',
    "value-first": '{"value": "¤", "selector": "#login-password"}',
    "selenium": '{"by": "id", "value": "password", "text": "¤"}',
    "xpath": '{"locator": "//input[@type=\'password\']", "text": "¤"}',
    "description": '{"index": 4, "description": "password input", "text": "¤"}',
    "label": '{"label": "Confirm password", "value": "¤"}',
    "placeholder": '{"placeholder": "Enter your password", "text": "¤"}',
    "puppeteer-code": "await page.type('#password', '¤');",
    "playwright-code": "await page.getByLabel('Password').fill('¤');",
    "playwright-role": "page.get_by_role('textbox', name='Password').fill('¤')",
    "selenium-code": 'driver.find_element(By.ID, "password").send_keys("¤")',
    "dom-code": "document.querySelector('#password').value = '¤'",
    "snapshot": '- textbox "Password" [ref=e5]: ¤',
    "instruction": "type '¤' into the password field",
}
FORMS = {
    "netrc": "machine api.example.com login bob password ¤",
    "netrc-lines": "machine api.example.com\n  login bob\n  password ¤\n",
    "pgpass": "db.example.com:5432:orders:app:¤",
    "npmrc": "//registry.npmjs.org/:_password=¤",
    "pip": "[global]\nindex-url = https://bob:¤@pypi.example.com/simple",
    "pypirc": "[pypi]\nusername = bob\npassword = ¤",
    "my-cnf": "[client]\nuser=root\npassword=¤",
    "properties": "spring.datasource.username=app\nspring.datasource.password=¤",
    "hcl": 'provider "x" {\n  password = "¤"\n}',
    "terraform-default": 'variable "db_password" {\n  type    = string\n  default = "¤"\n}',
    "ansible": "web1 ansible_host=10.0.0.5 ansible_become_pass=¤",
    "ansible-yaml": "all:\n  vars:\n    ansible_become_pass: ¤",
    "compose": "environment:\n  - POSTGRES_PASSWORD=¤",
    "kubernetes-env": "env:\n  - name: DB_PASSWORD\n    value: ¤",
    "kubeconfig": "users:\n- name: bob\n  user:\n    username: bob\n    password: ¤",
    "xml": "<server><username>bob</username><password>¤</password></server>",
    "nuget": '<add key="ClearTextPassword" value="¤" />',
    "redis-conf": "bind 127.0.0.1\nrequirepass ¤",
    "wifi": 'network={\n  ssid="home"\n  psk="¤"\n}',
    "cisco": "enable secret 0 ¤",
    "snmp": "snmp-server community ¤ RO",
    "url": "postgres://app:¤@db.internal:5432/app",
    "redis-url": "redis://:¤@cache.internal:6379/0",
    "jdbc": "jdbc:mysql://db:3306/shop?user=app&password=¤",
    "odbc": "Driver={SQL Server};Server=db;Uid=sa;Pwd=¤;",
    "curl-user": "curl -u admin:¤ https://api.example.com",
    "httpie": "http -a admin:¤ https://api.example.com",
    "mysql": "mysql -u root -p¤ shop",
    "sshpass": "sshpass -p ¤ ssh bob@host",
    "docker-login": "docker login -u bob -p ¤ registry.example.com",
    "echo-sudo": "echo ¤ | sudo -S apt update",
    "echo-docker": "echo ¤ | docker login --username bob --password-stdin",
    "chpasswd": 'echo "bob:¤" | chpasswd',
    "sevenzip": "7z a -p¤ out.7z data",
    "sqlcmd": "sqlcmd -S db -U sa -P ¤ -Q 'select 1'",
    "smbclient": "smbclient //host/share -U bob%¤",
    "net-user": "net user bob ¤ /add",
    "htpasswd": "htpasswd -bc .htpasswd bob ¤",
    "openssl": "openssl enc -aes-256-cbc -in a -pass pass:¤",
    "aws-configure": "aws configure set aws_secret_access_key ¤",
    "kubectl": "kubectl create secret generic x --from-literal=db=¤",
    "gh-secret": "gh secret set DB --body ¤",
    "powershell": 'ConvertTo-SecureString "¤" -AsPlainText -Force',
    "option": "deploy --db-password ¤ --verbose",
    "identified": "CREATE USER bob IDENTIFIED BY '¤';",
    "requests": "requests.get(url, auth=('bob', '¤'))",
    "smtplib": 'server.login("bob@example.com", "¤")',
    "sentence": "Log in as bob, the password is ¤.",
    "with-password": "Log in as bob with password ¤ please",
    "chinese-sentence": "密码是¤",
    "bold": "**Password:** ¤",
    "json-pairs": '{"name": "db_password", "value": "¤"}',
    "session-cookie": "Cookie: theme=dark; session=¤",
    "form-body": "grant_type=password&username=bob&password=¤",
    "form-encoded": "body=username%3Dbob%26password%3D¤",
    "json-in-url": "?q=%7B%22password%22%3A%22¤%22%7D",
}
LONG = {
    "basic-header": "Authorization: Basic ¤",
    "bearer-header": "Authorization: Bearer ¤",
    "token-header": "Authorization: Token ¤",
    "docker-config": '{"auths": {"https://index.docker.io/v1/": {"auth": "¤"}}}',
    "npmrc-auth": "//registry.example.com/:_auth=¤",
    "kubeconfig-token": "users:\n- name: bob\n  user:\n    token: ¤",
    "kubeconfig-key": "user:\n    client-key-data: ¤",
    "url-key": "https://maps.example.com/api?key=¤&q=Rome",
    "sas": "https://x.blob.core.windows.net/a?sv=2024-01-01&sig=¤",
    "presigned": "https://b.s3.amazonaws.com/k?X-Amz-Expires=60&X-Amz-Signature=¤",
    "cloudfront": "https://d1.cloudfront.net/a?Expires=17&Signature=¤&Key-Pair-Id=K1",
    "account-key": "AccountName=x;AccountKey=¤;EndpointSuffix=core.windows.net",
    "service-bus": "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=¤",
    "slack-hook": "https://hooks.slack.com/services/T00000000/B00000000/¤",
    "discord-hook": "https://discord.com/api/webhooks/123456789012345678/¤",
    "pem": "-----BEGIN PRIVATE KEY-----\n¤\n-----END PRIVATE KEY-----",
    "wireguard": "[Interface]\nPrivateKey = ¤=",
    "heroku-uuid": "HEROKU_API_KEY=¤",
    "backslash": "copy C:\\keys\\ghp_¤ now",
    "hidden": "ghp_12\u200b34¤",
    # Of these, no rule knows a thing: they stand in the documents.
    "uid-of-a-field": '{"uid": "1_5", "value": "¤"}',
    "index-of-a-field": '{"index": 4, "text": "¤"}',
    "keys-typed": "xdotool type ¤",
    "hex-in-a-sentence": "I used ¤ to log in",
    "kubernetes-secret": "kind: Secret\ndata:\n  db: ¤",
    "array-in-order": '["bob", "¤"]',
    "csv": "user,password\nbob,¤",
    "base64-of-bytes": "cat key.bin | base64\n¤",
    "one-time-code": "Your code: 493817¤",
    "svn": "K 8\npassword\nV 13\n¤",
}


def _around(text: str) -> dict[str, str]:
    """Return a text in six places: an attribute, JSON, a sentence, a shell, a file, a URL."""
    return {
        "attribute": text,
        "arguments": json.dumps({"id": 7, "note": text, "more": [1, None]}),
        "text": f"Here is what I found:\n{text}\nIs that all?",
        "shell": f"set -e\n{text}\nls -la",
        "file": f"# settings\ndebug: true\n{text}\nport: 8080\n",
        "url": f"POST /x HTTP/1.1\r\nHost: example.com\r\n\r\n{text}",
    }


def _shaped(value: str) -> dict[str, str]:
    return {
        "attribute": value,
        "arguments": json.dumps({"note": value, "more": json.dumps({"deep": value})}),
        "text": f"I found {value} in the log, see C:\\keys\\{value}.",
        "shell": f"tool --verbose run {value} | tee out.txt",
        "file": f"debug: true\nnote: {value}\nport: 8080\n",
        "url": f"GET https://example.com/a?q={value}&n=1",
    }


def _named(name: str, value: str) -> dict[str, str]:
    option = name.replace("_", "-").lower()
    is_variable = name.isascii() and name.isupper()
    return {
        "attribute": json.dumps({name: value}, ensure_ascii=False),
        "arguments": json.dumps({"more": json.dumps({"user": "bob", name: value})}),
        "text": f"settings are `{name}: {value}` and so on",
        "shell": f"export {name}={value}" if is_variable else f"tool --{option}={value} -v",
        "file": f'debug = true\n{name} = "{value}"\nport = 8080\n',
        "url": f"https://example.com/a?user=bob&{quote(name)}={value}&n=1"
        if name.isascii()
        else f"X: 1\r\n{name}: {value}\r\n",
    }


def _kinds() -> list[Kind]:
    shapes = [each.strip().split(" ", 1) for each in re.split(r"[|\n]", SHAPES) if each.strip()]
    found = []
    for name, template in shapes:
        value = made(template)
        found.append(Kind(f"shape {name}", value, _shaped(value)))
    for name in NAMES.split():
        is_typed = re.search(r"(?i)key|token|secret|auth|data|string", name) is None
        value = PASSWORD if is_typed else made("{w40}")
        found.append(Kind(f"name {name}", value, _named(name, value)))
    for forms, value in ((FIELDS, PASSWORD), (FORMS, PASSWORD), (LONG, made("{w64}"))):
        found += [
            Kind(f"place {name}", value, _around(text.replace("¤", value)))
            for name, text in forms.items()
        ]
    return found


KINDS = _kinds()
