import EDM
import Operations

/// Link operations of a change set whose links end with an entity that a later operation deletes.
///
/// A request for the link could change the ETag of the entity, so that the deletion would be sent without one and could
/// delete changes of other clients unread. The link is therefore not sent if the state after the deletion is the same:
///
/// - The other entity may have many partners by the relationship, so that a new link displaces none of them. It holds no
///   dependent properties of the link, either.
/// - The deletion does not cascade to the other entity.
/// - A removed link is at a to-one end of the deleted entity, the dependent one. A service may refuse to delete a
///   principal before its links are removed.
/// - The operations between change the entity in no other way, call no action, and do not delete the other end of a
///   removed or replaced link.
struct LinksOfDeletedEntities {
    private let resolver: EntityResolver<WorkingSet>

    /// A link operation of the entity.
    private struct OpenLink {
        let sequence: SequenceNumber
        /// The other ends of the links that it removes or replaces.
        let former: [EntityID]
    }

    init(_ resolver: EntityResolver<WorkingSet>) { self.resolver = resolver }

    /// Returns the operations, by the deletion that ends their links.
    func found(in changeSet: [PendingOperation]) throws(StateError) -> [SequenceNumber: [SequenceNumber]] {
        guard let first = changeSet.firstIndex(where: { $0.operation.linkWithoutContent != nil }),
            changeSet[first...].contains(where: \.operation.isDeletion)
        else { return [:] }
        var found: [SequenceNumber: [SequenceNumber]] = [:]
        var (open, omitted): ([EntityID: [OpenLink]], Set<SequenceNumber>) = ([:], [])
        /// The entities with removed or replaced links, by the former other end.
        var unlinked: [EntityID: [EntityID]] = [:]
        var tracker = LinkTracker(resolver)
        for pending in changeSet {
            let operation = pending.operation
            if operation.call != nil { open = [:] }
            if operation.isDeletion {
                let entity = operation.subject
                for gone in try tracker.deleted(with: entity) {
                    for other in unlinked.removeValue(forKey: gone) ?? [] {
                        open[other]?.removeAll { $0.former.contains(gone) }
                    }
                }
                if let links = open[entity], try resolver.sharedServiceRow(entity)?.row.etag != nil {
                    let own = links.map(\.sequence).filter { omitted.insert($0).inserted }
                    if !own.isEmpty { found[pending.sequence] = own }
                }
            }
            let (footprint, ended) = try resolver.follow(operation, &tracker)
            let links = try links(of: pending, ending: ended)
            for entity in footprint.entities where !links.contains(where: { $0.entity == entity }) {
                open[entity] = nil
            }
            for (entity, link) in links {
                open[entity, default: []].append(link)
                for former in link.former { unlinked[former, default: []].append(entity) }
            }
        }
        return found
    }

    /// Returns the link of the operation from each end whose deletion has the same effect without it.
    ///
    /// - Parameter ended: The links that the operation ends.
    private func links(
        of pending: PendingOperation, ending ended: [EndedLink]
    ) throws(StateError) -> [(entity: EntityID, link: OpenLink)] {
        let operation = pending.operation
        guard let link = operation.linkWithoutContent,
            let end = try resolver.navigation(link.navigation, of: link.from, in: operation)?.navigation
        else { return [] }
        let isRemoval = if case .deleteLink = operation.action { true } else { false }
        var links: [(entity: EntityID, link: OpenLink)] = []
        for (entity, multiplicity, inverse, relationship) in [
            (link.from, end.multiplicity, end.sourceMultiplicity, end.relationship),
            (link.to, end.sourceMultiplicity, end.multiplicity, end.relationship.reversed),
        ] where inverse == .many && !(isRemoval && multiplicity == .many) {
            guard let set = try resolver.set(of: entity).flatMap({ resolver.model.findEntitySet($0) }),
                !resolver.model.cascades(of: set).contains(relationship)
            else { continue }
            let former = ended.compactMap { old in
                old.entity == entity ? old.partner : old.partner == entity ? old.entity : nil
            }
            links.append((entity, OpenLink(sequence: pending.sequence, former: former)))
        }
        return links
    }
}

extension Operation {
    fileprivate var isDeletion: Bool { if case .delete = action { true } else { false } }

    /// The link of an operation that only adds or removes it, unless its request has headers or must not be changed.
    fileprivate var linkWithoutContent: Link? {
        guard call == nil, !isUnmodifiable, headers.isEmpty, headerTemplates.isEmpty else { return nil }
        return switch action {
        case .createLink(let link), .updateLink(let link), .deleteLink(let link): link
        case .create, .update, .delete: nil
        }
    }
}
