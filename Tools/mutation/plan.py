"""The choice of mutants, and their keys."""
import hashlib
import os

import known
import operators
from parts import PARTS
from swift_source import Source


def sources(root, part):
    """The paths of a part's sources, relative to the root, in order."""
    chosen, omitted, _ = PARTS[part]
    found = set()
    for path in chosen:
        folder = os.path.join(root, path if path.endswith("/") else os.path.dirname(path))
        for place, _, names in os.walk(folder):
            paths = (os.path.relpath(os.path.join(place, name), root) for name in names if name.endswith(".swift"))
            found.update(name for name in paths if name.startswith(path) and not name.startswith(tuple(omitted)))
    return sorted(found)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return Source(path, file.read())


def keyed(mutants):
    """Sets the keys of a file's mutants: path, kind, change, text of the line, and a number if all these are equal."""
    seen = {}
    for mutant in mutants:
        key = " | ".join((mutant.path, mutant.kind, mutant.change, mutant.text))
        seen[key] = seen.get(key, 0) + 1
        mutant.key = key if seen[key] == 1 else "%s | %d" % (key, seen[key])
    return mutants


def rank(seed, key):
    return hashlib.sha256(("%d %s" % (seed, key)).encode()).hexdigest()


def chosen(candidates, count, taken, seed, dropped):
    """The first `count` candidates in the order of the seed that compile and that share no line with each other.

    Dropped syncs are chosen first, because there are few.
    """
    result = []
    order = sorted(candidates, key=lambda mutant: (mutant.kind != "dropped sync", rank(seed, mutant.key)))
    for mutant in order:
        lines = {(mutant.path, line) for line in range(mutant.first, mutant.last + 1)}
        if len(result) == count:
            break
        if mutant.key in dropped or lines & taken:
            continue
        taken |= lines
        result.append(mutant)
    return result


def plan(root, seed, dropped):
    """All mutants of a build: a list of (part, mutants), the mutants with their numbers."""
    taken, parts = set(), []
    planted = keyed(known.mutants(root))
    for mutant in planted:
        taken |= {(mutant.path, line) for line in range(mutant.first, mutant.last + 1)}
    parts.append(("known", planted))
    for part in PARTS:
        candidates = []
        for path in sources(root, part):
            candidates += keyed(operators.mutants(read(root, path)))
        parts.append((part, chosen(candidates, PARTS[part][2], taken, seed, dropped)))
    number = 0
    for _, mutants in parts:
        mutants.sort(key=lambda mutant: (mutant.path, mutant.start))
        for mutant in mutants:
            number += 1
            mutant.id = number
    return parts
