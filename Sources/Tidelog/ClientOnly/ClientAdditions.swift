import EDM
import OfflineStore
import SyncEngine

/// The client-only metadata of an app: how a store receives it.
struct ClientAdditions {
    private let parameters: OfflineODataParameters

    init(_ parameters: OfflineODataParameters) { self.parameters = parameters }

    private var bytes: [UInt8]? { parameters.clientOnlyMetadata.map { Array($0.utf8) } }

    /// Reads the metadata for a new store: that of the service, with the additions.
    func metadata(_ session: ServiceSession) async throws(TidelogError) -> (bytes: [UInt8], model: EntityDataModel) {
        let isLocal = session.givenRoot == OfflineODataParameters.noService
        let read: (bytes: [UInt8], model: EntityDataModel)?
        if isLocal { read = nil } else { read = try await MetadataReading.read(session) }
        if let read, bytes == nil { return read }
        return try joined(read?.bytes ?? ClientOnlyMetadata.emptyService)
    }

    /// Installs the additions in an existing store if they differ from those that it has.
    func adopt(in store: LocalStore) async throws(TidelogError) {
        guard let bytes, let known = try await store.service else { return }
        guard ClientOnlyMetadata.parts(known.metadata).additions ?? [] != bytes else { return }
        let joined = try joined(known.metadata).bytes
        _ = try await store.metadata.refresh(joined, policy: parameters.clientOnlyPolicy)
    }

    private func joined(_ service: [UInt8]) throws(TidelogError) -> (bytes: [UInt8], model: EntityDataModel) {
        do throws(CSDLError) {
            let joined = try ClientOnlyMetadata.joined(service: service, additions: bytes ?? [])
            return (joined, try CSDLReader.read(joined))
        } catch {
            throw TidelogError(
                .invalidRequest, "The client-only metadata cannot be used. \(error.message)",
                place: "\(error.document ?? "metadata"), line \(error.line)",
                recovery: "Rename the element in the client-only metadata, or remove it.", cause: error)
        }
    }
}

extension OfflineODataParameters {
    /// The service root of a store that has no service.
    static let noService = "local://store/"
}
