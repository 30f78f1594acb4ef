package import EDM
import ODataQuery

/// The indexes that a defining query suggests. An app that downloads `Orders?$filter=Status eq 'open'` is likely to
/// query its store for such orders too.
package enum QueryIndexes {
    /// Returns one index for each property that the query's `$filter` compares with a value on its top level or below
    /// an `and`. Empty if the query does not parse, since it is refused elsewhere.
    ///
    /// - Parameter query: A query relative to the service root.
    package static func of(_ query: String, model: EntityDataModel) -> [EntityIndex] {
        let relative = String(query.drop { $0 == "/" })
        guard let request = try? ServiceRequest.parse(relative, model: model, version: model.version),
            case .entitySet(let set)? = request.path.segments.first, request.path.segments.count == 1,
            let filter = request.options.filter
        else { return [] }
        var paths: [[String]] = []
        collect(filter, into: &paths)
        return paths.map { EntityIndex(set.name, [EntityIndex.Term($0)]) }
    }

    private static func collect(_ filter: Expression, into paths: inout [[String]]) {
        switch filter {
        case .and(let operands): for operand in operands { collect(operand, into: &paths) }
        case .comparison(let comparison, let left, let right):
            // An index finds equal values and ranges. A condition with `ne` matches almost everything.
            guard comparison != .ne, comparison != .has else { return }
            for path in [left, right].compactMap(propertyPath) where !paths.contains(path) { paths.append(path) }
        default: break
        }
    }

    private static func propertyPath(_ expression: Expression) -> [String]? {
        guard case .path(let path) = expression, path.root == .implicit || path.root == .it, !path.segments.isEmpty
        else { return nil }
        var names: [String] = []
        for segment in path.segments {
            guard case .property(let name) = segment else { return nil }
            names.append(name)
        }
        return names
    }
}
