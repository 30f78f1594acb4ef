import EDM

extension ByteWriter {
    mutating func resolved(_ resolved: ConflictResolved) {
        entity(resolved.entity)
        byte(resolved.decision.rawValue)
        list(resolved.dropped) {
            $0.unsigned($1.operation)
            $0.list($1.properties) { $0.string($1) }
            $0.list($1.navigations) { $0.string($1) }
        }
        list(resolved.takenBack) { $0.unsigned($1) }
        list(resolved.released) { $0.unsigned($1) }
    }
}

extension ByteReader {
    mutating func resolved() throws(CodecError) -> ConflictResolved {
        let entity = try entity()
        guard let decision = ConflictResolved.Decision(rawValue: try byte()) else { throw fail(.invalid("decision")) }
        return ConflictResolved(
            entity: entity, decision: decision,
            dropped: try list { r throws(CodecError) in
                ConflictResolved.PartialUpdate(
                    operation: try r.unsigned(),
                    properties: try r.list { r throws(CodecError) in try r.string() },
                    navigations: try r.list { r throws(CodecError) in try r.string() })
            },
            takenBack: try list { r throws(CodecError) in try r.unsigned() },
            released: try list { r throws(CodecError) in try r.unsigned() })
    }
}
