"""Django's test client: sync and async views, middleware, a streamed answer and an error page.

spans: 17
speed: slow
"""

import asyncio

import django
from django.conf import settings
from tg import t

settings.configure(
    ROOT_URLCONF=__name__,
    ALLOWED_HOSTS=["testserver"],
    MIDDLEWARE=[f"{__name__}.middleware"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    LOGGING_CONFIG=None,
)
django.setup()

from django.http import HttpResponse, JsonResponse, StreamingHttpResponse
from django.test import AsyncClient, Client
from django.urls import path

t.init()


@t.tool
def look(request):
    return {"path": request.path}


@t.tool
async def look_later(request):
    await asyncio.sleep(0)
    return {"path": request.path}


@t.tool
def parts(request):
    yield "one "
    yield "two"


@t.tool
def answer(value):
    return JsonResponse(value)


def middleware(get_response):
    def handle(request):
        response = get_response(request)
        response["X-Seen"] = request.method
        return response

    return handle


async def later(request):
    async with t.agent_run("later"):
        return JsonResponse(await look_later(request))


def fails(request):
    with t.agent_run("fails"):
        look(request)
        raise ValueError("no")


urlpatterns = [
    path("plain", lambda request: answer(look(request))),
    path("later", later),
    path("stream", lambda request: StreamingHttpResponse(parts(request))),
    path("fails", fails),
    path("tool", t.tool(lambda request: HttpResponse("from a tool"))),
]
client = Client(raise_request_exception=False)
for page in ("plain", "later", "stream", "fails", "tool"):
    response = client.get(f"/{page}", {"q": "x"})
    print(response.status_code, dict(response.headers), response.getvalue()[:60])
print(asyncio.run(AsyncClient().get("/later")).content)
