import EDM
import ODataQuery
import SyncCore

/// Applies `$select` to the entities of a result. Without it everything is kept, otherwise the named properties and the
/// key.
struct Selection {
    private let items: [SelectItem]
    private let model: EntityDataModel
    /// The type of the previous row, since the rows of a result usually have the same type and names.
    private var last: (kind: EntityKind, isEntity: Bool)?
    private var paths = SelectedPaths()
    private var names: [String] = []
    private var kept: [(name: String, paths: SelectedPaths)] = []
    /// The selection of encoded values, or nil if a path selects a part of a complex value.
    private var subset: PropertySubset?

    init(_ items: [SelectItem], _ model: EntityDataModel) {
        self.items = items
        self.model = model
    }

    mutating func cut(_ snapshot: inout EntitySnapshot) {
        guard !items.isEmpty else { return }
        select(for: snapshot)
        // The rows of an entity set were read with these properties.
        if paths.isWhole || subset?.isAll(of: snapshot.values) == true { return }
        if let values = subset?(snapshot.values) {
            snapshot.values = values
            return
        }
        if snapshot.values.names != names {
            names = snapshot.values.names
            kept = names.compactMap { name in paths.below(name).map { (name, $0) } }
        }
        // Other values are not accessed, because they may still be encoded.
        var values: [Value] = []
        values.reserveCapacity(kept.count)
        for (name, paths) in kept { values.append(paths.cut(snapshot.values[name] ?? .null)) }
        snapshot.values = PropertyValues(distinctNames: kept.map(\.name), values: values)
    }

    /// Returns the properties that the result of a query over an entity set needs: the selected ones and the key. Nil
    /// if it needs all, or if the entities can have several types.
    static func needed(for request: ServiceRequest, _ model: EntityDataModel) -> PropertySubset? {
        guard !request.options.select.isEmpty, request.options.compute.isEmpty, request.options.apply.isEmpty,
            case .entitySet(let set)? = request.path.segments.first,
            // The path can be of earlier metadata.
            let type = model.findEntitySet(set.name)?.entityType, model.derivedTypes(of: type.name).isEmpty
        else { return nil }
        let paths = SelectedPaths(request.options.select, keyOf: type)
        return paths.isWhole ? nil : PropertySubset { paths.below($0) != nil }
    }

    /// Sets the paths for the type of an entity.
    private mutating func select(for snapshot: borrowing EntitySnapshot) {
        // Rows that were combined have no key.
        let isEntity = snapshot.links.hasRead
        if let last, last.isEntity == isEntity, last.kind == snapshot.kind { return }
        last = (snapshot.kind, isEntity)
        paths = SelectedPaths(items, keyOf: isEntity ? model.findEntityType(snapshot.kind.type) : nil)
        (names, kept) = ([], [])
        subset = paths.isFlat ? PropertySubset { [paths] in paths.below($0) != nil } : nil
    }
}

/// The selection for an entity or complex value: names, with the selection below each.
struct SelectedPaths {
    private var names: [String: SelectedPaths] = [:]
    /// Whether everything is kept, on all levels.
    private(set) var isWhole = false

    init() {}

    /// Creates the selection of the items and of the key of a type.
    init(_ items: [SelectItem], keyOf type: EntityType?) {
        for item in items { add(item.path[...], nested: item.options.select) }
        for property in type?.keyProperties ?? [] { add(property.name) }
    }

    private mutating func add(_ name: String) { names[name, default: SelectedPaths()].isWhole = true }

    private mutating func add(_ path: ArraySlice<SelectSegment>, nested: [SelectItem]) {
        guard let first = path.first else {
            // After the last name: the nested options apply, or everything is kept.
            if nested.isEmpty { isWhole = true }
            for item in nested { add(item.path[...], nested: item.options.select) }
            return
        }
        switch first {
        case .name(let name): names[name, default: SelectedPaths()].add(path.dropFirst(), nested: nested)
        // A type cast, which the names of its properties follow.
        case .qualifiedName: if path.count > 1 { add(path.dropFirst(), nested: nested) }
        case .star(namespace: nil): isWhole = true
        case .star, .annotation, .value: break
        }
    }

    /// Whether every selected property is kept as a whole.
    var isFlat: Bool { names.values.allSatisfy(\.isWhole) }

    /// Returns the selection below a name, or nil if it is not kept.
    func below(_ name: String) -> SelectedPaths? { names[name] }

    private func cut(_ values: PropertyValues) -> PropertyValues {
        if isWhole { return values }
        var kept = PropertyValues()
        for (name, value) in values { if let inner = names[name] { kept[name] = inner.cut(value) } }
        return kept
    }

    func cut(_ value: Value) -> Value {
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
