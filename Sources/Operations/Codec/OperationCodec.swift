package import EDM

/// The numbers of actions and of parts are part of the format and never reused.
enum ActionTag: UInt8 {
    case create = 1
    case update = 2
    case delete = 3
    case createLink = 4
    case updateLink = 5
    case deleteLink = 6
}

enum TemplatePartTag: UInt8 {
    case text = 1
    case key = 2
}

extension ByteWriter {
    package mutating func entity(_ id: EntityID) { unsigned(id.rawValue) }

    package mutating func operation(_ operation: Operation) {
        var parent: Parent?
        switch operation.action {
        case .create(let creation, let under):
            byte(ActionTag.create.rawValue)
            self.creation(creation)
            parent = under
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
        field(OperationField.changeSet, operation.changeSet)
        field(OperationField.baseETag, operation.baseETag)
        field(OperationField.parent, parent?.entity.rawValue)
        field(OperationField.parentNavigation, parent?.navigation)
        if operation.hasRareAttributes { rareAttributes(of: operation) }
        end()
    }

    private mutating func rareAttributes(of operation: Operation) {
        field(OperationField.transactionID, operation.transactionID)
        field(OperationField.customTag, operation.customTag)
        field(OperationField.headers, list: operation.headers) { $0.header($1) }
        field(OperationField.headerTemplates, list: operation.headerTemplates) { $0.template($1) }
        field(OperationField.isUnmodifiable, operation.isUnmodifiable)
        field(OperationField.delivery, operation.delivery == .queued ? nil : UInt64(operation.delivery.rawValue))
        switch operation.uploadCategory {
        case .named(let name): field(OperationField.namedCategory, name)
        case .entity(let entity): field(OperationField.entityCategory, entity.rawValue)
        case nil: break
        }
        field(OperationField.stream, operation.stream) { $0.write($1) }
        field(OperationField.call, operation.call) { $0.write($1) }
    }

    mutating func header(_ header: Operation.Header) {
        string(header.name)
        string(header.value)
    }

    private mutating func template(_ template: HeaderTemplate) {
        string(template.name)
        list(template.parts) {
            switch $1 {
            case .text(let text):
                $0.byte(TemplatePartTag.text.rawValue)
                $0.string(text)
            case .key(let entity, let property):
                $0.byte(TemplatePartTag.key.rawValue)
                $0.entity(entity)
                $0.string(property)
            }
        }
    }

    private mutating func creation(_ creation: Creation) {
        entity(creation.entity)
        string(creation.set)
        string(creation.type)
        properties(creation.values)
        list(creation.bindings) { $0.binding($1) }
        field(CreationField.inline, list: creation.inline) {
            $0.string($1.navigation)
            $0.list($1.entities) { $0.creation($1) }
        }
        end()
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
        var operation = Operation(plain: try action(), changeSet: nil, baseETag: nil)
        var parent: EntityID?
        try fields { r, tag throws(CodecError) in
            switch OperationField(rawValue: tag) {
            case .changeSet: operation.changeSet = try r.unsigned()
            case .baseETag: operation.baseETag = try r.string()
            case .parent: parent = try r.entity()
            case .parentNavigation:
                guard let entity = parent.take(), case .create(let creation, nil) = operation.action else {
                    throw r.fail(.invalid("parent"))
                }
                operation.action = .create(creation, parent: Parent(entity: entity, navigation: try r.name()))
            case .transactionID: operation.transactionID = try r.string()
            case .customTag: operation.customTag = try r.string()
            case .headers: operation.headers = try r.items { r throws(CodecError) in try r.header() }
            case .headerTemplates:
                operation.headerTemplates = try r.items { r throws(CodecError) in try r.template() }
            case .isUnmodifiable: operation.isUnmodifiable = try r.flag()
            case .delivery:
                operation.delivery = try r.delivery()
                guard operation.delivery != .queued else { throw r.fail(.invalid("delivery")) }
            case .namedCategory: operation.uploadCategory = .named(try r.string())
            case .entityCategory:
                guard operation.uploadCategory == nil else { throw r.fail(.invalid("upload category")) }
                operation.uploadCategory = .entity(try r.entity())
            case .stream: operation.stream = try r.content { r throws(CodecError) in try r.streamWrite() }
            case .call: operation.call = try r.content { r throws(CodecError) in try r.actionCall() }
            case nil: return false
            }
            return true
        }
        guard parent == nil else { throw fail(.invalid("parent")) }
        return operation
    }

    mutating func delivery() throws(CodecError) -> Delivery {
        guard let delivery = Delivery(rawValue: try byte()) else { throw fail(.invalid("delivery")) }
        return delivery
    }

    mutating func header() throws(CodecError) -> Operation.Header {
        Operation.Header(name: try string(), value: try string())
    }

    private mutating func template() throws(CodecError) -> HeaderTemplate {
        HeaderTemplate(
            name: try name(),
            parts: try list { r throws(CodecError) in
                switch TemplatePartTag(rawValue: try r.byte()) {
                case .text: return .text(try r.string())
                case .key: return .key(try r.entity(), property: try r.name())
                case nil: throw r.fail(.invalid("header template"))
                }
            })
    }

    private mutating func action() throws(CodecError) -> Operation.Action {
        guard let tag = ActionTag(rawValue: try byte()) else { throw fail(.invalid("operation")) }
        switch tag {
        case .create: return .create(try creation(), parent: nil)
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
            var creation = Creation(
                entity: try reader.entity(), set: try reader.name(), type: try reader.name(),
                values: try reader.properties(),
                bindings: try reader.list { r throws(CodecError) in try r.binding() })
            try reader.fields { r, tag throws(CodecError) in
                guard CreationField(rawValue: tag) == .inline else { return false }
                creation.inline = try r.items { r throws(CodecError) in
                    Creation.Inline(
                        navigation: try r.name(), entities: try r.list { r throws(CodecError) in try r.creation() })
                }
                return true
            }
            return creation
        }
    }

    private mutating func binding() throws(CodecError) -> Binding {
        Binding(navigation: try name(), targets: try list { r throws(CodecError) in try r.entity() })
    }

    private mutating func link() throws(CodecError) -> Link {
        Link(from: try entity(), navigation: try name(), to: try entity())
    }
}
