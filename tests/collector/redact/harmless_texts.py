"""Texts that look as if they held a secret: code, prose, names of keys, ids, tracebacks."""

from __future__ import annotations

HARMLESS = r"""
sha256 4b1d5b3967283aa7f5013c5dba0b1d00975c6bb8784058fcd29dd71c39799d01
if not password: raise ValueError("password required")
if not token: continue
if password: print("set")
elif api_key: return None
while not secret: break
assert password, "password required"
raise AuthError("Invalid password")
throw new Error("Missing API key");
const { password } = req.body;
user.check_password(password)
def verify(password: str, token: str | None = None) -> bool:
password: str = Field(min_length=8)
export const PASSWORD_MIN_LENGTH = 8;
self.password = password
const token = getToken();
api_key = config["api_key"]
api_key = settings.api_key
token=$(cat /run/secrets/token)
PASSWORD="${DB_PASSWORD:?missing}"
-e POSTGRES_PASSWORD=$POSTGRES_PASSWORD
sorted(rows, key=lambda row: row["name"])
max(items, key=len)
for key, value in data.items():
{"key": "ArrowLeft"}
{"primary_key": "order_id", "foreign_key": "customer_id"}
{"partition_key": "2024-05-01", "sort_key": "user#42"}
{"cache_key": "3f2a9c1d7e5b4a60"}
{"idempotency_key": "a81f9c3e7d2b4f60"}
{"public_key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5"}
{"s3_key": "reports/2024/q3-final.pdf"}
{"object_key": "images/cat7.png"}
{"issue_key": "PROJ-123", "project_key": "PROJ"}
{"translation_key": "checkout.button.pay"}
{"agent_key": "906b2b2487635bdb8ce3c64f421cb5f8"}
{"sort_key": "created_at", "group_key": "region"}
{"hot_key": "Ctrl+Shift+P", "shortcut_key": "F5"}
STORAGE_KEY = "todos-app"
const CACHE_KEY = "user:1";
keyboard: qwertz
monkey: banana
turkey = 5
gen_ai.usage.input_tokens: 1200
{"max_tokens": 4096, "total_tokens": 12, "token_count": 9}
{"next_token": "eyJ2IjoiMSJ9", "page_token": "CAUQAA"}
{"next_page_token": "abc123def456ghi789"}
{"stop_token": "<|im_end|>", "pad_token": "<pad>"}
{"finish_reason": "stop", "tokens": ["a", "b"]}
the tokens per second went from 120 to 180
{"auth": "oauth2"}
{"auth": {"type": "basic"}}
auth: required
auth = authenticate(user)
author: Ada Lovelace
{"authenticated": true, "auth_method": "sso"}
Basic training starts on Monday
a bearer of good news
The password must have at least 12 characters.
Forgot your password? Reset it here.
Password reset link sent to ada@example.com
Your password was changed 3 days ago
The password field is required
Please enter a password between 8 and 64 characters
Use a password manager.
The secret of success is practice.
The token is expired
Your API key is invalid
the key is under the mat
How do I rotate an API key?
Get your API key: https://platform.openai.com/api-keys
{"selector": "#username", "value": "ada"}
{"selector": "#email", "value": "ada@example.com"}
{"element": "Search box", "target": "e4", "text": "password manager"}
{"element": "Forgot password link", "target": "e9", "text": "click"}
{"name": "reset_password", "text": "sends a mail"}
{"element": "Show password button", "text": "Show"}
page.fill("#username", "ada")
page.getByLabel("Email").fill("ada@example.com")
await expect(page.getByText("Wrong password")).toBeVisible()
- textbox "Email" [ref=e4]: ada@example.com
https://example.com/search?q=password&page=2
https://example.com/a?key=value&sort=name
https://example.com/docs/api-keys#create
https://example.com/?code=404
postgres://${USER}:${PASSWORD}@localhost/app
arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-a1b2c3
arn:aws:kms:eu-west-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab
projects/my-project/secrets/db-password/versions/3
vault://secret/data/app
op://Private/Database/password
C:\keys\readme.txt
C:\Users\ada\secrets
/etc/ssl/private/server.key
~/.ssh/id_ed25519
git commit 4bf92f3577b34da6a3ce929d0e0e4736aa11bb22
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
trace 4bf92f3577b34da6a3ce929d0e0e4736 span 00f067aa0ba902b7
123e4567-e89b-12d3-a456-426614174000
call_9f86d081884c7d659a2feaa0
chatcmpl-9abcDEF0123456789abcdefghij
toolu_01A09q90qw90lq917835lq9
msg_01XFDUDYJgAACzvnptvVoYEL
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk
sk-learn-based-classification-pipeline
task-management-board-with-many-items
2026-01-02T03:04:05.678Z INFO retry 3 of 5
main.c:10:5:error:undeclared
12:30:45:678 started
ratio 0.4111111111111111
1.2.3-beta.4+build.5
Error: connect ECONNREFUSED 127.0.0.1:5432
variable "region" { default = "eu-west-1" }
variable "instance_type" { default = "t3.micro" }
apiVersion: v1, kind: Secret, type: Opaque
machine learning with default settings and no password
echo done | tee log.txt
7z a out.7z data
net user bob
curl -u "$USER:$PASS" https://example.com
mysql -u root shop
docker login registry.example.com
ssh -p 2222 bob@host
👩‍💻 works on the pass‌word page
"""
TEXTS = [line for line in HARMLESS.splitlines() if line]

