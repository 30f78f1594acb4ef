"""Builds the mutated copy, and runs its tests for one mutant at a time."""
import hashlib
import os
import re
import shutil
import signal
import subprocess
import threading
import time

from parts import EXTENT, TESTS

BUILD = ["-c", "release", "--scratch-path", ".build-test", "-Xswiftc", "-enable-testing", "-Xswiftc", "-assert-config",
         "-Xswiftc", "Debug"]


def build(copy, log):
    """Builds the tests of the copy. Returns the errors as (path, line, message), or none."""
    environment = dict(os.environ, TIDELOG_STRICT="1", TIDELOG_TESTS=",".join(TESTS))
    with open(log, "w", encoding="utf-8") as file:
        status = subprocess.call(["swift", "build", "--build-tests", "--ignore-lock"] + BUILD, cwd=copy, env=environment,
                                 stdout=file, stderr=subprocess.STDOUT)
    if status == 0:
        return []
    with open(log, encoding="utf-8", errors="replace") as file:
        text = file.read()
    found = set()
    for match in re.finditer(r"(?m)^(/.*?\.swift):(\d+):\d+: error: (.*)", text):
        path = os.path.relpath(os.path.realpath(match.group(1)), os.path.realpath(copy))
        found.add((path, int(match.group(2)) - 1, match.group(3)))
    if not found:
        raise SystemExit("Tools/mutate: swift build failed; all of its output is in %s." % log)
    return sorted(found)


def order(suite):
    """The suites in the order of their targets."""
    return TESTS.index(suite.split(".")[0]), suite


def binary(copy):
    return os.path.join(copy, ".build-test", "release", "tidelogPackageTests.xctest")


class Runner:
    """Runs suites of the mutated program."""

    def __init__(self, copy, temporary, stopped, width=2):
        """`stopped` is the event that ends all runs, `width` the number of tests that run at the same time."""
        self.copy, self.temporary, self.stopped, self.width, self.session = copy, temporary, stopped, width, None

    def end(self):
        """Ends the running process, if there is one, from another thread."""
        if self.session is not None:
            end_session(self.session)

    def suites(self):
        """The suites of the program, each with its expression for `--filter`."""
        output = subprocess.run([binary(self.copy), "--testing-library", "swift-testing", "--list-tests"], cwd=self.copy,
                                capture_output=True, text=True, check=True).stdout
        found = {}
        for line in output.splitlines():
            match = re.match(r"(\w+)\.(\w+)/", line)
            if match and match.group(1) in TESTS:
                found["%s.%s" % match.groups()] = r"^%s\.%s/" % match.groups()
        return dict(sorted(found.items()))

    def digest(self, suite):
        """A digest of the files of the suite's target that mention it."""
        target, name = suite.split(".")
        digest = hashlib.sha256()
        for place, folders, names in sorted(os.walk(os.path.join(self.copy, "Tests", target))):
            for path in sorted(os.path.join(place, file) for file in names):
                with open(path, "rb") as file:
                    data = file.read()
                if name.encode() in data:
                    digest.update(data)
        return digest.hexdigest()

    def run(self, filters, number, processor_limit, limit, reached=None):
        """Runs tests until the first issue. Returns (outcome, detail, seconds, processor seconds)."""
        environment = dict(os.environ, TIDELOG_MUTANT=str(number), SWIFT_BACKTRACE="enable=no", NO_COLOR="1", TERM="dumb", TMPDIR=self.temporary,
                           SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=str(self.width), **EXTENT)
        if reached:
            environment["TIDELOG_REACHED"] = reached
        shutil.rmtree(self.temporary, ignore_errors=True)
        os.makedirs(self.temporary)

        # Not with `preexec_fn`, which may hang in a process with threads.
        limits = ["nice", "-n", "19", "prlimit", "--core=0", "--cpu=%d:%d" % (processor_limit, processor_limit + 5),
                  "--as=%d" % (12 << 30), "--fsize=%d" % (2 << 30)]
        begin = time.time()
        process = subprocess.Popen(
            limits + [binary(self.copy), "--testing-library", "swift-testing", "--filter", "|".join(filters)],
            cwd=self.copy, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
            text=True, errors="replace")
        self.session = process.pid
        if self.stopped.is_set():
            self.end()
        expired = []

        def expire():
            expired.append(True)
            end_session(process.pid)

        timer = threading.Timer(limit, expire)
        timer.start()
        issue, last, passed = None, "", False
        try:
            for line in process.stdout:
                if "recorded an issue" in line:
                    issue = line.strip()
                    break
                passed = passed or re.search(r"Test run with \d+ tests?.* passed", line) is not None
                last = line.strip() or last
        except BaseException:
            end_session(process.pid)
            raise
        finally:
            timer.cancel()
        if issue or expired:
            end_session(process.pid)
        process.stdout.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        end_session(process.pid)
        self.session = None
        seconds, processor = time.time() - begin, usage.ru_utime + usage.ru_stime
        shutil.rmtree(self.temporary, ignore_errors=True)
        if issue:
            return "failed", issue, seconds, processor
        if expired or process.returncode == -signal.SIGXCPU or (process.returncode == -signal.SIGKILL):
            return "endless", "after %.0f s, %.0f s of them of the processor" % (seconds, processor), seconds, processor
        if process.returncode < 0:
            return "trapped", "signal %d; %s" % (-process.returncode, last[:200]), seconds, processor
        if process.returncode != 0 or not passed:
            return "failed", "status %d; %s" % (process.returncode, last[:200]), seconds, processor
        return "passed", "", seconds, processor


def end_session(session):
    """Ends all processes of a session that a run started."""
    try:
        os.killpg(session, signal.SIGKILL)
    except ProcessLookupError:
        pass
    if not os.path.isdir("/proc/self"):
        return
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % name, encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
            if int(fields[3]) == session and fields[0] != "Z":
                os.kill(int(name), signal.SIGKILL)
        except (OSError, IndexError, ValueError):
            continue
