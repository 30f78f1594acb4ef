"""Simulated clients poll queries at three nodes, and create rows, while nodes are killed and PostgreSQL crashes.

A client keeps the rows of each query by key, as its delta links tell them. A row must never get an older version, a
removed row must not return without a new version, and a client must see what it has created itself. At the end each
client must have the rows of the service, and each created row must exist once.
"""

import asyncio
import json
import random
import time
import uuid

from cases import at_most, result
from machine import World, free_port
from wire import FEED, Answer, path, request, simple

SETS = [f"S{number}" for number in range(1, 21)]
CREATED = "S20"
ROWS = 50


class Lost(Exception):
    """No complete answer arrived."""


class Fleet:
    """The nodes, and kept connections to them. Each request goes to a random node."""

    def __init__(self, world):
        self.world = world
        self.ports = [free_port() for _ in range(3)]
        self.nodes = [self.launch(index) for index in range(3)]
        self.idle = {port: [] for port in self.ports}
        # The times in which a fault has effects.
        self.faults = []

    def launch(self, index):
        return self.world.gateway(
            SETS, port=self.ports[index], name=f"node{index}",
            settings="postgres_connections = 4\nrequests_per_user = 8",
            endpoint="origin_timeout = 2\norigin_margin = 1")

    async def kill(self, index):
        began = time.monotonic()
        self.nodes[index].kill()
        self.world.processes.remove(self.nodes[index])
        self.nodes[index] = await asyncio.to_thread(self.launch, index)
        self.faults.append((began, time.monotonic() + 1))

    async def crash(self):
        began = time.monotonic()
        await asyncio.to_thread(self.world.postgres.crash)
        await asyncio.to_thread(self.world.postgres.start)
        self.faults.append((began, time.monotonic() + 5))

    async def send(self, message):
        port = random.choice(self.ports)
        writer = None
        try:
            async with asyncio.timeout(60):
                reader, writer = (
                    self.idle[port].pop() if self.idle[port] else await asyncio.open_connection("127.0.0.1", port))
                writer.write(message)
                head = (await reader.readuntil(b"\r\n\r\n"))[:-4]
                answer = Answer(int(head.split(b" ", 2)[1]), head, b"", 0)
                length = int(answer.field("Content-Length") or 0)
                if b"chunked" in head:
                    raise Lost("a chunked answer")
                answer.body = await reader.readexactly(length)
                if answer.field("Connection") == "close":
                    writer.close()
                else:
                    self.idle[port].append((reader, writer))
                return answer
        except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
            if writer:
                writer.close()
            raise Lost(str(error)) from error


class Counts:
    def __init__(self):
        self.polls = self.creates = self.doubts = self.lost = self.unavailable = self.expired = self.limited = 0
        self.latencies = []
        self.statuses = {}
        self.wrong = []


