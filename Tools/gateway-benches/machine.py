"""Processes of the benches: the programs of the package, the service, and PostgreSQL; their CPU time and memory."""

import contextlib
import glob
import os
import pwd
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

TICKS = os.sysconf("SC_CLK_TCK")
HERE = os.path.dirname(os.path.abspath(__file__))


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def status(pid, name):
    """A number of /proc/PID/status, in KiB."""
    with open(f"/proc/{pid}/status") as file:
        return int(re.search(rf"{name}:\s+(\d+)", file.read())[1])


class Process:
    """A process that prints lines when it is ready."""

    def __init__(self, command, lines, log=None):
        began = time.monotonic()
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=open(log, "ab") if log else subprocess.DEVNULL, text=True)
        self.lines = [self.process.stdout.readline().strip() for _ in range(lines)]
        self.seconds_to_ready = time.monotonic() - began
        if not self.lines[-1]:
            self.stop()
            sys.exit(f"error: {command[0]} did not start" + (f"; its messages are in {log}" if log else ""))

    @property
    def pid(self):
        return self.process.pid

    def cpu(self):
        """The CPU time in seconds."""
        with open(f"/proc/{self.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory(self):
        """The resident size in MiB."""
        return status(self.pid, "VmRSS") / 1024

    def peak(self):
        """The largest resident size in MiB since `reset_peak`."""
        return status(self.pid, "VmHWM") / 1024

    def reset_peak(self):
        with open(f"/proc/{self.pid}/clear_refs", "w") as file:
            file.write("5")

    def written(self):
        """The bytes that the process has caused to be written to a disk."""
        with open(f"/proc/{self.pid}/io") as file:
            return int(re.search(r"^write_bytes: (\d+)", file.read(), re.M)[1])

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(40)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Postgres:
    """A server with a cluster of its own, reached through a Unix socket. It refuses to run as root."""

    programs = next(
        (folder for folder in [os.environ.get("TIDELOG_POSTGRES", "")]
         + sorted(glob.glob("/usr/lib/postgresql/1[5-9]/bin"), reverse=True)
         + os.environ["PATH"].split(":") if os.access(f"{folder}/initdb", os.X_OK)), None)

    def __init__(self, parent):
        self.folder = tempfile.mkdtemp(prefix="postgres", dir=parent)
        os.chmod(self.folder, 0o711)
        self.as_user = []
        if os.getuid() == 0:
            self.as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        for name in ["data", "run"]:
            os.mkdir(f"{self.folder}/{name}", 0o700 if name == "data" else 0o755)
            if self.as_user:
                user = pwd.getpwnam("postgres")
                os.chown(f"{self.folder}/{name}", user.pw_uid, user.pw_gid)
        subprocess.run(
            self.as_user + [f"{self.programs}/initdb", "-D", f"{self.folder}/data", "-U", "gateway", "--auth=trust",
                            "-E", "UTF8", "--locale=C", "--no-sync"],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")
        with open(f"{self.folder}/data/postgresql.conf", "a") as file:
            file.write(
                f"listen_addresses = ''\nunix_socket_directories = '{self.folder}/run'\nmax_connections = 200\n"
                "shared_buffers = 256MB\nmax_wal_size = 1GB\nlogging_collector = off\ntrack_wal_io_timing = off\n"
                "shared_preload_libraries = 'pg_stat_statements'\n")
        self.start()
        self.sql("CREATE EXTENSION pg_stat_statements")

    @property
    def url(self):
        return f"postgresql:///postgres?host={self.folder}/run&user=gateway"

    def start(self):
        deadline = time.monotonic() + 60
        ready = [f"{self.programs}/pg_isready", "-q", "-h", f"{self.folder}/run", "-U", "gateway", "-d", "postgres"]
        while time.monotonic() < deadline:
            self.process = subprocess.Popen(
                self.as_user + [f"{self.programs}/postgres", "-D", f"{self.folder}/data"], cwd="/",
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open(f"{self.folder}/log", "ab"))
            # After a crash, the first starts fail until the old processes are gone.
            while self.process.poll() is None:
                if subprocess.run(ready).returncode == 0:
                    return
                time.sleep(0.02)
            time.sleep(0.1)
        sys.exit(f"error: PostgreSQL did not start; its messages are in {self.folder}/log")

    def crash(self):
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait()

    def sql(self, statement):
        return subprocess.run(
            ["psql", "-XAtq", "-h", f"{self.folder}/run", "-U", "gateway", "postgres", "-c", statement],
            check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    def statements(self):
        """The statements that were executed, without those of the benches."""
        return int(self.sql(
            "SELECT coalesce(sum(calls), 0) FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_%'"))

    def cpu(self):
        """The CPU time of the server and of the sessions that exist, in seconds."""
        total = 0
        for pid in [self.process.pid] + self.children():
            try:
                with open(f"/proc/{pid}/stat") as file:
                    fields = file.read().rsplit(")", 1)[1].split()
                total += int(fields[11]) + int(fields[12])
            except OSError:
                pass
        return total / TICKS

    def children(self):
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
            return [int(word) for word in file.read().split()]

    def stop(self):
        self.crash()


class World:
    """The folder, the programs, and the processes of one bench."""

    def __init__(self, programs, storage, origin=True):
        self.programs, self.storage = programs, storage
        self.folder = tempfile.mkdtemp(prefix="gateway-bench")
        os.chmod(self.folder, 0o711)
        self.processes = []
        self.postgres = Postgres(self.folder) if storage == "postgresql" else None
        self.origin = self.start([sys.executable, f"{HERE}/origin.py"], 1) if origin else None
        self.root = f"http://127.0.0.1:{self.origin.lines[0]}/svc/" if origin else None

    def start(self, command, lines, log=None):
        process = Process(command, lines, log)
        self.processes.append(process)
        return process

    def sandbox(self):
        return self.start([f"{self.programs}/odata-sandbox", "--quiet"], 2)

    def gateway(self, feeds, root=None, port=0, settings="", endpoint="", minutes=1, name="gateway"):
        """Starts a node. `feeds` are the queries of shared feeds."""
        port = port or free_port()
        self.admin = free_port()
        storage = self.postgres.url if self.postgres else f"sqlite:{self.folder}/gateway.db"
        text = (f"[gateway]\nlisten = 127.0.0.1:{port}\nadmin = 127.0.0.1:{self.admin}\n"
                f"public_root = http://127.0.0.1:{port}/odata/\nstorage = {storage}\n{settings}\n"
                f"[endpoint]\nname = svc\nroot = {root or self.root}\n{endpoint}\n")
        for query in feeds:
            text += (f"[defining_query]\nname = {query}\nquery = {query}\nis_shared_data = Y\n"
                     f"refresh_interval = {minutes}\n")
        path = f"{self.folder}/{name}.ini"
        with open(path, "w") as file:
            file.write(text)
        process = self.start([f"{self.programs}/tidelog-gateway", "serve", "--config", path], 2,
                             log=f"{self.folder}/{name}.log")
        process.port, process.admin = port, self.admin
        return process

    def size(self, table):
        """The bytes of a table with its indexes; with SQLite, of the file that contains it. The node has stopped."""
        if self.postgres:
            return int(self.postgres.sql(f"SELECT pg_total_relation_size('gateway.{table}')"))
        name = f"{self.folder}/gateway.db" + ("-feeds" if table == "item" else "")
        with contextlib.closing(sqlite3.connect(name)) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return os.path.getsize(name)

    def stop(self):
        for process in reversed(self.processes):
            if process.process.poll() is None:
                process.stop()
        if self.postgres:
            self.postgres.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
