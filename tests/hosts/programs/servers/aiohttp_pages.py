"""aiohttp: a server and its client in one loop; a client that leaves while a tool works.

spans: 11
speed: slow
"""

import asyncio

from aiohttp import ClientSession, ClientTimeout, web
from tg import t

t.init()
left = asyncio.Event()


@t.tool
async def wait(request, secs):
    try:
        await asyncio.sleep(secs)
    except asyncio.CancelledError:
        print("cancelled")
        left.set()
        raise
    return web.json_response({"path": request.path})


async def plain(request):
    async with t.agent_run("web"):
        return await wait(request, 0)


async def slow(request):
    async with t.agent_run("web"):
        return await wait(request, 10)


async def main():
    app = web.Application()
    app.add_routes(
        [web.get("/plain", plain), web.get("/slow", slow), web.get("/tool", t.tool(plain))]
    )
    runner = web.AppRunner(app, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    url = f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}"
    async with ClientSession(timeout=ClientTimeout(5)) as session:
        for path in ("/plain", "/tool"):
            async with session.get(url + path) as answer:
                print(answer.status, await answer.text())
        try:
            await session.get(f"{url}/slow", timeout=ClientTimeout(0.5))
        except TimeoutError:
            print("left")
        await asyncio.wait_for(left.wait(), 5)
    await runner.cleanup()


asyncio.run(main())
