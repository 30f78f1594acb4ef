import EDM

/// Numbers are part of the format and never reused.
enum CallContentTag: UInt8 {
    case value = 1
    case entity = 2
    case entities = 3
}

/// Numbers are part of the format and never reused.
enum CallEntityTag: UInt8 {
    case reference = 1
    case content = 2
}

extension ByteWriter {
    mutating func write(_ call: ActionCall) {
        string(call.name)
        list(call.arguments) {
            $0.string($1.name)
            $0.write($1.content)
        }
        switch call.binding {
        case .entity(let entity): field(CallField.entity, entity.rawValue)
        case .property(let name, of: let entity):
            field(CallField.entity, entity.rawValue)
            field(CallField.property, name)
        case .set(let name, let type):
            field(CallField.set, name)
            field(CallField.type, type)
        case nil: break
        }
        field(CallField.answer, call.answer == .byKey ? nil : UInt64(call.answer.rawValue))
        end()
    }

    private mutating func write(_ content: ActionCall.ArgumentValue) {
        switch content {
        case .value(let value):
            byte(CallContentTag.value.rawValue)
            self.value(value)
        case .entity(let entity):
            byte(CallContentTag.entity.rawValue)
            write(entity)
        case .entities(let entities):
            byte(CallContentTag.entities.rawValue)
            list(entities) { $0.write($1) }
        }
    }

    private mutating func write(_ entity: ActionCall.Entity) {
        switch entity {
        case .reference(let id):
            byte(CallEntityTag.reference.rawValue)
            self.entity(id)
        case .content(let type, let values):
            byte(CallEntityTag.content.rawValue)
            string(type)
            properties(values)
        }
    }
}

extension ByteReader {
    mutating func actionCall() throws(CodecError) -> ActionCall {
        let name = try name()
        let arguments = try list { r throws(CodecError) in
            ActionCall.Argument(try r.name(), try r.callContent())
        }
        var call = ActionCall(name, arguments)
        try fields { r, tag throws(CodecError) in
            switch (CallField(rawValue: tag), call.binding) {
            case (.entity, _): call.binding = .entity(try r.entity())
            case (.property, .entity(let entity)): call.binding = .property(try r.name(), of: entity)
            case (.set, nil): call.binding = .set(try r.name(), type: nil)
            case (.type, .set(let set, _)): call.binding = .set(set, type: try r.name())
            case (.property, _), (.set, _), (.type, _): throw r.fail(.invalid("binding of a call"))
            case (.answer, _):
                guard try r.byte() == ActionCall.Answer.boundEntity.rawValue else {
                    throw r.fail(.invalid("answer of a call"))
                }
                call.answer = .boundEntity
            case (nil, _): return false
            }
            return true
        }
        return call
    }

    private mutating func callContent() throws(CodecError) -> ActionCall.ArgumentValue {
        switch CallContentTag(rawValue: try byte()) {
        case .value: return .value(try value())
        case .entity: return .entity(try callEntity())
        case .entities: return .entities(try list { r throws(CodecError) in try r.callEntity() })
        case nil: throw fail(.invalid("argument of a call"))
        }
    }

    private mutating func callEntity() throws(CodecError) -> ActionCall.Entity {
        switch CallEntityTag(rawValue: try byte()) {
        case .reference: return .reference(try entity())
        case .content: return .content(type: try name(), try properties())
        case nil: throw fail(.invalid("entity of a call"))
        }
    }
}
