package import EDM
package import ODataQuery

/// The names of an expression in the table of an entity set, with its relationships in the table of links.
package struct EntityTableScope: SQLScope {
    private let set: EntitySet
    private let alias: String
    private let model: EntityDataModel
    private let layouts: [String: TableLayout]
    private let layout: TableLayout

    /// Nil if the set has no table.
    package init?(_ set: EntitySet, alias: String, model: EntityDataModel, layouts: [String: TableLayout]) {
        guard let layout = layouts[set.name] else { return nil }
        self.set = set
        self.alias = alias
        self.model = model
        self.layouts = layouts
        self.layout = layout
    }

    package func column(_ path: [String]) -> SQLColumn? {
        guard let column = layout.column(path), let kind = StoredKind(column.type) else { return nil }
        return SQLColumn("\(alias).\(column.name)", kind, enumeration: column.enumeration)
    }

    package func navigation(_ name: String, alias target: String) -> SQLNavigation? {
        guard let property = set.entityType.findProperty(name), let navigation = property.navigation,
            let targetSet = model.target(of: property, in: set), let layout = layouts[targetSet.name],
            let scope = EntityTableScope(targetSet, alias: target, model: model, layouts: layouts)
        else { return nil }
        let (near, far) = navigation.relationship.isForward ? ("first", "second") : ("second", "first")
        // Names the index, because SQLite would otherwise use the primary key and read the whole relationship.
        let index = navigation.relationship.isForward ? "" : " INDEXED BY links_by_second"
        let source = SQLText(
            "links AS \(target)_link\(index) JOIN \(layout.table) AS \(target) ON \(target).entity = \(target)_link.\(far) "
                + "WHERE \(target)_link.relationship = \(StoredLinks.numberOfRelationship) AND \(target)_link.\(near) = \(alias).entity "
                + "AND \(target)_link.in_local <> 0", [.text(navigation.relationship.name)])
        return SQLNavigation(isCollection: property.isCollection, source: source, scope: scope)
    }

    package func isInstance(of type: String) -> SQLText? {
        guard let base = model.findEntityType(type) else { return nil }
        let names = model.entityTypes(derivedFrom: base).map { SQLValue.text($0.name) }
        guard !names.isEmpty else { return nil }
        return SQLText("\(alias).type IN (\(names.map { _ in "?" }.joined(separator: ", ")))", names)
    }

    package func state(_ function: CanonicalFunction) -> SQLText? {
        let pendingState = "\(Connection.pendingStateFunction)(\(alias).entity)"
        return switch function {
        // Zero is `EntityRow.Origin.local`.
        case .isLocal: SQLText("(\(alias).origin = 0 OR \(pendingState) > 0)")
        case .hasPendingChanges: SQLText("(\(pendingState) > 0)")
        case .isInErrorState: SQLText("(\(pendingState) = 2)")
        case .upsertedLastDownload:
            SQLText("(\(alias).downloaded > 0 AND \(alias).downloaded >= (SELECT last_download FROM header))")
        default: nil
        }
    }
}