class Client:
    def __init__(self, number, fleet, counts):
        self.number, self.fleet, self.counts = number, fleet, counts
        self.headers = {**FEED, "Authorization": f"Basic client{number}"}
        self.rows = {name: {} for name in SETS}
        self.links = {}
        self.own, self.names = set(), []
        self.wrote = False

    async def poll(self, name):
        """Returns whether the client has the rows of a generation now."""
        target = self.links.get(name, f"/odata/svc/{name}")
        began, after_write = time.monotonic(), self.wrote
        rows, is_full = [], name not in self.links
        while True:
            try:
                answer = await self.fleet.send(request("GET", target, self.headers))
            except Lost:
                self.counts.lost += 1
                return False
            self.counts.polls += 1
            self.counts.statuses[answer.status] = self.counts.statuses.get(answer.status, 0) + 1
            self.counts.latencies.append((began, time.monotonic(), after_write))
            if answer.status == 410:
                self.links.pop(name, None)
                return False
            if answer.status != 200:
                return False
            body = answer.json()
            rows += body["value"]
            if "@odata.deltaLink" in body:
                self.apply(name, rows, is_full)
                self.links[name] = path(body["@odata.deltaLink"])
                return True
            if "@odata.nextLink" not in body:
                # Passed through to the service: the rows are right, but there is no link.
                return False
            target = path(body["@odata.nextLink"])

    def apply(self, name, rows, is_full):
        """A removed row has the negative version that it had."""
        state, seen = self.rows[name], set()
        for row in rows:
            if "@removed" in row or "reason" in row:
                key = int(row.get("@id", row.get("id")).rsplit("(", 1)[1][:-1])
                if state.get(key, 0) > 0:
                    state[key] = -state[key]
                continue
            key, version = row["ID"], int(row["Note"].split()[0])
            known = state.get(key, 0)
            if version < abs(known) or known < 0 and version <= -known:
                self.counts.wrong.append(f"client {self.number}: {name}({key}) went from {known} to {version}")
            state[key] = version
            seen.add(key)
        if is_full:
            for key in state.keys() - seen:
                state[key] = -abs(state[key])
        if name == CREATED:
            missing = [key for key in self.own if state.get(key, 0) <= 0]
            if missing:
                self.counts.wrong.append(f"client {self.number}: its own rows {missing} are missing")

    def alive(self, name):
        return {key: version for key, version in self.rows[name].items() if version > 0}

    async def create(self, control):
        """Creates a row, and repeats the request until its outcome is known."""
        name = f"1 {uuid.uuid4()}"
        body = json.dumps({"ID": 0, "Note": name}).encode()
        identifiers = self.identifiers()
        self.names.append(name)
        self.wrote = True
        while True:
            try:
                answer = await self.fleet.send(request(
                    "POST", f"/odata/svc/{CREATED}",
                    {**self.headers, **identifiers, "Content-Type": "application/json"}, body))
            except Lost:
                await asyncio.sleep(1)
                continue
            if answer.status == 201:
                self.counts.creates += 1
                self.own.add(answer.json()["ID"])
                return
            if answer.status == 412:
                self.counts.doubts += 1
                rows = json.loads((await asyncio.to_thread(
                    simple, control, "GET", f"/control/rows?set={CREATED}")).body)
                found = [int(key) for key, note in rows.items() if note == name]
                if found:
                    # The change was not made in this exchange, so it is only in the next reading.
                    self.counts.creates += 1
                    return
                identifiers = self.identifiers()
                continue
            if answer.status not in (429, 502, 503, 504):
                self.counts.wrong.append(f"a creation was answered with {answer.status}: {answer.body[:200]}")
                return
            await asyncio.sleep(1)

    @staticmethod
    def identifiers():
        return {
            "Repeatability-Request-ID": str(uuid.uuid4()), "Repeatability-Client-ID": str(uuid.uuid4()),
            "Repeatability-First-Sent": time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime())}

    async def run(self, deadline, interval, control):
        await asyncio.sleep(random.uniform(0, interval))
        while time.monotonic() < deadline:
            if self.number % 10 == 0 and random.random() < interval / 100:
                await self.create(control)
                # The own row must be there at once, whichever node answers.
                await self.poll(CREATED)
            await self.poll(random.choice(SETS))
            self.wrote = False if random.random() < 0.2 else self.wrote
            await asyncio.sleep(random.uniform(0, 2 * interval))


async def edit(control, deadline):
    """Changes, deletes and adds rows at the service."""
    version = 2
    while time.monotonic() < deadline:
        version += 1
        name, key = random.choice(SETS), random.randrange(ROWS)
        target = (f"/control/delete?set={name}&key={key}" if random.random() < 0.2 else
                  f"/control/change?set={name}&keys={key}&note={version}+note")
        await asyncio.to_thread(simple, control, "POST", target)
        await asyncio.sleep(0.2)


async def disturb(fleet, deadline, seconds):
    began = time.monotonic()
    kills = crashes = 0
    while time.monotonic() < deadline:
        await asyncio.sleep(min(10, max(deadline - time.monotonic(), 0)))
        if crashes < 2 and time.monotonic() - began > seconds * (crashes + 1) / 3:
            crashes += 1
            await fleet.crash()
        await fleet.kill(random.randrange(3))
        kills += 1
    return kills, crashes


