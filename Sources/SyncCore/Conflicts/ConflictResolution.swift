public import EDM
package import Operations

/// A policy by which an upload resolves conflicts.
public enum ConflictPolicy: Sendable, Hashable {
    /// Client wins: pending changes overwrite the service's.
    case clientWins
    /// Server wins: the pending changes of the entity are undone. They can be redone.
    case serverWins
    /// Changes of both sides that do not overlap are kept.
    case merge(overlapping: Overlap)
    /// No automatic resolution: the operations wait, even if the changes do not overlap.
    case ask

    /// The resolution of overlapping changes.
    public enum Overlap: Sendable, Hashable {
        /// The pending operations are sent unchanged.
        case clientWins
        /// The overlapping properties are removed from the pending operations.
        case serverWins
        /// The conflict waits for a decision.
        case ask
    }

    /// Returns the resolution of a conflict, or nil if a decision is required.
    ///
    /// No request can change an entity that another client deleted, so ``clientWins`` requires a decision for these
    /// too.
    package func resolution(
        of conflict: Conflict
    ) -> (resolution: ConflictResolution, decision: ConflictResolved.Decision)? {
        switch self {
        case .ask: return nil
        case .serverWins: return (.theirs, .serverWins)
        case .clientWins: return conflict.kind == .deletedByOthers ? nil : (.mine, .clientWins)
        case .merge(let overlap):
            guard conflict.isOverlapping else { return (.mine, .merged) }
            switch (overlap, conflict.kind) {
            case (.ask, _), (.clientWins, .deletedByOthers): return nil
            case (.clientWins, _): return (.mine, .clientWins)
            case (.serverWins, .changed): return (.theirsWhereOverlapping(conflict), .serverWins)
            case (.serverWins, _): return (.theirs, .serverWins)
            }
        }
    }
}

/// The resolution of a conflict: the side that wins.
public struct ConflictResolution: Sendable, Hashable {
    /// A side of a conflict.
    public enum Side: Sendable, Hashable {
        /// The pending operations.
        case mine
        /// The service.
        case theirs
    }

    /// The choice for a property.
    public enum Choice: Sendable, Hashable {
        /// The pending value.
        case mine
        /// The value of the service.
        case theirs
        /// A third value, which is sent.
        case value(Value)
    }

    /// The side that wins for all items without a choice of their own. *Theirs* without further choices undoes all
    /// operations on the entity.
    public var side: Side
    /// The choices by property name.
    public var properties: [String: Choice]
    /// The choices by navigation property.
    public var links: [String: Side]

    /// Creates a resolution with a side that wins; by default without choices for single items.
    public init(_ side: Side, properties: [String: Choice] = [:], links: [String: Side] = [:]) {
        self.side = side
        self.properties = properties
        self.links = links
    }

    /// The pending operations overwrite the changes of other clients.
    public static let mine = ConflictResolution(.mine)
    /// The entity keeps the service's version.
    public static let theirs = ConflictResolution(.theirs)

    static func theirsWhereOverlapping(_ conflict: Conflict) -> ConflictResolution {
        var resolution = ConflictResolution.mine
        for property in conflict.properties where property.isOverlapping {
            resolution.properties[property.name] = .theirs
        }
        for link in conflict.links where link.isOverlapping { resolution.links[link.navigation] = .theirs }
        return resolution
    }
}

/// The effect of a resolution on the operations.
package struct ConflictOutcome: Sendable, Hashable {
    /// The record, without the operations that depend on ``ConflictResolved/takenBack``.
    package var record: ConflictResolved
    /// The values to send as an additional update.
    package var merged: PropertyValues
}

extension Conflict {
    /// Returns the effect of a resolution, or nil if it is impossible because another client deleted the entity.
    ///
    /// - Parameter pending: The operations of ``operations``.
    package func outcome(
        _ resolution: ConflictResolution, _ decision: ConflictResolved.Decision, pending: [PendingOperation]
    ) -> ConflictOutcome? {
        var record = ConflictResolved(entity: entity, decision: decision)
        let isWhole = resolution.properties.isEmpty && resolution.links.isEmpty
        let losing = losing(resolution)
        for item in pending where operations.contains(item.sequence) {
            if resolution.side == .theirs, isWhole {
                record.takenBack.append(item.sequence)
                continue
            }
            switch item.operation.action {
            // The declared effect is on another entity.
            case _ where item.operation.call != nil && item.operation.subject != entity:
                if resolution.side == .theirs { record.takenBack.append(item.sequence) }
            case .update(_, let changes, let bindings):
                let properties = changes.names.filter { losing.properties.contains($0) }
                let navigations = bindings.map(\.navigation).filter { losing.links.contains($0) }
                let losesCall = item.operation.call != nil && !(properties.isEmpty && navigations.isEmpty)
                if losesCall
                    || properties.count == changes.count && navigations.count == bindings.count
                        && !item.operation.isEmpty
                {
                    record.takenBack.append(item.sequence)
                } else if !properties.isEmpty || !navigations.isEmpty {
                    record.dropped.append(
                        .init(operation: item.sequence, properties: properties, navigations: navigations))
                }
            case .delete: if resolution.side == .theirs { record.takenBack.append(item.sequence) }
            case .createLink, .updateLink, .deleteLink:
                if losing.linkOperations.contains(item.sequence) { record.takenBack.append(item.sequence) }
            case .create: break
            }
        }
        if kind == .deletedByOthers, record.takenBack.count < operations.count { return nil }
        let taken = Set(record.takenBack)
        record.released = pending.filter { $0.isRefusedForConflict && !taken.contains($0.sequence) }.map(\.sequence)
        var merged: PropertyValues = [:]
        for (name, choice) in resolution.properties.sorted(by: { $0.key < $1.key }) {
            if case .value(let value) = choice { merged[name] = value }
        }
        return ConflictOutcome(record: record, merged: merged)
    }

    /// Returns the items that have to be removed from the operations.
    private func losing(
        _ resolution: ConflictResolution
    ) -> (properties: Set<String>, links: Set<String>, linkOperations: Set<SequenceNumber>) {
        var properties: Set<String> = []
        for property in self.properties where property.isMine {
            switch resolution.properties[property.name] {
            case .mine: continue
            case .theirs, .value: properties.insert(property.name)
            case nil: if resolution.side == .theirs { properties.insert(property.name) }
            }
        }
        let links = self.links.filter {
            $0.isMine && resolution.links[$0.navigation] ?? resolution.side == .theirs
        }
        return (properties, Set(links.map(\.navigation)), Set(links.flatMap(\.operations)))
    }
}

extension Operation {
    fileprivate var isEmpty: Bool {
        if case .update(_, let changes, let bindings) = action { changes.isEmpty && bindings.isEmpty } else { false }
    }
}

extension Refusal {
    /// A Boolean value that indicates whether the rejection may be due to a concurrent change: the entity's version
    /// differs (412), the version is required (428), its state forbids the change (409), or the entity does not exist
    /// (404, 410).
    package var mayBeConflict: Bool { [404, 409, 410, 412, 428].contains(status) }
}

extension PendingOperation {
    /// A Boolean value that indicates whether the operation was rejected, possibly because of a conflict.
    package var isRefusedForConflict: Bool {
        if case .rejected(let refusal) = status { refusal.mayBeConflict } else { false }
    }
}
