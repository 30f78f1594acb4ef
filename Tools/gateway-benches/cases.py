"""The measurements with one node. Each returns rows: the measurement, its value, its bound, and whether it is met."""

import json
import selectors
import statistics
import time
import urllib.parse
import uuid

from machine import World
from wire import Client, Answer, metrics, path, request, simple


def result(name, value, unit, bound="", is_met=None):
    return {"case": name, "value": value, "unit": unit, "bound": bound, "met": is_met}


def at_most(name, value, unit, bound):
    return result(name, value, unit, f"≤ {bound:,}", value <= bound)


def at_least(name, value, unit, bound):
    return result(name, value, unit, f"≥ {bound:,}", value >= bound)


def read_all(client, target):
    """Follows next links. Returns the path of the delta link, the number of rows, and the bytes."""
    rows = size = 0
    while True:
        answer = client.get(target)
        body = answer.json()
        rows += len(body["value"])
        size += len(answer.body)
        if "@odata.deltaLink" in body:
            return path(body["@odata.deltaLink"]), rows, size
        if "@odata.nextLink" not in body:
            raise RuntimeError(f"no link after {rows} rows: status {answer.status}")
        target = path(body["@odata.nextLink"])


def refreshes(node, end):
    return sum(value for name, value in metrics(node.admin).items()
               if name.startswith("gateway_feed_refreshes_total") and f'end="{end}"' in name)


def first_load(node):
    """Waits until the feed S1 was read for the first time."""
    while refreshes(node, "published") == 0:
        client = Client(node.port)
        # Begins the reading. The answer may be the whole query of the service, if the reading takes long.
        client.socket.sendall(request("GET", "/odata/svc/S1", client.headers))
        while refreshes(node, "published") == 0:
            time.sleep(0.2)
        client.close()


class Written:
    """The bytes that were written to the database since the object was made."""

    def __init__(self, world, node):
        self.world, self.node = world, node
        self.start = self.now()

    def now(self):
        if self.world.postgres:
            return int(self.world.postgres.sql("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn"))
        return self.node.written()

    def since(self):
        return self.now() - self.start


def scan(programs, storage, options):
    """A large feed of which a hundred rows change."""
    world = World(programs, storage)
    try:
        simple(int(world.origin.lines[0]), "POST", f"/control/fill?rows={options.rows}")
        node = world.gateway(["S1"])
        began = time.monotonic()
        origin_cpu = world.origin.cpu()
        first_load(node)
        rows = [result("first reading, CPU of the node", round(node.cpu(), 2), "s"),
                result("first reading, time", round(time.monotonic() - began, 1), "s"),
                result("first reading, CPU of the service", round(world.origin.cpu() - origin_cpu, 2), "s"),
                result("first reading, peak of memory", round(node.peak()), "MiB")]
        client = Client(node.port)
        began, cpu = time.monotonic(), node.cpu()
        delta, count, size = read_all(client, "/odata/svc/S1")
        rows += [result(f"{count} rows to a client, CPU of the node", round(node.cpu() - cpu, 2), "s"),
                 result("the same, time", round(time.monotonic() - began, 1), "s"),
                 result("the same, bytes", size, "bytes")]
        port = node.port
        node.stop()
        rows.append(result("database, for each row", round(world.size("item") / options.rows), "bytes"))
        # A process whose memory was not shaped by the first reading. Each request that finds no reading begins one.
        node = world.gateway(["S1"], port=port, minutes=0)
        client = Client(port)
        assert client.get(delta).status == 200
        while refreshes(node, "unchanged") == 0:
            time.sleep(0.2)
        rows += refresh(world, node, client, delta, options)
        if world.postgres:
            for note in ["after a checkpoint", "again"]:
                rows += refresh(world, node, client, delta, options, note)
        node.stop()
        world.gateway(["S1"], port=port, minutes=1_000)
        return rows + serve_delta(Client(port), delta)
    finally:
        world.stop()


