import EDM
import ODataQuery
import Operations
import SyncCore
import Views

extension LocalQuery {
    /// The path to an expanded entity.
    struct ExpansionPath {
        /// The number of steps.
        var depth = 0
        /// The entities on the path, if they are tracked in order to detect cycles.
        var entities: Set<EntityID> = []
    }

    /// A navigation property to expand, with the options for its targets.
    private struct Item {
        var property: Property
        var options: QueryOptions
        var form: ExpandItem.ExpandForm
        /// The required type of the targets.
        var type: String?
        /// Whether the expansion is unbounded and has to detect cycles.
        var endsInCircles: Bool
    }

    /// Adds the targets of navigation properties to each entity. All entities of a type are processed together, so that a
    /// shared target is read and converted only once.
    func expand(_ snapshots: inout [EntitySnapshot], _ options: QueryOptions, _ way: ExpansionPath) throws {
        for (type, places) in places(of: snapshots) {
            for item in try items(type, options) {
                if item.endsInCircles {
                    for place in places {
                        let id = snapshots[place].row.id
                        if item.options.levels == .max, way.entities.contains(id) { continue }
                        var further = way
                        further.entities.insert(id)
                        try expand([place], of: &snapshots, item, further)
                    }
                } else {
                    try expand(places, of: &snapshots, item, way)
                }
            }
        }
    }

    private func places(of snapshots: [EntitySnapshot]) -> [(type: String, places: [Int])] {
        guard let kind = snapshots.first?.kind else { return [] }
        if snapshots.indices.allSatisfy({ snapshots[$0].kind === kind || snapshots[$0].type == kind.type }) {
            return [(kind.type, Array(snapshots.indices))]
        }
        return Dictionary(grouping: snapshots.indices) { snapshots[$0].type }.sorted { $0.key < $1.key }.map {
            ($0.key, $0.value)
        }
    }

    private func expand(
        _ places: [Int], of snapshots: inout [EntitySnapshot], _ item: Item, _ way: ExpansionPath
    ) throws {
        var options = item.options
        options.levels = nil
        guard options.apply.isEmpty else { return try aggregate(places, of: &snapshots, item, options) }
        var (found, entities) = try targets(
            of: places.map { snapshots[$0].row.id }, inSets: { snapshots[places[$0]].set }, item, options, way)
        let isCounted = item.form == .count || options.count == true
        let name = item.property.name
        // The sources of the same target share its array. The targets are moved, because a copy retains all parts.
        var single: [[EntitySnapshot]] = []
        if !item.property.isCollection {
            single = Array(repeating: [], count: entities.count)
            while let entity = entities.popLast() { single[entities.count] = [entity] }
        }
        let local = try reader.localTargets(item.property)
        for (source, place) in places.enumerated() {
            let targets = found.targets(of: source)
            let isShared = targets.count == 1 && !single.isEmpty
            var result = EntitySnapshot.Expanded(
                navigation: name,
                entities: isShared
                    ? single[targets[targets.startIndex]]
                    : targets.map { single.isEmpty ? entities[$0] : single[$0][0] },
                count: isCounted ? found.counts[source] : nil, form: item.form)
            if !local.isEmpty, let local = local[snapshots[place].row.id] {
                for index in result.entities.indices {
                    result.entities[index].isFromLocalRelationship =
                        result.entities[index].entityID.map(local.contains) ?? false
                }
            }
            snapshots[place].expanded.append(result)
        }
    }

    /// Returns the targets of a navigation property, with the entities in the order of their indexes.
    private func targets(
        of sources: [EntityID], inSets set: (Int) -> String, _ item: Item, _ options: QueryOptions, _ way: ExpansionPath
    ) throws -> (found: ExpandedTargets, entities: [EntitySnapshot]) {
        var entities: [EntitySnapshot] = []
        if !item.property.isCollection { entities.reserveCapacity(sources.count) }
        var converter = try reader.converter()
        func receive(_ row: consuming EntityRow) { entities.append(converter.snapshot(row)) }
        let found = try withoutActuallyEscaping(receive) {
            try query.targets(
                of: sources, inSets: set, item.property, options, ofType: item.type, isCount: item.form == .count,
                to: item.form == .entities && options.compute.isEmpty ? $0 : nil)
        }
        let further = ExpansionPath(depth: way.depth + 1, entities: way.entities)
        switch item.form {
        case .count: break
        case .references: entities = try found.rows.map { try reader.reference($0) }
        case .entities where found.isDelivered: try complete(&entities, options, further)
        case .entities: entities = try shape(found.rows, options, further)
        }
        return (found, entities)
    }

