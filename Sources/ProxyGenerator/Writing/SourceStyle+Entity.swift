internal import EDM

extension SourceStyle {
    /// Returns the file with the class of an entity type.
    func entityClass(_ entity: ServicePlan.Entity) -> GeneratedFile {
        let (type, name) = (entity.type, SwiftName.escaped(entity.className))
        let kind = type.isAbstract ? "abstract entity type" : type.hasStream ? "media entity type" : "entity type"
        let notes = type.isOpen ? ["Entities of this type may have additional properties: `entity[\"Name\"]`."] : []
        var lines = DocComment.lines("The \(kind) `\(DocComment.code(type.name))`.", type.annotations, notes: notes)
        lines.append("nonisolated \(open)class \(name): \(entity.baseClass) {")
        for member in entity.members { lines += declaration(of: member, in: name, type) + [""] }
        lines += typeName(type) + [""]
        if !type.isAbstract {
            lines += initializer(of: entity) + [""]
            for member in targets(of: entity) { lines += initializer(of: entity, target: member) + [""] }
        }
        lines += key(of: entity)
        if lines.last == "" { lines.removeLast() }
        for member in entity.members { lines += accessor(of: member, in: name, isOpen: true) }
        let showsTidelog = entity.baseClass == "EntityValue" || !entity.members.isEmpty || !entity.key.isEmpty
        return file(entity.className, lines + ["}"], showsTidelog: showsTidelog)
    }

    private func typeName(_ type: EntityType) -> [String] {
        let head = "    \(open)override class var entityTypeName: String? {"
        let name = SwiftText.literal(type.name)
        let one = "\(head) \(name) }"
        return one.count > Layout.width ? [head, "        " + name, "    }"] : [one]
    }

    private func initializer(of entity: ServicePlan.Entity) -> [String] {
        let arguments = [metadata, SwiftText.literal(entity.type.name), "withDefaults: withDefaults"]
        return [
            "    /// Creates an entity. With defaults, properties that must not be null have the default of the metadata or of their",
            "    /// type, including keys; without defaults, every property is unset.",
            "    \(access)convenience init(withDefaults: Bool = true) {",
        ] + Layout.call("self.init(", arguments).lines(indentation: 8)
            + ["    }"]
    }

    /// Returns the single-valued relations of a class, including inherited ones, whose initializers would otherwise
    /// create entities of the base type.
    private func targets(of entity: ServicePlan.Entity) -> [ServicePlan.Member] {
        let base = plan.entities.first { $0.className == entity.baseClass }
        let inherited = base.map { targets(of: $0) } ?? []
        return inherited + entity.members.filter { if case .toOne = $0.form { true } else { false } }
    }

    /// Returns an initializer with the target of a relation.
    private func initializer(of entity: ServicePlan.Entity, target member: ServicePlan.Member) -> [String] {
        guard case .toOne(let target) = member.form else { return [] }
        let (label, name) = (SwiftName.parameter(member.name), SwiftName.escaped(member.name))
        let parameters = ["\(label): \(target)", "withDefaults: Bool = false"]
        return DocComment.lines(
            "Creates an entity with the target of `\(DocComment.code(member.property.name))`, which is saved with it.",
            indentation: 4)
            + Layout.group("\(access)convenience init(", parameters.map { .text($0) }, ") {", .signature)
            .lines(indentation: 4) + ["        self.init(withDefaults: withDefaults)"]
            + assignment(of: name) + ["    }"]
    }

    private func assignment(of name: String) -> [String] {
        let line = "        self.\(name).target = \(name)"
        return line.count > Layout.width ? ["        self.\(name).target =", "            \(name)"] : [line]
    }

    private func key(of entity: ServicePlan.Entity) -> [String] {
        guard !entity.key.isEmpty else { return [] }
        let parameters = entity.key.map { "\(SwiftName.parameter($0.label)): \($0.type)" }
        let pairs = entity.key.map {
            "(\(SwiftText.literal($0.property)), \(SwiftName.escaped($0.label)).propertyValue)"
        }
        return DocComment.lines(
            "Returns the key of `\(DocComment.code(entity.type.name))` with these values.", indentation: 4)
            + Layout.group("\(access)static func key(", parameters.map { .text($0) }, ") -> KeyPredicate {", .signature)
            .lines(indentation: 4)
            + Layout.group("KeyPredicate([", pairs.map { .text($0) }, "])", .literal).lines(indentation: 8)
            + ["    }", ""]
    }
}
