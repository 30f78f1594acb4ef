import CPlatform
import EDM
import Synchronization

/// The models of the metadata documents of several runs.
///
/// All runs have the same few documents, and each opening of a store reads them again.
final class ParsedMetadata: Sendable {
    private let models = Mutex(DocumentTable<EntityDataModel>())
    /// The documents with the client-only part, by those of the service.
    private let joined = Mutex(DocumentTable<[UInt8]>())

    var source: ModelSource {
        ModelSource { bytes throws(CSDLError) in
            if let known = self.models.withLock({ $0[bytes] }) { return known }
            let model = try CSDLReader.read(bytes)
            self.models.withLock { $0[bytes] = model }
            return model
        }
    }

    /// Returns the metadata of a service with the client-only part.
    func withClientOnly(_ service: [UInt8]) throws(CSDLError) -> [UInt8] {
        if let known = joined.withLock({ $0[service] }) { return known }
        let document = try ClientOnlyMetadata.joined(
            service: service, additions: Array(FieldService.clientOnlyMetadata.utf8))
        joined.withLock { $0[service] = document }
        return document
    }
}

/// Values by document. Of two documents with the same checksum, only the later one has a value.
private struct DocumentTable<Value: Sendable>: Sendable {
    private var entries: [UInt32: (document: [UInt8], value: Value)] = [:]

    /// The number of documents after which all are discarded, because a fault can change a document.
    private static var limit: Int { 64 }

    subscript(document: [UInt8]) -> Value? {
        get {
            // By checksum, because the hash of an array of bytes is computed byte by byte.
            guard let entry = entries[Self.checksum(document)], entry.document == document else { return nil }
            return entry.value
        }
        set {
            if entries.count >= Self.limit { entries = [:] }
            entries[Self.checksum(document)] = newValue.map { (document, $0) }
        }
    }

    private static func checksum(_ document: [UInt8]) -> UInt32 {
        document.withUnsafeBytes { tidelog_crc32c(0, $0.baseAddress, $0.count) }
    }
}
