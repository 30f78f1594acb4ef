import EDM
import ODataWire

/// What `$select` keeps of the entities of an answer: without it everything, otherwise what is named, and the key.
struct Selection {
    private let items: [SelectItem]
    private let model: EntityDataModel
    /// Rows of one answer are nearly always of one type, and have the same names.
    private var last: (type: String, paths: SelectedPaths)?
    private var names: [String] = []
    private var kept: [(name: String, paths: SelectedPaths)] = []
    /// Nil if a path selects a part of a complex value.
    private var subset: PropertySubset?

    init(_ items: [SelectItem], _ model: EntityDataModel) {
        self.items = items
        self.model = model
    }

    mutating func cut(_ snapshot: inout EntitySnapshot) {
        guard !items.isEmpty else { return }
        let paths = paths(for: snapshot)
        if paths.isWhole { return }
        if let values = subset?(snapshot.values) {
            snapshot.values = values
            return
        }
        if snapshot.values.names != names {
            names = snapshot.values.names
            kept = names.compactMap { name in paths.below(name).map { (name, $0) } }
        }
        // Nothing else is looked at: it may be there in an encoded form only.
        var values: [Value] = []
        values.reserveCapacity(kept.count)
        for (name, paths) in kept { values.append(paths.cut(snapshot.values[name] ?? .null)) }
        snapshot.values = PropertyValues(distinctNames: kept.map(\.name), values: values)
    }

    private mutating func paths(for snapshot: EntitySnapshot) -> SelectedPaths {
        // What was put together has no key.
        let type = snapshot.readLink.isEmpty ? "" : snapshot.type
        if let last, last.type == type { return last.paths }
        var paths = SelectedPaths(items)
        for property in model.findEntityType(type)?.keyProperties ?? [] { paths.add(property.name) }
        (last, names, kept) = ((type, paths), [], [])
        subset = paths.isFlat ? PropertySubset { paths.below($0) != nil } : nil
        return paths
    }
}

/// What `$select` keeps of an entity or complex value: names, with what is kept below them.
struct SelectedPaths {
    private var names: [String: SelectedPaths] = [:]
    /// Everything, here and below.
    private(set) var isWhole = false

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

    /// Whether each name is kept with all that is below it.
    var isFlat: Bool { names.values.allSatisfy(\.isWhole) }

    /// What is kept below a name; nil for nothing.
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
