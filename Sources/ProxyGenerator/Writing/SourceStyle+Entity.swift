internal import EDM

extension SourceStyle {
    /// The class of an entity type.
    func entityClass(_ entity: ServicePlan.Entity) -> GeneratedFile {
        let type = entity.type
        let kind = type.isAbstract ? "abstract entity type" : "entity type"
        var lines = [
            "/// The \(kind) `\(SwiftText.comment(type.name))`.",
            "nonisolated \(open)class \(entity.className): \(entity.baseClass) {",
        ]
        for member in entity.members { lines += declaration(of: member, in: entity) + [""] }
        if !type.isAbstract { lines += initializer(of: entity) + [""] }
        for member in entity.members { lines += accessors(of: member, in: entity) }
        if lines.last == "" { lines.removeLast() }
        let showsTidelog = entity.baseClass == "EntityValue" || !entity.members.isEmpty
        return file(entity.className, lines + ["}"], showsTidelog: showsTidelog)
    }

    private func declaration(of member: ServicePlan.Member, in entity: ServicePlan.Entity) -> [String] {
        let property = member.property
        let type = property.isCollection ? "Collection(\(property.type.name))" : property.type.name
        let isKey = entity.type.keyProperties.contains(property)
        let rule = isKey ? ", key" : property.isNavigation || property.isNullable ? "" : ", not null"
        let names = "\(SwiftText.literal(property.name)), of: \(SwiftText.literal(entity.type.name))"
        return [
            "    /// `\(SwiftText.comment(property.name))`, `\(SwiftText.comment(type))`\(rule).",
            "    \(access)static let \(SwiftName.escaped(member.name)) = \(metadata).property(",
            "        \(names))",
        ]
    }

    private func initializer(of entity: ServicePlan.Entity) -> [String] {
        [
            "    /// A new entity. With defaults, properties that must not be null have the default of the metadata or of",
            "    /// their type, keys included; without, every property is unset.",
            "    \(access)convenience init(withDefaults: Bool = true) {",
            "        self.init(",
            "            \(metadata).entityType(\(SwiftText.literal(entity.type.name))), withDefaults: withDefaults)",
            "    }",
        ]
    }

    /// Nothing for navigation properties and streams, which are no values.
    private func accessors(of member: ServicePlan.Member, in entity: ServicePlan.Entity) -> [String] {
        let property = member.property
        guard !property.isNavigation, let type = SwiftText.type(property.type) else { return [] }
        let name = SwiftName.escaped(member.name)
        let place = "self[\(entity.className).\(name)]"
        return [
            "    \(access)var \(name): \(type)? {",
            "        get { \(place) }",
            "        set { \(place) = newValue }",
            "    }",
            "",
        ]
    }
}
