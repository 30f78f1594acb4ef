package import EDM
import ODataQuery
package import Operations

/// The rules for a single operation, derived from the metadata and the current state. ``CardinalityRule`` checks the
/// resulting state.
package struct OperationRules {
    private let storage: WorkingSet
    let model: EntityDataModel

    package init(storage: WorkingSet, model: EntityDataModel) {
        self.storage = storage
        self.model = model
    }

    /// Checks an operation before it is folded, on the state that precedes it.
    ///
    /// - Throws: `refused` if a rule forbids it.
    package func check(_ operation: Operation) throws(ValidationError) {
        try checkDelivery(operation)
        try checkHeaders(operation)
        try checkStream(operation)
        try checkCall(operation)
        switch operation.action {
        case _ where operation.subject == .unbound: break
        case .create(let creation, let parent):
            try checkPlace(creation, in: parent)
            try check(creation, in: parent?.entity, depth: 0)
            try checkKeysDiffer(creation, in: parent?.entity)
            if let parent { try checkParent(parent, creation) }
        case .update(let id, let changes, let bindings):
            let row = try existing(id)
            let type = try type(row.type)
            try checkKeyIsKept(row, changes, type)
            try checkValues(changes, type, set: row.set)
            let set = model.findEntitySet(row.set)
            try check(bindings, type, set: row.set, set)
            for binding in bindings {
                let navigation = try navigation(binding.navigation, type, set: row.set)
                for target in binding.targets {
                    let link = Link(from: id, navigation: binding.navigation, to: target)
                    try checkIsChangeable(link, navigation, row, type, to: try existing(target))
                }
            }
            try checkNamedPrincipals(changes, bindings, type, set: row.set)
        case .delete(let id):
            let row = try existing(id)
            if model.findEntitySet(row.set)?.isSingleton == true {
                throw .refused(.init(.notAllowed, "\(row.set) is a singleton, which cannot be deleted."))
            }
        case .createLink(let link):
            try checkLink(link)
        case .updateLink(let link):
            let navigation = try checkLink(link)
            guard !navigation.isCollection else { throw .refused(.singleValuedOnly(navigation)) }
        case .deleteLink(let link):
            let navigation = try checkLink(link)
            guard let end = navigation.navigation else { return }
            let (first, second) = end.relationship.isForward ? (link.from, link.to) : (link.to, link.from)
            guard
                try read({ s throws(StateError) in try s.link(end.relationship.name, first: first, second: second) })?
                    .inLocal == true
            else {
                throw .refused(
                    .init(
                        .linkNotFound,
                        "\(try name(link.from)) is not linked to \(try name(link.to)) by \(navigation.name).",
                        recovery: "Load \(navigation.name) to see the links."))
            }
        }
    }

    // MARK: Creation

    /// Checks a creation at any level.
    ///
    /// - Parameter parent: The parent of the entity, or nil if it is created in its set.
    private func check(_ creation: Creation, in parent: EntityID?, depth: Int) throws(ValidationError) {
        guard depth < OperationRefused.deepestInsert else { throw .refused(.nestedTooDeeply) }
        guard let set = model.findEntitySet(creation.set) else {
            throw .refused(.init(.unknownEntitySet, model.missingResource(creation.set)))
        }
        guard !set.isSingleton else {
            throw .refused(.init(.notAllowed, "\(set.name) is a singleton, which cannot be created."))
        }
        let type = try type(creation.type)
        guard type == set.entityType || model.isType(type.name, derivedFrom: set.entityType.name) else {
            throw .refused(
                .init(.wrongTargetType, "Entities of \(set.name) are of type \(set.entityType.name), not \(type.name).")
            )
        }
        guard !type.isAbstract else {
            throw .refused(.init(.notAllowed, "\(type.name) is abstract; create an entity of a type derived from it."))
        }
        try checkValues(creation.values, type, set: set.name)
        try checkKeyIsFree(creation, in: parent, set, type)
        try check(creation.bindings, type, set: set.name, set)
        for binding in creation.bindings { try checkIsNoContainment(binding.navigation, type, set: set.name) }
        try checkNamedPrincipals(creation.values, creation.bindings, type, set: set.name)
        for inline in creation.inline {
            let navigation = try navigation(inline.navigation, type, set: set.name)
            guard navigation.isCollection || inline.entities.count == 1 else {
                throw .refused(
                    .init(.wrongNavigationKind, "\(navigation) accepts one entity, not \(inline.entities.count)."))
            }
            for child in inline.entities {
                try checkTarget(navigation, type: child.type)
                try checkSet(child.set, of: navigation, from: set, type)
                try checkOwner(creation.entity, navigation, child)
                try checkPlace(child, through: navigation, of: set)
                try check(child, in: creation.entity, depth: depth + 1)
            }
        }
    }

    private func checkParent(_ parent: Parent, _ creation: Creation) throws(ValidationError) {
        let kind = try existingKind(parent.entity)
        let type = try type(kind.type)
        let navigation = try navigation(parent.navigation, type, set: kind.set)
        try checkTarget(navigation, type: creation.type)
        try checkSet(creation.set, of: navigation, from: model.findEntitySet(kind.set), type)
        try checkOwner(parent.entity, navigation, creation)
    }

    /// Checks that a new entity does not define a second partner for the link to its parent (OData 4.01 Part 1,
    /// 11.4.2.1).
    private func checkOwner(
        _ owner: EntityID, _ navigation: Property, _ creation: Creation
    ) throws(ValidationError) {
        guard let partner = navigation.navigation?.partner,
            navigation.navigation?.sourceMultiplicity != .many,
            creation.inline.contains(where: { $0.navigation == partner })
                || creation.bindings.contains(where: { $0.navigation == partner && $0.targets != [owner] })
        else { return }
        throw .refused(
            .init(
                .notAllowed,
                "The new entity of \(creation.set) is created through \(navigation) and cannot have another \(partner).",
                recovery: "Omit \(partner); the parent determines it."))
    }

    private func checkKeyIsFree(
        _ creation: Creation, in parent: EntityID?, _ set: EntitySet, _ type: EntityType
    ) throws(ValidationError) {
        if set.isContained { return try checkKeyIsFreeBelow(parent, creation, set, type) }
        guard let values = KeyPredicate.located(of: type, in: creation.values) else { return }
        guard let key = KeyPredicate(of: type, in: creation.values) else { return }
        let other = try read { s throws(StateError) -> EntityID? in
            let same = try s.findRows(set: creation.set, where: values).first { $0 != creation.entity }
            guard same == nil, type.keyParts.contains(where: \.isEnumeration) else { return same }
            // An enumeration member has several notations.
            guard let owner = try s.entity(set: creation.set, key: KeyText.of(key)), owner != creation.entity,
                let row = try s.row(owner), key.matches(row.values, of: type)
            else { return nil }
            return owner
        }
        guard let other else { return }
        throw .refused(
            .init(
                .duplicateKey,
                "\(creation.set) already has an entity with the key \(KeyText.of(key)): \(creation.set)(\(other)).",
                recovery: "Leave the key unset so that the service assigns one, or choose another."))
    }

    /// Checks the keys of a deep insert for duplicates. None of its entities is in the state yet.
    private func checkKeysDiffer(_ creation: Creation, in parent: EntityID?) throws(ValidationError) {
        if creation.inline.isEmpty { return }
        var keys: Set<ExactText> = []
        func visit(_ creation: Creation, in parent: EntityID?) throws(ValidationError) {
            if let key = creation.keyText(in: parent, model) {
                guard keys.insert(ExactText("\(creation.set)(\(key))")).inserted else {
                    throw .refused(
                        .init(
                            .duplicateKey,
                            "The deep insert contains two entities of \(creation.set) with the key \(key).",
                            recovery: "Leave the key unset so that the service assigns one, or choose another."))
                }
            }
            for inline in creation.inline {
                for child in inline.entities { try visit(child, in: creation.entity) }
            }
        }
        try visit(creation, in: parent)
    }

    private func checkKeyIsKept(
        _ row: EntityRow, _ changes: PropertyValues, _ type: EntityType
    ) throws(ValidationError) {
        for part in type.keyParts where changes[part.propertyName] != nil {
            let known = row.values.value(at: part.path) ?? .null
            guard changes.value(at: part.path) ?? .null != known else { continue }
            let isUnset = known == .null
            throw .refused(
                .init(
                    .keyIsFixed,
                    "\(part.path) is part of the key of \(try name(row.id)), which an update cannot change.",
                    recovery: isUnset
                        ? "Set the key when the entity is created, or leave it to the service."
                        : "Delete the entity and create a new one."))
        }
    }

    // MARK: Values

    private func checkValues(_ values: PropertyValues, _ type: EntityType, set: String) throws(ValidationError) {
        switch values.misfit(in: type, model) {
        case nil: return
        case .undeclared(let name):
            throw .refused(.init(.unknownProperty, model.missingProperty(name, of: type, in: set)))
        case .navigation(let name):
            throw .refused(
                .init(
                    .typeMismatch, "\(set)/\(name) is a navigation property and cannot have a value.",
                    recovery: "Bind or link an entity instead."))
        case .value(let name, let value, let reason):
            // If the value is nested, the reason begins with its path below the property.
            let isBelow = reason.hasPrefix("/") || reason.hasPrefix("[")
            throw .refused(
                .init(
                    .typeMismatch, "\(set)/\(name)\(isBelow ? "" : " ")\(reason).",
                    recovery: value == .null ? "Set a value, or leave the property unchanged." : nil))
        }
    }

    /// - Parameter source: The set with the given name, if the metadata has it.
    private func check(
        _ bindings: [Binding], _ type: EntityType, set: String, _ source: EntitySet?
    ) throws(ValidationError) {
        for binding in bindings {
            let navigation = try navigation(binding.navigation, type, set: set)
            guard navigation.isCollection || binding.targets.count <= 1 else {
                throw .refused(
                    .init(.wrongNavigationKind, "\(navigation) accepts one entity, not \(binding.targets.count)."))
            }
            for target in binding.targets {
                let kind = try existingKind(target)
                try checkTarget(navigation, type: kind.type)
                try checkSet(kind.set, of: navigation, from: source, type)
            }
        }
    }

    /// Checks that dependent properties do not refer to a locally deleted entity. They may refer to one that is not in
    /// the store. If a binding defines another target, they are ignored.
    private func checkNamedPrincipals(
        _ values: PropertyValues, _ bindings: [Binding], _ type: EntityType, set: String
    ) throws(ValidationError) {
        for property in type.dependentNavigationProperties
        where !bindings.contains(where: { $0.navigation == property.name }) {
            guard let pairs = property.navigation?.constraints, let first = pairs.first,
                pairs.allSatisfy({ (values[$0.dependent] ?? .null) != .null }),
                let set = model.findEntitySet(set),
                let target = model.principalSet(of: property, in: set, from: type),
                let key = KeyPredicate(
                    of: target.entityType,
                    in: PropertyValues(pairs.map { ($0.principal, values[$0.dependent] ?? .null) })),
                let known = try deletedEntity(target.name, key)
            else { continue }
            throw .refused(
                .init(
                    .entityNotFound,
                    "\(set.name)/\(first.dependent) refers to \(try name(known)), which was deleted in this store.",
                    recovery: "Name another entity of \(target.name)."))
        }
    }

    /// Returns the entity that had the key until it was deleted locally, unless another entity has it now.
    private func deletedEntity(_ set: String, _ key: KeyPredicate) throws(ValidationError) -> EntityID? {
        try read { s throws(StateError) in
            guard let known = try s.entity(set: set, key: KeyText.of(key)), try s.row(known) == nil,
                case .row? = try s.base(known),
                try s.findRows(set: set, where: key.located(in: model.findEntitySet(set)?.entityType)).isEmpty
            else { return nil }
            return known
        }
    }

    // MARK: Links

    @discardableResult
    private func checkLink(_ link: Link) throws(ValidationError) -> Property {
        let from = try existing(link.from)
        let to = try existing(link.to)
        let type = try type(from.type)
        let navigation = try navigation(link.navigation, type, set: from.set)
        try checkTarget(navigation, type: to.type)
        try checkSet(to.set, of: navigation, from: model.findEntitySet(from.set), type)
        try checkIsChangeable(link, navigation, from, type, to: to)
        return navigation
    }

    /// Checks that a link is no containment, and if it is part of a key, that it does not change.
    private func checkIsChangeable(
        _ link: Link, _ navigation: Property, _ from: EntityRow, _ source: EntityType, to: EntityRow
    ) throws(ValidationError) {
        try checkIsNoContainment(link.navigation, source, set: from.set)
        guard let end = navigation.navigation,
            let owner = KeyLinks(model: model).owner(of: navigation, in: source, to: try type(to.type))
        else { return }
        let (first, second) = end.relationship.isForward ? (link.from, link.to) : (link.to, link.from)
        let known = try read { s throws(StateError) in
            try s.link(end.relationship.name, first: first, second: second)
        }
        if known?.inLocal == true { return }
        throw .refused(
            .init(
                .keyIsFixed,
                "\(navigation) is part of the key of \(try name(owner == .source ? link.from : link.to)), which cannot change.",
                recovery: "Delete the entity and create a new one."))
    }

    private func checkTarget(_ navigation: Property, type: String) throws(ValidationError) {
        guard let target = navigation.navigation?.targetType, model.isType(type, derivedFrom: target) else {
            throw .refused(
                .init(.wrongTargetType, "\(navigation) leads to \(navigation.type.name), not to \(type)."))
        }
    }

    /// Checks that a link leads into the set that the navigation property is bound to, in both directions (CSDL 4.01,
    /// section 13.4). A property without a binding may lead into any set of its type.
    private func checkSet(
        _ target: String, of navigation: Property, from source: EntitySet?, _ type: EntityType
    ) throws(ValidationError) {
        guard let source, let bound = model.boundTarget(of: navigation, in: source, from: type), bound != target,
            model.findEntitySet(bound) != nil
        else { return }
        throw .refused(
            .init(
                .wrongTargetSet, "\(navigation) of \(source.name) leads to the entity set \(bound), not to \(target).",
                recovery: "Link an entity of \(bound)."))
    }

    func navigation(_ name: String, _ type: EntityType, set: String) throws(ValidationError) -> Property {
        guard let property = type.findProperty(name), property.isNavigation else {
            throw .refused(.init(.unknownNavigationProperty, "\(set) has no navigation property \(name)."))
        }
        return property
    }

    // MARK: State

    func existing(_ id: EntityID) throws(ValidationError) -> EntityRow {
        guard let row = try read({ s throws(StateError) in try s.row(id) }) else { throw try missing(id) }
        return row
    }

    /// Returns the set and type of an entity that must exist, without a copy of its row.
    func existingKind(_ id: EntityID) throws(ValidationError) -> EntityKind {
        guard let kind = try read({ s throws(StateError) in try s.kind(of: id) }) else { throw try missing(id) }
        return kind
    }

    private func missing(_ id: EntityID) throws(ValidationError) -> ValidationError {
        .refused(.init(.entityNotFound, "\(try name(id)) is not in the store, or was deleted."))
    }

    func name(_ id: EntityID) throws(ValidationError) -> String {
        try read { s throws(StateError) in try s.name(of: id, model) }
    }

    func type(_ name: String) throws(ValidationError) -> EntityType {
        guard let type = model.findEntityType(name) else {
            throw .refused(.init(.wrongTargetType, "The metadata has no entity type \(name)."))
        }
        return type
    }

    func read<T>(_ body: (WorkingSet) throws(StateError) -> T) throws(ValidationError) -> T {
        do throws(StateError) { return try body(storage) } catch { throw .state(error) }
    }
}
