import EDM
import Synchronization

/// The models of the metadata documents of several runs.
///
/// All runs have the same few documents, and each opening of a store reads them again.
final class ParsedMetadata: Sendable {
    private let models = Mutex<[[UInt8]: EntityDataModel]>([:])
    /// The documents with the client-only part, by those of the service.
    private let joined = Mutex<[[UInt8]: [UInt8]]>([:])

    /// The number of documents after which they are parsed again, because a fault can change a document.
    private static let limit = 64

    var source: ModelSource {
        ModelSource { bytes throws(CSDLError) in
            if let known = self.models.withLock({ $0[bytes] }) { return known }
            let model = try CSDLReader.read(bytes)
            self.models.withLock {
                if $0.count >= Self.limit { $0 = [:] }
                $0[bytes] = model
            }
            return model
        }
    }

    /// Returns the metadata of a service with the client-only part.
    func withClientOnly(_ service: [UInt8]) throws(CSDLError) -> [UInt8] {
        if let known = joined.withLock({ $0[service] }) { return known }
        let document = try ClientOnlyMetadata.joined(
            service: service, additions: Array(FieldService.clientOnlyMetadata.utf8))
        joined.withLock {
            if $0.count >= Self.limit { $0 = [:] }
            $0[service] = document
        }
        return document
    }
}
