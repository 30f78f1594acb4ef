import EDM
import ODataWire
import Operations
import SyncCore
import Views

/// A query over the views with its answer in the app's form: `$select` and `$expand` on top of ``RowQuery``.
struct LocalQuery {
    private let query: RowQuery
    private let reader: SnapshotReader
    private let model: EntityDataModel

    /// - Parameter time: what `now()` is, in milliseconds since 1970.
    init(state: SQLiteState, model: EntityDataModel, time: Timestamp) throws {
        self.model = model
        query = RowQuery(
            state: state, model: model, now: GlobalDateTime(millisecondsSince1970: time))
        reader = try SnapshotReader(state: state, model: model, prefetch: query.prefetch)
    }

    func answer(_ request: ServiceRequest) throws -> QueryAnswer {
        do {
            let found = try query.answer(request)
            return QueryAnswer(
                entities: try shape(found.rows, request.options), count: found.count, isSingle: found.isSingle)
        } catch let error as EvaluationError {
            throw TidelogError(
                error.code == .unsupported ? .unsupported : .invalidRequest, error.message, cause: error)
        }
    }

    func shape(_ rows: [EntityRow], _ options: QueryOptions, depth: Int = 0) throws -> [EntitySnapshot] {
        // With what is expanded on all levels below.
        if depth == 0 { try query.prefetch.read(rows, options) }
        return try rows.map { row in
            var snapshot = try reader.snapshot(row)
            if depth < QueryLimits.height { snapshot.expanded = try expand(row, options, depth: depth) }
            select(&snapshot, options)
            return snapshot
        }
    }

    private func expand(_ row: EntityRow, _ options: QueryOptions, depth: Int) throws -> [EntitySnapshot.Expanded] {
        var expanded: [EntitySnapshot.Expanded] = []
        for property in try expandedProperties(row, options) {
            let targets = try query.apply(property.options, to: try query.targets(of: row, property.property))
            expanded.append(
                EntitySnapshot.Expanded(
                    navigation: property.property.name,
                    entities: try shape(targets, property.options, depth: depth + 1)))
        }
        return expanded
    }

    private func expandedProperties(
        _ row: EntityRow, _ options: QueryOptions
    ) throws -> [(property: Property, options: QueryOptions)] {
        guard let type = model.findEntityType(row.type) else { return [] }
        var found: [(property: Property, options: QueryOptions)] = []
        for item in options.expand {
            for segment in item.path {
                switch segment {
                case .name(let name):
                    // Declared by a derived type perhaps, of which this row is none.
                    guard let property = type.findProperty(name), property.isNavigation else { continue }
                    found.append((property, item.options))
                case .star: found += type.navigationProperties.map { ($0, item.options) }
                default: continue
                }
            }
        }
        return found
    }

    /// Without `$select` everything; otherwise the named properties and the key.
    private func select(_ snapshot: inout EntitySnapshot, _ options: QueryOptions) {
        guard !options.select.isEmpty else { return }
        var names = Set(model.findEntityType(snapshot.type)?.keyProperties.map(\.name) ?? [])
        for item in options.select {
            for segment in item.path.prefix(1) {
                switch segment {
                case .name(let name): names.insert(name)
                case .star: return
                default: continue
                }
            }
        }
        for name in snapshot.values.names where !names.contains(name) { snapshot.values[name] = nil }
    }
}
