package import Operations

/// A change of the state, as an inspection of a record shows it.
package enum StateChange: Sendable, Hashable {
    /// A change of an entity in the current state; nil if it does not exist. At most one of the values is nil.
    case entity(from: EntityRow?, to: EntityRow?)
    /// A link that the current state contains now, or contains no longer.
    case link(LinkRow, isThere: Bool)
    /// A change of a pending operation's status; nil if the operation does not exist or has ended.
    case operation(SequenceNumber, from: PendingOperation.Status?, to: PendingOperation.Status?)
}

/// The changes of a state in order. Most of them are pending operations that are reverted and reapplied.
struct StateJournal {
    private var changes: [(old: SnapshotItem?, new: SnapshotItem?)] = []

    mutating func append(_ old: SnapshotItem?, _ new: SnapshotItem?) { changes.append((old, new)) }

    private enum Subject: Hashable {
        case entity(EntityID)
        case link(String, EntityID, EntityID)
        case operation(SequenceNumber)
    }

    /// The differences between start and end, in the order of the first change of each item.
    var differences: [StateChange] {
        var order: [Subject] = []
        var ends: [Subject: (old: SnapshotItem?, new: SnapshotItem?)] = [:]
        for (old, new) in changes {
            guard let subject = (old ?? new).flatMap(Self.subject) else { continue }
            if ends[subject] == nil {
                order.append(subject)
                ends[subject] = (old, new)
            } else {
                ends[subject]?.new = new
            }
        }
        return order.compactMap { subject in ends[subject].flatMap { Self.change($0.old, $0.new) } }
    }

    private static func subject(_ item: SnapshotItem) -> Subject? {
        switch item {
        case .row(let row): .entity(row.id)
        case .link(let link): .link(link.relationship, link.first, link.second)
        case .pending(let pending): .operation(pending.sequence)
        default: nil
        }
    }

    private static func change(_ old: SnapshotItem?, _ new: SnapshotItem?) -> StateChange? {
        guard old != new else { return nil }
        switch (old, new) {
        case (.row(let old), .row(let new)): return .entity(from: old, to: new)
        case (.row(let old), nil): return .entity(from: old, to: nil)
        case (nil, .row(let new)): return .entity(from: nil, to: new)
        case (.pending(let old), .pending(let new)):
            return old.status == new.status ? nil : .operation(old.sequence, from: old.status, to: new.status)
        case (.pending(let old), nil): return .operation(old.sequence, from: old.status, to: nil)
        case (nil, .pending(let new)): return .operation(new.sequence, from: nil, to: new.status)
        case (.link, _), (_, .link):
            let (before, after) = (old?.link, new?.link)
            guard before?.inLocal ?? false != after?.inLocal ?? false, let link = after ?? before else { return nil }
            return .link(link, isThere: after?.inLocal ?? false)
        default: return nil
        }
    }
}

extension SnapshotItem {
    fileprivate var link: LinkRow? { if case .link(let link) = self { link } else { nil } }
}
