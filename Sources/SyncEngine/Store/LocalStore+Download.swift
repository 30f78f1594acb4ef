import EDM
import ODataWire
import Operations
public import SyncCore
import Views

/// What the download rounds ask of the store. Each call is one transaction.
extension LocalStore {
    /// The defining queries with where their downloads stand, in the order in which they were added.
    func queryStates() throws(TidelogError) -> [QueryState] { try read { try $0.queries() } }

    /// Logs a part of a page of a defining query.
    ///
    /// - Parameters:
    ///   - compares: whether what is as it was is only named.
    ///   - next: where the next page is, where this is the last part of its page and not of the last page.
    ///   - waiting: what earlier parts left, and earlier downloads.
    /// - Returns: what it came to.
    /// - Throws: `invalidRequest` where the query was removed or replaced meanwhile.
    func ingest(
        _ items: [DeltaItem], of set: EntitySet, query: DefiningQuery, compares: Bool, next: String?,
        waiting: WaitingLinks
    ) async throws(TidelogError) -> IngestedPart {
        let model = try model
        let index = fold.index ?? RelationshipIndex(model)
        let found = try transaction(.gathered) { () throws -> IngestedPart in
            try self.checkIsThere(query)
            let queries = try self.state.queries()
            let asked = AskedExpansions(of: query, others: queries.map(\.query)) { Self.request(of: $0, model) }
            var builder = try PageBuilder(
                storage: self.state, model: model, index: index, query: query.name, set: set, compares: compares,
                waiting: waiting, namedLimit: self.downloadLimits.named,
                entityLimit: self.downloadLimits.entity,
                path: Self.request(of: query, model).flatMap { ContainmentPath($0.path, model) }, asked: asked,
                isDelta: queries.first { $0.query.name == query.name }?.isDelta == true)
            try builder.add(items)
            let quarantined = builder.quarantined
            // Before anything else of the part: from here on it is known that not all of the download was taken.
            if !quarantined.isEmpty { try self.add(.entitiesQuarantined(quarantined)) }
            var (pages, left) = try builder.finish(next: try self.mayGoOn(query) ? next : nil)
            for page in pages { try self.add(.downloadPage(page)) }
            // What was told of them on this page, the pages behind it do not tell again.
            if pages.last?.next != nil, left.hasLostKept, try self.keep(left, of: query) { left.markKept() }
            try self.keepTold(builder.streams)
            _ = try self.commit()
            return IngestedPart(
                tally: builder.tally, skipped: builder.skipped, untold: builder.untold, waiting: left,
                unlinked: builder.unlinked,
                quarantined: quarantined, repeated: builder.repeated)
        }
        try await acknowledge()
        return found
    }

    private static func request(of query: DefiningQuery, _ model: EntityDataModel) -> ServiceRequest? {
        try? ServiceRequest.parse(URLText.encoded(query.query), model: model, version: model.version)
    }

    /// What a part of a page came to.
    struct IngestedPart {
        var tally: DownloadTally
        /// What could not be stored, as `Set/Navigation`.
        var skipped: Set<String>
        /// What the part was silent about, as `Set/Navigation`.
        var untold: Set<String>
        /// The links of which an end is not known.
        var waiting: WaitingLinks
        /// What left a collection.
        var unlinked: Set<EntityID>
        var quarantined: [QuarantinedEntity]
        var repeated: [String]
    }

    /// Whether a download of changes that is interrupted goes on behind this page: not behind one with an entity that could not
    /// be taken, since no later page has it again.
    private func mayGoOn(_ query: DefiningQuery) throws -> Bool {
        guard let state = try state.queries().first(where: { $0.query.name == query.name }), state.isDelta else {
            return true
        }
        return try self.state.quarantine(of: state).isEmpty
    }

    /// Where the changes since this download are to be had: where an entity could not be taken, the next one reads it again,
    /// by the delta link that this one began with or, after a full download, in full.
    private func deltaLink(_ new: String?, behind query: DefiningQuery) throws -> String? {
        guard let state = try state.queries().first(where: { $0.query.name == query.name }),
            try !self.state.quarantine(of: state).isEmpty
        else { return new }
        return state.isDelta ? state.deltaLink?.url : nil
    }

