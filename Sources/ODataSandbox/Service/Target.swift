internal import EDM

/// The target of a URL's path, resolved to the current entities.
enum Target {
    case serviceDocument
    case metadata
    case batch
    case entities(Collection)
    case count(Collection)
    /// An entity. `row` is nil for a single-valued navigation property without a target.
    case entity(EntityAddress)
    /// `$links`/`$ref` of a navigation property. `target` is set if the path selects one of a collection.
    case references(source: RowID, navigation: Property, target: RowID?)
    /// A structural property. Further path segments lead into complex values.
    case property(RowID, path: [Property], isRaw: Bool)
    /// `$value` of a media entity.
    case media(RowID)
    /// A stream property.
    case stream(RowID, String)
    /// `$all`: the entities of all sets.
    case everything
    case crossjoin([EntitySet])
    case operation(OperationTarget)

    struct Collection {
        let set: EntitySet
        /// The entity and navigation property of the collection, or nil for the whole set.
        let source: (row: RowID, navigation: Property)?
    }

    struct EntityAddress {
        let set: EntitySet
        let row: RowID?
        let source: (row: RowID, navigation: Property)?
    }
}

extension SandboxState {
    func rows(of collection: Target.Collection) -> [Row] {
        guard let source = collection.source else { return rows(of: collection.set.name) }
        guard let navigation = source.navigation.navigation else { return [] }
        return targets(of: source.row, through: navigation).compactMap { self[$0] }
    }
}
