import EDM
import Operations

extension HistoryJSONWriter {
    /// Writes the call of an operation, whose other members are the declared effect.
    mutating func call(_ call: ActionCall) {
        json.name("call")
        object {
            $0.text("name", call.name)
            switch call.binding {
            case .entity(let entity): $0.number("on", entity.rawValue)
            case .property(let name, of: let entity):
                $0.number("on", entity.rawValue)
                $0.text("property", name)
            case .set(let name, let type):
                $0.text("set", name)
                $0.text("type", type)
            case nil: break
            }
            if !call.arguments.isEmpty {
                $0.objects("arguments", call.arguments) { writer, argument in
                    writer.text("name", argument.name)
                    writer.content(argument.content)
                }
            }
            if call.answer == .boundEntity { $0.text("answer", "boundEntity") }
        }
    }

    private mutating func content(_ content: ActionCall.ArgumentValue) {
        switch content {
        case .value(let value):
            json.name("value")
            self.value(value)
        case .entity(let given):
            json.name("entity")
            entity(given)
        case .entities(let given): array("entities", given) { $0.entity($1) }
        }
    }

    private mutating func entity(_ entity: ActionCall.Entity) {
        object {
            switch entity {
            case .reference(let id): $0.number("entity", id.rawValue)
            case .content(let type, let values):
                $0.text("type", type)
                $0.values(values)
            }
        }
    }
}
