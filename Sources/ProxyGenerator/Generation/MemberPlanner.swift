internal import EDM

/// Plans the structured types, enumerations and type definitions with their members.
struct MemberPlanner {
    let model: EntityDataModel
    let options: ProxyOptions
    let names: TypeNames
    let chosen: ChosenNames
    /// The type names that the generated code uses, which members must not hide.
    let typeNames: Set<String>

    // MARK: Structured types

    func entities(_ types: [EntityType]) throws(ProxyError) -> [ServicePlan.Entity] {
        var scopes: [String: NameScope] = [:]
        var members: [String: [ServicePlan.Member]] = [:]
        for type in types where members[type.name] == nil {
            var scope = NameScope(reserved: ReservedNames.entityMembers, alsoTaken: typeNames)
            // A derived class must not redeclare a member of its base class, so the names of base classes are assigned
            // first.
            for next in model.baseTypes(of: type).reversed() + [type] {
                if let known = scopes[next.name] {
                    scope = known
                    continue
                }
                let own = (next.properties + next.navigationProperties).filter { $0.declaringType == next.name }
                members[next.name] = try self.members(own, of: next, in: &scope)
                scopes[next.name] = scope
            }
        }
        return types.map { type in
            let base = model.baseTypes(of: type)
            let inherited = base.reversed().flatMap { members[$0.name] ?? [] }
            return ServicePlan.Entity(
                type: type, className: names[type.name] ?? type.localName,
                baseClass: type.baseType.flatMap { names[$0] } ?? "EntityValue", members: members[type.name] ?? [],
                key: base.first?.keyReferences.isEmpty == false
                    ? [] : key(of: type, inherited + (members[type.name] ?? [])))
        }
    }

    /// Returns the parts of a key. Empty for a key with a path or an alias, because the names of its values differ from
    /// those of members.
    private func key(of type: EntityType, _ members: [ServicePlan.Member]) -> [ServicePlan.KeyPart] {
        guard type.keyParts.allSatisfy({ $0.name == $0.path && !$0.isNested }) else { return [] }
        let parts = type.keyProperties.compactMap { property in
            members.first { $0.property == property }.flatMap { member -> ServicePlan.KeyPart? in
                guard case .value(let type, _) = member.form else { return nil }
                return ServicePlan.KeyPart(property: property.name, label: member.name, type: type)
            }
        }
        return parts.count == type.keyProperties.count ? parts : []
    }

    func complexTypes() throws(ProxyError) -> [ServicePlan.Complex] {
        var result: [ServicePlan.Complex] = []
        for type in model.schemas.flatMap(\.complexTypes) where model.findComplexType(type.name) === type {
            var scope = NameScope(reserved: ReservedNames.complexMembers, alsoTaken: typeNames)
            let members = try members(type.properties + type.navigationProperties, of: type, in: &scope)
            result.append(ServicePlan.Complex(type: type, name: names[type.name] ?? type.localName, members: members))
        }
        return result
    }

    private func members(
        _ properties: [Property], of type: StructuredType, in scope: inout NameScope
    ) throws(ProxyError) -> [ServicePlan.Member] {
        var members: [ServicePlan.Member] = []
        let bases = model.baseTypes(of: type).map(\.name)
        for property in properties {
            let isKey = type.keyProperties.contains(property)
            let name = try chosen.claimMember(
                property.name, of: property.declaringType, bases, otherwise: SwiftName.ofMember(property.name),
                in: &scope)
            members.append(
                ServicePlan.Member(
                    property: property, name: name, form: form(of: property, isKey: isKey, in: type.kind),
                    isKey: isKey))
        }
        return members
    }

    private func form(
        of property: Property, isKey: Bool, in kind: StructuredTypeKind
    ) -> ServicePlan.Member.MemberForm {
        if let navigation = property.navigation {
            // Complex values do not load related entities, so they have no accessor for them.
            guard kind == .entity, let target = names.entityClass(navigation.targetType) else { return .plain }
            return property.isCollection ? .toMany(target) : .toOne(target)
        }
        if property.type.primitive == .stream { return property.isCollection ? .plain : .stream }
        guard let type = names.value(property.type) else { return .plain }
        return .value(type, isRequired: options.disablesOptionals && (isKey || !property.isNullable))
    }

    // MARK: Other types

    func enumerations() -> [ServicePlan.Enumeration] {
        model.schemas.flatMap(\.enumerationTypes).map { type in
            var scope = NameScope(reserved: ReservedNames.enumerationMembers, alsoTaken: typeNames)
            let members = type.members.map { (member: $0, name: scope.claim(SwiftName.ofMember($0.name))) }
            // A Swift enumeration with raw values needs at least one case.
            let isOpen = options.hasOpenEnumerations || type.members.isEmpty
            let form: ServicePlan.Enumeration.EnumerationForm =
                type.isFlags ? (options.hasOpenEnumerations ? .openFlags : .flags) : isOpen ? .open : .closed
            return ServicePlan.Enumeration(
                type: type, name: names[type.name] ?? ServicePlan.local(type.name), form: form, members: members)
        }
    }

    func definitions() -> [ServicePlan.Definition] {
        model.schemas.flatMap(\.typeDefinitions).compactMap { definition in
            guard let name = names[definition.name], let type = SwiftText.type(definition.underlyingType) else {
                return nil
            }
            return ServicePlan.Definition(definition: definition, name: name, underlying: type)
        }
    }
}
