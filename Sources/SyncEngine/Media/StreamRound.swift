import OfflineStore
import Operations

/// Downloads the content of media entities for the defining queries that request it.
struct StreamRound {
    let store: LocalStore
    let session: ServiceSession

    /// Sends one request for each media entity whose stored stream is not known to be current. The service answers
    /// without content if it is.
    ///
    /// A stream that the service rejects does not affect the others.
    ///
    /// - Parameter report: Receives the queries whose streams this store cannot keep.
    func run(_ queries: [DefiningQuery], _ report: inout DownloadReport) async throws(TidelogError) {
        let asking = queries.filter(\.automaticallyRetrievesStreams)
        guard !asking.isEmpty else { return }
        guard store.media.keepsStreams else {
            report.withoutStreams = asking.map(\.name)
            return
        }
        for query in asking {
            for entity in try await store.media.mediaEntities(of: query.name) { try await read(entity) }
        }
    }

    private func read(_ entity: EntityID) async throws(TidelogError) {
        if try await store.media.isStreamCurrent(entity) { return }
        do throws(TidelogError) {
            _ = try await StreamDownload(store: store, session: session).run(entity, property: nil)
        } catch {
            guard error.isLastingAnswer else { throw error }
        }
    }
}