def refresh(world, node, client, delta, options, repetition=None):
    step = max(options.rows // 100, 1)
    keys = ",".join(str(key * step) for key in range(100))
    if repetition == "after a checkpoint":
        # The first change of a page after a checkpoint writes the page as a whole.
        world.postgres.sql("CHECKPOINT")
    note = urllib.parse.quote(f"changed note {repetition or ''}")
    simple(int(world.origin.lines[0]), "POST", f"/control/change?keys={keys}&note={note}")
    done = refreshes(node, "published")
    written = Written(world, node)
    node.reset_peak()
    memory, cpu, origin = node.memory(), node.cpu(), world.origin.cpu()
    database = world.postgres.cpu() if world.postgres else 0
    time.sleep(1)
    client.get(delta)
    while refreshes(node, "published") == done:
        time.sleep(0.2)
    time.sleep(1)
    written = written.since()
    used = node.cpu() - cpu
    database = world.postgres.cpu() - database if world.postgres else 0
    if repetition:
        return [at_most(f"refresh {repetition}, bytes written", written, "bytes", 1_000_000)]
    return [
        at_most("refresh with 100 changes, CPU of the node and the database", round(used + database, 2), "s", 8),
        result("of it the database", round(database, 2), "s"),
        result("CPU of the service meanwhile", round(world.origin.cpu() - origin, 2), "s"),
        at_most("refresh, peak of memory beyond before", round(node.peak() - memory), "MiB", 300),
        at_most("refresh, bytes written", written, "bytes", 1_000_000),
    ]


def serve_delta(client, delta):
    answers = [client.get(delta) for _ in range(200)]
    assert len(answers[0].json()["value"]) == 100, answers[0].body[:300]
    return [
        at_most("delta with 100 rows", len(answers[0].body), "bytes", 40_000),
        at_most("delta with 100 rows, first byte, median",
                round(statistics.median(answer.first_byte for answer in answers) * 1_000, 2), "ms", 20),
        at_most("delta with 100 rows, first byte, largest of 200",
                round(max(answer.first_byte for answer in answers) * 1_000, 2), "ms", 20)]


def polls(programs, storage, options):
    """Polls that find nothing new, on connections of different users."""
    world = World(programs, storage)
    try:
        simple(int(world.origin.lines[0]), "POST", "/control/fill?rows=1000")
        node = world.gateway(["S1"], minutes=1_000)
        clients = [Client(node.port, f"user{number}") for number in range(options.connections)]
        links = [read_all(client, "/odata/svc/S1")[0] for client in clients]
        empty = clients[0].get(links[0])
        assert empty.json()["value"] == []
        loops(clients, links, 1)
        statements = world.postgres.statements() if world.postgres else 0
        database = world.postgres.cpu() if world.postgres else 0
        cpu, own, began = node.cpu(), time.process_time(), time.monotonic()
        count = loops(clients, links, options.seconds)
        seconds, own = time.monotonic() - began, time.process_time() - own
        used = node.cpu() - cpu
        rows = [at_most("empty poll, body", len(empty.body), "bytes", 400),
                at_least("empty polls for each second of CPU", round(count / used), "polls", 5_000),
                result("empty polls for each second", round(count / seconds), "polls"),
                result("share of a core that the load generator used", round(own / seconds, 2), "")]
        if world.postgres:
            executed = world.postgres.statements() - statements
            rows += [at_most("database statements for each poll", round(executed / count, 4), "", 0),
                     result("database statements for each second", round(executed / seconds, 1), ""),
                     result("CPU of the database for each poll",
                            round((world.postgres.cpu() - database) / count * 1e6, 1), "µs")]
        return rows
    finally:
        world.stop()


def loops(clients, links, seconds):
    """Each client sends its request again when it has the answer. Returns the number of answers."""
    selector = selectors.DefaultSelector()
    for client, link in zip(clients, links):
        message = request("GET", link, client.headers)
        selector.register(client.socket, selectors.EVENT_READ, message)
        client.socket.sendall(message)
    count, waiting, deadline = 0, len(clients), time.monotonic() + seconds
    while waiting:
        is_over = time.monotonic() > deadline
        for key, _ in selector.select():
            # The answers are small, and arrive in one or two pieces.
            data = key.fileobj.recv(65_536)
            if not data.endswith(b"}"):
                continue
            count += 1
            if is_over:
                waiting -= 1
            else:
                key.fileobj.sendall(key.data)
    return count


def sharing(programs, storage, options):
    """The requests that the service receives for one client and for a thousand."""
    counts = []
    for number in [1, 1_000]:
        world = World(programs, storage)
        try:
            control = int(world.origin.lines[0])
            simple(control, "POST", "/control/fill?rows=1000")
            node = world.gateway(["S1"])
            links = []
            for user in range(number):
                client = Client(node.port, f"user{user}")
                links.append((client, read_all(client, "/odata/svc/S1")[0]))
                client.close()
            simple(control, "POST", "/control/change?keys=1&note=changed")
            time.sleep(62)
            seen = 0
            for user, (_, link) in enumerate(links):
                client = Client(node.port, f"user{user}")
                seen += len(client.get(link).json()["value"])
                client.close()
            assert seen == number, f"{seen} of {number} clients saw the change"
            counts.append(json.loads(simple(control, "GET", "/control/counts").body))
        finally:
            world.stop()
    one, many = counts
    return [result("readings of the service, 1 client", one["pages"], "requests"),
            result("readings of the service, 1,000 clients", many["pages"], "requests", f"= {one['pages']}",
                   many["pages"] == one["pages"]),
            result("probes of permissions, 1 client", one["probes"], "requests"),
            result("probes of permissions, 1,000 clients, one for each user in five minutes", many["probes"],
                   "requests")]


def start(programs, storage, options):
    """The time until the program is ready, and its memory when idle."""
    world = World(programs, storage)
    try:
        times, memory = [], []
        world.gateway(["S1"]).stop()
        for _ in range(9):
            node = world.gateway(["S1"])
            times.append(node.seconds_to_ready)
            time.sleep(1)
            memory.append(node.memory())
            node.stop()
        return [at_most("start until ready, median of 9", round(statistics.median(times), 3), "s", 0.5),
                at_most("start until ready, longest", round(max(times), 3), "s", 0.5),
                at_most("idle memory", round(statistics.median(memory), 1), "MiB", 60)]
    finally:
        world.stop()


# --- Uploads

def batch(operations):
    """A batch with a change set for each creation, each with identifiers of its own."""
    today = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime())
    parts = []
    for number in range(operations):
        name = uuid.uuid4()
        body = json.dumps({"VisitID": str(name), "Subject": f"visit {name}"})
        parts.append(
            f"--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\n"
            f"Content-Transfer-Encoding: binary\r\nContent-ID: {number + 1}\r\n\r\nPOST Visits HTTP/1.1\r\n"
            f"Content-Type: application/json\r\nAccept: application/json\r\nRepeatability-Request-ID: {uuid.uuid4()}\r\n"
            f"Repeatability-Client-ID: {uuid.uuid4()}\r\nRepeatability-First-Sent: {today}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}\r\n--c--\r\n")
    return "".join(parts).encode() + b"--b--\r\n"


