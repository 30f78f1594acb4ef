import EDM

/// An operation, as a line of `tidelog apply` or the arguments of a command define it.
///
/// A reference is a readLink, an editLink, or a name that an earlier operation defined with `as`.
indirect enum OperationLine: Hashable {
    case create(set: String, value: JSONObject, bindings: [Binding], parent: Parent?, name: String?)
    case createRelated(parent: Parent, set: String?, value: JSONObject, bindings: [Binding], name: String?)
    case update(entity: String, value: JSONObject, bindings: [Binding])
    case delete(entity: String)
    case link(from: String, property: String, to: String)
    case relink(from: String, property: String, to: String)
    case unlink(from: String, property: String, to: String?)
    case changeSet([OperationLine])

    struct Binding: Hashable {
        var navigation: String
        var targets: [String]
    }

    struct Parent: Hashable {
        var entity: String
        var navigation: String
    }
}

/// A reader of lines of `tidelog apply`: JSON objects whose member `op` determines the other members. Unknown members
/// are refused, because a misspelled one would be ignored silently.
struct OperationLineReader {
    func read(_ line: [UInt8]) throws -> OperationLine {
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONValue.parse(line)
        } catch {
            throw CommandFailure("This is not JSON: \(error)")
        }
        return try read(json, isInside: false)
    }

    private func read(_ json: JSONValue, isInside: Bool) throws -> OperationLine {
        guard let object = json.object else { throw CommandFailure("Expected an operation, not \(json.kindName).") }
        var members = MemberReader(object)
        let operation = try read(try members.string("op"), &members, isInside: isInside)
        try members.end()
        return operation
    }

    private func read(_ op: String, _ members: inout MemberReader, isInside: Bool) throws -> OperationLine {
        switch op {
        case "create":
            return .create(
                set: try members.string("set"), value: try members.object("value"), bindings: try members.bindings(),
                parent: nil, name: try members.name())
        case "createRelated":
            return .createRelated(
                parent: .init(entity: try members.string("in"), navigation: try members.string("property")),
                set: try members.optionalString("set"), value: try members.object("value"),
                bindings: try members.bindings(), name: try members.name())
        case "update":
            return .update(
                entity: try members.string("entity"), value: try members.optionalObject("value") ?? JSONObject(),
                bindings: try members.bindings())
        case "delete": return .delete(entity: try members.string("entity"))
        case "link":
            return .link(
                from: try members.string("from"), property: try members.string("property"), to: try members.string("to")
            )
        case "relink":
            return .relink(
                from: try members.string("from"), property: try members.string("property"), to: try members.string("to")
            )
        case "unlink":
            return .unlink(
                from: try members.string("from"), property: try members.string("property"),
                to: try members.optionalString("to"))
        case "changeSet":
            guard !isInside else { throw CommandFailure("A change set cannot contain another change set.") }
            var operations: [OperationLine] = []
            for (index, item) in try members.array("operations").enumerated() {
                do {
                    operations.append(try read(item, isInside: true))
                } catch let failure as CommandFailure {
                    throw failure.inOperation(index + 1)
                }
            }
            return .changeSet(operations)
        default:
            throw CommandFailure(
                "There is no operation \"\(oneLine(op))\".",
                recovery: "Use create, createRelated, update, delete, link, relink, unlink or changeSet.")
        }
    }
}

extension CommandFailure {
    /// Returns the same failure with its position in a change set.
    func inOperation(_ number: Int) -> CommandFailure {
        CommandFailure("Operation \(number) of the change set: \(message)", place: place, recovery: recovery)
    }
}

/// A reader of the members of an object, which tracks the members that were read.
private struct MemberReader {
    private let object: JSONObject
    private var taken: Set<String> = []

    init(_ object: JSONObject) { self.object = object }

    mutating func string(_ name: String) throws -> String {
        guard let value = try optionalString(name) else {
            throw CommandFailure("The operation has no member \"\(name)\".")
        }
        return value
    }

    mutating func optionalString(_ name: String) throws -> String? {
        guard let value = consume(name) else { return nil }
        guard let text = value.string else { throw CommandFailure("\"\(name)\" is \(value.kindName), not a string.") }
        return text
    }

    mutating func object(_ name: String) throws -> JSONObject {
        guard let value = try optionalObject(name) else {
            throw CommandFailure("The operation has no member \"\(name)\".")
        }
        return value
    }

    mutating func optionalObject(_ name: String) throws -> JSONObject? {
        guard let value = consume(name) else { return nil }
        guard let object = value.object else {
            throw CommandFailure("\"\(name)\" is \(value.kindName), not an object.")
        }
        return object
    }

    mutating func array(_ name: String) throws -> [JSONValue] {
        guard let value = consume(name) else { throw CommandFailure("The operation has no member \"\(name)\".") }
        guard let array = value.array else { throw CommandFailure("\"\(name)\" is \(value.kindName), not an array.") }
        return array
    }

    /// Reads a member such as `"bind":{"Customer":"c","Products":["p","Products(1)"]}`.
    mutating func bindings() throws -> [OperationLine.Binding] {
        try (optionalObject("bind")?.members ?? []).map { member in
            let targets = member.value.array ?? [member.value]
            let names = targets.compactMap(\.string)
            guard names.count == targets.count else {
                throw CommandFailure("\"bind\" contains \(member.value.kindName) for \(member.name), not a reference.")
            }
            return OperationLine.Binding(navigation: member.name, targets: names)
        }
    }

    /// Reads the name in `as`.
    mutating func name() throws -> String? {
        guard let name = try optionalString("as") else { return nil }
        // A name that looks like a link would hide the entity with that link.
        guard !name.isEmpty, !name.contains(where: { "(/?".contains($0) }) else {
            throw CommandFailure("\"\(oneLine(name))\" is not a valid name: it is empty or contains (, / or ?.")
        }
        return name
    }

    func end() throws {
        if let unknown = object.members.first(where: { !taken.contains($0.name) }) {
            throw CommandFailure("The member \"\(oneLine(unknown.name))\" is unknown.")
        }
        if object.members.count != taken.count { throw CommandFailure("A member occurs twice.") }
    }

    private mutating func consume(_ name: String) -> JSONValue? {
        guard let value = object[name] else { return nil }
        taken.insert(name)
        return value
    }
}
