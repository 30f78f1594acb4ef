package import EDM
import ODataQuery
package import ODataWire
import OperationLog
package import Operations
package import SyncCore
import Views

/// The records of downloads. Each call is one transaction.
package actor StoreDownloads {
    nonisolated let core: StoreCore
    package nonisolated var unownedExecutor: UnownedSerialExecutor { core.executor.asUnownedSerialExecutor() }

    init(core: StoreCore) { self.core = core }

    /// Returns the defining queries with their download states, in the order in which they were added.
    package func queryStates() throws(TidelogError) -> [QueryState] { try core.read { try $0.bookkeeping.queries() } }

    /// Logs a part of a page of a defining query.
    ///
    /// - Parameters:
    ///   - compares: Whether unchanged entities are only named in the record.
    ///   - next: The link to the next page, if this is the last part of its page and the page is not the last one.
    ///   - waiting: The dangling links of earlier parts and downloads.
    /// - Returns: The result of the part.
    /// - Throws: `invalidRequest` if the query was removed or replaced meanwhile.
    package func ingest(
        _ items: [DeltaItem], of set: EntitySet, query: DefiningQuery, compares: Bool, next: String?,
        waiting: DanglingLinks
    ) async throws(TidelogError) -> IngestedPart {
        let model = try core.model
        let index = core.fold.index ?? RelationshipIndex(model)
        let found = try core.transaction(.shared) { () throws -> IngestedPart in
            try self.checkIsThere(query)
            let queries = try core.state.bookkeeping.queries()
            let asked = RequestedExpansions(of: query, others: queries.map(\.query)) { Self.request(of: $0, model) }
            let path = Self.request(of: query, model)?.path
            var builder = try PageBuilder(
                storage: core.state, model: model, index: index, query: query.name, set: set, compares: compares,
                waiting: waiting, namedLimit: core.options.downloadLimits.named,
                entityLimit: core.options.downloadLimits.entity,
                path: path.flatMap { ContainmentPath($0, model) }, asked: asked,
                isDelta: queries.first { $0.query.name == query.name }?.isDelta == true)
            try builder.add(Self.typed(items, path?.target, set))
            let quarantined = builder.quarantined
            // First, so that the log shows from here on that the download is incomplete.
            if !quarantined.isEmpty { try core.add(.entitiesQuarantined(quarantined)) }
            let next =
                builder.unidentifiedRemovals.isEmpty
                ? try DownloadContinuation(of: query, in: core.state).next(next) : nil
            var (pages, left) = try builder.finish(next: next)
            // Later pages do not repeat these links.
            if next != nil, core.options.downloadLimits.keepsWithPage(left), try self.logDanglingLinks(left, of: query)
            {
                left.markKept()
                pages[pages.count - 1].next = next
            }
            for page in pages { try core.add(.downloadPage(page)) }
            try StreamRecords(core: core).add(builder.streams)
            _ = try core.commit()
            return IngestedPart(
                tally: builder.tally, skipped: builder.skipped, omittedExpansions: builder.omittedExpansions,
                waiting: left,
                unlinked: builder.unlinked,
                quarantined: quarantined, repeated: builder.repeated,
                unidentifiedRemovals: builder.unidentifiedRemovals)
        }
        try await core.acknowledge()
        return found
    }

    /// Returns the items with the type of the query's result. If the path contains a type cast, the service does not have
    /// to write the type of entities that have exactly this type (OData JSON 4.01, section 4.6.3).
    private static func typed(_ items: [DeltaItem], _ target: ResourcePath.Target?, _ set: EntitySet) -> [DeltaItem] {
        switch target {
        case .entities(let type, _)?, .entity(let type, _)?:
            type.name == set.entityType.name ? items : items.map { $0.declared(as: type.name) }
        default: items
        }
    }

    private static func request(of query: DefiningQuery, _ model: EntityDataModel) -> ServiceRequest? {
        try? ServiceRequest.parse(URLText.encoded(query.query), model: model, version: model.version)
    }

    /// Returns the quarantined entities of downloads. Each is removed when its query's next download can apply it, or
    /// no longer contains it.
    package func quarantine() throws(TidelogError) -> [QuarantineEntry] {
        try core.read { try $0.bookkeeping.quarantine() }
    }

    /// The directory for responses that are too large for memory, or nil to hold them in memory.
    package nonisolated var spoolDirectory: String? { core.disk.isSystem ? core.files.directory : nil }

    /// Logs the end of a query's download.
    ///
    /// It is executed after the pages are folded, since it reads their coverage; then they are committed.
    ///
    /// - Parameters:
    ///   - requiresFull: Whether the next download has to be a full one, because this one was a delta that removed
    ///     entities which cannot be identified.
    ///   - waiting: The links with an unknown end.
    ///   - unlinked: The entities that left a collection in any part.
    /// - Returns: The number of entities that the query no longer contains, and the dangling links if the store has
    ///   exactly these.
    package func finishDownload(
        of query: DefiningQuery, deltaLink: String?, requiresFull: Bool = false,
        waiting: DanglingLinks = DanglingLinks(), unlinked: Set<EntityID> = []
    ) async throws(TidelogError) -> (removed: Int, waiting: DanglingLinks?) {
        let model = try core.model
        let found = try core.transaction(.lastShared) { () throws -> (Int, DanglingLinks?) in
            try self.checkIsThere(query)
            var removed = 0
            if !unlinked.isEmpty,
                let left = try ExpandedEntities(of: query, in: core.state, model: model)?.left(among: unlinked)
            {
                for start in stride(from: 0, to: left.count, by: core.options.downloadLimits.named) {
                    let part = left[start..<min(start + core.options.downloadLimits.named, left.count)]
                    try core.add(.downloadPage(DownloadPage(query: query.name, left: Array(part))))
                    removed += core.fold.removedByDownload
                }
            }
            var waiting = waiting
            let areKept = try self.logDanglingLinks(waiting, of: query)
            if areKept { waiting.markKept() }
            let link =
                requiresFull || core.options.downloadLimits.areExceeded(by: waiting.open)
                ? nil : try DownloadContinuation(of: query, in: core.state).deltaLink(deltaLink)
            try core.add(.downloadFinished(DownloadFinished(query: query.name, deltaLink: link)))
            _ = try core.commit()
            return (removed + core.fold.removedByDownload, areKept ? waiting : nil)
        }
        try await core.acknowledge()
        return found
    }

    /// Logs the dangling links: those of existing queries, without those of this query if there are too many.
    ///
    /// - Returns: Whether all dangling links were logged.
    private func logDanglingLinks(_ waiting: DanglingLinks, of query: DefiningQuery) throws -> Bool {
        let open = waiting.open
        let queries = Set(try core.state.bookkeeping.queries().map(\.query.name))
        let areTooMany = core.options.downloadLimits.areExceeded(by: open)
        let links = open.filter { queries.contains($0.query) && !(areTooMany && $0.query == query.name) }
        if try links != core.state.bookkeeping.openLinks() { try core.add(.linksLeftOpen(links)) }
        return links.count == open.count
    }

    /// Commits the pages that the views have not committed yet.
    package func commitPages() throws(StateError) { try core.commitPages() }

    /// Returns the dangling links; see `OpenLink`.
    package func openLinks() throws(TidelogError) -> [OpenLink] { try core.read { try $0.bookkeeping.openLinks() } }

    /// Checks that the query still exists with the same text, because its pages do not belong to a different text.
    private func checkIsThere(_ query: DefiningQuery) throws {
        let isThere = try core.state.bookkeeping.queries().contains {
            $0.query.name == query.name && $0.query.query == query.query
        }
        guard !isThere else { return }
        throw TidelogError(
            .invalidRequest, "The defining query \(query.name) was removed or replaced while it was downloaded.",
            place: query.query, recovery: "Download again.")
    }

    /// Logs entities that were read outside a download. Entities that were removed after their upload stay removed.
    ///
    /// - Parameter identifying: Whether the entity was read to learn the keys of its children. Children that cannot be
    ///   matched are left to the next download.
    package func ingest(
        _ payload: EntityPayload, of set: EntitySet, known: EntityID? = nil, identifying: Bool = false
    ) async throws(TidelogError) {
        let model = try core.model
        try core.transaction { () throws -> Void in
            var builder = try ImageBuilder(storage: core.state, model: model, identifying: identifying)
            let images = try builder.images(of: payload, in: set, known: known) ?? []
            let returning = try core.options.removal.returning(images, core.state)
            try core.add(.entitiesRead(images))
            let streams = StreamRecords(core: core)
            try streams.add(builder.streams)
            try streams.remove(UploadedCopies(streams: [], entities: returning))
            _ = try core.commit()
        }
        try await core.acknowledge()
    }
}

/// The result of a part of a page.
package struct IngestedPart {
    package var tally: DownloadCounts
    /// Expanded properties whose entities cannot be stored, as `Set/Navigation`.
    package var skipped: Set<String>
    /// Expanded properties that the part omits, as `Set/Navigation`.
    package var omittedExpansions: Set<String>
    /// The links with an unknown end.
    package var waiting: DanglingLinks
    /// The entities that left a collection.
    package var unlinked: Set<EntityID>
    package var quarantined: [QuarantinedEntity]
    package var repeated: [String]
    /// Entities that were removed but cannot be identified.
    package var unidentifiedRemovals: [String]
}