def uploads(programs, storage, options):
    """Batches of 100 creations, to the service and through the gateway, in turns.

    The sandbox, which creates 100 entities in 10 ms, is delayed to the time that the option says: a service with a
    database needs longer, and the share of the gateway depends on it.
    """
    rows = []
    for label, feeds in [("", []), (", with a shared feed", ["Orders"])]:
        for clients in [1, 8]:
            # A new service each time, so that all cases begin with the same data.
            world = World(programs, storage, origin=False)
            try:
                sandbox = world.sandbox()
                root = sandbox.lines[1].removeprefix("V4 ")
                simple(int(root.split(":")[2].split("/")[0]), "POST", "/faults", body=json.dumps(
                    {"effect": "delay", "milliseconds": options.service, "url": "$batch", "times": 1_000_000}).encode())
                node = world.gateway(feeds, root=root)
                places = {"direct": (int(root.split(":")[2].split("/")[0]), "/v4/$batch"),
                          "gateway": (node.port, "/odata/svc/$batch")}
                rows += compare(places, clients, options.batches, label, node, sandbox)
                units = metrics(node.admin)['gateway_ledger_ends_total{end="done"}']
                node.stop()
                rows.append(result("the ledger, for each creation", round(world.size("ledger") / units), "bytes"))
            finally:
                world.stop()
    return rows


def compare(places, clients, batches, label, node, sandbox):
    """Alternates between the places. The rate is that of all rounds."""
    seconds = {name: [] for name in places}
    cpu = {name: [0.0, 0.0] for name in places}
    rounds = max(batches // clients, 1)
    for lap in range(rounds + 1):
        for name, (port, target) in places.items():
            bodies = [batch(100) for _ in range(clients)]
            before = [sandbox.cpu(), node.cpu()]
            taken = parallel(port, target, bodies)
            if lap > 0:
                seconds[name].append(taken)
                cpu[name][0] += sandbox.cpu() - before[0]
                cpu[name][1] += node.cpu() - before[1]
    direct, through = (statistics.median(seconds[name]) for name in ["direct", "gateway"])
    name = f"uploads in batches of 100, {clients} at a time{label}"
    return [result(f"{name}: direct", round(100 * clients / direct), "creates/s"),
            result(f"{name}: gateway", round(100 * clients / through), "creates/s"),
            at_least(f"{name}: ratio", round(direct / through, 2), "", 0.8),
            result(f"{name}: CPU for a batch: service directly, service through the gateway, node",
                   [round(value / rounds / clients * 1e3, 1)
                    for value in [cpu["direct"][0], cpu["gateway"][0], cpu["gateway"][1]]], "ms")]


def parallel(port, target, bodies):
    """Sends the bodies at the same time. Returns the seconds until the last answer."""
    headers = {"Content-Type": "multipart/mixed; boundary=b", "Accept": "multipart/mixed", "OData-Version": "4.0"}
    clients = [Client(port, f"user{number}") for number in range(len(bodies))]
    messages = [request("POST", target, {**headers, "Authorization": client.headers["Authorization"]}, body)
                for client, body in zip(clients, bodies)]
    selector = selectors.DefaultSelector()
    received = {}
    began = time.perf_counter()
    for client, message in zip(clients, messages):
        client.socket.sendall(message)
        selector.register(client.socket, selectors.EVENT_READ, client)
        received[client] = b""
    while received:
        for key, _ in selector.select():
            client = key.data
            received[client] += client.receive()
            if is_complete(received[client]):
                selector.unregister(client.socket)
                created = received.pop(client).count(b"201 Created")
                if created != 100:
                    raise RuntimeError(f"{created} of 100 were created")
    seconds = time.perf_counter() - began
    for client in clients:
        client.close()
    return seconds


def is_complete(data):
    head, found, rest = data.partition(b"\r\n\r\n")
    if not found:
        return False
    answer = Answer(int(head.split(b" ", 2)[1]), head, b"", 0)
    if length := answer.field("Content-Length"):
        return len(rest) >= int(length)
    return rest.endswith(b"0\r\n\r\n")
