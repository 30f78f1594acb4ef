/// A service's metadata together with the documents that it references (`edmx:Reference`).
///
/// A store logs them as one document, separated by a processing instruction, so that every component that reads
/// metadata has all types. ``CSDLReader`` reads such a document as one model.
package enum ReferencedMetadata {
    private static let separator = Array("\n<?tidelog-referenced?>\n".utf8)

    /// The maximum number of referenced documents.
    package static let limit = 100

    /// Returns one document with the service's metadata and the documents that it references.
    package static func joined(_ document: [UInt8], references: [[UInt8]]) -> [UInt8] {
        references.reduce(document) { $0 + separator + $1 }
    }

    /// Returns the documents of a joined document, the service's own first.
    package static func parts(_ document: [UInt8]) -> [[UInt8]] {
        var parts: [[UInt8]] = []
        var start = 0
        while let next = separator.position(in: document, from: start) {
            parts.append(Array(document[start..<next]))
            start = next + separator.count
        }
        return start == 0 ? [document] : parts + [Array(document[start...])]
    }

    /// Returns the namespaces that a model needs and lacks, each with the URIs of the documents that should declare it,
    /// in the order of the names. Empty if no document is referenced for them.
    package static func missing(in model: EntityDataModel) -> [(namespace: String, uris: [String])] {
        guard !model.references.isEmpty else { return [] }
        var missing: [(namespace: String, uris: [String])] = []
        for name in model.unresolvedNames {
            let namespace = name.lastIndex(of: ".").map { String(name[..<$0]) } ?? ""
            guard !missing.contains(where: { $0.namespace == namespace }) else { continue }
            let uris = model.references.filter { $0.includes.contains { $0.namespace == namespace } }.map(\.uri)
            if !uris.isEmpty { missing.append((namespace, uris)) }
        }
        return missing
    }
}

extension [UInt8] {
    /// Returns the first position of these bytes in a document, a line that begins with a processing instruction.
    func position(in document: [UInt8], from start: Int = 0) -> Int? {
        document.withUnsafeBufferPointer { bytes in
            var at = start
            while at + count <= bytes.count {
                if bytes[at] == 0x0A, bytes[at + 1] == 0x3C, bytes[at + 2] == 0x3F,
                    bytes[at..<(at + count)].elementsEqual(self)
                {
                    return at
                }
                at += 1
            }
            return nil
        }
    }
}
