"""Mutants that are written by hand: faults in the use of the operating system, SQLite and libcurl."""
import os

from operators import ACTIVE, Mutant
from swift_source import Source

# Path, original text (which must occur exactly once), replacement, and the fault.
FAULTS = [
    ("Sources/OperationLog/FileSystem/PosixFileSystem.swift", "if fdatasync(descriptor) != 0 {",
     "if !ACTIVE, fdatasync(descriptor) != 0 {", "no fdatasync of a file of the log"),
    ("Sources/OperationLog/FileSystem/PosixFileSystem.swift", "if fsync(descriptor) != 0 {",
     "if !ACTIVE, fsync(descriptor) != 0 {", "no fsync of a directory of the log"),
    ("Sources/OfflineStore/Store/StoreDirectory.swift", "let synced = fsync(file)",
     "let synced = ACTIVE ? 0 : fsync(file)", "no fsync of store.json"),
    ("Sources/OfflineStore/Store/StoreDirectory.swift", "guard fsync(parent) == 0 else {",
     "guard ACTIVE || fsync(parent) == 0 else {", "no fsync of the directory of store.json"),
    ("Sources/OfflineStore/Media/StreamFileWriter.swift", "guard fsync(file) == 0, rename(",
     "guard ACTIVE || fsync(file) == 0, rename(", "no fsync of a stream"),
    ("Sources/OfflineStore/Media/StreamFileWriter.swift", "guard fsync(folder) == 0 else {",
     "guard ACTIVE || fsync(folder) == 0 else {", "no fsync of the directory of streams"),
    ("Sources/OfflineStore/Media/StreamFileWriter.swift", "try StoreDirectory.syncParent(of: files.directory)",
     "if !ACTIVE { try StoreDirectory.syncParent(of: files.directory) }", "no fsync of the parent of a new directory of streams"),
    ("Sources/Views/SQLite/Connection.swift", 'try execute("PRAGMA temp_store = MEMORY")',
     'if !ACTIVE { try execute("PRAGMA temp_store = MEMORY") }', "temporary tables of encrypted views in files"),
    ("Sources/Views/State/SQLiteState.swift", 'if path == nil { try connection',
     'if path == nil, !ACTIVE { try connection', "temporary tables of views in memory in files"),
    ("Sources/Transport/Curl/CurlTransfer.swift", "if !request.isSafe {", "if !request.isSafe, !ACTIVE {",
     "a kept connection for unsafe requests"),
    ("Sources/OfflineStore/Store/ViewsOpener.swift", "guard try applied + 1 >= reader.firstSequence() else {",
     "guard try ACTIVE || applied + 1 >= reader.firstSequence() else {", "views that are older than the log are accepted"),
    ("Sources/OfflineStore/Store/ViewsOpener.swift", "guard applied < nextSequence else {",
     "guard applied < nextSequence || ACTIVE else {", "views with more than the log are accepted"),
    ("Sources/Views/State/SQLiteState.swift", "guard try Self.store(of: connection) == store else {",
     "guard try Self.store(of: connection) == store || ACTIVE else {", "views of another store are accepted"),
    ("Sources/Views/State/SQLiteState.swift", "if version != Schema.version, !readOnly {",
     "if version != Schema.version, !readOnly, !ACTIVE || version == 0 {", "views of another version are accepted"),
    ("Sources/Views/State/SQLiteState.swift", "if key == nil, let page = PageChecks",
     "if key == nil, !ACTIVE, let page = PageChecks", "the pages of views are not checked when they are opened"),
    ("Sources/Views/State/SQLiteState.swift", "if !readOnly, let page = connection.firstWrongSealedPage",
     "if !readOnly, !ACTIVE, let page = connection.firstWrongSealedPage",
     "the pages of encrypted views are not checked when they are opened"),
    ("Sources/Views/State/WritingMark.swift", "guard found == boot else {", "guard found == boot || ACTIVE else {",
     "views that were being written when the machine crashed are accepted"),
    ("Sources/Views/SQLite/PageChecks.swift", "return stored == checksum(page, at: offset)",
     "return ACTIVE || stored == checksum(page, at: offset)", "pages with a wrong checksum are accepted"),
    ("Sources/Views/SQLite/PageChecks.swift", "return offset > 0 && page.allSatisfy { $0 == 0 }",
     "return ACTIVE || offset > 0 && page.allSatisfy { $0 == 0 }", "pages without a checksum are accepted"),
    ("Sources/Views/State/ViewsVerification.swift", 'fault != "ok" {', 'fault != "ok", !ACTIVE {',
     "the verification ignores the report of SQLite"),
    ("Sources/Views/State/ViewsVerification.swift", "guard try first(sql, [.integer(entity), value]) != nil else {",
     "guard try first(sql, [.integer(entity), value]) != nil, !ACTIVE else {",
     "the verification accepts columns that differ from the entity"),
]


def mutants(root):
    found = []
    for path, original, replacement, fault in FAULTS:
        with open(os.path.join(root, path), encoding="utf-8") as file:
            source = Source(path, file.read())
        if source.text.count(original) != 1:
            raise SystemExit("Tools/mutate: %s does not contain exactly once: %s. Correct Tools/mutation/known.py."
                             % (path, original))
        start = source.text.index(original)
        found.append(Mutant(source, start, start + len(original), replacement.replace("ACTIVE", ACTIVE),
                            "written by hand", fault))
    return found
