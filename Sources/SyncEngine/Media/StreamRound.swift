import Operations

/// The content of the media entities that defining queries bring, for those queries that ask for it.
struct StreamRound {
    let store: LocalStore
    let session: ServiceSession

    /// One request for each media entity of which the service has not said already that its stream is the one in the store; it
    /// answers without content where it is. A stream that the service does not give keeps no other from being read.
    ///
    /// - Parameter report: is told of queries whose streams this store does not keep.
    @_optimize(none)
    func run(_ queries: [DefiningQuery], _ report: inout DownloadReport) async throws(TidelogError) {
        let asking = queries.filter(\.automaticallyRetrievesStreams)
        guard !asking.isEmpty else { return }
        guard await store.keepsStreams else {
            report.withoutStreams = asking.map(\.name)
            return
        }
        for query in asking {
            for entity in try await store.mediaEntities(of: query.name) { try await read(entity) }
        }
    }

    @inline(never) @_optimize(none)
    private func read(_ entity: EntityID) async throws(TidelogError) {
        if try await store.isStreamCurrent(entity) { return }
        do throws(TidelogError) {
            _ = try await StreamDownload(store: store, session: session).run(entity, property: nil)
        } catch {
            guard error.isLastingAnswer else { throw error }
        }
    }
}