TRACEBACKS = [
    # Python
    """Traceback (most recent call last):
  File "/srv/shop/.venv/lib/python3.11/site-packages/tracegrade/tools.py", line 118, in wrapper
    result = function(*args, **kwargs)
             ^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/srv/shop/tests/test_orders.py", line 173, in test_exception_of_a_tool_passes
    refund("o-9")
LookupError: no such order
""",
    """Traceback (most recent call last):
  File "/srv/shop/auth/session.py", line 42, in login
    token = self._refresh_token(client_secret=self.client_secret)
            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/srv/shop/auth/tokens.py", line 2104, in _refresh_token
    raise AuthError("Invalid password")
shop.auth.AuthError: Invalid password

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/shop/main.py", line 7, in <module>
    asyncio.run(main())
  File "/usr/lib/python3.11/asyncio/base_events.py", line 654, in run_until_complete
    return future.result()
           ^^^^^^^^^^^^^^^
KeyError: 'api_key'
""",
    """  + Exception Group Traceback (most recent call last):
  |   File "/srv/shop/pool.py", line 31, in gather
  |     async with asyncio.TaskGroup() as group:
  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/srv/shop/pool.py", line 3012, in fetch
    |     raise TimeoutError
    | TimeoutError
    +------------------------------------
""",
    # Node
    """TypeError: Cannot read properties of undefined (reading 'password')
    at AuthService.verifyPassword (/srv/app/src/auth/auth.service.ts:118:24)
    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)
    at async Object.login [as handler] (file:///srv/app/dist/routes/login.js:3012:11)
    at async Promise.all (index 0) {
  code: 'ERR_INVALID_ARG_TYPE'
}
""",
    """Error: connect ECONNREFUSED 127.0.0.1:5432
    at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1494:16) {
  errno: -111,
  code: 'ECONNREFUSED',
  syscall: 'connect',
  address: '127.0.0.1',
  port: 5432
}
""",
    # Java
    """java.lang.IllegalStateException: token expired
\tat com.example.auth.TokenService.verify(TokenService.java:2118)
\tat com.example.auth.PasswordFilter.doFilter(PasswordFilter.java:64)
\tat java.base/java.lang.Thread.run(Thread.java:1583)
Caused by: java.security.GeneralSecurityException: no such key: signing
\tat com.example.auth.Keys$Loader.lambda$load$0(Keys.java:31)
\t... 24 more
""",
    # Go, Ruby, .NET, Rust
    """panic: runtime error: invalid memory address or nil pointer dereference
[signal SIGSEGV: segmentation violation code=0x1 addr=0x18 pc=0x4a2f3c]

goroutine 1 [running]:
main.(*Auth).Token(0x0, {0xc000012345, 0x5})
\t/srv/app/auth.go:42 +0x1c
exit status 2
""",
    """app/auth/password.rb:12:in `verify': wrong number of arguments (given 1, expected 2)
\tfrom app/auth/session.rb:2104:in `block in login'
\tfrom bin/server:7:in `<main>'
""",
    """System.NullReferenceException: Object reference not set to an instance of an object.
   at Shop.Auth.PasswordHasher.Verify(String password, String hash) in /src/Auth.cs:line 3012
   at Shop.Program.<Main>$(String[] args) in /src/Program.cs:line 7
""",
    """thread 'main' panicked at src/auth/token.rs:42:17:
called `Result::unwrap()` on an `Err` value: MissingSecret
   3: shop::auth::token::load
             at ./src/auth/token.rs:42:17
note: run with `RUST_BACKTRACE=full` environment variable to display a verbose backtrace.
""",
]
"""What programs print when they fail: lines of code, names of functions, numbers."""
