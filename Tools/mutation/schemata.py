"""The mutated copy of the package: every mutant of the plan is compiled into it, each behind a test of its number."""
import os
import re
import shutil

COPIED = ["Package.swift", "Package.resolved", "Sources", "Tests", "Plugins", "Examples", "Tools", "Docs", "README.md",
          "CONTRIBUTING.md"]

HEADER = """#pragma once
#include <stdbool.h>
#include <stdint.h>

extern int32_t tidelog_mutant;
extern volatile uint8_t *tidelog_reached;

static inline bool tidelog_mutant_active(int32_t number) {
    if (__builtin_expect(tidelog_reached != 0, 0)) tidelog_reached[number] = 1;
    return __builtin_expect(tidelog_mutant == number, 0);
}
"""

# TIDELOG_REACHED is a file with a byte for each mutant, which is shared by all processes of a run.
IMPLEMENTATION = """#include "mutants.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int32_t tidelog_mutant = 0;
volatile uint8_t *tidelog_reached = 0;

__attribute__((constructor)) static void start(void) {
    const char *number = getenv("TIDELOG_MUTANT");
    if (number) tidelog_mutant = atoi(number);
    const char *path = getenv("TIDELOG_REACHED");
    if (!path) return;
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    struct stat status;
    if (fstat(file, &status) == 0) {
        void *bytes = mmap(0, status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (bytes != MAP_FAILED) tidelog_reached = bytes;
    }
    close(file);
}
"""

MANIFEST = """
// Added by Tools/mutate.
package.targets.append(.target(name: "CMutants", path: "Sources/CMutants"))
for target in package.targets where [%s].contains(target.name) {
    target.dependencies.append("CMutants")
    target.swiftSettings?.removeLast(strict ? 1 : 0)
}
"""

SWITCH = """import CMutants

@inline(__always) func mutantActive(_ number: Int32) -> Bool { tidelog_mutant_active(number) }

"""


def write(path, text):
    """Writes the file unless it has the content, so that an incremental build compiles only changed files."""
    data = text if isinstance(text, bytes) else text.encode()
    if os.path.exists(path):
        with open(path, "rb") as file:
            if file.read() == data:
                return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def files(root):
    for name in COPIED:
        path = os.path.join(root, name)
        if os.path.isfile(path):
            yield name
        for place, folders, names in os.walk(path):
            folders[:] = [folder for folder in folders if not folder.startswith(".")]
            yield from (os.path.relpath(os.path.join(place, file), root) for file in names)


def rewritten(text, mutants):
    for mutant in sorted(mutants, key=lambda mutant: -mutant.start):
        text = text[:mutant.start] + mutant.rewritten(mutant.id) + text[mutant.end:]
    return text


def module(path):
    return path.split("/")[1]


def prepare(root, copy, parts):
    """Brings the copy up to date with the sources and the plan."""
    if os.path.exists(os.path.join(copy, ".git")):
        raise SystemExit("Tools/mutate: %s is a working tree; the copy needs a folder of its own." % copy)
    mutants = [mutant for _, chosen in parts for mutant in chosen]
    by_path, modules = {}, {}
    for mutant in mutants:
        by_path.setdefault(mutant.path, []).append(mutant)
        modules.setdefault(module(mutant.path), []).append(mutant)
    present = set()
    for path in files(root):
        if path == "Package.swift":
            continue
        with open(os.path.join(root, path), "rb") as file:
            data = file.read()
        if path in by_path:
            data = rewritten(data.decode(), by_path[path]).encode()
        write(os.path.join(copy, path), data)
        if os.access(os.path.join(root, path), os.X_OK):
            os.chmod(os.path.join(copy, path), 0o755)
        present.add(path)
    for name, chosen in modules.items():
        path = "Sources/%s/Mutants.swift" % name
        text = SWITCH + "".join(mutant.declared(mutant.id) for mutant in chosen)
        write(os.path.join(copy, path), text)
        present.add(path)
    write(os.path.join(copy, "Sources/CMutants/include/mutants.h"), HEADER)
    write(os.path.join(copy, "Sources/CMutants/mutants.c"), IMPLEMENTATION)
    present |= {"Sources/CMutants/include/mutants.h", "Sources/CMutants/mutants.c", "Package.swift"}
    with open(os.path.join(root, "Package.swift"), encoding="utf-8") as file:
        manifest = file.read()
    # Before the choice of targets, so that it includes the added one.
    marker = "/// `TIDELOG_TESTS="
    added = MANIFEST % ", ".join('"%s"' % name for name in sorted(modules))
    write(os.path.join(copy, "Package.swift"), manifest.replace(marker, added + "\n" + marker, 1))
    for path in list(files(copy)):
        if path not in present and not re.match(r"Package\.resolved$", path):
            os.remove(os.path.join(copy, path))


def remove(copy):
    shutil.rmtree(copy, ignore_errors=True)
