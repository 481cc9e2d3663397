#!/usr/bin/env python3
"""A worker in Python, with only `websockets`: takes tasks, keeps their leases, reports.

    pip install websockets
    SHOPFLOOR_HUB=http://127.0.0.1:4720 SHOPFLOOR_TOKEN=sf_… python worker.py --project prj_…

`work` is the place for your own code. The protocol is in docs/protocol.md: one WebSocket, JSON texts, a request for each
verb; the same verbs are there over HTTP, too.
"""

import argparse
import asyncio
import itertools
import json
import os
import uuid

import websockets


class Refused(Exception):
    """The hub refused a request; `problem` says why."""

    def __init__(self, problem):
        super().__init__(problem["detail"])
        self.problem = problem


class Hub:
    """One connection: requests go out with a number, answers come back with the same."""

    def __init__(self, socket):
        self.socket, self.numbers, self.waiting = socket, itertools.count(1), {}

    async def listen(self):
        async for text in self.socket:
            frame = json.loads(text)
            future = self.waiting.pop(frame.get("id"), None) if frame["type"] in ("answer", "error") else None
            if future and frame["type"] == "answer":
                future.set_result(frame["answer"].get("value"))
            elif future:
                future.set_exception(Refused(frame["problem"]))
        for future in self.waiting.values():
            future.set_exception(ConnectionError("the hub closed the connection"))

    async def ask(self, verb, key=None, **fields):
        number = next(self.numbers)
        self.waiting[number] = asyncio.get_running_loop().create_future()
        frame = {"type": "request", "id": number, "call": {"verb": verb, **fields}}
        if key:
            frame["key"] = key  # the same key acts once, however often it is sent
        future = self.waiting[number]
        await self.socket.send(json.dumps(frame))
        return await future


async def work(task, brief):
    """Your code: does the task and says what was done. Raise to say that it cannot be done."""
    title = task["description"].splitlines()[0]
    return {"summary": f"Looked at: {title}", "context_score": 5}


async def keep(hub, task, fence, seconds):
    """Renews the lease until it is cancelled."""
    while True:
        await asyncio.sleep(seconds / 2)
        await hub.ask("task.heartbeat", task=task, input={"fence": fence})


async def do(hub, taken):
    """Works on one task and reports it; a lost lease ends the work."""
    task, fence = taken["task"], taken["lease"]["fence"]
    keeper = asyncio.create_task(keep(hub, task["id"], fence, taken["heartbeat_seconds"]))
    try:
        try:
            report = await work(task, taken["brief"])
        except Exception as error:  # noqa: BLE001 - whatever it is, the hub must know
            report = {"summary": "It could not be done.", "failed": str(error) or type(error).__name__}
        made = await hub.ask("task.report", key=str(uuid.uuid4()), task=task["id"], input={"fence": fence, **report})
        print(f"{task['id']}: {made['verdict']}", flush=True)
    except Refused as refused:
        # Somebody else has it now: what we did is not wanted any more.
        print(f"{task['id']}: {refused}", flush=True)
    finally:
        keeper.cancel()


async def serve(url, token, project, name, until_empty):
    address = "ws" + url.removeprefix("http") + "/api/ws"
    headers = {"Authorization": f"Bearer {token}"}
    async with websockets.connect(address, additional_headers=headers, max_size=None, proxy=None) as socket:
        await socket.send(json.dumps({"type": "hello", "protocol": 1, "client": "worker.py"}))
        hub = Hub(socket)
        listener = asyncio.create_task(hub.listen())
        try:
            while not listener.done():
                wish = {"worker": name, "wait_seconds": 0 if until_empty else 20}
                answer = await hub.ask("task.take", key=str(uuid.uuid4()), project=project, input=wish)
                if answer["taken"]:
                    await do(hub, answer["taken"])
                elif until_empty:
                    print(f"nothing left: {answer['why_not']}", flush=True)
                    return True
                else:
                    await asyncio.sleep(1)
        finally:
            listener.cancel()
    return False


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--project", required=True, help="the project's id, prj_…")
    parser.add_argument("--name", default="worker.py", help="the same name is the same worker")
    parser.add_argument("--until-empty", action="store_true", help="end when there is nothing to take")
    args = parser.parse_args()
    url, token = os.environ["SHOPFLOOR_HUB"].rstrip("/"), os.environ["SHOPFLOOR_TOKEN"]
    while True:
        try:
            if await serve(url, token, args.project, args.name, args.until_empty):
                return
        except (OSError, ConnectionError, websockets.ConnectionClosed) as error:
            # The hub keeps the lease for a while: whoever comes back in time goes on.
            print(f"the hub is away: {error}", flush=True)
        await asyncio.sleep(1)


if __name__ == "__main__":
    asyncio.run(main())
