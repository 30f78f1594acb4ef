import EDM
import ODataQuery
import Operations

/// Rules for contained entities. They are created in their container and stay there (OData 4.01 Part 1, 4.2 and
/// 11.4.2).
extension OperationRules {
    /// Checks that a contained entity is created through its containment property, and in the set that this leads to.
    func checkPlace(_ creation: Creation, in parent: Parent?) throws(ValidationError) {
        guard let parent else {
            guard let set = model.findEntitySet(creation.set), let containment = set.containment else { return }
            throw .refused(
                .init(
                    .notAllowed,
                    "Entities of \(set.name) exist only inside an entity of \(containment.parent.name).",
                    recovery: "Create it as a related entity, through \(containment.navigation.name) of that entity."))
        }
        let kind = try existingKind(parent.entity)
        guard let set = model.findEntitySet(kind.set) else { return }
        try checkPlace(
            creation, through: try navigation(parent.navigation, try type(kind.type), set: kind.set), of: set)
        guard let target = model.findEntitySet(creation.set), target.isContainedSingle,
            let other = try onlyContained(in: parent.entity, target)
        else { return }
        throw .refused(
            .init(
                .duplicateKey,
                "\(try name(parent.entity)) already contains \(try name(other)), and \(parent.navigation) is single-valued.",
                recovery: "Change that entity, or delete it first."))
    }

    private func onlyContained(in parent: EntityID, _ set: EntitySet) throws(ValidationError) -> EntityID? {
        try read { s throws(StateError) -> EntityID? in
            for id in try s.contained(in: parent, set) where try s.row(id) != nil { return id }
            return nil
        }
    }

    /// Checks the set of a created entity.
    ///
    /// - Parameter set: The set of the parent.
    func checkPlace(
        _ creation: Creation, through navigation: Property, of set: EntitySet
    ) throws(ValidationError) {
        let target = model.target(of: navigation, in: set)
        let isContaining = target?.containment?.navigation == navigation
        guard isContaining || model.findEntitySet(creation.set)?.isContained == true, creation.set != target?.name
        else { return }
        throw .refused(
            .init(
                .wrongTargetType,
                "An entity created through \(navigation) of \(set.name) belongs to \(target?.name ?? "no set"), not to \(creation.set).",
                recovery: isContaining ? nil : "Create the entity inside the entity that contains it."))
    }

    /// Checks that a link is not a containment, which begins and ends with the contained entity.
    func checkIsNoContainment(_ name: String, _ type: EntityType, set: String) throws(ValidationError) {
        guard !model.containedSets.isEmpty, let set = model.findEntitySet(set) else { return }
        let navigation = try navigation(name, type, set: set.name)
        let contains = model.target(of: navigation, in: set)?.containment?.navigation == navigation
        guard contains || set.containment?.isWalked(by: navigation) == true else { return }
        throw .refused(
            .init(
                .notAllowed,
                contains
                    ? "\(navigation) contains its entities; none of them can be linked, unlinked or moved."
                    : "\(navigation) leads to the entity that contains those of \(set.name), which never changes.",
                recovery: "Create the entity in the other parent, and delete this one."))
    }

    /// Checks that the key of a contained entity is unique below its container.
    func checkKeyIsFreeBelow(
        _ parent: EntityID?, _ creation: Creation, _ set: EntitySet, _ type: EntityType
    ) throws(ValidationError) {
        guard let parent, !set.isContainedSingle, let key = KeyPredicate(of: type, in: creation.values) else { return }
        let other = try read { s throws(StateError) -> EntityID? in
            guard let id = try s.entity(of: set, key: key, in: parent), let row = try s.row(id),
                KeyText.of(row.values, type: type) == KeyText.of(key)
            else { return nil }
            return id
        }
        guard let other, other != creation.entity else { return }
        throw .refused(
            .init(
                .duplicateKey,
                "\(try name(parent)) already contains an entity of \(set.name) with the key \(KeyText.of(key)).",
                recovery: "Leave the key unset so that the service assigns one, or choose another."))
    }
}
