import EDM
import ODataWire

/// What `$select` keeps of the entities of an answer: without it everything, otherwise what is named, and the key.
struct Selection {
    private let items: [SelectItem]
    private let model: EntityDataModel
    /// Rows of one answer are nearly always of one type.
    private var last: (type: String, paths: SelectedPaths)?

    init(_ items: [SelectItem], _ model: EntityDataModel) {
        self.items = items
        self.model = model
    }

    mutating func cut(_ snapshot: inout EntitySnapshot) {
        guard !items.isEmpty else { return }
        if snapshot.readLink.isEmpty {
            snapshot.values = SelectedPaths(items).cut(snapshot.values)
            return
        }
        if last?.type != snapshot.type {
            var paths = SelectedPaths(items)
            for property in model.findEntityType(snapshot.type)?.keyProperties ?? [] { paths.add(property.name) }
            last = (snapshot.type, paths)
        }
        if let last { snapshot.values = last.paths.cut(snapshot.values) }
    }
}

/// What `$select` keeps of an entity or complex value: names, with what is kept below them.
struct SelectedPaths {
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
