package import EDM

/// Numbers are part of the format and never reused.
enum ActionTag: UInt8 {
    case create = 1
    case update = 2
    case delete = 3
    case createLink = 4
    case updateLink = 5
    case deleteLink = 6
}

extension ByteWriter {
    package mutating func entity(_ id: EntityID) { unsigned(id.rawValue) }

    /// Writes all fields except the transactionID and the later attributes, which other record kinds contain.
    package mutating func operation(_ operation: Operation) {
        optional(operation.changeSet) { $0.unsigned($1) }
        optional(operation.baseETag) { $0.string($1) }
        optional(operation.customTag) { $0.string($1) }
        list(operation.headers) {
            $0.string($1.name)
            $0.string($1.value)
        }
        switch operation.action {
        case .create(let creation, let parent):
            byte(ActionTag.create.rawValue)
            self.creation(creation)
            optional(parent) {
                $0.entity($1.entity)
                $0.string($1.navigation)
            }
        case .update(let entity, let changes, let bindings):
            byte(ActionTag.update.rawValue)
            self.entity(entity)
            properties(changes)
            list(bindings) { $0.binding($1) }
        case .delete(let entity):
            byte(ActionTag.delete.rawValue)
            self.entity(entity)
        case .createLink(let link):
            byte(ActionTag.createLink.rawValue)
            self.link(link)
        case .updateLink(let link):
            byte(ActionTag.updateLink.rawValue)
            self.link(link)
        case .deleteLink(let link):
            byte(ActionTag.deleteLink.rawValue)
            self.link(link)
        }
    }

    private mutating func creation(_ creation: Creation) {
        entity(creation.entity)
        string(creation.set)
        string(creation.type)
        properties(creation.values)
        list(creation.bindings) { $0.binding($1) }
        list(creation.inline) {
            $0.string($1.navigation)
            $0.list($1.entities) { $0.creation($1) }
        }
    }

    private mutating func binding(_ binding: Binding) {
        string(binding.navigation)
        list(binding.targets) { $0.entity($1) }
    }

    private mutating func link(_ link: Link) {
        entity(link.from)
        string(link.navigation)
        entity(link.to)
    }
}

extension ByteReader {
    package mutating func entity() throws(CodecError) -> EntityID { EntityID(rawValue: try unsigned()) }

    package mutating func operation() throws(CodecError) -> Operation {
        let changeSet = try optional { r throws(CodecError) in try r.unsigned() }
        let baseETag = try optional { r throws(CodecError) in try r.string() }
        let customTag = try optional { r throws(CodecError) in try r.string() }
        let headers = try list { r throws(CodecError) in
            Operation.Header(name: try r.string(), value: try r.string())
        }
        return Operation(
            try action(), changeSet: changeSet, baseETag: baseETag, customTag: customTag, headers: headers)
    }

    private mutating func action() throws(CodecError) -> Operation.Action {
        guard let tag = ActionTag(rawValue: try byte()) else { throw fail(.invalid("operation")) }
        switch tag {
        case .create:
            return .create(
                try creation(),
                parent: try optional { r throws(CodecError) in
                    Parent(entity: try r.entity(), navigation: try r.name())
                })
        case .update:
            return .update(
                try entity(), changes: try properties(), bindings: try list { r throws(CodecError) in try r.binding() })
        case .delete: return .delete(try entity())
        case .createLink: return .createLink(try link())
        case .updateLink: return .updateLink(try link())
        case .deleteLink: return .deleteLink(try link())
        }
    }

    private mutating func creation() throws(CodecError) -> Creation {
        try nested { reader throws(CodecError) in
            Creation(
                entity: try reader.entity(), set: try reader.name(), type: try reader.name(),
                values: try reader.properties(),
                bindings: try reader.list { r throws(CodecError) in try r.binding() },
                inline: try reader.list { r throws(CodecError) in
                    Creation.Inline(
                        navigation: try r.name(),
                        entities: try r.list { r throws(CodecError) in try r.creation() })
                })
        }
    }

    private mutating func binding() throws(CodecError) -> Binding {
        Binding(navigation: try name(), targets: try list { r throws(CodecError) in try r.entity() })
    }

    private mutating func link() throws(CodecError) -> Link {
        Link(from: try entity(), navigation: try name(), to: try entity())
    }
}
