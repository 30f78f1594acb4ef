public import EDM
public import Operations

/// How an upload settles conflicts by itself.
public enum ConflictPolicy: Sendable, Hashable {
    /// What is pending here goes over what others did.
    case clientWins
    /// What is pending here on the entity is undone; it can be redone.
    case serverWins
    /// What does not overlap stays, from both sides.
    case merge(overlapping: Overlap)
    /// Nothing: the operations wait, also where both sides changed different things.
    case ask

    /// What becomes of what both sides changed.
    public enum Overlap: Sendable, Hashable {
        case clientWins
        /// The properties in question are taken out of the pending operations.
        case serverWins
        case ask
    }

    /// Nil where somebody has to decide.
    ///
    /// What others deleted cannot be changed by a request: there *client wins* asks as well.
    public func resolution(
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

/// Which side holds in a conflict.
public struct ConflictResolution: Sendable, Hashable {
    public enum Side: Sendable, Hashable {
        case mine
        case theirs
    }

    public enum Choice: Sendable, Hashable {
        case mine
        case theirs
        /// Neither: this is sent.
        case value(Value)
    }

    /// What holds for everything that is not named. *Theirs* without anything named undoes all operations on the entity.
    public var side: Side
    public var properties: [String: Choice]
    /// By navigation property.
    public var links: [String: Side]

    public init(_ side: Side, properties: [String: Choice] = [:], links: [String: Side] = [:]) {
        self.side = side
        self.properties = properties
        self.links = links
    }

    /// The pending operations go over what others did.
    public static let mine = ConflictResolution(.mine)
    /// The entity is as the service has it.
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

/// A decision in terms of operations.
public struct ConflictOutcome: Sendable, Hashable {
    /// Without what has to go along with ``ConflictResolved/takenBack``.
    public var record: ConflictResolved
    /// What is to be sent as an update of its own.
    public var merged: PropertyValues
}

extension Conflict {
    /// What a resolution comes to; nil where it cannot be: nothing can be changed of what others deleted.
    ///
    /// - Parameter pending: the operations of ``operations``.
    public func outcome(
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
            case .update(_, let changes, let bindings):
                let properties = changes.names.filter { losing.properties.contains($0) }
                let navigations = bindings.map(\.navigation).filter { losing.links.contains($0) }
                if properties.count == changes.count, navigations.count == bindings.count, !item.operation.isEmpty {
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

    /// What operations must not say any more.
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
    /// Whether the service may have refused because of what others did: the entity's version is another one (412), it wants to
    /// know the version (428), it is in a state that forbids it (409), or the entity is not there (404, 410).
    public var mayBeConflict: Bool { [404, 409, 410, 412, 428].contains(status) }
}

extension PendingOperation {
    /// Whether it was refused, perhaps because of a conflict.
    public var isRefusedForConflict: Bool {
        if case .rejected(let refusal) = status { refusal.mayBeConflict } else { false }
    }
}
