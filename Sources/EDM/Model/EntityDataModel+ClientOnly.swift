extension EntitySet {
    /// A Boolean value that indicates whether the set exists only in the store; see ``ClientOnlyMetadata``.
    public var isClientOnly: Bool { annotations.isClientOnly || containment?.parent.isClientOnly == true }

    /// The name of the set whose entities this client-only set contains as drafts, or `nil`.
    public var activeSet: String? {
        guard let draft = annotations.first(where: { $0.term == ClientOnlyMetadata.localDraftTerm }) else { return nil }
        if let value = draft.value { return value }
        let properties = draft.expression.flatMap(\.children).filter { $0.name == "PropertyValue" }
        return properties.first { $0.attributes["Property"] == "ActiveEntitySet" }?.attributes["String"]
    }
}

extension Property {
    /// A Boolean value that indicates whether the property exists only in the store; see ``ClientOnlyMetadata``.
    public var isClientOnly: Bool { annotations.isClientOnly }
}

extension [Annotation] {
    var isClientOnly: Bool {
        contains { $0.term == ClientOnlyMetadata.clientOnlyTerm && $0.value.map { Bool(csdl: $0) ?? true } ?? true }
    }
}

extension EntityDataModel {
    /// Returns whether the model has entity sets or properties that exist only in the store.
    static func hasClientOnly(_ sets: [EntitySet], _ types: [StructuredType]) -> Bool {
        sets.contains { $0.annotations.isClientOnly }
            || types.contains { type in
                (type.properties + type.navigationProperties).contains { $0.annotations.isClientOnly }
            }
    }

    /// Returns the client-only set with drafts of the entities of a set.
    public func draftSet(of set: EntitySet) -> EntitySet? {
        guard hasClientOnly else { return nil }
        return entitySets.first { $0.activeSet == set.name }
    }

    /// Returns whether a navigation property of an entity shows an entity to which a link leads. It shows drafts only if
    /// it is bound to their set: the same property of an active entity leads to active entities.
    ///
    /// - Parameters:
    ///   - set: the name of the set of the entity with the property.
    ///   - target: the name of the set of the linked entity.
    package func shows(_ target: String, through navigation: Property, from set: String) -> Bool {
        guard hasClientOnly, findEntitySet(target)?.activeSet != nil else { return true }
        return findEntitySet(set).flatMap { self.target(of: navigation, in: $0) }?.name == target
    }

    /// Returns the sets that can contain entities of a type, without sets of drafts if there is any other set.
    public func entitySets(holding type: String) -> [EntitySet] {
        let sets = entitySets.filter { isType(type, derivedFrom: $0.entityType.name) }
        guard hasClientOnly else { return sets }
        let active = sets.filter { $0.activeSet == nil }
        return active.isEmpty ? sets : active
    }
}
