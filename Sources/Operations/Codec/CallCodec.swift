package import EDM

/// Numbers are part of the format and never reused.
enum CallBindingTag: UInt8 {
    case entity = 1
    case property = 2
    case set = 3
}

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
    mutating func operationWithCall(_ operation: Operation, _ call: ActionCall) {
        write(call)
        operationWithAttributes(operation)
    }

    package mutating func write(_ call: ActionCall) {
        string(call.name)
        optional(call.binding) { $0.write($1) }
        list(call.arguments) {
            $0.string($1.name)
            $0.write($1.content)
        }
        byte(call.answer.rawValue)
    }

    private mutating func write(_ binding: ActionCall.Binding) {
        switch binding {
        case .entity(let entity):
            byte(CallBindingTag.entity.rawValue)
            self.entity(entity)
        case .property(let name, of: let entity):
            byte(CallBindingTag.property.rawValue)
            string(name)
            self.entity(entity)
        case .set(let name, let type):
            byte(CallBindingTag.set.rawValue)
            string(name)
            optional(type) { $0.string($1) }
        }
    }

    private mutating func write(_ content: ActionCall.Content) {
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
    mutating func operationWithCall() throws(CodecError) -> Operation {
        let call = try actionCall()
        var operation = try operationWithAttributes()
        operation.call = call
        return operation
    }

    package mutating func actionCall() throws(CodecError) -> ActionCall {
        let name = try name()
        let binding = try optional { r throws(CodecError) in try r.callBinding() }
        let arguments = try list { r throws(CodecError) in
            ActionCall.Argument(try r.name(), try r.callContent())
        }
        guard let answer = ActionCall.Answer(rawValue: try byte()) else { throw fail(.invalid("answer of a call")) }
        return ActionCall(name, on: binding, arguments, answer: answer)
    }

    private mutating func callBinding() throws(CodecError) -> ActionCall.Binding {
        switch CallBindingTag(rawValue: try byte()) {
        case .entity: return .entity(try entity())
        case .property:
            let name = try name()
            return .property(name, of: try entity())
        case .set: return .set(try name(), type: try optional { r throws(CodecError) in try r.name() })
        case nil: throw fail(.invalid("binding of a call"))
        }
    }

    private mutating func callContent() throws(CodecError) -> ActionCall.Content {
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