async def settle(clients, control):
    """Polls until each client has the rows of the service. Returns the number of queries with other rows."""
    # All readings are older than the interval then.
    await asyncio.sleep(62)
    truth = {}
    for name in SETS:
        rows = json.loads((await asyncio.to_thread(simple, control, "GET", f"/control/rows?set={name}")).body)
        truth[name] = {int(key): int(note.split()[0]) for key, note in rows.items()}
    gate = asyncio.Semaphore(64)

    async def complete(client, name):
        async with gate:
            for _ in range(20):
                if await client.poll(name) and client.alive(name) == truth[name]:
                    return 0
                await asyncio.sleep(1)
            return 1

    different = 0
    for name in SETS:
        different += sum(await asyncio.gather(*(complete(client, name) for client in clients)))
    return different, truth


def percentile(values, share):
    ordered = sorted(values)
    return round(ordered[min(int(len(ordered) * share), len(ordered) - 1)] * 1_000, 1) if ordered else 0


async def simulate(world, options):
    control = int(world.origin.lines[0])
    for name in SETS:
        for start in range(0, ROWS, 50):
            keys = ",".join(map(str, range(start, min(start + 50, ROWS))))
            simple(control, "POST", f"/control/change?set={name}&keys={keys}&note=2+note")
    fleet, counts = Fleet(world), Counts()
    clients = [Client(number, fleet, counts) for number in range(options.clients)]
    deadline = time.monotonic() + options.seconds
    began = time.monotonic()
    interval = options.clients / options.rate
    working = [asyncio.create_task(client.run(deadline, interval, control)) for client in clients]
    editing = asyncio.create_task(edit(control, deadline))
    kills, crashes = await disturb(fleet, deadline, options.seconds)
    await asyncio.gather(*working, editing)
    seconds = time.monotonic() - began
    latencies, polls = counts.latencies, counts.polls
    counts.latencies = []
    different, _ = await settle(clients, control)
    rows = json.loads(simple(control, "GET", f"/control/rows?set={CREATED}").body)
    found = [note for note in rows.values() if note.startswith("1 ")]
    names = [name for client in clients for name in client.names]
    for text in counts.wrong[:20]:
        print(f"wrong: {text}", flush=True)

    def outside(after_write):
        return [end - start for start, end, wrote in latencies if wrote == after_write
                and not any(start < until and since < end for since, until in fleet.faults)]

    return [
        result("time, clients, kills of nodes, crashes of PostgreSQL",
               [round(seconds), len(clients), kills, crashes], ""),
        result("polls, creates, creates whose outcome was asked for, answers by status",
               [polls, len(names), counts.doubts, counts.statuses], ""),
        result("requests without a complete answer", counts.lost, ""),
        at_most("wrong states: versions that went back, own rows missing", len(counts.wrong), "", 0),
        at_most("wrong states: queries with other rows at the end", different, "", 0),
        at_most("creates that exist more than once", len(found) - len(set(found)), "", 0),
        at_most("creates that are lost", len(set(names) - set(found)), "", 0),
        result("polls outside of faults", len(outside(False)) + len(outside(True)), ""),
        result("latency outside of faults, median", percentile(outside(False), 0.5), "ms"),
        at_most("latency outside of faults, 99 %", percentile(outside(False), 0.99), "ms", 250),
        result("latency outside of faults, 99.9 %", percentile(outside(False), 0.999), "ms"),
        result("latency of clients that have changed data before, median and 99 %",
               [percentile(outside(True), 0.5), percentile(outside(True), 0.99)], "ms"),
        result("latency of all polls, with faults, 99 %",
               percentile([end - start for start, end, _ in latencies], 0.99), "ms"),
    ]


def nodes(programs, storage, options):
    if storage != "postgresql":
        return []
    world = World(programs, storage)
    try:
        return asyncio.run(simulate(world, options))
    finally:
        world.stop()
