import EDM
package import Operations

/// Passes over the whole state. Changes are flushed to the backing first.
extension WorkingSet {
    package func forEachEntity(_ body: (EntityID, String) throws -> Void) throws {
        try flush()
        if let backing { return try backing.forEachEntity(body) }
        try register.forEach { id, set throws(any Error) in try body(id, set) }
    }

    package func forEachKey(_ body: (String, String, EntityID) throws -> Void) throws {
        try flush()
        if let backing { return try backing.forEachKey(body) }
        for (key, id) in keys.inOrder { try body(key.set, key.key, id) }
    }

    package func forEachRow(_ body: (EntityRow) throws -> Void) throws {
        try flush()
        if let backing { return try backing.forEachRow(body) }
        try rowTable.forEachInOrder { row throws(any Error) in try body(row) }
    }

    package func forEachBase(_ body: (EntityID, BaseState) throws -> Void) throws {
        try flush()
        if let backing { return try backing.forEachBase(body) }
        for id in bases.entities.sorted() { if let base = bases[id] ?? nil { try body(id, base) } }
    }

    package func forEachLink(_ body: (LinkRow) throws -> Void) throws {
        try flush()
        if let backing { return try backing.forEachLink(body) }
        for link in linkTable.links.sorted(by: LinkRow.inOrder) { try body(link) }
    }
}
