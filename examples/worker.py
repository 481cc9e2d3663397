#!/usr/bin/env python3
"""A worker in Python, with only `websockets`: takes tasks, keeps their leases, reports.

    pip install websockets
    SHOPFLOOR_HUB=http://127.0.0.1:4720 SHOPFLOOR_TOKEN=sf_… python worker.py --project prj_…

`work` is the place for your own code. The protocol is in docs/protocol.md: one WebSocket, JSON texts, a request for each
verb; the same verbs are there over HTTP, too.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import random
import uuid

import websockets


class Refused(Exception):
    """The hub refused a request; `problem` says why."""

    def __init__(self, problem):
        super().__init__(problem["detail"])
        self.problem = problem


class Hub:
    """The hub, over one connection at a time: requests go out with a number, answers come back with the same.

    Whatever ends a connection, another one is made, and what was not answered is asked again.
    """

    def __init__(self, url, token):
        self.address, self.headers = "ws" + url.removeprefix("http") + "/api/ws", {"Authorization": f"Bearer {token}"}
        self.numbers, self.waiting, self.tries = itertools.count(1), {}, 0
        self.socket, self.up = None, asyncio.Event()

    async def connect(self):
        """Connects again and again; ends only with what trying again does not mend."""
        while True:
            try:
                options = {"additional_headers": self.headers, "max_size": None, "proxy": None}
                async with websockets.connect(self.address, **options) as self.socket:
                    await self.socket.send(json.dumps({"type": "hello", "protocol": 1, "client": "worker.py"}))
                    self.up.set()
                    await self.listen()
            except (OSError, EOFError, websockets.WebSocketException) as error:
                status = error.response.status_code if isinstance(error, websockets.InvalidStatus) else 500
                if status < 500 and status != 429:
                    raise
                print(f"the hub is away: {error}", flush=True)
            finally:
                self.up.clear()
                for future in self.waiting.values():
                    if not future.done():
                        future.set_exception(ConnectionError("the connection to the hub ended"))
                self.waiting.clear()
            self.tries += 1
            # Not all at once: a hub that comes back has others to greet, too.
            await asyncio.sleep(random.uniform(0.5, 1) * min(30, 0.5 * 2**self.tries))

    async def listen(self):
        async for text in self.socket:
            frame, self.tries = json.loads(text), 0
            future = self.waiting.get(frame.get("id")) if frame["type"] in ("answer", "error") else None
            if future and not future.done() and frame["type"] == "answer":
                future.set_result(frame["answer"].get("value"))
            elif future and not future.done():
                future.set_exception(Refused(frame["problem"]))

    async def ask(self, verb, key=None, **fields):
        """Asks until there is an answer; with a `key` it acts once, however often it is sent."""
        frame = {"type": "request", "call": {"verb": verb, **fields}, **({"key": key} if key else {})}
        while True:
            while not self.up.is_set():
                await self.up.wait()
            number = next(self.numbers)
            future = self.waiting[number] = asyncio.get_running_loop().create_future()
            try:
                # A connection that is closed fails the future as well, as soon as that is noticed.
                with contextlib.suppress(websockets.ConnectionClosed):
                    await self.socket.send(json.dumps({**frame, "id": number}))
                return await future
            except ConnectionError:
                continue
            except Refused as refused:
                if refused.problem["kind"] not in ("unavailable", "rate_limited"):
                    raise
                await asyncio.sleep(refused.problem.get("retry_after_seconds") or random.uniform(1, 3))
            finally:
                self.waiting.pop(number, None)


async def work(task, brief):
    """Your code: does the task and says what was done. Raise to say that it cannot be done.

    It is cancelled when the lease is lost: somebody else has the task then.
    """
    title = task["description"].splitlines()[0]
    return {"summary": f"Looked at: {title}", "context_score": 5}


async def attempt(task, brief):
    try:
        return await work(task, brief)
    except Exception as error:  # noqa: BLE001 - whatever it is, the hub must know
        return {"summary": "It could not be done.", "failed": str(error) or type(error).__name__}


async def keep(hub, task, fence, seconds):
    """Renews the lease until it is cancelled; ends when the lease is lost."""
    while True:
        await asyncio.sleep(seconds / 2)
        try:
            await hub.ask("task.heartbeat", task=task, input={"fence": fence})
        except Refused as refused:
            if refused.problem["kind"] in ("conflict", "not_found"):
                raise
            print(f"{task}: the lease was not renewed: {refused}", flush=True)


async def do(hub, taken):
    """Works on one task and reports it; a lost lease ends the work."""
    task, fence = taken["task"], taken["lease"]["fence"]
    working = asyncio.create_task(attempt(task, taken["brief"]))
    keeping = asyncio.create_task(keep(hub, task["id"], fence, taken["heartbeat_seconds"]))
    try:
        await asyncio.wait({working, keeping}, return_when=asyncio.FIRST_COMPLETED)
        if keeping.done():
            keeping.result()
        report = {"fence": fence, **working.result()}
        made = await hub.ask("task.report", key=str(uuid.uuid4()), task=task["id"], input=report)
        print(f"{task['id']}: {made['verdict']}", flush=True)
    except Refused as refused:
        # Somebody else has it now: what we did is not wanted any more.
        print(f"{task['id']}: {refused}", flush=True)
    finally:
        working.cancel()
        keeping.cancel()
        # What is cancelled may have to tidy up: the next task begins after that.
        await asyncio.wait({working, keeping})


async def serve(hub, project, name, until_empty):
    """Takes one task after the other."""
    while True:
        wish = {"worker": name, "wait_seconds": 0 if until_empty else 20}
        answer = await hub.ask("task.take", key=str(uuid.uuid4()), project=project, input=wish)
        if answer["taken"]:
            await do(hub, answer["taken"])
        elif until_empty:
            print(f"nothing left: {answer['why_not']}", flush=True)
            return
        else:
            await asyncio.sleep(1)


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--project", required=True, help="the project's id, prj_…")
    parser.add_argument("--name", default="worker.py", help="the same name is the same worker")
    parser.add_argument("--until-empty", action="store_true", help="end when there is nothing to take")
    args = parser.parse_args()
    hub = Hub(os.environ["SHOPFLOOR_HUB"].rstrip("/"), os.environ["SHOPFLOOR_TOKEN"])
    connecting = asyncio.create_task(hub.connect())
    serving = asyncio.create_task(serve(hub, args.project, args.name, args.until_empty))
    ended, others = await asyncio.wait({connecting, serving}, return_when=asyncio.FIRST_COMPLETED)
    for other in others:
        other.cancel()
    await asyncio.gather(*ended)


if __name__ == "__main__":
    asyncio.run(main())
