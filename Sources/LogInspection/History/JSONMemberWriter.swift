import EDM
import Operations

/// A writer of JSON objects, member by member.
protocol JSONMemberWriter {
    var json: JSONWriter { get set }
}

extension JSONMemberWriter {
    mutating func object(_ members: (inout Self) -> Void) {
        json.beginObject()
        members(&self)
        json.endObject()
    }

    mutating func array<T>(_ name: String, _ items: [T], _ item: (inout Self, T) -> Void) {
        json.name(name)
        json.beginArray()
        for element in items { item(&self, element) }
        json.endArray()
    }

    /// Writes an array with an object for each item.
    mutating func objects<T>(_ name: String, _ items: [T], _ members: (inout Self, T) -> Void) {
        array(name, items) { writer, item in writer.object { members(&$0, item) } }
    }

    mutating func text(_ name: String, _ text: String?) {
        guard let text else { return }
        json.name(name)
        json.string(text)
    }

    mutating func number(_ name: String, _ number: some BinaryInteger) {
        json.name(name)
        json.raw(String(number))
    }

    mutating func null(_ name: String) {
        json.name(name)
        json.null()
    }

    mutating func ids(_ name: String, _ ids: [EntityID]) {
        array(name, ids) { $0.json.raw(String($1.rawValue)) }
    }

    /// Writes a member that is present only if it is true.
    mutating func flag(_ name: String) {
        json.name(name)
        json.boolean(true)
    }

    mutating func numbers(_ name: String, _ numbers: [SequenceNumber]) {
        array(name, numbers) { $0.json.raw(String($1)) }
    }
}
