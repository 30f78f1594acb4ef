import EDM
import Operations
import SyncCore

/// An entity as a state shows it: as the app sees it, or as the service has it.
struct EntityView: Equatable {
    /// Nil where it is not there.
    var row: EntityRow?
    /// By navigation property, those without an entity left out; in order of their IDs.
    var links: [String: [EntityID]] = [:]

    var values: PropertyValues { row?.values ?? [:] }

    init() {}

    /// - Parameter isLocal: with the pending operations on top, or below them.
    init(_ id: EntityID, in fold: Fold, isLocal: Bool) throws(StateError) {
        row = isLocal ? try fold.storage.row(id) : try fold.storage.serviceRow(id)
        guard let row, let index = fold.index else { return }
        for end in index.ends(of: row.set) {
            let known =
                end.isFirst
                ? try fold.storage.links(end.relationship, first: id)
                : try fold.storage.links(end.relationship, second: id)
            let targets = known.filter { isLocal ? $0.inLocal : $0.inBase }.map { end.isFirst ? $0.second : $0.first }
            if !targets.isEmpty { links[Self.navigation(end, of: row.set)] = targets.sorted() }
        }
    }

    /// The navigation property, or that of the other end with its set where this one has none.
    static func navigation(_ end: RelationshipIndex.End, of set: String) -> String {
        end.name.hasPrefix(set + "/") ? String(end.name.dropFirst(set.count + 1)) : end.name
    }

    static func == (a: EntityView, b: EntityView) -> Bool {
        (a.row == nil) == (b.row == nil) && a.values == b.values && a.links == b.links
    }
}
