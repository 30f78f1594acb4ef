package import EDM

extension ByteWriter {
    package mutating func quarantined(_ found: QuarantinedEntity) {
        string(found.query)
        string(found.set)
        byte(found.reason.rawValue)
        string(found.message)
        field(QuarantineField.name, found.name)
        field(QuarantineField.entity, found.entity?.rawValue)
        field(QuarantineField.path, found.path.isEmpty ? nil : found.path)
        field(QuarantineField.text, found.text.isEmpty ? nil : found.text)
        field(QuarantineField.hidesOthers, found.hidesOthers)
        field(QuarantineField.count, found.count == 1 ? nil : found.count)
        end()
    }
}

extension ByteReader {
    package mutating func quarantined() throws(CodecError) -> QuarantinedEntity {
        let query = try string()
        let set = try string()
        guard let reason = QuarantinedEntity.Reason(rawValue: try byte()) else {
            throw fail(.invalid("quarantine reason"))
        }
        var found = QuarantinedEntity(query: query, set: set, reason: reason, message: try string())
        try fields { r, tag throws(CodecError) in
            switch QuarantineField(rawValue: tag) {
            case .name: found.name = try r.string()
            case .entity: found.entity = try r.entity()
            case .path: found.path = try r.text()
            case .text: found.text = try r.text()
            case .hidesOthers: found.hidesOthers = try r.flag()
            case .count:
                found.count = try r.unsigned()
                guard found.count != 1 else { throw r.fail(.invalid("count")) }
            case nil: return false
            }
            return true
        }
        return found
    }

    /// Reads a text that is present only if it is not empty.
    private mutating func text() throws(CodecError) -> String {
        let text = try string()
        guard !text.isEmpty else { throw fail(.invalid("optional text")) }
        return text
    }
}
