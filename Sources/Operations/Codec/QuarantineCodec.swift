package import EDM

extension ByteWriter {
    package mutating func quarantined(_ found: QuarantinedEntity) {
        string(found.query)
        string(found.set)
        optional(found.name) { $0.string($1) }
        optional(found.entity) { $0.entity($1) }
        byte(found.reason.rawValue)
        for text in [found.path, found.message, found.text] { string(text) }
        bool(found.hidesOthers)
        unsigned(found.count)
    }
}

extension ByteReader {
    package mutating func quarantined() throws(CodecError) -> QuarantinedEntity {
        let query = try string()
        let set = try string()
        let name = try optional { r throws(CodecError) in try r.string() }
        let entity = try optional { r throws(CodecError) in try r.entity() }
        guard let reason = QuarantinedEntity.Reason(rawValue: try byte()) else {
            throw fail(.invalid("quarantine reason"))
        }
        return QuarantinedEntity(
            query: query, set: set, name: name, entity: entity, reason: reason, path: try string(),
            message: try string(), text: try string(), hidesOthers: try bool(), count: try unsigned())
    }
}
