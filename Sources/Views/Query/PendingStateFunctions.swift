import EDM
import ODataQuery
import Operations
import SyncCore

/// The offline functions, such as `sap.islocal()`.
struct PendingStateFunctions {
    let state: SQLiteState
    let model: EntityDataModel

    /// Returns the value of an offline function. In a query about links it describes the link: a link is local while
    /// the service does not have it, and in error if the service rejected an operation that changes it.
    func value(of function: CanonicalFunction, _ row: EntityRow, _ link: LinkRow?) -> Bool {
        let pendingState = link == nil ? (try? state.pendingState(of: row.id)) ?? .clean : .clean
        let isClean = link.map { $0.inBase == $0.inLocal } ?? (pendingState == .clean)
        return switch function {
        case .isLocal: !isClean || link == nil && row.origin == .local
        case .hasPendingChanges: !isClean
        case .isInErrorState:
            if let link {
                !isClean && ((try? RefusedLinks(state: state, model: model).contains(link)) ?? false)
            } else {
                pendingState == .rejected
            }
        case .upsertedLastDownload: (try? state.header()).map(row.isUpserted(inLastDownloadOf:)) ?? false
        case .hasLocalRelatives, .hasRelativesWithPendingChanges: (try? hasRelatives(row.id, function)) ?? false
        default: false
        }
    }

    /// Returns whether an entity that is linked to the given one is local, or has pending changes. Cost: a lookup for
    /// each link of the entity.
    private func hasRelatives(_ id: EntityID, _ function: CanonicalFunction) throws(StateError) -> Bool {
        for link in try state.links(of: id) where link.inLocal {
            let relative = link.first == id ? link.second : link.first
            // Reads the relative in any case, so that a live query depends on its entity set.
            let row = try state.row(relative)
            if try state.pendingState(of: relative) != .clean { return true }
            if function == .hasLocalRelatives, row?.origin == .local { return true }
        }
        return false
    }
}
