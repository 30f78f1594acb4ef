import EDM
import ODataWire
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

extension LocalStore {
    /// Returns whether an expression navigates to dependent requests, which requires an upload plan.
    func asksForDependents(_ options: QueryOptions) throws(TidelogError) -> Bool {
        let version = try model.version
        do throws(URLSyntaxError) {
            return try options.print(version: version).contains(QueueModel.dependentRequests)
        } catch {
            return true
        }
    }

    /// Returns the entities that `$expand` adds to an entity of the queue or the archive.
    func expanded(_ item: ExpandItem, of row: EntityRow) throws(TidelogError) -> [EntitySnapshot.Expanded] {
        guard case .name(let name)? = item.path.last,
            let property = QueueModel.model.findEntityType(row.type)?.findProperty(name), property.isNavigation
        else {
            throw TidelogError(
                .unsupported,
                "\(row.set) can expand only \(QueueModel.affectedEntity) and \(QueueModel.dependentRequests).")
        }
        let text: String
        do throws(URLSyntaxError) {
            text = try item.options.print(version: .v401)
        } catch {
            throw TidelogError(error)
        }
        do throws(TidelogError) {
            let answer = try self.answer(property.name, of: row, text.isEmpty ? "" : "?" + text)
            let count = item.form == .count ? Int64(answer.entities.count) : answer.count
            var expanded = EntitySnapshot.Expanded(navigation: name, entities: answer.entities, count: count)
            expanded.form = item.form
            return [expanded]
        } catch  where error.code == .notFound {
            return [EntitySnapshot.Expanded(navigation: name, entities: [])]
        }
    }
}
