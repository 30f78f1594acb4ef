import EDM
public import Operations

extension MemoryState {
    public func forEachEntity(_ body: (EntityID, String) throws -> Void) throws {
        for (id, set) in sets.sorted(by: { $0.key < $1.key }) { try body(id, set) }
    }

    public func forEachKey(_ body: (String, String, EntityID) throws -> Void) throws {
        let sorted = keys.sorted {
            $0.key.set == $1.key.set
                ? Self.precedes($0.key.key, $1.key.key) : Self.precedes($0.key.set, $1.key.set)
        }
        for (key, id) in sorted { try body(key.set, key.key, id) }
    }

    public func forEachRow(_ body: (EntityRow) throws -> Void) throws {
        let sorted = rowsByID.values.sorted { $0.set == $1.set ? $0.id < $1.id : Self.precedes($0.set, $1.set) }
        for row in sorted { try body(row) }
    }

    public func forEachBase(_ body: (EntityID, BaseState) throws -> Void) throws {
        for (id, base) in bases.sorted(by: { $0.key < $1.key }) { try body(id, base) }
    }

    public func forEachLink(_ body: (LinkRow) throws -> Void) throws {
        for link in linksByKey.values.sorted(by: Self.inOrder) { try body(link) }
    }

    public func forEachPending(_ body: (PendingOperation) throws -> Void) throws {
        for operation in pendingOperations() { try body(operation) }
    }

    public func forEachUndone(_ body: (UndoneOperation) throws -> Void) throws {
        for operation in undoneOperations() { try body(operation) }
    }

    public func forEachAncestor(_ body: (Ancestor) throws -> Void) throws {
        for id in ancestors() { if let ancestor = ancestorsByID[id] { try body(ancestor) } }
    }

    public func forEachStreams(_ body: (EntityID, [StreamImage]) throws -> Void) throws {
        for (id, streams) in streamsByID.sorted(by: { $0.key < $1.key }) { try body(id, streams) }
    }

    public func forEachCoverage(_ body: (String, EntityID, SequenceNumber) throws -> Void) throws {
        let names = Set(coverage.values.flatMap(\.keys)).sorted(by: Self.precedes)
        for name in names {
            for (id, runs) in coverage.sorted(by: { $0.key < $1.key }) {
                if let run = runs[name] { try body(name, id, run) }
            }
        }
    }
}
