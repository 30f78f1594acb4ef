import EDM
import Operations

/// Links that a change set removes at a single-valued end and then replaces there by another.
///
/// A replacement lets go of the old link by itself. A removal beside it would do harm: the requests of a change set have no
/// order that a service must keep (OData 4.0 Part 1, 11.7.4), and if the removal came last, the new link would be gone.
struct SupersededUnlinks {
    /// The removals that need no request of their own.
    private(set) var operations: Set<SequenceNumber> = []
    /// The same under the operation that replaces the link.
    private(set) var replacements: [SequenceNumber: [SequenceNumber]] = [:]

    private struct End: Hashable {
        let entity: EntityID
        let navigation: String
    }

    init<Storage>(
        in changeSet: [PendingOperation], _ resolver: EntityResolver<Storage>
    ) throws(StateError) {
        var removals: [End: [SequenceNumber]] = [:]
        for pending in changeSet {
            switch pending.operation.action {
            case .deleteLink(let link):
                let navigation = try resolver.navigation(link.navigation, of: link.from, in: pending.operation)
                guard navigation?.isCollection == false else { continue }
                removals[End(entity: link.from, navigation: link.navigation), default: []].append(pending.sequence)
            case .createLink(let link), .updateLink(let link):
                let end = End(entity: link.from, navigation: link.navigation)
                guard let replaced = removals.removeValue(forKey: end) else { continue }
                operations.formUnion(replaced)
                replacements[pending.sequence] = replaced
            default: continue
            }
        }
    }
}
