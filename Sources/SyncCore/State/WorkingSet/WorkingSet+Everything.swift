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
        let all = Array(keys)
        let bySet = Dictionary(grouping: all.indices) { ExactText(all[$0].key.set) }
        for (set, places) in bySet.sorted(by: { precedesInBytes($0.key.text, $1.key.text) }) {
            let sorted = places.map { (start: leadingBytes(of: all[$0].key.key), place: $0) }.sorted { a, b in
                a.start == b.start
                    ? precedesInBytes(all[a.place].key.key, all[b.place].key.key) : a.start < b.start
            }
            for (_, place) in sorted { try body(set.text, all[place].key.key, all[place].value) }
        }
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
