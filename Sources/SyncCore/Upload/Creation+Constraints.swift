import EDM
import Operations

extension Creation {
    /// Returns the text of the created entity's key in the key map, or nil if the key is unknown, or for a contained
    /// entity without its container.
    func keyText(in parent: EntityID?, _ model: EntityDataModel) -> String? {
        guard let type = model.findEntityType(self.type) else { return nil }
        let key = KeyText.of(values, type: type)
        guard let set = model.findEntitySet(self.set), set.isContained else { return key }
        guard let parent, key != nil || set.isContainedSingle else { return nil }
        return ContainedKey.text(parent, set.isContainedSingle ? nil : key)
    }

    /// Returns the creation without the dependent properties whose link the request already defines by its parent or
    /// children.
    ///
    /// Such properties are ignored if they contradict the link (OData 4.01 Part 1, 11.4.3), but a service that
    /// evaluates them first would displace the partner of another entity.
    func withoutDecidedProperties(_ model: EntityDataModel, through owner: Property? = nil) -> Creation {
        var decided = owner?.navigation?.inverseConstraints ?? []
        guard !decided.isEmpty || !inline.isEmpty, let type = model.findEntityType(self.type) else { return self }
        var creation = self
        for level in inline.indices {
            let property = type.findProperty(inline[level].navigation)
            decided += property?.navigation?.constraints ?? []
            creation.inline[level].entities = inline[level].entities.map {
                $0.withoutDecidedProperties(model, through: property)
            }
        }
        for pair in decided where !type.keyProperties.contains(where: { $0.name == pair.dependent }) {
            creation.values[pair.dependent] = nil
        }
        return creation
    }
}
