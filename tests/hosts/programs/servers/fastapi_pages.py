"""FastAPI: tools as endpoints and dependencies, background tasks, streams; its OpenAPI document.

spans: 17
speed: slow
"""

import json

from fastapi import BackgroundTasks, Depends, FastAPI, HTTPException
from fastapi.responses import StreamingResponse
from fastapi.testclient import TestClient
from pydantic import BaseModel
from tg import t

t.init()
app = FastAPI()


class Item(BaseModel):
    name: str
    price: float = 1.0


@t.tool
def limit(limit: int = 3) -> int:
    return limit


@t.tool
async def later(x):
    return x


@t.tool
async def stream(n):
    for number in range(n):
        yield f"{number} "


@app.post("/items")
@t.tool
async def create(item: Item, tasks: BackgroundTasks, most: int = Depends(limit)) -> Item:
    """Create an item."""
    tasks.add_task(later, item)
    if item.price > most:
        raise HTTPException(422, "too much")
    return item


@app.get("/stream")
async def streamed():
    return StreamingResponse(stream(3))


@app.get("/sync/{key}")
@t.tool
def sync(key: int):
    with t.agent_run("web"):
        return {"key": key}


with TestClient(app) as client:
    for answer in (
        client.post("/items?limit=5", json={"name": "a"}),
        client.post("/items", json={"name": "a", "price": 9}),
        client.post("/items", json={}),
        client.get("/stream"),
        client.get("/sync/7"),
        client.get("/sync/x"),
    ):
        print(answer.status_code, answer.text)
print(json.dumps(app.openapi(), sort_keys=True))
