"""A service without delta links and without repeatable requests, whose entity sets S1, S2, … have the same type.

It pages by 5,000 rows, and answers /control requests of the benches. Prints its port.
"""

import json
import re
import socket
import threading
import urllib.parse

PAGE = 5_000
SETS = 20

METADATA = f"""<?xml version="1.0" encoding="utf-8"?>
<edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
<Schema Namespace="Bench" xmlns="http://docs.oasis-open.org/odata/ns/edm">
<EntityType Name="Row"><Key><PropertyRef Name="ID"/></Key>
<Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Note" Type="Edm.String"/>
<Property Name="Amount" Type="Edm.Decimal" Scale="variable"/><Property Name="CustomerID" Type="Edm.Int32"/>
<Property Name="Created" Type="Edm.DateTimeOffset"/><Property Name="Open" Type="Edm.Boolean"/></EntityType>
<EntityContainer Name="Container">
{"".join(f'<EntitySet Name="S{number}" EntityType="Bench.Row"/>' for number in range(1, SETS + 1))}
</EntityContainer></Schema></edmx:DataServices></edmx:Edmx>""".encode()


def row(number, note):
    return (f'{{"@odata.etag":"W/\\"{note}\\"","ID":{number},"Note":"{note}","Amount":{number}.5,'
            f'"CustomerID":{number % 97},"Created":"2026-01-01T00:00:00Z","Open":true}}').encode()


class Service:
    def __init__(self):
        self.lock = threading.Lock()
        self.rows = {f"S{number}": {} for number in range(1, SETS + 1)}
        self.order = {}
        self.next = 1_000_000_000
        self.counts = {"pages": 0, "probes": 0, "checks": 0, "creates": 0}

    def answer(self, method, target, body):
        """Returns the status and the body."""
        parts = urllib.parse.urlsplit(target)
        options = dict(urllib.parse.parse_qsl(parts.query))
        with self.lock:
            if parts.path.startswith("/control/"):
                return 200, json.dumps(self.control(parts.path[9:], options)).encode()
            if parts.path == "/svc/$metadata":
                return 200, METADATA
            found = re.fullmatch(r"/svc/(S\d+)(?:\((\d+)\))?", parts.path)
            if not found or found[1] not in self.rows:
                return 404, b'{"error":{"code":"404","message":"unknown"}}'
            if method == "POST":
                return self.create(found[1], json.loads(body))
            if found[2]:
                self.counts["checks"] += 1
                known = self.rows[found[1]].get(int(found[2]))
                return (200, known) if known else (404, b'{"error":{"code":"404","message":"gone"}}')
            return 200, self.page(found[1], options)

    def page(self, name, options):
        rows = self.rows[name]
        order = self.order.get(name)
        if order is None:
            order = self.order[name] = sorted(rows)
        start = int(options.get("$skiptoken", 0))
        count = int(options.get("$top", PAGE))
        self.counts["probes" if "$top" in options else "pages"] += 1
        keys = order[start:start + count]
        more = "$top" not in options and start + count < len(order)
        link = f',"@odata.nextLink":"{name}?$skiptoken={start + count}"' if more else ""
        return (f'{{"@odata.context":"$metadata#{name}","value":['.encode() + b",".join(rows[key] for key in keys)
                + f"]{link}}}".encode())

    def put(self, name, key, note):
        if key not in self.rows[name]:
            self.order.pop(name, None)
        self.rows[name][key] = row(key, note)

    def create(self, name, entity):
        self.counts["creates"] += 1
        self.next += 1
        self.put(name, self.next, entity["Note"])
        return 201, self.rows[name][self.next]

    def control(self, command, options):
        name = options.get("set", "S1")
        match command:
            case "fill":
                for key in range(int(options["rows"])):
                    self.put(name, key, f"original note {key}")
            case "change":
                for key in options["keys"].split(","):
                    self.put(name, int(key), options["note"])
            case "delete":
                self.order.pop(name, None)
                self.rows[name].pop(int(options["key"]), None)
            case "rows":
                return {key: json.loads(value)["Note"] for key, value in self.rows[name].items()}
        return self.counts


class Connection(threading.Thread):
    def __init__(self, connection, service):
        super().__init__(daemon=True)
        self.socket, self.service = connection, service

    def run(self):
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        reader = self.socket.makefile("rb")
        try:
            while line := reader.readline():
                method, target, _ = line.decode().split(" ", 2)
                length = 0
                while (field := reader.readline()) not in (b"\r\n", b""):
                    if field.lower().startswith(b"content-length:"):
                        length = int(field.split(b":")[1])
                status, body = self.service.answer(method, target, reader.read(length))
                kind = "application/xml" if target.endswith("$metadata") else "application/json"
                head = (f"HTTP/1.1 {status} Status\r\nContent-Type: {kind}\r\nOData-Version: 4.0\r\n"
                        f"Content-Length: {len(body)}\r\n\r\n")
                self.socket.sendall(head.encode() + body)
        except OSError:
            pass


def main():
    service = Service()
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listener:
        print(listener.getsockname()[1], flush=True)
        while True:
            Connection(listener.accept()[0], service).start()


if __name__ == "__main__":
    main()
