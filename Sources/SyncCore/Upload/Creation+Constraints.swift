import EDM
import Operations

extension Creation {
    /// The text under which the key map finds the entity once it is created; nil where its key is not known, and for a
    /// contained entity without the one that contains it.
    func keyText(in parent: EntityID?, _ model: EntityDataModel) -> String? {
        guard let type = model.findEntityType(self.type) else { return nil }
        let key = KeyText.of(values, type: type)
        guard let set = model.findEntitySet(self.set), set.isContained else { return key }
        guard let parent, key != nil || set.isContainedSingle else { return nil }
        return ContainedKey.text(parent, set.isContainedSingle ? nil : key)
    }

    /// The creation as it is to be sent: without dependent properties where the request says in another way whom an entity
    /// is linked to, by what it is created through or by what is created below it. Where they say otherwise they do not
    /// count (OData 4.01 Part 1, 11.4.3), and a service that asks them first would push out somebody else's partner.
    func withoutDecidedProperties(_ model: EntityDataModel, through owner: Property? = nil) -> Creation {
        guard let type = model.findEntityType(self.type) else { return self }
        var creation = self
        var decided = owner?.navigation?.inverseConstraints ?? []
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
