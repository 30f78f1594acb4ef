import EDM
import ODataQuery
import Operations
import SyncCore

/// The sets that the paths from `$root` of one query refer to. Each is read once for all rows of the query.
final class RootSets {
    private let state: SQLiteState
    private let model: EntityDataModel
    // Rows and not scopes, which would refer to this object.
    private var rows: [String: [EntityRow]] = [:]

    init(state: SQLiteState, model: EntityDataModel) {
        self.state = state
        self.model = model
    }

    /// Returns all entities of a set, or the entity of a singleton; nil if there is no such set.
    ///
    /// If the views cannot be read, the result is nil too, and the query fails.
    func operand(_ name: String, scope: (EntityRow) -> EvaluationScope) -> EvaluationOperand? {
        guard let set = model.findEntitySet(name) else { return nil }
        guard let found = rows[name] ?? (try? state.rowTables.allRows(set: name)) else { return nil }
        rows[name] = found
        let scopes = found.map(scope)
        return set.isSingleton ? .entity(scopes.first) : .entities(scopes)
    }
}
