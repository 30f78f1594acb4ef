import EDM
import ODataQuery
import Operations
import SyncCore

extension RowQuery {
    /// The result of a path: entities, or a value of one of them.
    enum Position {
        case rows([EntityRow])
        case value(Value)
    }

    /// Returns the result of the path before the query options. Links and `$value` have the result of the entities or
    /// the value before them.
    ///
    /// Throws `notFound` for a value of an entity that does not exist, and `unsupported` if only the service can
    /// answer.
    func position(_ path: ResourcePath) throws -> Position {
        var segments = path.segments[...]
        let first = segments.popFirst()
        var position: Position
        if case .all? = first {
            // The union of the entity sets and singletons (OData 4.01 Part 2, section 4.16).
            position = .rows(
                try (model.entitySets + model.singletons).flatMap { try state.rowTables.allRows(set: $0.name) }
                    .sorted { $0.id < $1.id })
        } else if case .entitySet(let set)? = first, case .key(let selector)? = segments.first {
            segments.removeFirst()
            position = .rows(try row(in: set, selector).map { [$0] } ?? [])
        } else {
            guard case .entitySet(let set)? = first else { throw EvaluationError.refusal(of: first) }
            position = .rows(try state.rowTables.allRows(set: set.name))
        }
        for segment in segments { position = try step(segment, from: position) }
        return position
    }

    private func step(_ segment: ResourcePath.Segment, from position: Position) throws -> Position {
        switch (segment, position) {
        case (.count, _), (.value, _), (.ref, _), (.links, _): return position
        case (.navigation(let property), .rows(let rows)):
            var seen: Set<EntityID> = []
            return .rows(try rows.flatMap { try targets(of: $0, property) }.filter { seen.insert($0.id).inserted })
        case (.key(let selector), .rows(let rows)): return .rows(try rows.filter { try isSelected($0, selector) })
        case (.type(let type), .rows(let rows)):
            return .rows(rows.filter { model.isType($0.type, derivedFrom: type.name) })
        case (.filter(let condition), .rows(let rows)):
            return .rows(try filter(rows, by: condition, QueryOptions()))
        case (.property(let property), .rows(let rows)):
            guard let row = rows.first else { throw Self.nothing(before: property.name) }
            return .value(row.values[property.name] ?? .null)
        case (.dynamicProperty(let name), .rows(let rows)):
            guard let row = rows.first else { throw Self.nothing(before: name) }
            return .value(row.values[name] ?? .null)
        case (.property(let property), .value(let value)):
            return .value(value.complexValue?.properties[property.name] ?? .null)
        case (.dynamicProperty(let name), .value(let value)):
            return .value(value.complexValue?.properties[name] ?? .null)
        case (.type(let type), .value(let value)): return .value(instances(of: type.name, value))
        case (.index(let index), .value(.collection(let items))):
            let place = index < 0 ? Int64(items.count) + index : index
            guard items.indices.contains(Int(clamping: place)) else {
                throw EvaluationError(.notFound, "The collection has \(items.count) items and no item at \(index).")
            }
            return .value(items[Int(clamping: place)])
        case (.filter(let condition), .value(.collection(let items))):
            let evaluator = evaluator(QueryOptions())
            return .value(.collection(try items.filter { try evaluator.isTrue(condition, forItem: $0) }))
        default: throw EvaluationError.refusal(of: segment)
        }
    }

    /// Returns the complex value, or the items of a collection, that are instances of the type.
    private func instances(of type: String, _ value: Value) -> Value {
        func isInstance(_ value: Value) -> Bool {
            guard let own = value.complexValue?.type else { return false }
            return model.isType(own, derivedFrom: type)
        }
        if case .collection(let items) = value { return .collection(items.filter(isInstance)) }
        return isInstance(value) ? value : .null
    }

    private static func nothing(before property: String) -> EvaluationError {
        EvaluationError(.notFound, "\(property) cannot be read, because the entity does not exist.")
    }

    /// Returns the targets of a collection-valued navigation property of one entity, as in `Customers(1)/Orders`, by
    /// SQL on the table of the targets. Nil for other paths, and for options that have to be evaluated in memory.
    func reachedInSQL(_ request: ServiceRequest, to body: RowReceiver? = nil) throws -> Answer? {
        guard request.path.segments.count > 2, request.options.apply.isEmpty else { return nil }
        var segments = request.path.segments
        // A filter of links may refer to the state of the links.
        if segments.last == .count || segments.last == .ref && request.options.filter == nil { segments.removeLast() }
        guard segments.count > 2, case .key = segments[1],
            case .navigation(let property)? = segments.popLast(), property.isCollection,
            let end = property.navigation, segments.last != .links,
            let source = try onlySource(segments, request.path.target),
            let set = try onlyTarget(of: property, from: source)
        else { return nil }
        if request.options == QueryOptions(), request.path.target != .count {
            if let body {
                try state.entityQueries.forEachReached(from: source, along: end, in: set, body)
                return Answer(.delivered)
            }
            var rows: [EntityRow] = []
            try state.entityQueries.forEachReached(from: source, along: end, in: set) { rows.append($0) }
            return Answer(.entities(rows))
        }
        do {
            let found = try state.entityQueries.reached(from: source, along: end, in: set, request.options, now: now)
            return Answer(
                .entities(request.path.target == .count ? [] : try found.rows()),
                count: request.wantsCount ? try found.count() : nil)
        } catch let error as EvaluationError {
            state.connection.trace?.recordInMemory(error.message)
            return nil
        }
    }

    /// Returns the entity at the end of the segments, if it is a single one.
    private func onlySource(_ segments: [ResourcePath.Segment], _ target: ResourcePath.Target) throws -> EntityID? {
        // An entity that is addressed by its ID need not be read: one that does not exist has no links.
        if segments.count == 2, case .entitySet(let set) = segments[0], case .key(.entityID(let number)) = segments[1] {
            let id = EntityID(rawValue: number)
            return try state.set(of: id) == set.name ? id : nil
        }
        guard case .rows(let rows) = try position(ResourcePath(segments: segments, target: target)), rows.count == 1
        else { return nil }
        return rows[0].id
    }

    // MARK: Keys

    private func row(in set: EntitySet, _ selector: KeySelector) throws(StateError) -> EntityRow? {
        let id: EntityID?
        switch selector {
        case .entityID(let number):
            let named = EntityID(rawValue: number)
            id = try state.set(of: named) == set.name ? named : nil
        case .key(let key):
            let values = key.located(in: set.entityType)
            if let found = try state.findRows(set: set.name, where: values).first {
                id = found
            } else {
                // A former key of the entity.
                id = try state.entity(set: set.name, key: KeyText.of(key))
            }
        }
        guard let id else { return nil }
        return try state.row(id)
    }

    private func isSelected(_ row: EntityRow, _ selector: KeySelector) throws(StateError) -> Bool {
        switch selector {
        case .entityID(let number): return row.id.rawValue == number
        case .key(let key):
            if key.matches(row.values, of: state.model?.findEntityType(row.type)) { return true }
            if let set = model.findEntitySet(row.set), set.isContained {
                guard let parent = try state.container(of: row.id, in: set) else { return false }
                return try state.entity(of: set, key: key, in: parent) == row.id
            }
            return try state.entity(set: row.set, key: KeyText.of(key)) == row.id
        }
    }
}