    /// Entities that downloads brought and that could not be taken; each goes when its query's next download can take it, or
    /// does not bring it any more.
    public func quarantine() throws(TidelogError) -> [QuarantineEntry] { try read { try $0.quarantine() } }

    /// Where an answer is held back that is too long for memory; nil where all of it is held there.
    nonisolated var spoolDirectory: String? { spoolsToDisk ? files.directory : nil }

    /// Logs that a query was downloaded to its end.
    ///
    /// Behind its pages and as they are, since it reads what they have covered; and then they are committed.
    ///
    /// - Parameters:
    ///   - waiting: the links of which an end did not come.
    ///   - unlinked: what left a collection, in whatever part.
    /// - Returns: how many entities it does not bring any more; and what waits, where the store has just that.
    func finishDownload(
        of query: DefiningQuery, deltaLink: String?, waiting: WaitingLinks = WaitingLinks(),
        unlinked: Set<EntityID> = []
    ) async throws(TidelogError) -> (removed: Int, waiting: WaitingLinks?) {
        let model = try model
        let found = try transaction(.lastGathered) { () throws -> (Int, WaitingLinks?) in
            try self.checkIsThere(query)
            var removed = 0
            if !unlinked.isEmpty,
                let left = try ExpandedEntities(of: query, in: self.state, model: model)?.left(among: unlinked)
            {
                for start in stride(from: 0, to: left.count, by: self.downloadLimits.named) {
                    let part = left[start..<min(start + self.downloadLimits.named, left.count)]
                    try self.add(.downloadPage(DownloadPage(query: query.name, left: Array(part))))
                    removed += self.fold.removedByDownload
                }
            }
            var waiting = waiting
            let areKept = try self.keep(waiting, of: query)
            if areKept { waiting.markKept() }
            let link = self.areTooMany(waiting.open) ? nil : try self.deltaLink(deltaLink, behind: query)
            try self.add(.downloadFinished(DownloadFinished(query: query.name, deltaLink: link)))
            _ = try self.commit()
            return (removed + self.fold.removedByDownload, areKept ? waiting : nil)
        }
        try await acknowledge()
        return found
    }

    /// Logs which links wait now: those of the queries that there are, and of this one none where all are too many.
    ///
    /// - Returns: whether these are all that wait.
    private func keep(_ waiting: WaitingLinks, of query: DefiningQuery) throws -> Bool {
        let open = waiting.open
        let queries = Set(try state.queries().map(\.query.name))
        let areTooMany = areTooMany(open)
        let links = open.filter { queries.contains($0.query) && !(areTooMany && $0.query == query.name) }
        if try links != state.openLinks() { try add(.linksLeftOpen(links)) }
        return links.count == open.count
    }

    /// Whether they do not fit the one record that they are to be.
    private func areTooMany(_ links: [OpenLink]) -> Bool {
        links.count > downloadLimits.openLinks || links.reduce(0) { $0 + $1.byteCount } > downloadLimits.openLinksSize
    }

    /// Links of which an end is not in the store; see `OpenLink`.
    func openLinks() throws(TidelogError) -> [OpenLink] { try read { try $0.openLinks() } }

    /// What was asked for by one text is nothing that another one brings.
    private func checkIsThere(_ query: DefiningQuery) throws {
        let isThere = try state.queries().contains { $0.query.name == query.name && $0.query.query == query.query }
        guard !isThere else { return }
        throw TidelogError(
            .invalidRequest, "The defining query \(query.name) was removed or replaced while it was downloaded.",
            place: query.query, recovery: "Download again.")
    }

    /// Logs entities that were read outside a download.
    ///
    /// - Parameter identifying: the entity was read to learn the keys of those below it. What cannot be told to be one of
    ///   them is left to the next download.
    func ingest(
        _ payload: EntityPayload, of set: EntitySet, known: EntityID? = nil, identifying: Bool = false
    ) async throws(TidelogError) {
        let model = try model
        try transaction { () throws -> Void in
            var builder = try ImageBuilder(storage: self.state, model: model, identifying: identifying)
            try self.add(.entitiesRead(try builder.images(of: payload, in: set, known: known) ?? []))
            try self.keepTold(builder.streams)
            _ = try self.commit()
        }
        try await acknowledge()
    }
}
