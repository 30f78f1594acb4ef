public import Operations
public import SyncCore

/// What is pending on the entities of an answer, read for many at once.
///
/// Who asks for what is not here reads it for itself, so that nothing depends on how complete this is.
public final class Standings {
    private let state: SQLiteState
    private var known: [EntityID: SQLiteState.Standing] = [:]

    public init(_ state: SQLiteState) { self.state = state }

    public func standing(of id: EntityID) throws(StateError) -> SQLiteState.Standing {
        guard try state.hasPending() else { return .clean }
        if let known = known[id] { return known }
        return try state.standing(of: id)
    }

    /// Reads what these rows will be asked for.
    public func read(_ rows: [EntityRow]) throws(StateError) {
        guard rows.count > 1, try state.hasPending() else { return }
        for row in rows { known[row.id] = .clean }
        try state.eachStanding(of: rows.lazy.map(\.id)) { known[$0] = $1 }
    }
}
