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

/// The changes of a state, in the order of the first change of each item. Most of them are pending operations that are
/// reverted and reapplied.
struct StateJournal {
    /// The first and the last content of each changed item.
    private var ends: [(old: SnapshotItem?, new: SnapshotItem?)] = []
    /// The indexes of the items in ``ends``.
    private var places: [Subject: Int] = [:]

    private enum Subject: Hashable {
        case entity(EntityID)
        case link(String, EntityID, EntityID)
        case operation(SequenceNumber)
    }

    mutating func append(_ old: SnapshotItem?, _ new: SnapshotItem?) {
        guard let subject = Self.subject(old) ?? Self.subject(new) else { return }
        if let place = places[subject] {
            ends[place].new = new
        } else {
            places[subject] = ends.count
            ends.append((old, new))
        }
    }

    /// The differences between start and end.
    var differences: [StateChange] { ends.compactMap { Self.change($0.old, $0.new) } }

    private static func subject(_ item: SnapshotItem?) -> Subject? {
        switch item {
        case .row(let row)?: .entity(row.id)
        case .link(let link)?: .link(link.relationship, link.first, link.second)
        case .pending(let pending)?: .operation(pending.sequence)
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
