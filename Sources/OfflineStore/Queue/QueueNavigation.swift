import EDM
import ODataQuery
import Operations
import SyncCore
import Views

/// Resolves the navigation properties of ``QueueModel`` to entities of the service and to other requests.
struct QueueNavigation {
    /// The model of the service.
    let model: EntityDataModel
    let now: GlobalDateTime?
    /// The rows of operations that wait for another operation, grouped by that operation.
    let dependents: [SequenceNumber: [EntityRow]]

    /// Returns a query over rows of the queue or the archive.
    func query(_ state: SQLiteState) -> RowQuery {
        RowQuery(state: state, model: QueueModel.model, now: now) { row, property in
            property.name == QueueModel.affectedEntity
                ? .entity(affected(row, state))
                : .entities((dependents[row.id.rawValue] ?? []).map { query(state).scope($0) })
        }
    }

    /// Returns the entity of the operation, or nil if it no longer exists.
    private func affected(_ row: EntityRow, _ state: SQLiteState) -> EvaluationScope? {
        guard let subject = (try? state.pendingOperation(row.id.rawValue))??.operation.subject,
            let entity = (try? state.row(subject)) ?? nil
        else { return nil }
        var scope = RowQuery(state: state, model: model, now: now).scope(entity)
        let own = scope.property
        // Entities of other types may lack the property of a condition.
        scope.property = { own($0) ?? .value(.null) }
        return scope
    }
}
