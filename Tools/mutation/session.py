"""A session of mutation testing: its state on disk, the build, the suites that reach each mutant, and the runs."""
import json
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import plan
import schemata
import testing
from parts import HISTORIES


def similarity(mutant, suite):
    """How many words of the file's name the suite's name contains."""
    import re
    words = re.findall(r"[A-Z][a-z]+", os.path.basename(mutant.path))
    return sum(word in suite for word in words)


class Session:
    # The seconds of suites that share a process.
    shared = 5

    def __init__(self, root, scratch, copy, seed, slowest, budget, jobs=1):
        """`slowest` are the seconds up to which suites are run, `budget` those of all suites that are run for a mutant,
        `jobs` is the number of mutants that are tested at the same time."""
        self.slowest, self.budget, self.jobs, self.lock = slowest, budget, jobs, threading.Lock()
        self.root, self.scratch, self.copy, self.seed = root, scratch, copy, seed
        os.makedirs(scratch, exist_ok=True)
        self.path = os.path.join(scratch, "state.json")
        self.state = {"dropped": {}, "reach": {}, "results": {}, "plan": ""}
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                self.state.update(json.load(file))
        temporary = os.path.join(os.environ.get("TMPDIR", scratch), "tidelog-mutate-%d" % os.getpid())
        # Set when the session is interrupted, so that no thread begins another run.
        self.stopped = threading.Event()
        self.runners = [testing.Runner(copy, "%s-%d" % (temporary, job), self.stopped, 2 if jobs == 1 else 1)
                        for job in range(jobs)]
        self.runner = self.runners[0]

    def save(self):
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            json.dump(self.state, file, indent=1)
        os.replace(self.path + ".new", self.path)

    def planned(self):
        return plan.plan(self.root, self.seed, self.state["dropped"])

    # Build

    def build(self):
        """Builds all mutants; those that do not compile are replaced by others."""
        for attempt in range(1, 40):
            parts = self.planned()
            schemata.prepare(self.root, self.copy, parts)
            mutants = [mutant for _, chosen in parts for mutant in chosen]
            print("==> Build %d: %d mutants" % (attempt, len(mutants)), flush=True)
            errors = testing.build(self.copy, os.path.join(self.scratch, "build.log"))
            if not errors:
                self.state["built"] = self.identity(parts)
                self.save()
                return parts
            culprits = {}
            for path, line, message in errors:
                for mutant in self.culprits(mutants, path, line):
                    culprits[mutant.key] = message
            if not culprits:
                raise SystemExit("Tools/mutate: no mutant explains the errors of the build, such as %s:%d: %s"
                                 % (errors[0][0], errors[0][1] + 1, errors[0][2]))
            for key, message in culprits.items():
                print("    does not compile: %s (%s)" % (key, message), flush=True)
            self.state["dropped"].update(culprits)
            self.save()
        raise SystemExit("Tools/mutate: the build still fails after many attempts.")

    def last_build(self):
        """Returns the mutants of the last build, which must be those of the present sources."""
        parts = self.planned()
        if self.state.get("built") != self.identity(parts):
            raise SystemExit("Tools/mutate: the last build contains other mutants. Run Tools/mutate --build.")
        return parts

    @staticmethod
    def identity(parts):
        return plan.rank(0, "\n".join(mutant.key for _, chosen in parts for mutant in chosen))

    @staticmethod
    def culprits(mutants, path, line):
        """The mutants on the line with an error, or the nearest ones before it that leave out or move statements."""
        same = [mutant for mutant in mutants if mutant.path == path and mutant.kind != "written by hand"]
        exact = [mutant for mutant in same if mutant.first <= line <= mutant.last]
        if exact:
            return exact
        near = sorted((mutant for mutant in same if abs(line - mutant.first) < 80),
                      key=lambda mutant: abs(line - mutant.first))
        moving = ("dropped statement", "dropped sync", "swapped order", "ignored error")
        return ([mutant for mutant in near if mutant.kind in moving] or near)[:1]

    # The suites that reach each mutant

    def measure(self, parts, targets):
        """Runs each suite of the targets without a mutant, and records the mutants that it reaches.

        Returns the suites.
        """
        keys = {mutant.id: mutant.key for _, chosen in parts for mutant in chosen}
        identity = self.identity(parts)
        if self.state["plan"] != identity:
            self.state["plan"], self.state["reach"] = identity, {}
        suites = self.runner.suites()
        known = self.state["reach"]
        for name in [name for name in known if name not in suites]:
            del known[name]
        self.expressions = suites
        suites = {name: expression for name, expression in suites.items()
                  if name in targets or name.split(".")[0] in targets}
        for index, (name, expression) in enumerate(sorted(suites.items(), key=lambda suite: testing.order(suite[0]))):
            digest = self.runner.digest(name)
            if name in known and known[name]["digest"] == digest:
                continue
            marks = os.path.join(self.scratch, "reached")
            with open(marks, "wb") as file:
                file.write(bytes(max(keys) + 1))
            outcome, detail, seconds, processor = self.runner.run([expression], 0, 900, 600, marks)
            with open(marks, "rb") as file:
                reached = [keys[number] for number, mark in enumerate(file.read()) if mark and number in keys]
            known[name] = {"digest": digest, "seconds": seconds, "processor": processor, "outcome": outcome,
                           "detail": detail, "mutants": reached}
            print("    %s: %s, %.1f s, %d mutants" % (name, outcome, seconds, len(reached)), flush=True)
            if outcome != "passed":
                print("==> Left out, because it fails without a mutant: %s (%s)" % (name, detail[:300]), flush=True)
            elif seconds > self.slowest:
                print("==> Left out, because it takes %.0f s: %s" % (seconds, name), flush=True)
            if index % 20 == 0:
                self.save()
        self.save()
        return list(suites)

    def usable(self, name):
        suite = self.state["reach"][name]
        return suite["outcome"] == "passed" and suite["seconds"] <= self.slowest

    # Runs

    def reaching(self, mutant, suites):
        """The usable suites that reach the mutant."""
        reach = self.state["reach"]
        return [name for name in suites if self.usable(name) and mutant.key in reach[name]["mutants"]]

    def killers(self, path):
        """How many mutants of a file each suite has killed, alone or with others in its process."""
        found = {}
        with self.lock:
            for key, result in self.state["results"].items():
                for name in result.get("by", ()) if key.startswith(path + " | ") else ():
                    found[name] = found.get(name, 0) + 1
        return found

    def groups(self, mutant, names):
        """The suites in groups that share a process: those that have killed mutants of the same file first, then similar
        names, then fast ones, and random histories first among the slow ones."""
        reach, killers = self.state["reach"], self.killers(mutant.path)
        names = sorted(names, key=lambda name: (reach[name]["seconds"] > 4, -killers.get(name, 0), name not in HISTORIES,
                                                -similarity(mutant, name), reach[name]["seconds"]))
        group, total = [], 0
        for name in names:
            if group and total + reach[name]["seconds"] > self.shared:
                yield group
                group, total = [], 0
            group.append(name)
            total += reach[name]["seconds"]
        if group:
            yield group

    def test(self, runner, mutant, names, passed):
        """Runs suites for the mutant until one of them fails. `passed` are the digests of those that passed before."""
        reach, begin, ran = self.state["reach"], time.time(), []
        left = [name for name in names if reach[name]["digest"] not in passed]
        for group in self.groups(mutant, left):
            if self.stopped.is_set():
                break
            if ran and sum(reach[name]["seconds"] for name in ran + group) > self.budget:
                break
            processor = int(15 + 5 * sum(reach[name]["processor"] for name in group))
            limit = 60 + 12 * sum(reach[name]["seconds"] for name in group)
            outcome, detail, _, _ = runner.run(
                [self.expressions[name] for name in group], mutant.id, processor, limit)
            ran += group
            if outcome != "passed":
                return {"outcome": "killed", "how": outcome, "by": group, "detail": detail[:400],
                        "seconds": time.time() - begin}
        digests = sorted(passed | {reach[name]["digest"] for name in ran})
        return {"outcome": "survived" if names else "not reached", "digests": digests, "left": len(left) - len(ran),
                "seconds": time.time() - begin}

    def run(self, chosen, suites, resumes, end=None):
        """Tests the mutants in the order of the seed, so that the results of an interrupted run are a random sample.

        `end` is the time at which no further mutant is begun. Returns whether all mutants were tested.
        """
        chosen = sorted(chosen, key=lambda mutant: plan.rank(self.seed, mutant.key))
        free, skipped = list(self.runners), []

        def one(number, mutant):
            with self.lock:
                former = self.state["results"].get(mutant.key, {}) if resumes else {}
            if former.get("outcome") == "killed":
                return
            names, passed = self.reaching(mutant, suites), set(former.get("digests", ()))
            if former and names and all(self.state["reach"][name]["digest"] in passed for name in names):
                return
            if end is not None and time.time() > end:
                skipped.append(mutant)
                return
            with self.lock:
                runner = free.pop()
            try:
                result = self.test(runner, mutant, names, passed)
            finally:
                with self.lock:
                    free.append(runner)
            with self.lock:
                if self.stopped.is_set():
                    # An ended process looks like a killed mutant.
                    return
                self.state["results"][mutant.key] = result
                self.save()
            print("%4d/%d  %-11s %5.1f s  #%d %s:%d  %s  [%s] %s" % (
                number, len(chosen), result["outcome"], result["seconds"], mutant.id, mutant.path, mutant.first + 1,
                mutant.change, mutant.text[:90], result.get("detail", "")[:120]), flush=True)

        with ThreadPoolExecutor(self.jobs) as pool:
            runs = [pool.submit(one, number, mutant) for number, mutant in enumerate(chosen, 1)]
            try:
                for run in runs:
                    run.result()
            except BaseException:
                with self.lock:
                    self.stopped.set()
                for run in runs:
                    run.cancel()
                for runner in self.runners:
                    runner.end()
                raise
        return not skipped
