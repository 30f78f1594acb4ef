import EDM
import ODataWire
import Operations
import SyncCore
import Views

extension LocalQuery {
    /// One navigation property to expand, with what is to become of its targets.
    private struct Item {
        var property: Property
        var options: QueryOptions
        var form: ExpandItem.Form
        /// Only targets of this type.
        var type: String?
    }

    /// - Parameter above: the entities on the way from the query's result to this one.
    func expand(_ row: EntityRow, _ options: QueryOptions, above: [EntityID]) throws -> [EntitySnapshot.Expanded] {
        try items(row, options, above).map { item in
            let targets = try query.targets(of: row, item.property).filter { target in
                item.type.map { model.isType(target.type, derivedFrom: $0) } ?? true
            }
            return try expanded(targets, of: row, item, above: above)
        }
    }

    private func expanded(
        _ targets: [EntityRow], of row: EntityRow, _ item: Item, above: [EntityID]
    ) throws -> EntitySnapshot.Expanded {
        let found = try query.apply(item.options, to: targets)
        var result = EntitySnapshot.Expanded(navigation: item.property.name, entities: [], form: item.form)
        if item.form == .count || item.options.count == true { result.count = found.count }
        switch item.form {
        case .count: break
        case .references: result.entities = try found.rows.map { try reader.reference($0) }
        case .entities: result.entities = try shape(found.rows, item.options, above: above + [row.id])
        }
        let local = try reader.localTargets(of: row, item.property)
        for index in result.entities.indices where !local.isEmpty {
            result.entities[index].isFromLocalRelationship =
                result.entities[index].entityID.map(local.contains) ?? false
        }
        return result
    }

    /// What `$expand` means for this row: a property that a derived type declares is nothing to other rows.
    private func items(_ row: EntityRow, _ options: QueryOptions, _ above: [EntityID]) throws -> [Item] {
        guard let type = model.findEntityType(row.type) else { return [] }
        var found: [Item] = []
        for item in options.expand {
            guard item.options.apply.isEmpty else {
                throw EvaluationError(.unsupported, "$apply within $expand is not answered by the store.")
            }
            // As deep as it goes ends where it would go in a circle.
            if item.options.levels == .max, above.contains(row.id) { continue }
            switch item.path.first {
            case .star:
                let named = Set(options.expand.compactMap { $0.path.first?.propertyName })
                for property in type.navigationProperties where !named.contains(property.name) {
                    found.append(self.item(property, item, star: true))
                }
            case .value: throw EvaluationError(.unsupported, "The content of a media entity is not read by a query.")
            default:
                if let property = try self.property(item.path, type) {
                    found.append(self.item(property, item.selecting(options.select, below: property)))
                }
            }
        }
        return found
    }

    /// The navigation property at the end of a path; nil where the row has none of that name, or is of another type
    /// than the path wants.
    private func property(_ path: [SelectSegment], _ type: EntityType) throws -> Property? {
        for segment in path {
            switch segment {
            case .name(let name):
                if let property = type.findProperty(name) {
                    if property.isNavigation { return property }
                    throw EvaluationError(
                        .unsupported, "\(name) is no navigation property; in complex values nothing is expanded here.")
                }
                guard name.contains(".") == false, isInstance(type, ofTypeNamed: name) else { return nil }
            case .qualifiedName(let name, _):
                guard model.isType(type.name, derivedFrom: model.resolveAlias(name)) else { return nil }
            default: return nil
            }
        }
        return nil
    }

    /// 4.01 lets types go by their names without a namespace.
    private func isInstance(_ type: EntityType, ofTypeNamed name: String) -> Bool {
        ([type] + model.baseTypes(of: type)).contains { $0.localName == name }
    }

    /// With `$levels`, what is below is expanded the same way, one level less.
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
        options.levels = nil
        var wanted: String?
        // A type behind the property narrows down the targets.
        if !star, case .qualifiedName(let name, _)? = item.path.last { wanted = model.resolveAlias(name) }
        return Item(property: property, options: options, form: item.form, type: wanted)
    }

    // MARK: $select

    /// Without `$select` everything; otherwise what is named, and the key.
    func select(_ snapshot: inout EntitySnapshot, _ options: QueryOptions) {
        guard !options.select.isEmpty else { return }
        let type = model.findEntityType(snapshot.type)
        var paths = SelectedPaths(options.select)
        if !snapshot.readLink.isEmpty {
            for property in type?.keyProperties ?? [] { paths.add(property.name) }
        }
        snapshot.values = paths.cut(snapshot.values)
    }
}

extension ExpandItem {
    /// V2 says what to select of an expanded entity beside the expansion: `$expand=Customer&$select=Note,Customer/Name`.
    fileprivate func selecting(_ items: [SelectItem], below property: Property) -> ExpandItem {
        let paths = items.map(\.path).filter { $0.first == .name(property.name) }
        guard !paths.isEmpty, paths.allSatisfy({ $0.count > 1 }) else { return self }
        var item = self
        item.options.select += paths.map { SelectItem(path: Array($0.dropFirst())) }
        return item
    }
}

extension SelectSegment {
    /// The name, where the segment is one.
    fileprivate var propertyName: String? { if case .name(let name) = self { name } else { nil } }
}

/// What `$select` keeps of an entity or complex value: names, with what is kept below them.
private struct SelectedPaths {
    private var names: [String: SelectedPaths] = [:]
    /// Everything, here and below.
    private var isWhole = false

    init() {}

    init(_ items: [SelectItem]) {
        for item in items { add(item.path[...], nested: item.options.select) }
    }

    mutating func add(_ name: String) { names[name, default: SelectedPaths()].isWhole = true }

    private mutating func add(_ path: ArraySlice<SelectSegment>, nested: [SelectItem]) {
        guard let first = path.first else {
            // Behind the last name: the nested options say what is kept, or everything is.
            if nested.isEmpty { isWhole = true }
            for item in nested { add(item.path[...], nested: item.options.select) }
            return
        }
        switch first {
        case .name(let name): names[name, default: SelectedPaths()].add(path.dropFirst(), nested: nested)
        // A type: its properties are named behind it.
        case .qualifiedName: if path.count > 1 { add(path.dropFirst(), nested: nested) }
        case .star(namespace: nil): isWhole = true
        case .star, .annotation, .value: break
        }
    }

    func cut(_ values: PropertyValues) -> PropertyValues {
        if isWhole { return values }
        var kept = PropertyValues()
        for (name, value) in values { if let inner = names[name] { kept[name] = inner.cut(value) } }
        return kept
    }

    private func cut(_ value: Value) -> Value {
        if isWhole { return value }
        switch value {
        case .complex(var complex):
            complex.properties = cut(complex.properties)
            return .complex(complex)
        case .collection(let items): return .collection(items.map(cut))
        default: return value
        }
    }
}
