public import Tidelog

/// The result of a synchronization.
public struct SyncSummary: Sendable, Hashable {
    public var confirmed = 0
    public var rejected = 0
    public var conflicts = 0
    /// The changes that the store will send later.
    public var remaining = 0
    /// A sentence for the user if there is no connection.
    public var problem: String?
}

/// The synchronization, and the decisions of the user about its results.
extension FieldStore {
    /// Sends the changes and reads those of the service. May be cancelled at any time.
    public func synchronize() async throws -> SyncSummary {
        var summary = SyncSummary()
        do throws(TidelogError) {
            let sent = try await provider.upload()
            summary.confirmed = sent.confirmed.count
            summary.rejected = sent.rejected.count
            summary.conflicts = sent.conflicts.count
            summary.remaining = sent.remaining
            try await provider.download()
        } catch {
            guard error.code == .unreachable else { throw error }
            summary.problem = error.message
        }
        return summary
    }

    // MARK: Rejected changes

    /// A change that the service has rejected.
    public struct Rejection: Sendable, Hashable, Identifiable {
        public var id: SequenceNumber
        public var readLink: String
        public var message: String
    }

    public func rejections() async throws -> [Rejection] {
        try await provider.errorArchive().filter { $0.state == .rejected }
            .map { Rejection(id: $0.requestID, readLink: $0.affectedEntity, message: $0.message) }
    }

    /// Corrects the report of a rejected order. The next synchronization sends the corrected order.
    public func correct(_ rejection: Rejection, report: String) async throws {
        let order = try await loaded(rejection.readLink)
        order.report = report
        try await service.updateEntity(order)
    }

    /// Gives up a rejected change, and the changes that depend on it.
    public func discard(_ rejection: Rejection) async throws { try await provider.discardErrors([rejection.id]) }

    // MARK: Conflicts

    /// The conflicts that wait for a decision.
    public func conflicts() async throws -> [Conflict] { try await provider.conflicts() }

    /// Keeps the technician's status and hours, and joins both reports.
    public func merge(_ conflict: Conflict) async throws {
        var resolution = ConflictResolution(.mine)
        if let report = conflict.properties.first(where: { $0.name == "Report" }),
            case .string(let mine)? = report.mine, case .string(let theirs)? = report.theirs
        {
            resolution = ConflictResolution(.mine, properties: ["Report": .value(.string("\(theirs)\n\(mine)"))])
        }
        try await provider.resolve(conflict, with: resolution)
    }
}
