"""The orchestrator of Tools/endure: a service, a network that cuts connections, and devices whose processes are killed.

An operation counts as acknowledged when its device has printed it. At the end, without further faults, each device
sends what is left. Then the service must hold each acknowledged entity exactly once, in its acknowledged version or a
later one, no acknowledged deletion may be undone, and each store must agree with the service.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

SETS = {"Visits": "Subject", "Customers": "Name", "Orders": "Note"}


class CuttingProxy:
    """Forwards connections to the service and cuts some of them after a random number of bytes."""

    def __init__(self, target, rate, seed):
        self.target, self.rate, self.random = target, rate, random.Random(seed)
        self.connections = self.cuts = 0
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            with self.lock:
                self.connections += 1
                budgets = [
                    self.random.randrange(20_000) if self.random.random() < self.rate else None for _ in range(2)]
            threading.Thread(target=self.serve, args=(client, budgets), daemon=True).start()

    def serve(self, client, budgets):
        try:
            server = socket.create_connection(self.target)
        except OSError:
            client.close()
            return
        threading.Thread(target=self.forward, args=(server, client, budgets[1]), daemon=True).start()
        self.forward(client, server, budgets[0])

    def forward(self, source, sink, budget):
        """Forwards bytes, at most `budget` of them; then both connections are cut."""
        try:
            while data := source.recv(65_536):
                if budget is not None and len(data) > budget:
                    sink.sendall(data[:budget])
                    with self.lock:
                        self.cuts += 1
                    break
                sink.sendall(data)
                if budget is not None:
                    budget -= len(data)
            else:
                sink.shutdown(socket.SHUT_WR)
                return
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()


class Device:
    """A device: its processes, one after the other, and the operations that they have acknowledged."""

    def __init__(self, program, root, folder, name):
        self.command = [program, "--root", root, "--store", f"{folder}/{name}", "--name", name]
        self.name = name
        self.errors = open(f"{folder}/{name}.log", "ab")
        self.created = {}  # name of an entity: its set
        self.versions = {}  # name of a visit: the last acknowledged version
        self.deleting, self.deleted = set(), set()
        self.samples, self.ends, self.confirmed, self.failures = [], [], 0, {}
        self.opened = 0
        self.process = None

    def start(self, *arguments):
        self.process = subprocess.Popen(
            self.command + list(arguments), stdout=subprocess.PIPE, stderr=self.errors, text=True)
        self.reader = threading.Thread(target=self.read, args=(self.process,))
        self.reader.start()

    def read(self, process):
        for line in process.stdout:
            # The last line of a killed process may be cut.
            if line.endswith("\n"):
                self.note(line.split())

    def note(self, words):
        match words:
            case ["open"]:
                self.opened += 1
            case ["created", kind, name]:
                self.created[name if kind != "Orders" else name + " order"] = kind
                if kind == "Visits":
                    self.versions[name] = 0
            case ["updated", name, version]:
                self.versions[name] = int(version)
            case ["deleting", kind, name]:
                self.deleting.add(name if kind != "Orders" else name + " order")
            case ["deleted", kind, name]:
                self.deleted.add(name if kind != "Orders" else name + " order")
            case ["uploaded", count]:
                self.confirmed += int(count)
            case ["upload" | "download", "failed:", code, *message]:
                self.failures[code] = self.failures.get(code, 0) + 1
                self.errors.write((" ".join(words) + "\n").encode())
                self.errors.flush()
            case ["resources", memory, files, size]:
                self.samples.append((time.time(), int(memory), int(files), int(size)))
            case ["rejected" | "doubt" | "refused" | "pending" | "has", *_]:
                self.ends.append(words)

    def kill(self):
        """Kills the process. Returns whether it was still running."""
        self.process.send_signal(signal.SIGKILL)
        status = self.process.wait()
        self.reader.join()
        return status == -signal.SIGKILL


def start_service(program, folder, seed):
    log = open(f"{folder}/service.log", "wb")
    service = subprocess.Popen([program, "--quiet"], stdout=subprocess.PIPE, stderr=log, text=True)
    for line in service.stdout:
        if found := re.search(r"http://127\.0\.0\.1:(\d+)/", line):
            threading.Thread(target=service.stdout.read, daemon=True).start()
            return service, int(found[1])
    sys.exit("error: odata-sandbox did not start.")


def resources_of(process):
    with open(f"/proc/{process.pid}/statm") as file:
        memory = int(file.read().split()[1]) * 4
    return memory, len(os.listdir(f"/proc/{process.pid}/fd"))


def contents(port, kind, name):
    """Returns the texts of all entities of a set on the service."""
    url, texts = f"http://127.0.0.1:{port}/v4/{kind}?$select={name}", []
    while url:
        with urllib.request.urlopen(url) as response:
            page = json.load(response)
        texts += [row.get(name) for row in page["value"]]
        url = page.get("@odata.nextLink")
    return texts


def problems(devices, port):
    """Compares the acknowledged operations with the service and the stores."""
    found = []
    held = {}
    for kind, name in SETS.items():
        for text in contents(port, kind, name):
            text = text or ""
            key = text.split("+")[0] + (" order" if kind == "Orders" else "")
            held.setdefault(key, []).append(text)
    for key, texts in held.items():
        if len(texts) > 1 and any(key.startswith(device.name + "-") for device in devices):
            found.append(f"duplicate: {key} {len(texts)} times")
    for device in devices:
        refused = [words for words in device.ends if words[0] in ("doubt", "refused")]
        found += [f"{device.name} waits for a decision: {' '.join(words)}" for words in refused]
        if ["pending", "false"] not in device.ends:
            found.append(f"{device.name} has not sent everything")
        for key in device.created:
            if key in device.deleted:
                if key in held:
                    found.append(f"deletion lost: {key}")
            elif key not in held and key not in device.deleting:
                found.append(f"lost: {key}")
        for name, version in device.versions.items():
            for text in held.get(name, []):
                if int(text.split("+")[1]) < version:
                    found.append(f"update lost: {text}, acknowledged {version}")
        for kind, name in SETS.items():
            stored = sorted(words[2] for words in device.ends if words[:2] == ["has", kind])
            served = sorted(text for text in contents(port, kind, name) if (text or "").startswith(device.name + "-"))
            if stored != served:
                found.append(f"{device.name}: {kind} of the store and the service differ: "
                             f"{sorted(set(stored) ^ set(served))[:5]}")
    return found


def plot(rows, path):
    """Writes the samples as curves over time: memory, open files and store sizes, each relative to its maximum.

    A point is the largest value within two pixels.
    """
    names = ["memory of a device", "open files of a device", "size of a store", "memory of the service"]
    colors = ["#0b62a4", "#7a3e9d", "#2e8540", "#c05600"]
    start, end = rows[0][0], rows[-1][0]
    lines = []
    for column, (name, color) in enumerate(zip(names, colors)):
        values = [(row[0], row[2 + column]) for row in rows if row[2 + column] is not None]
        if not values:
            continue
        top = max(value for _, value in values) or 1
        largest = {}
        for at, value in values:
            x = 40 + 2 * int(360 * (at - start) / max(end - start, 1))
            largest[x] = max(value, largest.get(x, 0))
        points = " ".join(f"{x},{240 - 200 * value / top:.0f}" for x, value in sorted(largest.items()))
        lines.append(f'<polyline fill="none" stroke="{color}" stroke-width="1" points="{points}"/>')
        lines.append(f'<text x="{50 + 180 * column}" y="20" fill="{color}" font-size="11">{name}, max {top}</text>')
    lines.append(f'<text x="640" y="258" font-size="11">{(end - start) / 60:.0f} minutes</text>')
    with open(path, "w") as file:
        file.write('<svg xmlns="http://www.w3.org/2000/svg" width="780" height="265" font-family="sans-serif">'
                   '<rect width="780" height="265" fill="white"/>' + "".join(lines) + "</svg>\n")


def main():
    parser = argparse.ArgumentParser(prog="Tools/endure")
    parser.add_argument("--programs", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--folder", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--devices", type=int, default=3)
    parser.add_argument("--pause", type=float, default=1.0, help="mean seconds between the kills of one device")
    parser.add_argument("--cuts", type=float, default=0.1, help="share of connections that are cut, each way")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args()
    shutil.rmtree(options.folder, ignore_errors=True)
    os.makedirs(options.folder)
    dice = random.Random(options.seed)
    service, port = start_service(f"{options.programs}/odata-sandbox", options.folder, options.seed)
    proxy = CuttingProxy(("127.0.0.1", port), options.cuts, options.seed)
    root = f"http://127.0.0.1:{proxy.port}/v4/"
    devices = [
        Device(f"{options.programs}/tidelog-endure", root, options.folder, f"d{number}")
        for number in range(options.devices)]
    print(f"==> seed {options.seed}, {options.minutes} minutes and {options.kills} kills, in {options.folder}", flush=True)
    start, kills, early, rows, reported = time.time(), 0, 0, [], 0.0
    due = {}
    try:
        for device in devices:
            device.start()
            due[device] = time.time() + 2 + dice.expovariate(1 / options.pause)
        while time.time() - start < options.minutes * 60 or kills < options.kills:
            device = min(due, key=due.get)
            time.sleep(max(0, due[device] - time.time()))
            if device.kill():
                kills += 1
            else:
                early += 1
                if early > 20:
                    sys.exit(f"error: {device.name} ended by itself {early} times; see {options.folder}/{device.name}.log")
            device.start()
            due[device] = time.time() + dice.expovariate(1 / options.pause)
            memory, _ = resources_of(service)
            sample = device.samples[-1][1:] if device.samples else (None, None, None)
            rows.append((time.time(), kills, *sample, memory))
            if time.time() - reported > 60:
                reported = time.time()
                print(f"{(reported - start) / 60:6.1f} min: {kills} kills, {proxy.cuts} of {proxy.connections} "
                      f"connections cut, {sum(len(device.created) for device in devices)} created, "
                      f"device {sample}, service {memory} KiB", flush=True)
        for device in devices:
            device.kill()
        proxy.rate = 0
        for device in devices:
            device.start("--drain")
        for device in devices:
            device.reader.join()
            if device.process.wait() != 0:
                print(f"{device.name} ended with status {device.process.returncode}")
        found = problems(devices, port)
        for device in devices:
            verified = subprocess.run(
                [f"{options.programs}/tidelog", "verify", "--store", f"{options.folder}/{device.name}"],
                capture_output=True, text=True)
            if verified.returncode != 0:
                found.append(f"{device.name}: {verified.stdout}{verified.stderr}")
    finally:
        for device in devices:
            if device.process and device.process.poll() is None:
                device.kill()
        service.terminate()
        service.wait()
    with open(f"{options.folder}/resources.csv", "w") as file:
        file.write("seconds,kills,device_memory_kib,device_files,store_bytes,service_memory_kib\n")
        for row in rows:
            values = [f"{row[0] - start:.1f}", *("" if value is None else str(value) for value in row[1:])]
            file.write(",".join(values) + "\n")
    plot(rows, f"{options.folder}/resources.svg")
    samples = [sample for device in devices for sample in device.samples]
    print(f"seed {options.seed}: {(time.time() - start) / 60:.0f} minutes, {kills} kills, {early} early ends, "
          f"{proxy.cuts} of {proxy.connections} connections cut")
    print(f"{sum(len(device.created) for device in devices)} entities created, "
          f"{sum(len(device.deleted) for device in devices)} deleted, "
          f"{sum(device.confirmed for device in devices)} operations confirmed; failed transfers: "
          + ", ".join(f"{code} {count}" for code, count in sorted(
              {code: sum(device.failures.get(code, 0) for device in devices)
               for device in devices for code in device.failures}.items())))
    if samples:
        print(f"a device: at most {max(s[1] for s in samples)} KiB, {max(s[2] for s in samples)} open files, "
              f"a store of {max(s[3] for s in samples)} bytes")
    for problem in found:
        print(f"VIOLATION: {problem}")
    print(f"{len(found)} violations")
    sys.exit(1 if found else 0)


main()
