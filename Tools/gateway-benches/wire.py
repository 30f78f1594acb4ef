"""A small HTTP client with one kept connection, for answers with Content-Length."""

import json
import socket
import time
import urllib.parse

FEED = {"Accept": "application/json", "Prefer": "odata.track-changes", "OData-MaxVersion": "4.01"}


class Answer:
    def __init__(self, status, head, body, first_byte):
        self.status, self.head, self.body, self.first_byte = status, head, body, first_byte

    def field(self, name):
        for line in self.head.split(b"\r\n")[1:]:
            key, _, value = line.partition(b":")
            if key.strip().lower() == name.lower().encode():
                return value.strip().decode()
        return None

    def json(self):
        return json.loads(self.body)


def request(method, path, headers, body=b""):
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"] + [f"{name}: {value}" for name, value in headers.items()]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class Client:
    def __init__(self, port, user="user"):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.headers = {**FEED, "Authorization": f"Basic {user}"}

    def send(self, method, path, headers=None, body=b""):
        began = time.perf_counter()
        self.socket.sendall(request(method, path, self.headers if headers is None else headers, body))
        data = self.receive()
        first_byte = time.perf_counter() - began
        while b"\r\n\r\n" not in data:
            data += self.receive()
        head, _, rest = data.partition(b"\r\n\r\n")
        answer = Answer(int(head.split(b" ", 2)[1]), head, b"", first_byte)
        length = answer.field("Content-Length")
        chunks, missing = [rest], (int(length) if length else 0) - len(rest)
        while missing > 0 or not length and not chunks[-1].endswith(b"0\r\n\r\n") and b"chunked" in head:
            chunks.append(self.receive())
            missing -= len(chunks[-1])
        answer.body = b"".join(chunks)
        return answer

    def receive(self):
        data = self.socket.recv(1 << 20)
        if not data:
            raise ConnectionError("the connection was closed")
        return data

    def get(self, path):
        return self.send("GET", path)

    def close(self):
        self.socket.close()


def path(link):
    """The path of a link, without the server."""
    parts = urllib.parse.urlsplit(link)
    return parts.path + ("?" + parts.query if parts.query else "")


def simple(port, method, target, body=b""):
    """One request on a connection of its own."""
    client = Client(port)
    try:
        return client.send(method, target, {}, body)
    finally:
        client.close()


def metrics(port):
    """The values of /metrics by their names with labels."""
    text = simple(port, "GET", "/metrics").body.decode()
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line[:1] != "#"}