    /// Adds the result of `$apply` over the targets of each row.
    private func aggregate(
        _ places: [Int], of snapshots: inout [EntitySnapshot], _ item: Item, _ options: QueryOptions
    ) throws {
        guard item.property.isCollection, item.form == .entities else {
            throw EvaluationError(
                .unsupported, "$apply within $expand requires entities of a collection, not \(item.property.name).")
        }
        for place in places {
            let targets = try query.targets(of: snapshots[place].row, item.property).filter { row in
                item.type.map { model.isType(row.type, derivedFrom: $0) } ?? true
            }
            let found = try query.applied(targets, options)
            let entities = try found.rows.map {
                try shape($0, options, ofType: item.type ?? item.property.navigation?.targetType ?? "")
            }
            snapshots[place].expanded.append(
                EntitySnapshot.Expanded(
                    navigation: item.property.name, entities: entities, count: found.count, form: item.form))
        }
    }

    /// Returns the expansions for rows of a type. A property of a derived type does not apply to other types.
    private func items(_ type: String, _ options: QueryOptions) throws -> [Item] {
        guard let type = model.findEntityType(type) else { return [] }
        var found: [Item] = []
        for item in options.expand {
            switch item.path.first {
            case .star:
                let named = Set(options.expand.compactMap { $0.path.first?.propertyName })
                for property in type.navigationProperties where !named.contains(property.name) {
                    found.append(self.item(property, item, star: true))
                }
            case .value: throw EvaluationError(.unsupported, "A query cannot read the content of a media entity.")
            default:
                if let property = try self.property(item.path, type) {
                    found.append(self.item(property, item.selecting(options.select, below: property)))
                }
            }
        }
        return found
    }

    /// Returns the navigation property at the end of a path, or nil if the row has none of that name or does not have
    /// the type in the path.
    private func property(_ path: [SelectSegment], _ type: EntityType) throws -> Property? {
        for segment in path {
            switch segment {
            case .name(let name):
                if let property = type.findProperty(name) {
                    if property.isNavigation { return property }
                    throw EvaluationError(
                        .unsupported,
                        "\(name) is not a navigation property; the store does not expand properties of complex values.")
                }
                guard name.contains(".") == false, isInstance(type, ofTypeNamed: name) else { return nil }
            case .qualifiedName(let name, _):
                guard model.isType(type.name, derivedFrom: model.resolveAlias(name)) else { return nil }
            default: return nil
            }
        }
        return nil
    }

    /// Returns whether the type has that unqualified name, which 4.01 permits.
    private func isInstance(_ type: EntityType, ofTypeNamed name: String) -> Bool {
        ([type] + model.baseTypes(of: type)).contains { $0.localName == name }
    }

    /// Returns the item for a property. With `$levels`, the next level has the same expansion with one level less.
    private func item(_ property: Property, _ item: ExpandItem, star: Bool = false) -> Item {
        var options = item.options
        var inner = item
        switch options.levels {
        case .number(let number) where number > 1:
            inner.options.levels = .number(number - 1)
            options.expand.append(inner)
        case .max: options.expand.append(inner)
        default: break
        }
        var wanted: String?
        // A type after the property restricts the targets.
        if !star, case .qualifiedName(let name, _)? = item.path.last { wanted = model.resolveAlias(name) }
        return Item(
            property: property, options: options, form: item.form, type: wanted, endsInCircles: item.goesOnAsItCan)
    }
}

extension ExpandItem {
    /// Adds the V2 form of `$select` for an expanded entity: `$expand=Customer&$select=Note,Customer/Name`.
    fileprivate func selecting(_ items: [SelectItem], below property: Property) -> ExpandItem {
        let paths = items.map(\.path).filter { $0.first == .name(property.name) }
        guard !paths.isEmpty, paths.allSatisfy({ $0.count > 1 }) else { return self }
        var item = self
        item.options.select += paths.map { SelectItem(path: Array($0.dropFirst())) }
        return item
    }

    /// Whether the item, or one within it, has `$levels=max`.
    fileprivate var goesOnAsItCan: Bool { options.levels == .max || options.expand.contains { $0.goesOnAsItCan } }
}

extension SelectSegment {
    /// The name, if the segment is one.
    fileprivate var propertyName: String? { if case .name(let name) = self { name } else { nil } }
}
