"""Flask: proxies of the request as arguments, streamed answers, error handlers.

spans: 19
speed: slow
"""

import logging

from flask import Flask, Response, current_app, g, jsonify, request, session, stream_with_context
from tg import t

t.init()
app = Flask(__name__)
app.secret_key = "x"


@t.tool
def look(what):
    return what


@t.tool
def parts(n):
    for number in range(n):
        yield f"{request.args['q']}{number} "


@app.get("/plain")
def plain():
    with t.agent_run("web"):
        look(request), look(g), look(current_app), look(session)
        return jsonify(
            path=look(request.args)["q"], opened=session.accessed, modified=session.modified
        )


@app.get("/stream")
def stream():
    return Response(stream_with_context(parts(2)))


@app.get("/fails")
@t.tool
def fails():
    raise KeyError("no")


@app.errorhandler(KeyError)
@t.tool
def failed(error):
    return str(error), 418


client = app.test_client()
logging.disable()
for page in ("/plain?q=a", "/stream?q=b", "/fails", "/none"):
    answer = client.get(page)
    print(answer.status, answer.data, dict(answer.headers))
print(app.url_map.bind("x").match("/fails")[0])
outside = look(request)
print(repr(outside)[:30])
